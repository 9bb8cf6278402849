"""Page of the environment variables, and the table that the man page shares."""

from generator.markdown import page, table

# What each variable of Paribus does, and what holds without it.
VARIABLES = {
    "PARIBUS_STORE": (
        "The store of experiments: the path of a file, or the URL of a database. `--store` overrides it.",
        "`/var/lib/paribus/paribus.db` for root, else `~/.local/share/paribus/paribus.db`",
    ),
    "PARIBUS_STATE": (
        "The directory on the target below which `journal/` holds the journals. It must survive a power cut.",
        "`/var/lib/paribus` for root, else `~/.local/state/paribus`",
    ),
    "PARIBUS_STATE_COPY": (
        "The directory on the target for the second copy of each journal. It should be on another file system.",
        "`/run/paribus` for root, else `$XDG_RUNTIME_DIR/paribus`, where that is another file system; else `copies` "
        "below the journals",
    ),
    "PARIBUS_REGISTER": (
        "The directory on the target for the register of open journals. A machine has one.",
        "`/var/lib/paribus-register` for root, else `~/.local/share/paribus/register`",
    ),
    "PARIBUS_SANDBOX": (
        "The directory of sandboxes and of the systems that they boot.",
        "`/var/lib/paribus/sandbox` for root, else `~/.local/share/paribus/sandbox`",
    ),
    "PARIBUS_ENGINE": (
        "The path of the program `paribus-engine`. Over SSH, Paribus copies this program to the target; name one that "
        "was built for the target where this installation has none for its architecture.",
        "the program next to the Python scripts, else the one on `PATH`",
    ),
}
# Variables that others define and Paribus obeys.
STANDARD = {
    "MYSQL_PWD": "The password of MariaDB, MySQL or Percona Server, where the plan names no other place and the "
    "target is this machine. No program that Paribus starts receives it, except the one that connects.",
    "PGPASSWORD": "The password of PostgreSQL, under the same rules.",
    "PGPASSFILE": "The password file of PostgreSQL, where the target is this machine. Default: `~/.pgpass`.",
    "LC_ALL, LC_MESSAGES, LANG, LANGUAGE": "The language of what `report` and `compare` write to stdout, by the rules "
    "of gettext. `--lang` overrides them.",
    "XDG_DATA_HOME": "The directory that holds `paribus/paribus.db`. Default: `~/.local/share`.",
    "XDG_STATE_HOME": "The directory that holds `paribus/journal/`. Default: `~/.local/state`.",
    "XDG_CONFIG_HOME": "The directory that holds `paribus/defaults.toml` and `paribus/knobs/`. Default: `~/.config`.",
    "XDG_RUNTIME_DIR": "The directory that holds `paribus/`, the second copies of journals, for users other than root.",
    "XDG_CACHE_HOME": "The directory that holds the chart library of HTML reports, `paribus/`. Default: `~/.cache`.",
    "SUDO_UID": "The user who called `sudo`: root trusts directories that belong to this user.",
}
# Variables that only the tests of the repository read.
TESTS = {
    "PARIBUS_EXPLORE": "Property tests try new examples and draw more; `make proof` sets it.",
    "PARIBUS_NO_SKIP": "A skipped test counts as failed; the continuous integration sets it.",
}
_STANDARD_HEADING = "## Standard variables"
_TESTS_HEADING = "## Variables for tests\n\nOnly the tests of the repository read these."


def render() -> str:
    """Returns the page."""
    own = [(f"`{name}`", meaning, default) for name, (meaning, default) in VARIABLES.items()]
    return page(
        "Environment variables",
        "An option on the command line wins over a variable, and a variable over the default.",
        table(("variable", "meaning", "default"), own),
        _STANDARD_HEADING,
        table(("variable", "meaning"), _rows(STANDARD)),
        _TESTS_HEADING,
        table(("variable", "meaning"), _rows(TESTS)),
    )


def _rows(variables: dict[str, str]) -> list[tuple[str, str]]:
    return [(", ".join(f"`{part}`" for part in name.split(", ")), meaning) for name, meaning in variables.items()]
