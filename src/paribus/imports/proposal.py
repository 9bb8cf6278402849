"""Proposed rules for runs without factors: the parts of their paths that differ, as named groups.

In: files whose runs have no labels. Out: the text of a file for `--map`, to be corrected by its reader.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import PurePosixPath

from paribus.imports.part_names import MOST_REPETITIONS, group_name, is_size, name_of
from paribus.imports.path_parts import NamePart, form_of, has_time, parts_of, pieces_of

_MOST_RULES = 12
_MOST_CHOICES = 8  # levels that a pattern lists
_SPECIAL = re.compile(r"([.^$*+?{}\[\]\\|()])")
_VERSION = re.compile(r"\d+\.\d+")
_NUMBERED = re.compile(r"(?P<word>[^\W\d_]+)(?P<number>\d+)(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class UnplacedFile:
    """A file whose runs have no labels, with the workloads and the loads that they state."""

    path: str
    workloads: tuple[str, ...]
    loads: tuple[int | None, ...]


@dataclass(slots=True)
class _Rule:
    """A rule under construction: its expression, the same with stars for what differs, and its groups.

    `folder` is that of all files; empty where they have several.
    """

    files: Sequence[UnplacedFile]
    start: str
    pattern: str
    folder: str = ""
    stars: str = ""
    names: list[str] = field(default_factory=list)
    groupings: list[tuple[int, ...]] = field(default_factory=list)  # which files share a text, for each group

    @property
    def has_levels(self) -> bool:
        """Whether a group is more than a repetition."""
        return bool(set(self.names) - {"repetition"})

    def may_be_taken_for(self, other: "_Rule") -> bool:
        """Return whether runs of the two could have the same labels."""
        shared = set(self.names) & set(other.names)
        return self.folder == other.folder and bool(shared or not (self.names and other.names))

    def anchor(self, common: Sequence[str]) -> None:
        """Begin the expression with the whole path of the common folder."""
        whole = "".join(f"{folder.rstrip('/')}/" for folder in common)
        self.pattern = f"^{_quoted(whole)}{self.pattern.removeprefix(self.start)}"

    def add(self, text: str) -> None:
        """Add a text that all files have."""
        self.pattern += _quoted(text)
        self.stars += text

    def text(self, *, label_folder: bool, label_file: bool) -> str:
        """Return the rule in TOML."""
        stars = self.stars.rpartition("/")[2] if self.folder and label_folder else self.stars
        labels = {"folder": self.folder if label_folder else "", "file": stars if label_file else ""}
        pairs = ", ".join(f"{key} = {_string(level)}" for key, level in labels.items() if level)
        return f"[[rule]]\npath = '{self.pattern}$'\n" + (f"labels = {{ {pairs} }}\n" if pairs else "")


def proposed_rules(files: Sequence[UnplacedFile]) -> str:
    """Return rules that make factors of the differences between paths; empty where nothing differs.

    Files whose paths have the same form share a rule. A number is named after the word beside it. Where rules differ in
    their folder, or in other words than in their groups, a label says so: no two tests become repetitions.
    """
    if len(files) < 2:
        return ""
    common = _common_folder(files)
    forms: defaultdict[object, list[UnplacedFile]] = defaultdict(list)
    dated = _dated_depths(files, common)
    for file in files:
        *folders, name = _names(file, common)
        of_folders = tuple(form_of(folder) if depth in dated else () for depth, folder in enumerate(folders))
        forms[of_folders, form_of(name)].append(file)
    split = [group for same_form in forms.values() for group in _by_words_of_numbers(same_form)]
    shared = sorted((group for group in split if len(group) > 1), key=len, reverse=True)
    of_forms = [_rule(group, common) for group in shared[:_MOST_RULES]]
    rules = of_forms or _of_names(files, common)
    several_folders = len({rule.folder for rule in rules}) > 1
    rules = [rule for rule in rules if rule.has_levels or (several_folders and rule.folder)]
    if _match_others(rules):
        for rule in rules:
            rule.anchor(common)
    others = len(files) - sum(len(rule.files) for rule in rules)
    texts = [
        rule.text(
            label_folder=several_folders,
            label_file=any(other is not rule and rule.may_be_taken_for(other) for other in rules),
        )
        for rule in rules
    ]
    return "\n".join([*texts, *([f"# files without a rule: {others}\n"] if texts and others else [])])


def _match_others(rules: Sequence[_Rule]) -> bool:
    """Whether a rule matches a file of another one."""
    return any(
        re.search(f"{rule.pattern}$", file.path)
        for rule in rules
        for other in rules
        if other is not rule
        for file in other.files
    )


def _common_folder(files: Sequence[UnplacedFile]) -> tuple[str, ...]:
    folders = [PurePosixPath(file.path).parts[:-1] for file in files]
    first, last = min(folders), max(folders)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:same]


def _names(file: UnplacedFile, common: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a path below the common folder."""
    return PurePosixPath(file.path).parts[len(common) :]


def _dated_depths(files: Sequence[UnplacedFile], common: Sequence[str]) -> set[int]:
    """Return the depths of folders whose names have dates, which are no levels."""
    folders = {_names(file, common)[:-1] for file in files}
    return {depth for names in folders for depth, name in enumerate(names) if has_time(name)}


