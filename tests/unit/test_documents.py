"""Plans, commands and links in the documents, checked against the code; no command is run."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
import yaml

from paribus import Lab
from paribus.cli.main import app
from paribus.errors import ParibusError, Problem
from paribus.imports.claims import read_claims
from paribus.imports.rules import read_rules
from paribus.knobs.catalog import load
from paribus.knobs.catalog.own_rows import rows_in_file
from paribus.plan.form.parse import parse
from paribus.registry import workload_kinds
from paribus.workloads import jobs  # noqa: F401  # registers the kinds of workload

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
COMMAND = typer.main.get_command(app)
CommandLineError = typer.BadParameter.__bases__[0]  # click's UsageError, wherever this typer has its click
NAME = 'name = "unnamed"\n'
WORKLOAD = '\n[[workload]]\nkind = "fileio"\n'
ASKED_OF_SERVERS = {"mysql", "postgres"}  # families of knobs that only a server can name
NOT_PROSE = {"decisions", "generator", "project", "reference"}

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*(\S*)[^\n]*\n(.*?)^ {0,3}\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`]*`")
_SPAN = re.compile(r"`(paribus [^`]+)`")
_LINK = re.compile(r"\]\(<?([^)>\s]+)")
_SHELL_OPERATOR = re.compile(r"[|&;<>]+")
_ASSIGNMENT = re.compile(r"[A-Z_]+=.*")


@dataclass(frozen=True)
class Block:
    """A fenced block of a document, with its language and its line."""

    path: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"


def _documents() -> list[Path]:
    paths = [*ROOT.glob("README*.md"), *DOCS.rglob("*.md")]
    return sorted(path for path in paths if not NOT_PROSE.intersection(path.relative_to(ROOT).parts))


def _blocks(path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        yield Block(path, text.count("\n", 0, match.start()) + 1, match[2], match[3])


def _all_blocks(language: str) -> list[Block]:
    return [block for path in _documents() for block in _blocks(path) if block.language == language]


def _commands(text: str) -> Iterator[list[str]]:
    """The arguments of every `paribus` command in a shell text."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|&;<>")
        lexer.whitespace_split = True
        command: list[str] = []
        for token in [*lexer, ";"]:
            if not _SHELL_OPERATOR.fullmatch(token):
                command.append(token)
                continue
            while command and (command[0] == "sudo" or _ASSIGNMENT.fullmatch(command[0])):
                command = command[1:]
            if command and Path(command[0]).name == "paribus":
                yield command[1:]
            command = []


def _parse_command(arguments: list[str], *, whole: bool = True) -> None:
    """Parse a command line as the program does, without running it; unless `whole`, arguments may be missing.

    Raises:
        CommandLineError: There is no such command or option, or an argument is missing or wrong.
    """
    if arguments and arguments[0].startswith("-"):
        unknown = {*arguments} - {"--help", *(option for parameter in COMMAND.params for option in parameter.opts)}
        if unknown:
            raise CommandLineError(f"no such option: {', '.join(unknown)}")
        return
    command, context, words = COMMAND, COMMAND.context_class(COMMAND, info_name="paribus"), arguments
    while hasattr(command, "commands"):
        if not words:
            raise CommandLineError("a command is missing")
        name, command, words = command.resolve_command(context, list(words))
        context = command.context_class(command, info_name=name, parent=context)
    try:
        command.make_context(context.info_name, list(words), parent=context.parent)
    except CommandLineError as error:
        if whole or type(error).__name__ != "MissingParameter":
            raise


def _is_plan(text: str) -> bool:
    """Whether a TOML text is a plan or a part of one, rather than import rules, claims or a project file."""
    tables = {"target", "database", "factors", "hold", "combination", "event", "workload", "protocol", "limits"}
    return bool(tables & tomllib.loads(text).keys())


def _is_rows(text: str) -> bool:
    """Whether a TOML text is a file of knobs."""
    return all(isinstance(row, dict) and {"get", "summary"} <= row.keys() for row in tomllib.loads(text).values())


def _plan_problems(text: str) -> tuple[Problem, ...]:
    """Problems of form of a plan; a part of one is completed with a name and a workload."""
    document = tomllib.loads(text)
    completed = ("" if "name" in document else NAME) + text + ("" if "workload" in document else WORKLOAD)
    return parse("document", completed, {}).problems


def _unknown_keys(text: str) -> list[str]:
    """Settings of a plan that are neither a knob nor a parameter of a kind of workload."""
    document = tomllib.loads(text)
    combined = [combination["settings"] for combination in document.get("combination", [])]
    keys = [key for table in (document.get("factors", {}), document.get("hold", {}), *combined) for key in table]
    catalogue = load()
    parameters = {
        f"{kind}.{name}" for kind in workload_kinds for name in workload_kinds.get(kind).parameters.model_fields
    }
    return [
        key
        for key in keys
        if key not in parameters and key.partition(".")[0] not in ASKED_OF_SERVERS and catalogue.find(key) is None
    ]


def _missing_targets(path: Path) -> list[str]:
    """Relative links of a document whose file does not exist."""
    prose = _CODE.sub("", _FENCE.sub("", path.read_text(encoding="utf-8")))
    targets = [link.partition("#")[0] for link in _LINK.findall(prose) if not re.match(r"[a-z]+:|#", link)]
    return [target for target in targets if not (path.parent / target).exists()]


