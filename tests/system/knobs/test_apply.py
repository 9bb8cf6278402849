"""Better settings are set on a real device, stay, are passed over by runs, and are restored."""

import contextlib
import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
import scripted
from command import RUN_ENDED, Running, queue_of, run_paribus, settings_of
from ssh_target import SshTarget

from paribus.lab.machine.inspection import checked, site_of
from paribus.model import Experiment, Trial
from paribus.plan.form.parse import parse
from paribus.store.open import open_engine, store_url

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]
ROOT = Path(__file__).parents[3]
SIX_BETTER = """
"block.scheduler" = ["none", "mq-deadline"]
"block.rq_affinity" = [1, 2]
"block.read_ahead_kb" = [128, 64]
"block.nomerges" = [0, 2]
"block.iostats" = [1, 0]
"block.nr_requests" = [128, 100]
"""
PLAN = """
name = "told"
[target]
host = "{host}"
path = "{path}"
device = "{device}"
[factors]
{factors}
[[workload]]
kind = "fileio"
total_size = "1MiB"
threads = [1, 4]
[protocol]
trial = "1s"
settle = "100ms"
rounds = 4
margin = "2%"
design = "one-at-a-time"
"""
Effect = Callable[[Trial], float]


def _better(trial: Trial) -> float:
    return 0.0 if trial.baseline or "placebo" in trial.factor else 0.06


def _told(
    loop: str, tmp_path: Path, factors: str, effect: Effect = _better, host: str = "local", **measured: str
) -> Experiment:
    """An experiment on a machine, as its plan is checked there, whose trials were never made."""
    text = PLAN.format(path=tmp_path, device=loop, factors=factors, host=host)
    parsed = parse("plan.toml", text, {})
    with site_of(parsed) as site:
        plan, facts = checked(site, parsed)
    store = open_engine(store_url(None), create=True)
    found = scripted.carry_out(store, plan, effect, {**facts.fingerprint, **measured})
    store.dispose()
    return found


def _value(loop: str, name: str) -> str:
    text = (queue_of(loop) / name).read_text().strip()
    return text.partition("[")[2].partition("]")[0] or text


def test_better_settings_are_set_and_stay_until_undone(paribus, plan, loop: str, tmp_path: Path) -> None:
    before = settings_of(loop)
    told = _told(loop, tmp_path, '"block.rq_affinity" = [1, 2]\n"block.scheduler" = ["none", "mq-deadline"]')
    shown = paribus("apply", "told", "--dry-run")
    assert shown.code == 0, shown.err
    assert "block.scheduler: now none, then mq-deadline" in shown.out
    assert f"echo mq-deadline > /sys/block/{Path(loop).name}/queue/scheduler" in shown.out
    assert f'KERNEL=="{Path(loop).name}", ATTR{{queue/scheduler}}="mq-deadline"' in shown.out
    assert "were not measured together" in shown.out
    assert settings_of(loop) == before
    assert "cannot ask whether to" in paribus("apply", "told").err

    done = paribus("apply", "told", "--yes", "--json")
    assert done.code == 0, done.err
    jsonschema.validate(done.json, json.loads((ROOT / "schema" / "apply.json").read_text()))
    assert {"block.scheduler", "block.rq_affinity"} <= {one["knob"] for one in done.json["made"]}
    assert (_value(loop, "scheduler"), _value(loop, "rq_affinity")) == ("mq-deadline", "2")

    status = paribus("status", "--json").json
    jsonschema.validate(status, json.loads((ROOT / "schema" / "status.json").read_text()))
    assert {(one["experiment"], one["applied"], one["running"]) for one in status["open_changes"]} == {
        (told.id, True, False)
    }
    assert f"applied from {told.id}: block.rq_affinity = 2, before 1" in paribus("status").out
    ready = {one["name"]: one["fitness"] for one in paribus("doctor", "--json").json["conditions"]}
    assert ready["settings"] == "fit"

    applied = settings_of(loop)
    assert "is mq-deadline already" in paribus("apply", "told").out
    ran = paribus("run", plan('"block.rq_affinity" = ["current", 0]', f'device = "{loop}"'))
    assert ran.code in RUN_ENDED, ran.err
    assert "block.rq_affinity" in ran.out
    assert settings_of(loop) == applied, "a run restores to what was applied"
    assert paribus("undo", "--dry-run").out.count("back to") >= 2
    undone = paribus("undo")
    assert undone.code == 0, undone.err
    assert settings_of(loop) == before
    assert paribus("undo").out.startswith("no setting is changed")
    assert paribus("status", "--json").json["open_changes"] == []