def _by_words_of_numbers(files: Sequence[UnplacedFile]) -> Sequence[Sequence[UnplacedFile]]:
    """Split files of one form by the words right before large numbers, which say what these are: iops2000, size500."""
    pieces = list(zip(*(pieces_of(PurePosixPath(file.path).name) for file in files), strict=True))
    numbered = [[_NUMBERED.fullmatch(piece) for piece in each] for each in pieces]
    large = [max((int(m["number"]) for m in each if m), default=0) > MOST_REPETITIONS for each in numbered]
    groups: defaultdict[object, list[UnplacedFile]] = defaultdict(list)
    for position, file in enumerate(files):
        words = [each[position] for each, is_large in zip(numbered, large, strict=True) if is_large]
        groups[tuple(match and match["word"] for match in words)].append(file)
    return list(groups.values())


def _rule(files: Sequence[UnplacedFile], common: Sequence[str]) -> _Rule:
    """Return the rule of files of one form."""
    paths = [_names(file, common) for file in files]
    folders = {path[:-1] for path in paths}
    folder = "/".join(folders.pop() or common[-1:]) if len(folders) == 1 else ""
    rule = _Rule(files, _start(common), _start(common), folder)
    for depth, names in enumerate(zip(*paths, strict=True)):
        if depth:
            rule.add("/")
        if len(set(map(form_of, names))) == 1:
            _add_name(rule, parts_of(names))
        else:
            _add(rule, NamePart("folder", names), "version" if all(map(_VERSION.search, names)) else "folder")
    return rule


def _of_names(files: Sequence[UnplacedFile], common: Sequence[str]) -> list[_Rule]:
    """Return the rule of a few files of different forms in one folder: their names are the levels."""
    paths = [_names(file, common) for file in files]
    suffixes = {PurePosixPath(names[-1]).suffix for names in paths}
    if len(files) > _MOST_CHOICES or len(suffixes) > 1 or any(len(names) > 1 for names in paths):
        return []
    rule = _Rule(files, _start(common), _start(common))
    _add(rule, NamePart("folder", tuple(PurePosixPath(names[-1]).stem for names in paths)), "variant")
    rule.add(suffixes.pop())
    return [rule]


def _start(common: Sequence[str]) -> str:
    last = common[-1].strip("/") if common else ""
    return f"{_quoted(last)}/" if last else "(?:^|/)"


def _add_name(rule: _Rule, parts: Sequence[NamePart]) -> None:
    """Add a file or folder name to a rule."""
    is_taken = False
    for position, part in enumerate(parts):
        after = parts[position + 1] if position + 1 < len(parts) else None
        if is_taken:  # with the number before it
            is_taken = False
        elif part.is_constant and not (is_size(part, after) and after and not after.is_constant):
            rule.add(part.texts[0])
        elif after and is_size(part, after):
            sized = NamePart("size", tuple(map("".join, zip(part.texts, after.texts, strict=True))))
            _add(rule, sized, name_of(parts, position, after.texts[0]))
            is_taken = True
        else:
            _add(rule, part, name_of(parts, position))


def _add(rule: _Rule, part: NamePart, name: str) -> None:
    """Add a part that differs to a rule: as a group, unless it says what is already known."""
    rule.stars += "*"
    expression = _expression(part)
    name = group_name(part, name, rule.names, states_load=all(None not in file.loads for file in rule.files))
    numbers_the_files = name == "repetition" and len(set(part.texts)) == len(rule.files)
    if part.kind == "time" or numbers_the_files or _is_known(rule, part):
        rule.pattern += f"(?:{expression})" if "|" in expression else expression
        return
    if name in rule.names:
        name = next(numbered for n in count(2) if (numbered := f"{name}{n}") not in rule.names)
    rule.names.append(name)
    grouping = _grouping(part.texts)
    if name != "repetition" and len(set(grouping)) < len(rule.files):
        rule.groupings.append(grouping)
    rule.pattern += f"(?P<{name}>{expression})"


def _expression(part: NamePart) -> str:
    choices = set(part.texts)
    if part.kind == "time":
        return r"[\d:T_.-]+"
    if part.kind == "number":
        return r"[\d.]+" if any("." in text for text in choices) else r"\d+"
    if len(choices) <= _MOST_CHOICES:
        return "|".join(map(_quoted, sorted(choices)))
    return r"[^/]+" if part.kind == "folder" else r"[^\W_.]+(?:\.\d+)*"


def _is_known(rule: _Rule, part: NamePart) -> bool:
    """Whether a part repeats the load or the workload that the runs state, or a part before it."""
    loads = [{str(load) for load in file.loads} for file in rule.files]
    if all(states == {text} for states, text in zip(loads, part.texts, strict=True)):
        return True
    of_workloads = {(file.workloads, text) for file, text in zip(rule.files, part.texts, strict=True)}
    return _grouping(part.texts) in rule.groupings or len(of_workloads) == len({names for names, _ in of_workloads})


def _grouping(texts: Sequence[str]) -> tuple[int, ...]:
    """Return which texts are the same, whatever they are: the number of the first such one for each."""
    first: dict[str, int] = {}
    return tuple(first.setdefault(text, len(first)) for text in texts)


def _quoted(text: str) -> str:
    """Return an expression for a text that also fits between single quotes; any sign stands for those that do not."""
    plain = _SPECIAL.sub(r"\\\1", text)
    return "".join(sign if sign.isprintable() and sign != "'" else "." for sign in plain)


def _string(text: str) -> str:
    """Return a string of TOML."""
    return json.dumps("".join(sign if sign.isprintable() else " " for sign in text), ensure_ascii=False)
