"""`paribus fleet report` on scripted experiments of several machines, in every form."""

import json
import re
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked, simple
from typer.testing import CliRunner, Result

from paribus.cli.main import app
from paribus.store.open import open_engine, store_url

PROTOCOL = '[protocol]\nbudget = "8h"\nrounds = 4\nmethod = "fixed"'
GAINS = {"db1": 0.06, "db2": 0.07, "db3": 0.05, "db4": 0.06, "db5": -0.10}
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five machines, of which one has another kernel and answers otherwise; the first was asked twice."""
    file = tmp_path_factory.mktemp("fleet") / "s.db"
    opened = open_engine(store_url(str(file)), create=True)
    for host, gain in (*GAINS.items(), ("db1", 0.06)):
        text = simple('"vm.swappiness" = [60, 1]', FILEIO, PROTOCOL).replace('"n"', f'"{host}"')
        machine = {"host": host, "kernel": "5.10" if host == "db5" else "6.1", "memory": "64GiB"}
        plan = checked(text)
        scripted.carry_out(opened, plan, lambda trial, gain=gain: gain * (trial.arm == "1"), machine, wobble=0.01)  # type: ignore[misc]
    opened.dispose()
    return file


def _fleet(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["fleet", "report", *arguments, "--store", str(store)], env={"COLUMNS": "200"})


def test_the_report_has_the_mean_the_next_machine_and_who_answers_otherwise(store: Path) -> None:
    done = _fleet(store, *GAINS)
    assert done.exit_code == 0, done.output
    assert "1 effect on 5 machines: db1, db2, db3, db4, db5" in done.output
    assert "vm.swappiness: 1 instead of 60 (fileio, throughput)" in done.output
    assert "from machine to machine the effect varies by" in done.output
    assert "expected of the next machine of this kind: between" in done.output
    assert "margin ±" in done.output and "confidence 95 %" in done.output
    assert "db5 answers otherwise; of all machines it alone has kernel 5.10" in done.output


def test_machines_that_agree_give_a_verdict_in_markdown_and_json(store: Path, tmp_path: Path) -> None:
    names = [*GAINS][:4]
    written = tmp_path / "fleet.md"
    assert _fleet(store, *names, "-o", str(written)).exit_code == 0
    text = written.read_text()
    assert "**better**, +6" in text
    document = json.loads(_fleet(store, *names, "--json").stdout)
    [effect] = document["effects"]
    assert effect["verdict"] == "better"
    assert effect["mean"]["low"] < 0.06 < effect["mean"]["high"]
    assert [machine["machine"] for machine in document["machines"]] == names


def test_the_report_is_told_in_chinese(store: Path) -> None:
    told = _fleet(store, *GAINS, "--lang", "zh").output
    assert len(CHINESE.findall(told)) > 40
    assert "instead of" not in told and "next machine" not in told and "margin" not in told


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["db1", "db2"], "fewer than 3 machines do not tell how much machines differ"),
        (["db1", "db2", "db2"], "is named twice"),
        (["db1", "db2", "db9"], "there is no experiment 'db9'"),
    ],
)
def test_experiments_that_are_no_fleet_are_refused(store: Path, names: list[str], message: str) -> None:
    done = _fleet(store, *names)
    assert done.exit_code != 0
    assert message in str(done.exception)


def test_experiments_of_one_machine_are_refused(store: Path) -> None:
    listed = CliRunner().invoke(app, ["status", "--json", "--store", str(store)])
    ids = [each["id"] for each in json.loads(listed.stdout)["experiments"]]
    done = _fleet(store, ids[0], ids[-1], "db2")
    assert "were made on one machine, db1" in str(done.exception)


def test_the_page_has_a_plot_with_each_machine_the_mean_and_the_next_and_no_script(store: Path, tmp_path: Path) -> None:
    written = tmp_path / "fleet.html"
    done = _fleet(store, *GAINS, "-o", str(written))
    assert done.exit_code == 0 and f"report: {written}" in done.stdout
    page = written.read_text()
    assert page.count('class="dot"') == len(GAINS) + 1
    assert page.count('class="bar"') == len(GAINS) + 2
    assert "mean over machines" in page and "next machine" in page and "db5 answers otherwise" in page
    assert "<script" not in page and "script-src &#39;none&#39;" in page


def test_names_of_machines_are_escaped_on_the_page(store: Path, tmp_path: Path) -> None:
    opened = open_engine(store_url(str(tmp_path / "s.db")), create=True)
    for host in ("<b>1", "<b>2", "<b>3"):
        plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, PROTOCOL).replace('"n"', f'"{host}"'))
        scripted.carry_out(opened, plan, lambda _: 0.0, {"host": host}, wobble=0.01)
    opened.dispose()
    written = tmp_path / "fleet.html"
    assert _fleet(tmp_path / "s.db", "<b>1", "<b>2", "<b>3", "-o", str(written)).exit_code == 0
    assert "<b>" not in written.read_text() and "&lt;b&gt;1" in written.read_text()


def test_forms_without_a_fleet_report_are_refused(store: Path) -> None:
    assert "a fleet has no report as junit" in str(_fleet(store, *GAINS, "-o", "fleet.xml").exception)
