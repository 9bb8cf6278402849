"""Example plans, which the package holds, as files of a user.

`src/paribus/examples/` has a link for each file of `examples/`; a wheel has the files in place of the links.
"""

import importlib.resources
import re
import shlex
import tomllib
from pathlib import Path
from typing import NamedTuple

from paribus.errors import UsageError
from paribus.registry import nearest

FIRST = "first"  # the example that any machine can run
_FOLDER = importlib.resources.files("paribus") / "examples"
_KNOB_FILE = re.compile(r"\bknobs/[\w-]+\.toml")


class ExamplePlan(NamedTuple):
    """Name, question and text of an example."""

    name: str
    question: str
    text: str


def example_plans() -> list[ExamplePlan]:
    """Return all examples by name."""
    names = sorted(each.name.removesuffix(".toml") for each in _FOLDER.iterdir() if each.name.endswith(".toml"))
    texts = {name: (_FOLDER / f"{name}.toml").read_text(encoding="utf-8") for name in names}
    return [ExamplePlan(name, tomllib.loads(text)["question"], text) for name, text in texts.items()]


def example_files(name: str, file: Path) -> dict[Path, str]:
    """Return the texts of an example that is written to `file`: the plan, and the knobs that it names beside it.

    Comments name the new files, so that their commands can be copied; nothing else is changed. Raises UsageError.
    """
    examples = {example.name: example.text for example in example_plans()}
    if name not in examples:
        raise UsageError(
            f"there is no example {name!r}", nearest(name, examples) or "list the examples: paribus init --list"
        )
    knob_files = dict.fromkeys(_KNOB_FILE.findall(examples[name]))
    moved = {f"examples/{name}.toml": file} | {f"examples/{each}": file.parent / each for each in knob_files}
    texts = {file: examples[name]} | {
        file.parent / each: _FOLDER.joinpath(*each.split("/")).read_text(encoding="utf-8") for each in knob_files
    }
    return {path: _renamed(text, moved) for path, text in texts.items()}


def shell_path(path: Path) -> str:
    """Return the path as a word of a command in a comment. Raises UsageError where it cannot be printed."""
    if not str(path).isprintable():
        raise UsageError(f"the name {str(path)!r} cannot be printed", "name another file")
    return shlex.quote(str(path))


def _renamed(text: str, paths: dict[str, Path]) -> str:
    for before, after in paths.items():
        text = text.replace(before, shell_path(after))
    return text