@pytest.mark.parametrize("block", _all_blocks("toml"), ids=str)
def test_plans_in_documents_are_valid(block: Block, tmp_path: Path) -> None:
    if _is_plan(block.text):
        assert not _plan_problems(block.text)
        assert not _unknown_keys(block.text)
        return
    file = tmp_path / "document.toml"
    file.write_text(block.text, encoding="utf-8")
    if _is_rows(block.text):
        assert rows_in_file(file)
        return
    (read_claims if "claim" in tomllib.loads(block.text) else read_rules)(file)


@pytest.mark.parametrize("block", _all_blocks("sh"), ids=str)
def test_commands_in_documents_exist(block: Block) -> None:
    for arguments in _commands(block.text):
        _parse_command(arguments)


@pytest.mark.parametrize(("name", "commands"), [("action.yml", 4), ("gitlab-ci.yml", 3)])
def test_commands_for_continuous_integration_exist(name: str, commands: int) -> None:
    def scripts(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            node = list(node.values())
        if isinstance(node, list):
            for each in node:
                yield from scripts(each)
        elif isinstance(node, str):
            yield node

    content = yaml.safe_load((ROOT / "examples/ci" / name).read_text(encoding="utf-8"))
    found = [arguments for text in scripts(content) for arguments in _commands(text) if arguments]
    assert len(found) == commands
    for arguments in found:
        _parse_command(arguments)


@pytest.mark.parametrize("block", _all_blocks("python"), ids=str)
def test_python_in_documents_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    logs = sorted((ROOT / "examples" / "field" / "001-schedulers" / "logs").glob("*.log"))
    Lab("paribus.db").import_(*logs[:4], factor="scheduler", level="deadline")
    Lab("paribus.db").import_(*logs[4:], factor="scheduler", level="noop")
    exec(compile(block.text, str(block), "exec"), {})  # noqa: S102  # of our own documents


@pytest.mark.parametrize("path", _documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_in_prose_exist(path: Path) -> None:
    prose = _FENCE.sub("", path.read_text(encoding="utf-8"))
    for span in _SPAN.findall(prose):
        for arguments in _commands(" ".join(span.split())):
            _parse_command(arguments, whole=False)


@pytest.mark.parametrize("path", _documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_of_documents_have_targets(path: Path) -> None:
    assert not _missing_targets(path)


@pytest.mark.parametrize("path", sorted(set(_documents()) & set(DOCS.rglob("*.md"))), ids=lambda path: path.name)
def test_documents_have_one_title(path: Path) -> None:
    prose = _FENCE.sub("", path.read_text(encoding="utf-8"))
    assert len(re.findall(r"^# ", prose, re.MULTILINE)) == 1


def test_every_decision_is_in_the_index() -> None:
    folder = DOCS / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    assert [page.name for page in sorted(folder.glob("0*.md")) if f"({page.name})" not in index] == []


def test_the_sections_of_the_judging_procedure_that_docstrings_cite_exist() -> None:
    page = (DOCS / "explanation" / "judging-procedure.md").read_text(encoding="utf-8")
    cited = {
        section
        for path in (ROOT / "src").rglob("*.py")
        for section in re.findall(r'judging procedure, "([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert len(cited) > 5
    assert cited <= set(re.findall(r"^## (.+)$", page, re.MULTILINE))


def test_documents_have_something_to_check() -> None:
    assert len(_all_blocks("toml")) > 10
    assert sum(1 for block in _all_blocks("sh") for _ in _commands(block.text)) > 20


@pytest.mark.parametrize(
    "line",
    [
        "paribus rum plan.toml",
        "paribus run plan.toml --fast",
        "paribus report last --format pdf",
        "sudo paribus knobs shew block.scheduler",
        "paribus check",
        "paribus simulate plan.toml --times none | head",
        "paribus --verbose",
        "A=1 paribus undo --dry-run; paribus compare one",
        "paribus apply last \\\n  --dryrun",
    ],
)
def test_a_wrong_command_is_found(line: str) -> None:
    with pytest.raises(CommandLineError):
        for arguments in _commands(line):
            _parse_command(arguments)


@pytest.mark.parametrize(
    "text",
    [
        '[[workload]]\nkind = "fileio"\nblok_size = "16KiB"\n',
        '[[workload]]\nkind = "filio"\n',
        '[protocol]\nmargin = "wide"\n',
        '[target]\npath = "/data"\nallow_everything = true\n',
    ],
)
def test_a_wrong_plan_is_found(text: str) -> None:
    assert _is_plan(text)
    assert _plan_problems(text)


def test_a_wrong_factor_is_found() -> None:
    text = '[factors]\n"block.sheduler" = ["none"]\n"fileio.direkt" = [true]\n"vm.swappiness" = [1]\n'
    assert _unknown_keys(text) == ["block.sheduler", "fileio.direkt"]


@pytest.mark.parametrize("text", ["levels = 3\n", "[[rule]]\npaht = 'x'\n", "[[claim]]\nclaim = 'maybe'\n"])
def test_wrong_rules_and_claims_are_found(text: str, tmp_path: Path) -> None:
    assert not _is_plan(text)
    with pytest.raises(ParibusError):
        test_plans_in_documents_are_valid(Block(ROOT / "none.md", 1, "toml", text), tmp_path)


def test_a_link_without_target_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[there](page.md#title) [gone](gone.md) [out](https://example.org) `[x](y.md)`", encoding="utf-8")
    assert _missing_targets(page) == ["gone.md"]
