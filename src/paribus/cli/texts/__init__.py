"""Documents of the commands as text on a terminal."""
