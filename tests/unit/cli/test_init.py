"""`paribus init`: examples, plans from answers, and files that are not replaced."""

import os
import pty
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paribus import Lab
from paribus.cli.commands import init
from paribus.cli.main import app
from paribus.errors import UsageError
from paribus.knobs.catalog.own_rows import rows_in_file
from paribus.lab.plans import new_plan
from paribus.lab.plans.examples import example_files, example_plans
from paribus.lab.plans.new_plan import FILES, Answers, Subject
from paribus.plan.form.parse import parse

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PACKAGED = ROOT / "src" / "paribus" / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.toml"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _written(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["init", *arguments])
    assert done.exit_code == 0, done.exception
    return done.output


def _refusal(*arguments: str) -> str:
    error = CliRunner().invoke(app, ["init", *arguments]).exception
    assert isinstance(error, UsageError)
    return str(error)


def test_the_package_has_a_link_to_each_example() -> None:
    """A second copy would differ one day."""
    assert [example.name for example in example_plans()] == NAMES
    links = [*PACKAGED.rglob("*.toml")]
    assert all(link.is_symlink() and not link.readlink().is_absolute() for link in links)
    assert {link.resolve() for link in links} == {EXAMPLES / link.relative_to(PACKAGED) for link in links}


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_written_as_it_is_with_its_new_name_in_comments(name: str, folder: Path) -> None:
    output = _written("mine.toml", "--example", name)
    assert output.endswith("check it with: paribus check mine.toml\n")
    written, original = (folder / "mine.toml").read_text(), (EXAMPLES / f"{name}.toml").read_text()
    assert written == original.replace(f"examples/{name}.toml", "mine.toml").replace("examples/knobs/", "knobs/")
    assert tomllib.loads(written) == tomllib.loads(original)
    assert "examples/" not in written
    assert not parse("mine.toml", written, {}).problems


def test_knobs_that_an_example_names_are_written_beside_it(folder: Path) -> None:
    output = _written("lab/raid.toml", "--example", "raid-controller")
    assert "wrote lab/knobs/megaraid.toml\n" in output
    assert rows_in_file(folder / "lab" / "knobs" / "megaraid.toml")
    assert "paribus knobs check lab/knobs/megaraid.toml" in (folder / "lab" / "raid.toml").read_text()
    assert {path.name for path in (folder / "lab").iterdir()} == {"raid.toml", "knobs"}
    (folder / "lab" / "raid.toml").unlink()
    assert _refusal("lab/raid.toml", "--example", "raid-controller").startswith("lab/knobs/megaraid.toml exists")
    assert not (folder / "lab" / "raid.toml").exists()


def test_without_a_terminal_the_simplest_plan_is_written(folder: Path) -> None:
    assert _written() == "wrote plan.toml\ncheck it with: paribus check plan.toml\n"
    assert tomllib.loads((folder / "plan.toml").read_text())["name"] == "first"


def test_a_file_is_replaced_only_by_force(folder: Path) -> None:
    (folder / "plan.toml").write_text("mine")
    assert _refusal() == "plan.toml exists\n  name another file, or add --force to replace it"
    assert (folder / "plan.toml").read_text() == "mine"
    _written("--force")
    assert (folder / "plan.toml").read_text() != "mine"


def test_examples_are_listed_with_their_questions(folder: Path) -> None:
    lines = _written("--list").splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert next(line for line in lines if line.startswith("layouts ")).endswith("  Which layout for four equal disks?")
    assert not list(folder.iterdir())
    assert "did you mean 'tpcc'?" in _refusal("--example", "tpc")
    assert init._examples("sch") == ["scheduler", "scheduler-oltp"]


def test_names_that_would_leave_a_comment_are_refused(folder: Path) -> None:
    assert "cannot be printed" in _refusal("a\nb.toml", "--example", "first")
    _written("a plan.toml", "--example", "first")
    assert "paribus check 'a plan.toml'" in (folder / "a plan.toml").read_text()


