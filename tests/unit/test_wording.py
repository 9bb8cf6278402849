"""The words of the source: names that say what they hold, one type for each name, sentences of a readable length."""

import ast
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "paribus"
ENGINE = ROOT / "engine" / "src"
VAGUE = frozenset(re.findall(r"\w+", "asked found given kept known met mine one own rest said shown told wanted"))
# These may only fall.
MOST_VAGUE_PARAMETERS = 0
MOST_VAGUE_VARIABLES = 16
MOST_VAGUE_IN_ENGINE = 9
DOUBLE_TYPES: set[str] = set()
MOST_WORDS_IN_DOCSTRING, MOST_WORDS_IN_MESSAGE, MOST_WORDS_IN_DOCUMENT = 25, 30, 30  # of a sentence
NO_BEGINNINGS = ("What", "Who", "Whose", "Those", "Which", "How", "Why", "Where", "When", "Nothing", "It")
UNUSED = {"FakeHost"}  # for tests
CODE = [*(ROOT / name for name in ("src", "bench", "proof", "release", "docs", "examples"))]
PYTHON = [*(ROOT / name for name in ("src", "bench", "proof", "release", "docs", "tests", "examples"))]
MESSAGES = frozenset(("gettext", "ngettext", "N_", "N_plural", "stored_message"))
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+")
_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*[-*├└│])")
_MARKDOWN_PARAGRAPH_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.)\s)|\n(?=\|)")
_NO_PROSE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[ \t]*$|(?<=\])\([^)]*\)", re.MULTILINE | re.DOTALL)
_RUST_TYPE = re.compile(r"^pub (?:struct|enum|trait|type) (\w+)", re.MULTILINE)
_DOCTEST = re.compile(r"^ *>>> (?:.+\n?)+", re.MULTILINE)
_NO_NOUN_OR_VERB = re.compile(rf"(?:{'|'.join(NO_BEGINNINGS)})\b")
_NO_SUBJECT = re.compile(rf"test_(?:{'|'.join(NO_BEGINNINGS).lower()})(?:_|$)")
_RUST_NAME = re.compile(r"\b(?:fn|let(?: mut)?) (\w+)|[(,|]\s*(?:mut )?(\w+): ")


Nodes = list[ast.AST]
_LOOKED_AT = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Call)


@functools.cache
def _modules(folder: Path = ROOT / "src") -> list[tuple[Path, Nodes]]:
    """Paths of modules, and nodes of each: definitions, calls, and names that are given a value."""

    def nodes(path: Path) -> Nodes:
        found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        return [node for node in found if isinstance(node, _LOOKED_AT) or _is_stored(node)]

    return [(path, nodes(path)) for path in sorted(folder.rglob("*.py"))]


