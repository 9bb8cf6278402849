"""The command as a module: `python -m paribus`."""

from paribus.cli.main import main

if __name__ == "__main__":
    main()