@pytest.mark.parametrize(
    ("subject", "database", "factor"),
    [
        (Subject.FILES, FILES, "fileio.direct"),
        (Subject.MACHINE, FILES, "vm.dirty_ratio"),
        (Subject.MACHINE, "postgres", "vm.dirty_ratio"),
        (Subject.DATABASE, "percona", "mysql.innodb_flush_log_at_trx_commit"),
        (Subject.DATABASE, "postgres", "postgres.synchronous_commit"),
        (Subject.SQLITE, "sqlite", "sqlite.journal_mode"),
        (Subject.TOOL, FILES, "process.nofile"),
    ],
)
def test_answers_become_a_plan_with_comments(subject: Subject, database: str, factor: str, folder: Path) -> None:
    answers = Answers(subject=subject, database=database, folder='/da"ta')
    (text,) = new_plan.new_plan(answers, folder / "plan.toml").values()
    assert not parse("plan.toml", text, {}).problems
    document = tomllib.loads(text)
    assert document["target"]["path"] == '/da"ta'
    assert [key for key in document["factors"] if key.startswith(factor)]
    assert document.get("database", {"kind": FILES})["kind"] == database
    assert len(re.findall(r"^#|  # ", text, re.MULTILINE)) > 4


@pytest.mark.parametrize("subject", [Subject.FILES, Subject.SQLITE])
def test_new_plans_pass_their_check(subject: Subject, folder: Path) -> None:
    database = "sqlite" if subject is Subject.SQLITE else FILES
    answers = Answers(subject=subject, database=database, folder=str(folder))
    new_plan.write_plan(new_plan.new_plan(answers, folder / "plan.toml"), force=False)
    assert Lab().check(folder / "plan.toml").rounds >= 2


def test_schedulers_are_those_of_the_disk_the_present_one_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = folder / "sda"
    (disk / "queue").mkdir(parents=True)
    (disk / "sda1").mkdir()
    (disk / "sda1" / "partition").touch()
    (disk / "queue" / "scheduler").write_text("none [bfq] kyber mq-deadline\n")
    monkeypatch.setattr(new_plan, "_BLOCK_DEVICES", folder)
    number = folder.stat().st_dev
    (folder / f"{os.major(number)}:{os.minor(number)}").symlink_to(disk / "sda1")
    assert new_plan._disk_setting(str(folder)) == "block.scheduler=bfq,none,kyber"
    assert new_plan._disk_setting("/nowhere") == "vm.dirty_ratio=20,5"


def test_on_a_terminal_three_questions_are_asked(folder: Path) -> None:
    controller, terminal = pty.openpty()
    os.write(controller, b"9\nfiles\n\n")  # the first answer is none of the choices, the last one the default
    argv = [sys.executable, "-m", "paribus", "init", "new.toml"]
    done = subprocess.run(argv, stdin=terminal, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.lstrip() == "wrote new.toml\ncheck it with: paribus check new.toml\n"
    assert "'9' is none of: files, machine, database, sqlite, tool" in done.stderr
    document = tomllib.loads((folder / "new.toml").read_text())
    assert document["target"] == {"path": "."}
    os.write(controller, b"\x04")
    again = subprocess.run(
        [*argv[:-1], "other.toml"], stdin=terminal, capture_output=True, text=True, check=False, timeout=60
    )
    assert again.returncode == 130
    assert not (folder / "other.toml").exists()
    os.close(controller)
    os.close(terminal)


def test_the_server_that_is_installed_is_offered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_plan, "installed_servers", lambda: ["postgres"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    replies = iter(["database", "", "/data"])
    monkeypatch.setattr("typer.prompt", lambda _text, default, **_options: next(replies) or default)
    init.init(folder / "plan.toml")
    document = tomllib.loads((folder / "plan.toml").read_text())
    assert (document["database"], document["target"]) == ({"kind": "postgres"}, {"path": "/data"})


def test_an_unknown_example_writes_nothing(folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no example 'nothing-like-it'\n  list the examples"):
        example_files("nothing-like-it", folder / "plan.toml")