def _is_stored(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _is_vague(name: str) -> bool:
    return name.strip("_") in VAGUE


def _functions_and_parameters(nodes: Nodes) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
            arguments = node.args
            for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                yield argument.lineno, argument.arg


def _variables_and_fields(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if _is_stored(node):
            yield node.id


def _assert_falls(count: int, most: int, name: str) -> None:
    assert count <= most, "name new parameters, functions and variables by what they are or hold"
    assert count > most - 25, f"lower {name} to {count}"


def test_vague_functions_and_parameters_become_fewer() -> None:
    names = [name for _, nodes in _modules() for _, name in _functions_and_parameters(nodes)]
    _assert_falls(sum(map(_is_vague, names)), MOST_VAGUE_PARAMETERS, "MOST_VAGUE_PARAMETERS")


def test_vague_variables_become_fewer() -> None:
    names = [name for _, nodes in _modules() for name in _variables_and_fields(nodes)]
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
        for _, nodes in _modules()
        for node in nodes
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert {name for name, times in Counter(defined).items() if times > 1} == DOUBLE_TYPES


def test_public_type_names_of_the_engine_are_unique() -> None:
    defined = Counter(
        name for path in ENGINE.rglob("*.rs") for name in _RUST_TYPE.findall(path.read_text(encoding="utf-8"))
    )
    assert [name for name, times in sorted(defined.items()) if times > 1] == []


def test_public_code_has_a_use() -> None:
    """A public function or class whose name nothing but its definition and tests have is dead code."""
    words = Counter(
        word
        for folder in CODE
        for path in folder.rglob("*")
        if path.suffix in {".py", ".ipynb", ".toml", ".html"}
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    )
    unused = {
        node.name
        for _, (module, *_) in _modules()
        if isinstance(module, ast.Module)
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list and words[node.name] == 1
    }
    assert unused - UNUSED == {"__getattr__"}


def _public_functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Public functions and methods of a module, without properties and functions within functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for owner in (tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield node


@pytest.mark.parametrize(
    "path", [PACKAGE / "lab" / "api.py", *sorted((PACKAGE / "stats").glob("*.py"))], ids=lambda path: path.stem
)
def test_the_public_api_documents_what_it_returns(path: Path) -> None:
    for function in _public_functions(path):
        docstring = ast.get_docstring(function) or ""
        returns = function.returns is not None and ast.unparse(function.returns) != "None"
        is_property = "property" in {ast.unparse(decorator) for decorator in function.decorator_list}
        documented = docstring.startswith(("Return", "Yield")) or re.search("^(?:Returns|Yields):", docstring, re.M)
        assert docstring, function.name
        assert documented or is_property or not returns, f"{function.name} has no section Returns"


def _sentences(text: str) -> Iterator[str]:
    for paragraph in _PARAGRAPH_END.split(text):
        yield from _SENTENCE_END.split(" ".join(paragraph.split()))


def _docstrings(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield _DOCTEST.sub("", ast.get_docstring(node) or "")


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {docstring[:80]}…"
        for folder in PYTHON
        for path, nodes in _modules(folder)
        for docstring in _docstrings(nodes)
        if _NO_NOUN_OR_VERB.match(docstring)
    ]
    assert not wrong, "begin with a noun (things) or a verb (functions):\n" + "\n".join(wrong)


def test_names_of_tests_begin_with_their_subject() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for folder in PYTHON
        for path, nodes in _modules(folder)
        for _, name in _functions_and_parameters(nodes)
        if _NO_SUBJECT.match(name)
    ]
    assert not wrong, "name a test by its subject and the behaviour:\n" + "\n".join(wrong)


def _messages(nodes: Nodes) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MESSAGES:
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str))


@pytest.mark.parametrize(
    ("texts", "most_words"), [(_docstrings, MOST_WORDS_IN_DOCSTRING), (_messages, MOST_WORDS_IN_MESSAGE)]
)
def test_sentences_are_short(texts: Callable[[Nodes], Iterator[str]], most_words: int) -> None:
    long = [
        f"{path.relative_to(ROOT)}: {sentence[:80]}…"
        for folder in PYTHON
        for path, nodes in _modules(folder)
        for text in texts(nodes)
        for sentence in _sentences(text)
        if len(sentence.split()) > most_words
    ]
    assert not long, f"over {most_words} words:\n" + "\n".join(long)


def _documents() -> list[Path]:
    """Documents, but for decisions, which are not rewritten, and generated references."""
    folders = [ROOT / name for name in ("docs", "tests", "bench", "proof", "examples")]
    paths = [*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.md"))]
    return [path for path in paths if not {"decisions", "reference", "project"} & set(path.relative_to(ROOT).parts)]


def test_sentences_of_documents_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {sentence[:80]}…"
        for path in _documents()
        for paragraph in _MARKDOWN_PARAGRAPH_END.split(_NO_PROSE.sub("", path.read_text(encoding="utf-8")))
        for cell in (paragraph.split("|") if paragraph.startswith("|") else [paragraph])
        for sentence in _sentences(cell)
        if len(re.findall(r"\S*\w\S*", sentence)) > MOST_WORDS_IN_DOCUMENT
    ]
    assert not long, f"over {MOST_WORDS_IN_DOCUMENT} words:\n" + "\n".join(long)


@pytest.mark.parametrize("text", ["One idea. Another; a third: a fourth.", "- an entry\n- another"])
def test_sentences_are_told_apart(text: str) -> None:
    assert max(len(sentence.split()) for sentence in _sentences(text)) <= 3
