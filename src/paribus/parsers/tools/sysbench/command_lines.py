"""sysbench command lines echoed in a log: with prompts, continuation lines and redirections."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from paribus.parsers.redact import HIDDEN

_ACTIONS = frozenset({"run", "prepare", "cleanup", "help", "prewarm", "warmup"})
_TESTS = frozenset({"fileio", "cpu", "memory", "threads", "mutex", "oltp", "bulk_insert"})
_QUOTES = "'\"`"
_ELSEWHERE = re.compile(r"^(?:[0-9&]*>|\||;|&|#|\)|2>)")


@dataclass(slots=True)
class SysbenchCommand:
    """A command line; `open` while the next line may continue it."""

    options: dict[str, str] = field(default_factory=dict)
    test: str = ""
    action: str = ""
    open: bool = True


def begins(line: str) -> SysbenchCommand | None:
    """Return the command of a line that calls sysbench or an executable script of it; None for other lines."""
    words = line.replace("\\", " ").split()
    for index, word in enumerate(words):
        name = word.rsplit("/", 1)[-1].strip(_QUOTES)
        if name == "sysbench" or (name.endswith(".lua") and not word.startswith("-")):
            arguments = words[index + (name == "sysbench") :]
            break
    else:
        return None
    if not arguments or (arguments[0].endswith(".lua") and not _calls_script(arguments, line)):
        return None
    if not any(_is_argument(word) for word in arguments):
        return None
    command = SysbenchCommand()
    _read_arguments(command, arguments, line)
    return command


def _calls_script(arguments: Sequence[str], line: str) -> bool:
    """Return whether the words after a script's name show a command rather than a sentence."""
    return line.endswith("\\") or any(word.startswith("--") or word in _ACTIONS for word in arguments)


def continues(command: SysbenchCommand, line: str) -> bool:
    """Read the line if it continues the command, and return whether it does."""
    if not command.open:
        return False
    words = line.replace("\\", " ").lstrip("> \t").split()
    if not words or not (words[0].startswith("-") or _is_argument(words[0])):
        return False
    _read_arguments(command, words, line)
    return True


def _is_argument(word: str) -> bool:
    """Return whether a word is a sysbench argument, not part of a sentence."""
    bare = word.strip(_QUOTES)
    return (
        (bare.startswith("--") and len(bare) > 2)
        or bare in _ACTIONS
        or bare in _TESTS
        or bare.startswith(("oltp_", "select_random_"))
        or bare.endswith(".lua")
    )


def _read_arguments(command: SysbenchCommand, words: Sequence[str], line: str) -> None:
    """Read options, test and action, up to the first shell operator."""
    command.open = True
    for word in words:
        bare = word.strip(_QUOTES)
        if _ELSEWHERE.match(word):
            command.open = False
            break
        if bare.startswith("--"):
            name, equals, value = bare[2:].partition("=")
            value = value.strip(_QUOTES) if equals else "on"
            if name == "test":
                command.test = _test(value)
            elif name:
                command.options[name] = HIDDEN if "pass" in name and equals else value
        elif bare in _ACTIONS:
            command.action = bare
        elif _is_argument(word):
            command.test = _test(bare)
    if command.action and not line.rstrip().endswith("\\"):
        command.open = False


def _test(name: str) -> str:
    return name.rsplit("/", 1)[-1].removesuffix(".lua")
