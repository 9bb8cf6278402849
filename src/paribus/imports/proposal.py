"""Proposed rules for runs without factors: the parts of their paths that differ, as named groups.

In: files whose runs have no labels. Out: the text of a file for `--map`, to be corrected by its reader.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath

_MOST_RULES = 5
_MOST_CHOICES = 8  # levels that a pattern lists
_TIME = r"(?:19|20)\d\d-?\d\d-?\d\d(?:[T_-]?\d\d[:.-]?\d\d(?:[:.-]?\d\d)?)?(?!\d)|\d{9,}"  # or a Unix time
_TOKEN = re.compile(rf"(?P<time>{_TIME})|(?P<number>(?<!\.)\d+(?:\.\d+)*|\d+)|(?P<word>[^\W\d_]+)|(?P<sign>[\W_])")
_SPECIAL = re.compile(r"([.^$*+?{}\[\]\\|()])")
_VERSION = re.compile(r"\d+\.\d+")
_SIZE = re.compile(r"(?:[kmgt]i?b?|[mun]?s)", re.IGNORECASE)
_LOAD = re.compile(
    r"(?:th|thr|thd|thread|client|conn|connection|user|vu|worker|job|terminal|并发|线程)s?", re.IGNORECASE
)
_REPETITION = re.compile(r"(?:run|rep|repeat|repetition|iter|iteration|trial|round|attempt|take)s?", re.IGNORECASE)
_MOST_REPETITIONS = 20
_SIZE_NAMES = ("size", "time")
_RESERVED = {"workload", "load", "repetition", "format"}


@dataclass(frozen=True, slots=True)
class UnplacedFile:
    """A file whose runs have no labels, with the workloads and the loads that they state."""

    path: str
    workloads: tuple[str, ...]
    loads: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # time, number, word, sign or folder
    texts: tuple[str, ...]  # one of each file

    @property
    def is_constant(self) -> bool:
        return len(set(self.texts)) == 1


@dataclass(slots=True)
class _Pattern:
    """A regular expression under construction, with the names of its groups."""

    text: str = ""
    names: list[str] = field(default_factory=list)
    groupings: list[tuple[str, ...]] = field(default_factory=list)  # texts of the groups so far


def proposed_rules(files: Sequence[UnplacedFile]) -> str:
    """Return rules that make factors of the differences between paths; empty where nothing differs.

    Files whose paths have the same form share a rule. A number is named after the word beside it.
    """
    if len(files) < 2:
        return ""
    common = _common_folder(files)
    forms: defaultdict[object, list[UnplacedFile]] = defaultdict(list)
    for file in files:
        *folders, name = _parts(file, common)
        forms[len(folders), tuple(_shape(name))].append(file)
    split = [group for same_form in forms.values() for group in _by_words_of_numbers(same_form)]
    shared = sorted((group for group in split if len(group) > 1), key=len, reverse=True)
    patterns = [_pattern(group, common) for group in shared[:_MOST_RULES]] or [_of_names(files, common)]
    rules = [(pattern, folder) for pattern, folder in patterns if pattern]
    several = len({folder for _pattern, folder in rules}) > 1
    return "\n".join(_rule(pattern, folder if several else "") for pattern, folder in rules)


def _rule(pattern: str, folder: str) -> str:
    label = f"labels = {{ folder = {json.dumps(folder, ensure_ascii=False)} }}\n" if folder else ""
    return f"[[rule]]\npath = '{pattern}'\n{label}"


def _common_folder(files: Sequence[UnplacedFile]) -> tuple[str, ...]:
    folders = [PurePosixPath(file.path).parts[:-1] for file in files]
    first, last = min(folders), max(folders)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _parts(file: UnplacedFile, common: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of a path below the common folder."""
    return PurePosixPath(file.path).parts[len(common) :]


def _tokens(name: str) -> Iterator[tuple[str, str]]:
    return ((match.lastgroup or "", match[0]) for match in _TOKEN.finditer(name))


def _shape(name: str) -> Iterator[tuple[str, str]]:
    """Return the kinds of the tokens of a name, and the signs themselves."""
    return ((kind, text if kind == "sign" else "") for kind, text in _tokens(name))


def _by_words_of_numbers(files: Sequence[UnplacedFile]) -> Sequence[Sequence[UnplacedFile]]:
    """Split files of one form by the words right before large numbers, which say what these are: iops2000, size500."""
    numbered = [list(_numbers_after_words(PurePosixPath(file.path).name)) for file in files]
    large = [max(int(number) for _word, number in each) > _MOST_REPETITIONS for each in zip(*numbered, strict=True)]
    groups: defaultdict[tuple[str, ...], list[UnplacedFile]] = defaultdict(list)
    for file, pairs in zip(files, numbered, strict=True):
        groups[tuple(word for (word, _number), is_large in zip(pairs, large, strict=True) if is_large)].append(file)
    return list(groups.values())


def _numbers_after_words(name: str) -> Iterator[tuple[str, str]]:
    """Return each word that a number follows directly, and the whole part of the number."""
    for (kind, word), (following, number) in pairwise(_tokens(name)):
        if (kind, following) == ("word", "number"):
            yield word, number.split(".")[0]