@pytest.mark.gate
def test_undoing_a_crash_leaves_what_was_applied(paribus, plan, loop: str, tmp_path: Path) -> None:
    before = settings_of(loop)
    _told(loop, tmp_path, '"block.nomerges" = [0, 2]')
    assert paribus("apply", "told", "--yes").code == 0
    running = Running("run", plan('"block.rq_affinity" = [1, 2]', f'device = "{loop}"', trial="200ms"))
    running.wait_for("trial 3")
    _kill_keeper(running.pid)
    running.signal(signal.SIGKILL)
    running.end()
    refused = paribus("apply", "told", "--yes", "--anyway")
    assert refused.code == 4
    assert "paribus undo" in refused.err
    undone = paribus("undo")
    assert undone.code == 0
    assert "what was applied from it stays" in undone.out
    assert (_value(loop, "nomerges"), _value(loop, "rq_affinity")) == ("2", before["rq_affinity"])
    assert paribus("undo").code == 0
    assert settings_of(loop) == before


def test_two_that_were_applied_come_back_to_the_beginning(paribus, loop: str, tmp_path: Path) -> None:
    before = settings_of(loop)
    first = _told(loop, tmp_path, '"block.read_ahead_kb" = [128, 64]')
    assert paribus("apply", first.id, "--yes").code == 0
    second = _told(loop, tmp_path, '"block.read_ahead_kb" = [64, 32]')
    assert paribus("apply", second.id, "--yes").code == 0
    assert _value(loop, "read_ahead_kb") == "32"
    assert paribus("undo").code == 0
    assert settings_of(loop) == before


def test_rounded_value_undoes_all_settings(paribus, loop: str, tmp_path: Path) -> None:
    before = settings_of(loop)
    _told(loop, tmp_path, '"block.rq_affinity" = [1, 2]\n"block.read_ahead_kb" = [128, 66]')
    done = paribus("apply", "told", "--yes")
    assert done.code == 3
    assert "block.read_ahead_kb was rounded: wanted 66, found 64" in done.err
    assert settings_of(loop) == before
    assert paribus("status", "--json").json["open_changes"] == []


def test_settings_that_are_not_better_are_not_set(paribus, loop: str, tmp_path: Path) -> None:
    drawn = random.Random(1)
    effects = {"block.rq_affinity": lambda: 0.0, "block.nomerges": lambda: drawn.gauss(0, 0.3)}

    def effect(trial: Trial) -> float:
        return effects.get(trial.factor, lambda: 0.0)()

    before = settings_of(loop)
    _told(loop, tmp_path, '"block.rq_affinity" = [1, 2]\n"block.nomerges" = [0, 2]', effect)
    everything = paribus("apply", "told", "--yes")
    assert (everything.code, settings_of(loop)) == (0, before)
    assert "block.rq_affinity: keep 1" in everything.out
    assert "nothing is to be set" in everything.out
    kept = paribus("apply", "told", "--factor", "block.rq_affinity", "--yes")
    assert (kept.code, settings_of(loop)) == (0, before)
    refused = paribus("apply", "told", "--factor", "block.nomerges", "--yes", "--anyway")
    assert (refused.code, settings_of(loop)) == (3, before)
    assert "pairs instead of" in " ".join(refused.err.split())
    unknown = paribus("apply", "told", "--factor", "block.nothing", "--yes")
    assert unknown.code == 2
    assert "block.nomerges" in unknown.err


def test_another_machine_is_refused_with_what_differs(paribus, loop: str, tmp_path: Path) -> None:
    before = settings_of(loop)
    _told(loop, tmp_path, '"block.nomerges" = [0, 2]', cpu="another processor", device_size="4 KiB")
    refused = paribus("apply", "told", "--yes")
    assert (refused.code, settings_of(loop)) == (3, before)
    assert "cpu: measured another processor, here " in refused.err
    assert "device_size: measured 4 KiB, here 64 MiB" in refused.err
    assert paribus("apply", "told", "--yes", "--anyway").code == 0
    assert _value(loop, "nomerges") == "2"
    assert paribus("undo").code == 0
    assert settings_of(loop) == before


