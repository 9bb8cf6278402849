"""Somebody sets what no trial sets, while an experiment goes on: the report says it."""

from pathlib import Path

from command import RUN_ENDED, Running, queue_of, run_paribus


def test_a_setting_that_somebody_changes_half_way_is_told_with_its_trials(plan, loop: str) -> None:
    requests = queue_of(loop) / "read_ahead_kb"
    before = requests.read_text().strip()
    running = Running("run", plan(target=f'device = "{loop}"', trial="200ms"))
    running.wait_for("trial 9")
    requests.write_text("64")
    done = running.end()
    assert done.code in RUN_ENDED, done.err
    found = run_paribus("report", "last", "--json").json["conditions"]
    (name,) = found["differed"]
    values = {held["value"]: held["trials"] for held in found["differed"][name]}
    assert (name, set(values)) == ("block.read_ahead_kb", {before, "64"})
    assert max(values[before]) < min(values["64"])
    assert sorted(values[before] + values["64"]) == found["trials"]
    assert found["same"]["vm.swappiness"] == Path("/proc/sys/vm/swappiness").read_text().strip()
    page = run_paribus("report", "last").out
    assert f"block.read_ahead_kb was {before} in trials" in " ".join(page.split())


def test_an_experiment_in_peace_says_that_nothing_differed(plan) -> None:
    assert run_paribus("run", plan()).code in RUN_ENDED
    assert run_paribus("report", "last", "--json").json["conditions"]["differed"] == {}
    assert "Uncontrolled differences between trials: no drift:" in " ".join(run_paribus("report", "last").out.split())
