"""Other people's logs and tables, from the command line to the report."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from command import Done, run_paribus

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "parsers"
FIELD = ROOT / "examples" / "field"
LOGS = FIELD / "001-schedulers" / "logs"
CLAIMS = """
[[claim]]
id = "faster"
factor = "scheduler"
claim = "better"
better_level = "noop"
statement = "noop is faster"
[[claim]]
id = "other"
factor = "raid"
claim = "better"
better_level = "10"
"""

pytestmark = pytest.mark.usefixtures("own_folders")


@pytest.fixture
def paribus() -> Callable[..., Done]:
    return run_paribus


def _logs(*numbers: int) -> list[str]:
    return [str(LOGS / f"001-{number:02}.log") for number in numbers]


@pytest.mark.gate
def test_two_levels_become_one_set_with_the_usual_report(paribus: Callable[..., Done], tmp_path: Path) -> None:
    first = paribus("import", *_logs(1, 2, 3, 4), "--factor", "scheduler", "--level", "deadline")
    assert first.code == 0, first.err
    assert "has one level so far" in first.out
    second = paribus("import", *_logs(5, 6, 7, 8), "--factor", "scheduler", "--level", "noop", "--json")
    document = second.json
    jsonschema.validate(document, json.loads((ROOT / "schema" / "import.json").read_text()))
    assert document["factors"] == {"scheduler": ["deadline", "noop"]}
    assert all(file["kept"] for file in document["files"])
    report = paribus("report", "last", "--json").json
    jsonschema.validate(report, json.loads((ROOT / "schema" / "report.json").read_text()))
    whole = [e for e in report["effects"] if e["load"] is None and e["verdict"]]
    assert len(whole) == 4
    assert {e["verdict"] for e in whole} == {"undecided"}
    assert whole[0]["percent"]["estimate"] == pytest.approx(1.77, abs=0.02)
    assert len(report["sources"]) == 8
    claims = tmp_path / "claims.toml"
    claims.write_text(CLAIMS)
    page = tmp_path / "r.html"
    shown = paribus("report", "--claims", str(claims), "--format", "html", "-o", str(page))
    assert shown.code == 0, shown.err
    assert "Claims beside the numbers" in page.read_text()
    text = paribus("report", "--claims", str(claims)).out
    assert "one run of each: no noise floor" in text
    assert "untestable" in text
    chinese = paribus("report", "--claims", str(claims), "--lang", "zh", "--format", "markdown").out
    assert "Claims" not in chinese


def test_the_same_again_counts_nothing_twice(paribus: Callable[..., Done]) -> None:
    named = (*_logs(1, 2), "--factor", "scheduler", "--level", "deadline")
    paribus("import", *named)
    again = paribus("import", *named)
    assert again.code == 0
    assert again.out.count("already there:") == 2
    assert paribus("report", "--json").json["trials"] == {"done": 2}


def test_dry_run_stores_nothing(paribus: Callable[..., Done]) -> None:
    shown = paribus("import", str(LOGS), "--dry-run")
    assert shown.code == 0, shown.err
    assert "nothing is kept" in shown.out
    assert "no experiment yet" in paribus("status").out


def test_every_format_of_the_parsers_is_imported_and_reported(paribus: Callable[..., Done]) -> None:
    done = paribus("import", str(GOLDEN), "--name", "all", "--json")
    assert done.code == 0, done.err
    kept = {file["format"] for file in done.json["files"] if file["kept"]}
    assert {"sysbench", "fio", "iostat", "vmstat", "table"} <= kept
    for form in ("text", "markdown", "json"):
        shown = paribus("report", "all", "--format", form)
        assert shown.code == 0, shown.err


@pytest.mark.gate
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("nowhere.log",), 2, "there is no file nowhere.log"),
        ((str(LOGS), "--factor", "x"), 2, "must be given together"),
        ((str(LOGS), "--format", "sysbensh"), 2, "did you mean"),
        ((str(ROOT / "LICENSE"),), 3, "have no run that can be read"),
        ((str(LOGS), "--into", "nothing"), 2, "the store holds no experiment"),
    ],
)
def test_mistakes_are_told(paribus: Callable[..., Done], arguments: tuple[str, ...], code: int, said: str) -> None:
    done = paribus("import", *arguments)
    assert done.code == code
    assert said in done.err


def test_a_file_that_is_no_log_among_others_ends_with_3(paribus: Callable[..., Done]) -> None:
    done = paribus("import", *_logs(1), str(ROOT / "LICENSE"))
    assert done.code == 3
    assert "not read: " in done.out
    assert paribus("report", "--json").json["trials"] == {"done": 1}


@pytest.mark.parametrize(
    "verb", [("resume", "last"), ("apply", "last", "--dry-run"), ("compare", "last", "001-schedulers")]
)
def test_commands_without_meaning_for_a_set_are_refused(paribus: Callable[..., Done], verb: tuple[str, ...]) -> None:
    paribus("import", *_logs(1), "--name", "001-schedulers")
    paribus("import", *_logs(2), "--name", "other")
    done = paribus(*verb)
    assert done.code == 2
    assert "is an imported set" in done.err


def test_a_set_that_is_exported_and_imported_says_the_same(paribus: Callable[..., Done], tmp_path: Path) -> None:
    for level, numbers in (("deadline", (1, 2, 3, 4)), ("noop", (5, 6, 7, 8))):
        paribus("import", *_logs(*numbers), "--factor", "scheduler", "--level", level)
    before = paribus("report", "--json").json
    assert paribus("export", "last", "-o", str(tmp_path / "out")).code == 0
    done = paribus("import", str(tmp_path / "out"), "--name", "again")
    assert done.code == 0, done.err
    after = paribus("report", "again", "--json").json
    assert after["experiment"] != before["experiment"]
    names = ("factor", "arm", "workload", "load", "metric", "mean")
    cells = [sorted(tuple(cell[name] for name in names) for cell in one["cells"]) for one in (before, after)]
    assert cells[0] == cells[1]
    effects = [[(e["arm"], e["load"], e["log_ratio"]) for e in one["effects"]] for one in (before, after)]
    assert effects[0] == effects[1]


def test_the_report_of_the_field_is_as_it_is_checked_in() -> None:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, str(FIELD / "run.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"run: make field\n{done.stderr}"


def test_a_file_that_brings_nothing_says_what_it_is_and_where_it_is_not_understood(
    paribus: Callable[..., Done], tmp_path: Path
) -> None:
    macos = tmp_path / "macos.txt"
    macos.write_text("      disk0\n    KB/t  tps  MB/s\n   21.40   31  0.65\n")
    mixed = tmp_path / "mixed.txt"
    lines = (GOLDEN / "iostat" / "extended-12.6.log").read_text(encoding="utf-8").splitlines()
    mixed.write_text("\n".join(f"{machine}: {line}" for line in lines for machine in ("db1", "db2")))
    done = paribus("import", str(macos), str(mixed), "--dry-run")
    assert done.code != 0
    assert "macos.txt is iostat of macOS or of a BSD: of iostat, that of Linux is read" in done.out
    assert "mixed.txt looks like iostat, but has no run that can be read" in done.out
    assert "begins with line 1: db1: Linux" in done.out


def test_missing_parts_of_a_report_are_named(paribus: Callable[..., Done], tmp_path: Path) -> None:
    text = (GOLDEN / "sysbench" / "oltp-0.5.log").read_text(encoding="utf-8")
    short = tmp_path / "short.log"
    short.write_text(text[: text.index("General statistics:")])
    assert "short.log lacks: total time" in paribus("import", str(short), "--dry-run").out
