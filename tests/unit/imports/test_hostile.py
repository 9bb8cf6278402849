"""Sets of damaged logs are stored and reported without an exception, as valid JSON."""

import io
import json
import random
import re
from pathlib import Path

import pytest
from rich.console import Console
from sqlalchemy.engine import Engine

from paribus.imports import pipeline
from paribus.lab.results import reporting
from paribus.lab.store import importing
from paribus.report.render import html, markdown, text
from paribus.store.open import open_engine, store_url

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "parsers"
FORMATS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?")
ODD = [b"NaN", b"inf", b"-5", b"0", b"1e400", b"99999999999999999999999", b"1,234.5", b"", b"\x00", b"\xff\xfe"]


def mutated(rng: random.Random, content: bytes) -> bytes:
    """Return the content truncated, with invalid numbers, shuffled, or with non-text bytes."""
    way = rng.randrange(4)
    if way == 0:
        return content[: rng.randrange(len(content))]
    if way == 1:
        return NUMBER.sub(lambda m: rng.choice(ODD) if rng.random() < 0.1 else m[0], content)
    if way == 2:
        lines = content.splitlines(keepends=True)
        return b"".join(rng.choice(lines) if rng.random() < 0.2 else line for line in lines)
    return b"".join(rng.choice(ODD) + content[at : at + 97] for at in range(0, len(content), 97))


@pytest.fixture
def store(tmp_path: Path) -> Engine:
    return open_engine(store_url(str(tmp_path / "s.db")), create=True)


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_logs_are_reported(store: Engine, tmp_path: Path, format: str) -> None:
    rng = random.Random(f"hostile {format}")
    folder = tmp_path / "logs"
    folder.mkdir()
    for level in ("a", "b"):
        for number, path in enumerate(sorted((GOLDEN / format).iterdir())):
            for version in range(2):
                (folder / f"{level}-{number}-{version}").write_bytes(mutated(rng, path.read_bytes()))
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rule]]\npath = '/(?P<x>[ab])-'\n")
    request = importing.import_request([str(folder)], "", "", rules, name="hostile", baseline="", file_format="")
    outcomes: list[pipeline.ImportOutcome] = []
    contents, experiment = pipeline.carry_out(request, store, None, "0", outcomes.append)
    tally = importing.ImportTally()
    for outcome in outcomes:
        tally.add(outcome)
    json.loads(importing.document(contents, experiment, tally).model_dump_json())
    assert experiment is not None
    document = reporting.report_document(store, experiment).model_dump_json()
    json.loads(document, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    view = reporting.report_view(store, experiment)
    text.render(view, Console(file=io.StringIO(), width=100))
    markdown.render(view)
    if format == "table":  # charts take seconds
        html.render(view)