def test_manual_steps_are_listed_and_machine_settings_are_set(paribus, loop: str, tmp_path: Path) -> None:
    factors = '"fileio.direct" = [false, true]\n"process.load.cpus" = ["default", "0"]\n"block.nomerges" = [0, 2]'
    _told(loop, tmp_path, factors)
    done = paribus("apply", "told", "--yes")
    assert done.code == 0, done.err
    assert "fileio.direct = True: by hand" in done.out
    assert "CPUAffinity=0" in done.out
    assert _value(loop, "nomerges") == "2"


@pytest.mark.parametrize(("answer", "value"), [("n", "0"), ("y", "2")])
def test_a_person_is_asked(loop: str, tmp_path: Path, answer: str, value: str) -> None:
    _told(loop, tmp_path, '"block.nomerges" = [0, 2]')
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "paribus.cli.main", "apply", "told"]
    process = subprocess.Popen(command, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.write(leader, f"{answer}\n".encode())
    out, err = process.communicate(timeout=60)
    os.close(leader)
    os.close(follower)
    assert process.returncode == 0, err
    assert "make this setting on local, and leave it so?" in err
    assert ("nothing was set" in out) == (answer == "n")
    assert _value(loop, "nomerges") == value


@pytest.mark.parametrize("end_of_input", [False, True])
def test_an_interrupted_question_sets_nothing(loop: str, tmp_path: Path, end_of_input: bool) -> None:
    _told(loop, tmp_path, '"block.nomerges" = [0, 2]')
    leader, follower = pty.openpty()
    command = [sys.executable, "-u", "-m", "paribus.cli.main", "apply", "told"]
    with subprocess.Popen(
        command,
        stdin=follower,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A background job of a shell ignores Ctrl-C, and so would whatever it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        assert process.stderr is not None
        question = ""
        while "leave it so?" not in question:
            character = process.stderr.read(1)
            assert character, question
            question += character
        if end_of_input:
            os.write(leader, b"\x04")
        else:
            process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60)
        process.kill()
    os.close(leader)
    os.close(follower)
    assert process.returncode == 130
    assert _value(loop, "nomerges") == "0"


def _kill_keeper(parent: int) -> None:
    subprocess.run(["pkill", "-9", "--parent", str(parent), "--full", "paribus-engine journal"], check=False)


@pytest.mark.kills
@pytest.mark.parametrize("keeper_too", [False, True])
def test_killed_at_any_moment_all_is_set_or_nothing(loop: str, tmp_path: Path, keeper_too: bool) -> None:
    """With the keeper killed too, nothing is what undo leaves."""
    before = settings_of(loop)
    told = _told(loop, tmp_path, SIX_BETTER)
    ends = set()
    for lines in (2, 5, 9, 99):
        running = Running("apply", "told", "--yes", "--anyway")
        journal = Path(os.environ["PARIBUS_STATE"]) / "journal" / f"{told.id}.jsonl"
        while running.goes_on() and not (journal.exists() and journal.read_bytes().count(b"\n") >= lines):
            time.sleep(0.0005)
        if keeper_too:
            _kill_keeper(running.pid)
        running.signal(signal.SIGKILL)
        running.end()
        whole = b'"record":"kept"' in journal.read_bytes() if journal.exists() else False
        if not whole:
            undone = run_paribus("undo")
            assert undone.code == 0, undone.err
            whole = bool(run_paribus("status", "--json").json["open_changes"])  # told to keep as we looked
        if whole:
            assert [_value(loop, name) for name in ("scheduler", "nr_requests", "iostats")] == [
                "mq-deadline",
                "100",
                "0",
            ]
            assert run_paribus("undo").code == 0
        assert settings_of(loop) == before
        ends.add(whole)
        for closed in journal.parent.glob("closed/*"):
            closed.unlink()  # so that the next one has the same name
    assert ends == {True, False}


def test_over_ssh_it_is_set_there(paribus, target: SshTarget, loop: str, tmp_path: Path) -> None:
    """The journal lies there too, and so does the way back."""
    before = settings_of(loop)
    _told(loop, tmp_path, '"block.nomerges" = [0, 2]', host=target.address)
    done = paribus("apply", "told", "--yes")
    assert done.code == 0, done.err
    assert "paribus undo --target ssh://target" in done.out
    assert _value(loop, "nomerges") == "2"
    assert list((target.state / "journal").glob("*.jsonl"))
    assert paribus("undo").out.startswith("no setting is changed")
    assert paribus("undo", "--target", target.address).code == 0
    assert settings_of(loop) == before
