"""Command lines of sysbench in a log, as a shell echoes them: with prompts, over several lines, or into a file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from paribus.parsers.redact import HIDDEN

_DEEDS = frozenset({"run", "prepare", "cleanup", "help", "prewarm", "warmup"})
_TESTS = frozenset({"fileio", "cpu", "memory", "threads", "mutex", "oltp", "bulk_insert"})
_QUOTES = "'\"`"
_ELSEWHERE = re.compile(r"^(?:[0-9&]*>|\||;|&|#|\)|2>)")


@dataclass(slots=True)
class SysbenchCommand:
    """What a command line asks for; `open` while the next line may go on with it."""

    options: dict[str, str] = field(default_factory=dict)
    test: str = ""
    deed: str = ""
    open: bool = True


def begins(line: str) -> SysbenchCommand | None:
    """The command of a line that calls sysbench, or a script of its that is a program; or None."""
    words = line.replace("\\", " ").split()
    for place, word in enumerate(words):
        name = word.rsplit("/", 1)[-1].strip(_QUOTES)
        if name == "sysbench" or (name.endswith(".lua") and not word.startswith("-")):
            rest = words[place + (name == "sysbench") :]
            break
    else:
        return None
    if not rest or (rest[0].endswith(".lua") and not any(word.startswith("--") for word in rest)):
        return None
    if not any(_says(word) for word in rest):
        return None
    command = SysbenchCommand()
    _take(command, rest, line)
    return command


def goes_on(command: SysbenchCommand, line: str) -> bool:
    """Whether the line is of the same command; then it is taken."""
    if not command.open:
        return False
    words = line.replace("\\", " ").lstrip("> \t").split()
    if not words or not (words[0].startswith("-") or _says(words[0])):
        return False
    _take(command, words, line)
    return True


def _says(word: str) -> bool:
    """Whether it is a word of sysbench's command line, not one of a sentence."""
    bare = word.strip(_QUOTES)
    return (
        (bare.startswith("--") and len(bare) > 2)
        or bare in _DEEDS
        or bare in _TESTS
        or bare.startswith(("oltp_", "select_random_"))
        or bare.endswith(".lua")
    )


def _take(command: SysbenchCommand, words: Sequence[str], line: str) -> None:
    """Take options, test and deed from the words up to where the shell takes over."""
    command.open = True
    for word in words:
        bare = word.strip(_QUOTES)
        if _ELSEWHERE.match(word):
            command.open = False
            break
        if bare.startswith("--"):
            name, given, value = bare[2:].partition("=")
            value = value.strip(_QUOTES) if given else "on"
            if name == "test":
                command.test = _test(value)
            elif name:
                command.options[name] = HIDDEN if "pass" in name and given else value
        elif bare in _DEEDS:
            command.deed = bare
        elif _says(word):
            command.test = _test(bare)
    if command.deed and not line.rstrip().endswith("\\"):
        command.open = False


def _test(name: str) -> str:
    return name.rsplit("/", 1)[-1].removesuffix(".lua")
