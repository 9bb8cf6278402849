"""Page of the exit codes, and the table that the man page shares."""

import inspect

from generator.markdown import literal, page, sentence, table
from generator.texts import introduction
from paribus import errors
from paribus.errors import ParibusError

# Meaning of every code that `paribus` ends with; 0, 1 and 141 have no error class.
MEANINGS = {
    0: "The command did its work, whatever the verdicts are.",
    1: "A condition of `--fail-on` holds: a verdict is worse, suspect or undecided, or a setting of an audit differs. "
    "Or `verify` found that a setting is not in force.",
    2: "The plan or the command line is wrong. Nothing was changed.",
    3: "An error stopped the work, or, with `--strict`, a comparison could not be judged. The machine is restored.",
    4: "A setting could not be restored, or its state could not be inspected. Run `paribus undo`.",
    130: "Ctrl-C, SIGTERM or SIGHUP stopped the work. The machine is restored; `paribus resume` continues.",
    141: "The reader of the output closed it, as `head` does.",
}
_INTRODUCTION = "Scripts may rely on these codes. Errors go to stderr: what failed, the cause, and what to do next."


def render() -> str:
    """Returns the page."""
    rows = [(str(code), meaning) for code, meaning in MEANINGS.items()]
    return page(
        "Exit codes", _INTRODUCTION, table(("code", "meaning"), rows), introduction("exit-codes"), _error_table()
    )


def error_classes() -> list[type[ParibusError]]:
    """Returns every error class of the package, those of the lowest exit code first."""
    members = (member for _, member in inspect.getmembers(errors, inspect.isclass))
    classes = [member for member in members if issubclass(member, ParibusError)]
    return sorted(classes, key=lambda error: (error.exit_code, error.__name__))


def _error_table() -> str:
    rows = []
    for error in error_classes():
        first_line = (inspect.getdoc(error) or "").partition("\n")[0]
        rows.append((str(error.exit_code), f"`{error.__name__}`", sentence(literal(first_line))))
    return table(("code", "class", "meaning"), rows)
