"""The words of the source: names that say what they hold, one type for each name, sentences of a readable length."""

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "paribus"
ENGINE = ROOT / "engine" / "src"
VAGUE = frozenset(re.findall(r"\w+", "asked found given kept known met mine one own rest said shown told wanted"))
# These may only fall.
MOST_VAGUE_PARAMETERS = 0
MOST_VAGUE_VARIABLES = 16
MOST_VAGUE_IN_ENGINE = 9
MOST_LONG_SENTENCES = 2
DOUBLE_TYPES: set[str] = set()
MOST_WORDS = 30  # of a sentence
MESSAGES = frozenset(("gettext", "ngettext", "N_", "N_plural", "stored_message"))
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+")
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*[-*├└│])")
_RUST_NAME = re.compile(r"\b(?:fn|let(?: mut)?) (\w+)|[(,|]\s*(?:mut )?(\w+): ")


@functools.cache
def _modules() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple((path, ast.parse(path.read_text(encoding="utf-8"))) for path in sorted(PACKAGE.rglob("*.py")))


def _is_vague(name: str) -> bool:
    return name.strip("_") in VAGUE


def _functions_and_parameters(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
            arguments = node.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                yield argument.lineno, argument.arg


def _variables_and_fields(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _assert_falls(count: int, most: int, name: str) -> None:
    assert count <= most, "name new parameters, functions and variables by what they are or hold"
    assert count > most - 25, f"lower {name} to {count}"


def test_vague_functions_and_parameters_become_fewer() -> None:
    names = [name for _, tree in _modules() for _, name in _functions_and_parameters(tree)]
    _assert_falls(sum(map(_is_vague, names)), MOST_VAGUE_PARAMETERS, "MOST_VAGUE_PARAMETERS")


def test_vague_variables_become_fewer() -> None:
    names = [name for _, tree in _modules() for name in _variables_and_fields(tree)]
    _assert_falls(sum(map(_is_vague, names)), MOST_VAGUE_VARIABLES, "MOST_VAGUE_VARIABLES")


def test_vague_names_in_the_engine_become_fewer() -> None:
    names = [
        match[1] or match[2]
        for path in sorted(ENGINE.rglob("*.rs"))
        for match in _RUST_NAME.finditer(path.read_text(encoding="utf-8"))
    ]
    _assert_falls(sum(map(_is_vague, names)), MOST_VAGUE_IN_ENGINE, "MOST_VAGUE_IN_ENGINE")


def test_a_public_type_name_exists_once() -> None:
    defined = [
        node.name
        for _, tree in _modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert {name for name, times in Counter(defined).items() if times > 1} == DOUBLE_TYPES


def _sentences(text: str) -> Iterator[str]:
    for paragraph in _PARAGRAPH_END.split(text):
        yield from _SENTENCE_END.split(" ".join(paragraph.split()))


def _texts(tree: ast.Module) -> Iterator[str]:
    """Docstrings and messages."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MESSAGES:
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


def test_sentences_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {sentence[:80]}…"
        for path, tree in _modules()
        for text in _texts(tree)
        for sentence in _sentences(text)
        if len(sentence.split()) > MOST_WORDS
    ]
    assert len(long) <= MOST_LONG_SENTENCES, f"over {MOST_WORDS} words:\n" + "\n".join(long)


@pytest.mark.parametrize("text", ["One idea. Another; a third: a fourth.", "- an entry\n- another"])
def test_sentences_are_told_apart(text: str) -> None:
    assert max(len(sentence.split()) for sentence in _sentences(text)) <= 3
