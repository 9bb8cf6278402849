"""The documentation site builds, and its reference is complete and what the code generates."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))

import conf  # noqa: E402  docs/conf.py
import generate  # noqa: E402  docs/generate.py, which `make reference` runs
from generator import (  # noqa: E402
    command_line,
    environment_page,
    exit_codes_page,
    json_page,
    markdown,
    plan_sections,
    schema_types,
    texts,
)

from paribus.cli.commands.schema import Document  # noqa: E402
from paribus.export.tables import TABLES, ExportTable  # noqa: E402
from paribus.imports.claims import Claims, ClaimTable, PercentageTable  # noqa: E402
from paribus.imports.rules import Rule, Rules  # noqa: E402
from paribus.knobs.catalog import load  # noqa: E402

KEYS = [key for section in plan_sections.sections() for key in section.listed_keys()]
# What a table of the plan needs beside the key of an example.
NEEDED: dict[str, str] = {
    "": 'name = "any"\nworkload = [{ kind = "fileio" }]',
    "database": 'kind = "mariadb"',
    "load": 'host = "local"',
    "target.bound": 'path = "/srv/test"',
    "knob": 'get = ["x"]\nset = ["x", "{value}"]\npattern = "(.*)"\nlevels = ["a"]\nsummary = "any"',
    "member": 'get = ["x"]\npattern = "(.*)"\nsummary = "any"\nfail = ["x"]\nreplace = ["x"]\nwhole = "a"\n'
    'rebuilding = ["b"]\naffects = ["raid.state"]',
    "health": 'get = ["x", "{device}"]\npattern = "(.*)"\nsummary = "any"',
    "event": 'at = "1s"\ndo = "trim"',
    "combination": 'name = "any"\nsettings = { "vm.swappiness" = 1 }',
    "workload": 'kind = "fileio"',
    "fileio": 'kind = "fileio"',
    "iomatrix": 'kind = "iomatrix"',
    "oltp": 'kind = "oltp_read_write"',
    "tpcc": 'kind = "tpcc"',
    "sqlmix": 'kind = "sqlmix"\ntransactions = [{ name = "any", statements = [{ sql = "SELECT 1" }] }]',
    "sqlmix.rows": 'count = 1\ninsert = "INSERT INTO t VALUES (1)"',
    "sqlmix.transactions": 'name = "any"\nstatements = [{ sql = "SELECT 1" }]',
    "sqlmix.statements": 'sql = "SELECT 1"',
    "fio": 'kind = "fio"',
    "pgbench": 'kind = "pgbench"',
    "hammerdb": 'kind = "hammerdb"\nhome = "/opt/HammerDB"',
    "sysbench": 'kind = "sysbench"\ntest = "cpu"',
    "command": 'kind = "command"\nrun = ["load"]\nthroughput = "(?P<value>[0-9]+)"',
}
GENERATORS = ("int", "float", "text", "digits", "choice", "sequence", "same", "null")


def _reference(name: str) -> str:
    return (DOCS / "reference" / name).read_text(encoding="utf-8")


def _headings(name: str) -> set[str]:
    return {line.lstrip("# ").replace("\\", "") for line in _reference(name).splitlines() if line.startswith("#")}


@pytest.mark.parametrize("name", generate.PAGES)
def test_pages_are_of_this_code(name: str) -> None:
    assert _reference(name) == generate.PAGES[name](), "run: make reference"


def test_there_are_no_other_pages() -> None:
    assert {path.name for path in (DOCS / "reference").iterdir()} == set(generate.PAGES)


def test_every_plan_key_has_an_entry() -> None:
    """The keys come from the JSON Schema, not from the generator."""
    schema = json_page.schema_of("plan")
    written = {name for definition in [schema, *schema["$defs"].values()] for name in definition["properties"]}
    assert {heading.rpartition(".")[2] for heading in _headings("plan.md")} >= written
    assert {key.name for key in KEYS} <= _headings("plan.md")


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_plan_keys_have_a_meaning(key: plan_sections.Key) -> None:
    entry = _reference("plan.md").partition(f"\n### {markdown.literal(key.name)}\n")[2].partition("\n#")[0]
    meaning = entry.split("\n\n")[1]
    assert re.match(r"[A-Z`]", meaning)
    assert meaning.endswith(".")


def test_texts_of_plan_keys_belong_to_keys() -> None:
    shared = {f"files.{key.name.partition('.')[2]}" for key in KEYS if key.name.startswith("iomatrix.")}
    assert set(texts.plan_keys()) <= {key.name for key in KEYS} | shared


@pytest.mark.parametrize("section", plan_sections.sections(), ids=lambda section: section.prefix or "top")
def test_examples_of_plan_keys_are_accepted(section: plan_sections.Section) -> None:
    needed = tomllib.loads(NEEDED.get(section.prefix, ""))
    for key in section.listed_keys():
        name = key.name.rpartition(".")[2]
        entry = texts.plan_keys().get(key.name) or texts.plan_keys()[f"files.{name}"]
        example = tomllib.loads(entry["example"])
        if section.prefix == "sqlmix":
            example = example.get("workload", example)
        assert name in example, key.name
        either = {"pattern"} if "json" in example and section.prefix in ("knob", "health", "member") else set()
        either |= {"host"} if "hosts" in example else set()
        whole = {**_without_generator(section, needed), **_with_generator(section, example)}
        section.model.model_validate({key: value for key, value in whole.items() if key not in either})


def _without_generator(section: plan_sections.Section, needed: dict[str, Any]) -> dict[str, Any]:
    return {} if section.prefix == "sqlmix.arguments" else needed


def _with_generator(section: plan_sections.Section, example: dict[str, Any]) -> dict[str, Any]:
    """An argument has exactly one generator."""
    if section.prefix == "sqlmix.arguments":
        assert len(example.keys() & set(GENERATORS)) == 1
    return example


def test_every_knob_has_an_entry() -> None:
    assert {knob.name for knob in load()} <= _headings("knobs.md")


def test_every_command_has_an_entry() -> None:
    help_text = subprocess.run(
        [sys.executable, "-m", "paribus.cli.main", "--help"], capture_output=True, text=True, check=True
    ).stdout
    listed = re.findall(r"^  ([a-z]+)  ", help_text.partition("Commands:")[2], re.MULTILINE)
    described = {heading.split()[1] for heading in _headings("commands.md") if heading.startswith("paribus ")}
    assert len(listed) > 10
    assert set(listed) == described
    manual = _reference("paribus.1")
    names = [command.name.replace("-", r"\-") for command in command_line.commands()]
    assert all(f'.SS "paribus {name}"' in manual for name in names)


def test_every_exit_code_is_described() -> None:
    codes = {error.exit_code for error in exit_codes_page.error_classes()}
    ends = re.findall(r"exit\((\d+)\)|BrokenPipeError\) \B|\b(141)\b", _source("cli/main.py"))
    codes |= {int(code) for match in ends for code in match if code}
    assert codes <= exit_codes_page.MEANINGS.keys()
    assert all(f"| {code} |" in _reference("exit-codes.md") for code in codes)


def _source(name: str) -> str:
    return (ROOT / "src" / "paribus" / name).read_text(encoding="utf-8")


def test_every_environment_variable_is_described() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "engine" / "src").rglob("*.rs"), *(ROOT / "tests").rglob("*.py")]
    named = {name for path in files for name in re.findall(r"PARIBUS_[A-Z_]+", path.read_text(encoding="utf-8"))}
    described = environment_page.VARIABLES.keys() | environment_page.TESTS.keys()
    assert named == described


def test_every_json_document_is_described() -> None:
    assert {document.value for document in Document} == {"plan", *json_page.DOCUMENTS}


@pytest.mark.parametrize("document", [name for name, command in json_page.DOCUMENTS.items() if command])
def test_fields_of_printed_documents_have_a_meaning(document: str) -> None:
    common = texts.json_fields()["common"]
    for name, schema in json_page.objects_of(document):
        own, fields = texts.json_fields().get(f"{document}.{name}", {}), schema.get("properties", {})
        described = {field for field, described in fields.items() if "description" in described}
        assert fields.keys() <= own.keys() | common.keys() | described, name
        assert own.keys() <= fields.keys(), name


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_exported_columns_have_a_meaning(table: ExportTable) -> None:
    own = texts.export_columns()[table.name]
    columns = {column.name for column in table.columns}
    assert own.keys() <= columns <= own.keys() | texts.export_columns()["common"].keys()


@pytest.mark.parametrize(
    ("name", "model"),
    [("Rules", Rules), ("Rule", Rule), ("Claims", Claims), ("Claim", ClaimTable), ("Change", PercentageTable)],
)
def test_keys_of_rules_and_claims_are_described(name: str, model: type[BaseModel]) -> None:
    keys = {field.alias or name for name, field in model.model_fields.items()}
    assert texts.import_keys()[name].keys() == keys


@pytest.mark.parametrize(("name", "model"), [("import-rules", Rules), ("import-claims", Claims)])
def test_examples_of_rules_and_claims_are_accepted(name: str, model: type[BaseModel]) -> None:
    examples = re.findall(r"```toml\n(.*?)```", texts.introduction(name), re.DOTALL)
    assert len(examples) == 1
    model.model_validate(tomllib.loads(examples[0]))


@pytest.mark.parametrize("page", ["groff -ww -b -man -Tutf8", "man --warnings -l"])
def test_the_manual_page_is_sound(page: str) -> None:
    program, *options = page.split()
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    completed = subprocess.run(
        [program, *options, str(DOCS / "reference" / "paribus.1")], capture_output=True, text=True, check=True
    )
    assert completed.stderr == ""
    assert "PARIBUS(1)" in completed.stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [("what is judged", "What is judged."), ("`sync`: threads", "`sync`: threads."), ("Why?", "Why?"), ("", "")],
)
def test_sentences_are_completed(text: str, expected: str) -> None:
    assert markdown.sentence(text) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "text"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "whole number, or null"),
        ({"type": ["string", "number"], "examples": ["60s", "4h"]}, "duration"),
        ({"type": "array", "items": {"$ref": "#/$defs/Trial"}}, "list of [Trial]"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "table from name to number"),
        ({"enum": ["a", "b"]}, "one of `a`, `b`"),
        ({}, "any value"),
    ],
)
def test_types_are_named(schema: dict[str, Any], expected: str) -> None:
    assert schema_types.type_name(schema, lambda name: f"[{name}]") == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[a](../../README.md)", "[a](../index.md)"),
        ("[a](../../ARCHITECTURE.md#parts)", "[a](../project/ARCHITECTURE.md#parts)"),
        ("[a](../reference/plan.md#name)", "[a](../reference/plan.md#name)"),
        ("[a](../../examples/first.toml)", "[a](path:../../examples/first.toml)"),
        ("[a](../../examples)", "a"),
        ("[a](missing.md)", "[a](missing.md)"),
        ("[a](https://example.org/x)", "[a](https://example.org/x)"),
        ("![a](../images/report.png)", "![a](../images/report.png)"),
    ],
)
def test_links_to_files_outside_of_the_site_are_adapted(link: str, expected: str) -> None:
    assert conf.site_links(link, "docs/how-to", "docs/how-to") == expected
