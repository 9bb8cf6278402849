"""A plan carried out: what a person gets."""

import dataclasses
import os
import signal
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest
from command import RUN_ENDED, Running
from results import counting_arms, schema

from paribus.analysis.diagnostics.plausibility import stated
from paribus.plausibility import of_cell
from paribus.store import read
from paribus.store.open import open_engine, store_url

ROOT = Path(__file__).parents[3]


@pytest.mark.gate
def test_a_plan_ends_with_verdicts_a_report_and_no_data_left(paribus, plan, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    done = paribus("run", plan(), "--quiet", "--log", str(log), with_report=True)
    assert done.code in RUN_ENDED, done.err
    assert "trial" not in done.err
    assert log.read_text().count(": done\n") >= 32  # and those whose block was made again
    assert "fileio.direct" in done.out
    report = Path(done.out.rsplit("report: ", 1)[1].strip())
    assert "<html" in report.read_text()
    assert not (tmp_path / "paribus-data").exists()
    (listed,) = paribus("status", "--json").json["experiments"]
    assert (listed["name"], listed["state"], listed["planned"]) == ("tiny", "done", 32)


def test_json_is_one_document_that_fits_itsschema(paribus, plan) -> None:
    done = paribus("run", plan(), "--json")
    jsonschema.validate(done.json, schema("report"))
    again = paribus("report", "last", "--json")
    assert again.json == done.json
    jsonschema.validate(paribus("status", "--json").json, schema("status"))
    jsonschema.validate(paribus("check", plan(), "--json").json, schema("check"))


def test_the_doctor_says_what_it_found_and_changes_nothing(paribus, tmp_path: Path) -> None:
    found = paribus("doctor", "--path", str(tmp_path), "--json")
    assert found.code == 0, found.err
    jsonschema.validate(found.json, schema("doctor"))
    states = {one["name"]: one["fitness"] for one in found.json["conditions"]}
    assert states["settings"] == states["path"] == "fit"
    assert found.json["fit"] == ("unfit" not in states.values())
    assert "other load" in paribus("doctor", "--path", str(tmp_path)).out


@pytest.mark.parametrize(
    ("limit", "words"), [("response_p99_s=1us", "the p99 response time was"), ("free_space=900TiB", "are free at")]
)
def test_a_limit_of_the_plan_ends_the_experiment_and_cleans_up(paribus, plan, tmp_path: Path, limit, words) -> None:
    done = paribus("run", plan(trial="1200ms"), "--set", f"limits.{limit}")
    assert done.code == 3
    assert "limit reached: " in done.err
    assert words in done.err
    assert not (tmp_path / "paribus-data").exists()
    assert paribus("status", "--json").json["experiments"][0]["state"] == "failed"


SLOW = """
name = "slow"
[target]
path = "{path}"
[factors]
"kernel.timer_migration" = [1, 0]
[[workload]]
kind = "command"
run = ["/bin/sh", "-c", "sleep 0.5; echo ops: 1000"]
threads = [1]
throughput = 'ops: (?P<value>[0-9.]+)'
[protocol]
trial = "200ms"
settle = "50ms"
budget = "15s"
margin = "10%"
"""
MATRIX = """
name = "matrix"
[target]
path = "{path}"
[[workload]]
kind = "iomatrix"
total_size = "8MiB"
files = 1
threads = [0, 1, 4]
large = [0, 2]
write_share = [0, "50%"]
[protocol]
trial = "100ms"
settle = "10ms"
rounds = 2
"""


def test_a_matrix_is_measured_at_every_point_and_read(paribus, tmp_path: Path) -> None:
    plan = tmp_path / "matrix.toml"
    plan.write_text(MATRIX.format(path=tmp_path))
    done = paribus("run", str(plan), "--json")
    assert done.code == 0, done.err
    jsonschema.validate(done.json, schema("report"))
    (matrix,) = done.json["matrices"]
    points = {(one["write_share"], p["small"], p["large"]): p for one in matrix["series"] for p in one["points"]}
    wanted = {(share, small, large) for share in (0, 0.5) for small in (0, 1, 4) for large in (0, 2) if small or large}
    assert set(points) == wanted
    for (_, small, large), point in points.items():
        measured = point["measured"]
        for name, outstanding in (("small", small), ("large", large)):
            assert (f"{name}_per_s" in measured) == (outstanding > 0)
            assert not outstanding or measured[f"{name}_per_s"]["value"] > 0
    assert "8 KiB random reads" in paribus("report", "last", "--format", "text").out
    assert not (tmp_path / "paribus-data").exists()


def test_a_report_in_every_form(paribus, plan, tmp_path: Path) -> None:
    assert paribus("run", plan()).code in RUN_ENDED
    for form in ("text", "markdown", "html", "json"):
        target = tmp_path / f"report.{form}"
        assert paribus("report", "tiny", "--format", form, "--output", str(target)).code == 0
        assert "fileio.direct" in target.read_text(), form


def test_a_report_is_the_same_in_every_process_and_locale(paribus, plan) -> None:
    assert paribus("run", plan()).code in RUN_ENDED
    environments = [
        {"PYTHONHASHSEED": seed, "LC_ALL": name} for seed, name in (("0", "C"), ("1", "C.UTF-8"), ("77", "POSIX"))
    ]
    answers = {paribus("report", "--format", "json", **env).out for env in environments}
    assert len(answers) == 1


def test_a_report_may_be_named_or_left_out_but_not_both(paribus, plan, tmp_path: Path) -> None:
    named = tmp_path / "r.html"
    contradiction = paribus("run", plan(), "--report", str(named))  # with --no-report, which tests add
    assert contradiction.code == 2
    assert f"--report {named} and --no-report exclude each other; give one of them" in contradiction.err.replace(
        "\n  ", "; "
    )
    done = paribus("run", plan(), "--report", str(named), with_report=True)
    assert done.code in RUN_ENDED, done.err
    assert "<html" in named.read_text()
    again = paribus("run", plan())
    assert again.code in RUN_ENDED, again.err
    assert "report:" not in again.out
    assert list(tmp_path.rglob("*.html")) == [named]


def test_check_touches_nothing_and_lists_every_block(paribus, plan, tmp_path: Path) -> None:
    path = plan()
    before = sorted(tmp_path.iterdir())
    done = paribus("check", path)
    assert done.code == 0
    assert "32 trials in 16 blocks and 2 rounds" in done.out
    assert done.out.count("fileio.direct: ") == 16
    assert sorted(tmp_path.iterdir()) == before


def test_measurements_are_plausible(paribus, plan) -> None:
    """The laws, Little's among them in both directions, which no part of what measures assumes."""
    assert paribus("run", plan(threads="[4]", trial="200ms")).code in RUN_ENDED
    store = open_engine(store_url(None), create=False)
    experiment = read.find(store, "last").id
    measured = read.summaries(store, experiment)
    cells = [
        stated(trial, measured[trial.order]) for trial in read.trials(store, experiment) if trial.order in measured
    ]
    store.dispose()
    assert cells
    assert all(
        cell.closed and {"duration_s", "response_sum_s", "fsyncs_per_s"} <= cell.figures.keys() for cell in cells
    )
    broken = [breach.words for cell in cells for breach in of_cell(dataclasses.replace(cell, think=False))]
    # What is under way when a trial ends is not counted: one that ends in a stall of the disk seems to have less load.
    assert len(broken) <= len(cells) // 10, broken


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_keeps_what_was_measured_and_resume_goes_on(paribus, plan, number: int) -> None:
    path = plan(trial="100ms")
    running = Running("run", path)
    running.wait_for("trial 7")
    time.sleep(0.05)
    running.signal(number)
    running.signal(number)
    ended = running.end()
    assert ended.code == 130
    assert "continue with: paribus resume" in ended.err
    assert "interrupted" in paribus("status").out
    assert paribus("report").code == 0
    resumed = paribus("resume")
    assert resumed.code in RUN_ENDED, resumed.err
    assert set(counting_arms().values()) == {1}
    assert len(counting_arms()) == 32


@pytest.mark.gate
def test_status_says_what_was_cut_off_and_resume_goes_on(paribus, plan) -> None:
    running = Running("run", plan(trial="100ms"))
    running.wait_for("trial 3,", "trial 3 ")
    (one,) = paribus("status", "--json").json["experiments"]
    assert (one["state"], one["cut_off"]) == ("running", False)
    running.signal(signal.SIGKILL)
    assert running.end().code == -signal.SIGKILL
    deadline = time.monotonic() + 20  # for the keeper to find out that it is alone
    while not paribus("status", "--json").json["experiments"][0]["cut_off"] and time.monotonic() < deadline:
        time.sleep(0.2)
    assert f"continue the experiment that was cut off: paribus resume {one['id']}" in paribus("status").out
    assert paribus("resume").code in RUN_ENDED
    assert not paribus("status", "--json").json["experiments"][0]["cut_off"]


def test_an_experiment_is_carried_out_once_at_a_time(paribus, plan) -> None:
    """Also one that changes no setting of the machine."""
    path = plan(trial="200ms")
    running = Running("run", path)
    running.wait_for("trial 1,", "trial 1 ")
    second = paribus("resume", "--anyway")
    assert second.code == 4
    assert "is running on this machine" in second.err
    assert paribus("status", "--json").json["experiments"][0]["state"] == "running"
    assert running.end().code in RUN_ENDED
    assert set(counting_arms().values()) == {1}


@pytest.mark.gate
def test_experiments_on_one_machine_are_refused_or_wait(paribus, plan, monkeypatch, tmp_path: Path) -> None:
    """Also with another state folder, whose journals are elsewhere; the load is small, since others run beside it."""
    path = plan(trial="2s")  # so that the first outlasts all that follows
    beside_others = ("--set", "workload.0.threads=1", "--set", "workload.0.rate=[200]")
    first = Running("run", path, *beside_others)
    first.wait_for("trial 1,", "trial 1 ")
    (one,) = paribus("status", "--json").json["experiments"]
    monkeypatch.setenv("PARIBUS_STATE", str(Path(os.environ["PARIBUS_STATE"]).with_name(f"{tmp_path.name}-other")))
    for refused in (paribus("run", path), paribus("resume")):
        assert refused.code == 3
        assert f"an experiment is running: {one['id']} on this machine;" in refused.err
        assert "with --wait, or beside it with --anyway" in refused.err
    waiting = Running("run", path, "--wait", *beside_others)
    waiting.wait_for(f"paribus: waiting for {one['id']} on this machine")
    assert len(paribus("status", "--json").json["experiments"]) == 1, "nothing was begun"
    beside = Running("run", path, "--anyway", *beside_others, "--store", str(tmp_path / "beside.db"))
    beside.wait_for("trial 1,", "trial 1 ")
    for running in (beside, first):
        running.signal(signal.SIGINT)
        assert running.end().code == 130
    waiting.wait_for("trial 1,", "trial 1 ")


def test_resume_refuses_what_is_done_and_another_plan(paribus, plan, tmp_path: Path) -> None:
    path = plan()
    assert paribus("run", path).code in RUN_ENDED
    done = paribus("resume", "last")
    assert done.code == 2
    assert "is done" in done.err
    Path(path).write_text(Path(path).read_text() + "# changed\n")
    changed = paribus("resume", "last", "--plan", path)
    assert changed.code == 2
    assert "is not the plan of" in changed.err


def test_a_load_that_cannot_be_made_stops_after_three_failures(paribus, plan, tmp_path: Path) -> None:
    """The data is taken away under the program's feet."""
    path = plan(trial="300ms")
    running = Running("run", path)
    running.wait_for("trial 3")
    for file in (tmp_path / "paribus-data").rglob("paribus.*"):
        file.unlink()
    ended = running.end()
    assert ended.code == 3
    assert "3 trials in a row failed" in ended.err
    assert "Traceback" not in ended.err


def test_a_killed_engine_fails_its_trial_and_the_block_is_rerun(paribus, plan) -> None:
    path = plan(trial="200ms")
    running = Running("run", path)
    running.wait_for("trial 3")
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        found = subprocess.run(
            ["pgrep", "--parent", str(running.pid), "--full", "paribus-engine run"],
            capture_output=True,
            text=True,
            check=False,
        )
        if found.stdout:
            os.kill(int(found.stdout.split()[0]), signal.SIGKILL)
            break
    ended = running.end()
    assert ended.code in RUN_ENDED, ended.err
    assert "failed: the engine ended with code -9" in ended.err
    assert set(counting_arms().values()) == {1}


@pytest.mark.gate
@pytest.mark.usefixtures("as_root")
def test_a_budget_stops_an_experiment_that_resumes_with_more(paribus, tmp_path: Path) -> None:
    plan = tmp_path / "slow.toml"
    plan.write_text(SLOW.format(path=tmp_path))
    done = paribus("run", str(plan), "--anyway")
    assert done.code in RUN_ENDED, done.err
    assert "the budget of 15 s is used up before everything can be judged" in done.err
    experiment = paribus("status", "--json").json["experiments"][0]
    assert experiment["state"] == "interrupted"
    command = f"paribus resume {experiment['id']} --budget "
    assert command in done.out
    refused = paribus("resume", "last")
    assert refused.code == 2
    assert command in refused.err
    before = done.out.rsplit("--budget ", 1)[1].split()[0]
    running = Running("resume", "last", "--anyway", "--budget", before)
    running.wait_for("trial ")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert paribus("resume", "last", "--budget", "1s").code == 2