def _pattern(files: Sequence[UnplacedFile], common: Sequence[str]) -> tuple[str, str]:
    """Return the expression of files of one form, empty where it would give no level, and the folder of all of them."""
    pattern = _Pattern(_start(common))
    paths = [_parts(file, common) for file in files]
    for depth, names in enumerate(zip(*paths, strict=True)):
        pattern.text += "/" if depth else ""
        if len({tuple(_shape(name)) for name in names}) > 1:
            _add(pattern, _Token("folder", names), "version" if all(map(_VERSION.search, names)) else "folder", files)
            continue
        kinds = [kind for kind, _text in _tokens(names[0])]
        texts = zip(*([text for _kind, text in _tokens(name)] for name in names), strict=True)
        tokens = [_Token(kind, each) for kind, each in zip(kinds, texts, strict=True)]
        _add_name(pattern, tokens, files)
    folders = {path[:-1] for path in paths}
    folder = "/".join(folders.pop() or common[-1:]) if len(folders) == 1 else ""
    return (f"{pattern.text}$" if set(pattern.names) - {"repetition"} else ""), folder


def _of_names(files: Sequence[UnplacedFile], common: Sequence[str]) -> tuple[str, str]:
    """Return the same for a few files of different forms in one folder: their names are the levels."""
    parts = [_parts(file, common) for file in files]
    suffixes = {PurePosixPath(names[-1]).suffix for names in parts}
    if len(files) > _MOST_CHOICES or len(suffixes) > 1 or any(len(names) > 1 for names in parts):
        return "", ""
    pattern = _Pattern(_start(common))
    _add(pattern, _Token("folder", tuple(PurePosixPath(names[-1]).stem for names in parts)), "variant", files)
    return (f"{pattern.text}{_quoted(suffixes.pop())}$" if pattern.names else ""), ""


def _start(common: Sequence[str]) -> str:
    last = common[-1].strip("/") if common else ""
    return f"{_quoted(last)}/" if last else "(?:^|/)"


def _add_name(pattern: _Pattern, tokens: Sequence[_Token], files: Sequence[UnplacedFile]) -> None:
    """Add a file or folder name to a pattern."""
    skip = False
    for position, token in enumerate(tokens):
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if skip:
            skip = False
        elif token.is_constant:
            pattern.text += _quoted(token.texts[0])
        elif token.kind == "number" and after and after.is_constant and _SIZE.fullmatch(after.texts[0]):
            sized = _Token("number", tuple(f"{text}{after.texts[0]}" for text in token.texts))
            _add(pattern, sized, _name(tokens, position, after.texts[0]), files, after.texts[0])
            skip = True
        else:
            _add(pattern, token, _name(tokens, position, ""), files)


def _name(tokens: Sequence[_Token], position: int, unit: str) -> str:
    """Return the name of a part: the word after it if that counts threads, the word before it, or the one after."""
    token, after = tokens[position], _word(tokens[position + 1 : position + 2])
    before = _word(tokens[max(0, position - 1) : position]) or _word(tokens[max(0, position - 2) : position - 1])
    if token.kind == "number" and not unit and (_LOAD.fullmatch(after) or not before):
        return after or ("repetition" if _counts_up(token) else "variant")
    return before or (_SIZE_NAMES[unit[-1].lower() == "s"] if unit else "variant")


def _counts_up(token: _Token) -> bool:
    """Whether numbers are a few consecutive ones from 0 or 1."""
    numbers = sorted({int(text) for text in token.texts if text.isdecimal()} or {-1})
    return numbers[0] in (0, 1) and numbers[-1] - numbers[0] == len(numbers) - 1 < _MOST_REPETITIONS


def _word(tokens: Sequence[_Token]) -> str:
    return next((token.texts[0] for token in tokens if token.kind == "word" and token.is_constant), "")


def _add(pattern: _Pattern, token: _Token, name: str, files: Sequence[UnplacedFile], unit: str = "") -> None:
    """Add a part that differs to a pattern: as a group, unless it says what is already known."""
    choices = list(dict.fromkeys(token.texts))
    expression = _expression(token, choices, unit)
    is_load, is_repetition = bool(_LOAD.fullmatch(name)), bool(_REPETITION.fullmatch(name))
    if token.kind == "time" or _is_known(pattern, token, files):
        pattern.text += expression if token.kind in ("time", "number") else f"(?:{expression})"
        return
    if token.kind == "number" and not unit and (is_load or is_repetition):
        name = "load" if is_load else "repetition"
    elif name in _RESERVED:
        name = f"{name}_"
    while name in pattern.names:
        name += "_"
    pattern.names.append(name)
    pattern.groupings.append(_grouping(token.texts))
    pattern.text += f"(?P<{name}>{expression})"


def _expression(token: _Token, choices: Collection[str], unit: str) -> str:
    if token.kind == "time":
        return r"[\d:T_.-]+"
    if token.kind == "number":
        return (r"[\d.]+" if any("." in text for text in choices) else r"\d+") + _quoted(unit)
    if len(choices) <= _MOST_CHOICES:
        return "|".join(map(_quoted, sorted(choices)))
    return r"[^/]+" if token.kind == "folder" else r"[^\W\d_]+"


def _is_known(pattern: _Pattern, token: _Token, files: Sequence[UnplacedFile]) -> bool:
    """Whether a part repeats the load or the workload that the runs state, or a part before it."""
    loads = [{str(load) for load in file.loads} for file in files]
    grouping = _grouping(token.texts)
    of_workloads = _grouping([file.workloads for file in files])
    return (
        all(states == {text} for states, text in zip(loads, token.texts, strict=True))
        or grouping in pattern.groupings
        or grouping == of_workloads
    )


def _grouping(texts: Sequence[object]) -> tuple[str, ...]:
    """Return which texts are the same, whatever they are: the number of the first such one for each."""
    first: dict[object, int] = {}
    return tuple(str(first.setdefault(text, len(first))) for text in texts)


def _quoted(text: str) -> str:
    """Return an expression for a text that also fits between single quotes."""
    return _SPECIAL.sub(r"\\\1", text).replace("'", ".")
