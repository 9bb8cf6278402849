"""Steps of known size at known times, in the courses of trials on a real disk: are they found, when, and how large?

    sudo .venv/bin/python bench/ground_truth/steps.py

In half of the trials an event changes the throttle of the load at a random time, and back after 6 s.
The changes of level that Paribus finds are compared with these steps. Steps within 2 s of each other, or of an
end of the trial, do not occur. Takes eight minutes; needs root and version 1 of control groups.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from paribus.model import Measurement, TrialState
from paribus.stats.change_points import change_points
from paribus.store import read, read_measurements
from paribus.store.open import open_engine, store_url

NEAR_S = 1.5  # a found change belongs to a step at most so far away
PLAN = """
name = "steps"
[target]
path = "{folder}"
[hold]
"cgroup.writes_per_s" = 5000
[factors]
"event.step" = ["off", "on"]
[[event]]
name = "step"
at   = "4s"
do   = "run"
run  = ["{python}", "{program}", "{folder}/steps", "1"]
[[workload]]
kind       = "fileio"
mode       = "rndwr"
engine     = "io_uring"
direct     = true
files      = 1
fsync_every = 0
fsync_at_end = false
block_size = "4KiB"
total_size = "256MiB"
threads    = [4]
[protocol]
trial  = "16s"
settle = "0.5s"
rounds = 2
method = "fixed"
"""


def main() -> int:
    """Run the experiment and print the table; 1 where a step was missed, or noise taken for one."""
    with tempfile.TemporaryDirectory(prefix="paribus-steps-", dir="/var/tmp") as folder:
        plan = Path(folder) / "plan.toml"
        program = Path(__file__).with_name("throttle_step.py")
        plan.write_text(PLAN.format(folder=folder, python=sys.executable, program=program))
        environment = os.environ | {"PARIBUS_STORE": f"{folder}/store.db"}
        command = [sys.executable, "-m", "paribus", "run", str(plan), "--no-report"]
        subprocess.run(command, env=environment, check=False, stdout=subprocess.DEVNULL)
        steps = [json.loads(line) for line in (Path(folder) / "steps").read_text().splitlines()]
        return report(Path(folder) / "store.db", steps)


def report(store: Path, steps: list[dict[str, float]]) -> int:
    """Compare the changes found in each trial with its steps, in the order of time, and print a table."""
    opened = open_engine(store_url(str(store)), create=False)
    name = read.find(opened, "last").id
    trials = sorted((each for each in read.trials(opened, name) if each.started), key=lambda trial: trial.started or 0)
    measured = read.summaries(opened, name)
    courses = read_measurements.series(opened, name, "throughput_per_s", [trial.order for trial in trials])
    opened.dispose()
    stepped = [trial for trial in trials if trial.arm == "on"]
    if len(stepped) != len(steps):
        print(f"{len(stepped)} trials and {len(steps)} steps: a trial was interrupted; try again", file=sys.stderr)
        return 1
    errors: dict[float, list[tuple[float, float] | None]] = {}
    false = 0
    for trial, step in zip(stepped, steps, strict=True):
        if trial.state is not TrialState.DONE:
            continue
        begun_s = measured[trial.order]["event_1_s"].mean
        changes = _changes(courses[trial.order])
        for at_s, ratio in ((step["at_s"], step["ratio"]), (step["back_s"], 1 / step["ratio"])):
            near = [change for change in changes if abs(change[0] - begun_s - at_s) <= NEAR_S]
            changes = [change for change in changes if change not in near]
            size = sum(log_ratio for _, log_ratio in near)
            error = (near[0][0] - begun_s - at_s, math.expm1(size - math.log(ratio))) if near else None
            errors.setdefault(min(ratio, 1 / ratio), []).append(error)
        false += len(changes)
    quiet = [trial for trial in trials if trial.arm == "off" and trial.state is TrialState.DONE]
    false += sum(len(_changes(courses[trial.order])) for trial in quiet)
    print("| step | planted | found | median error of time | largest | median error of size | largest |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for ratio, of_ratio in sorted(errors.items()):
        times, sizes = zip(*[each for each in of_ratio if each] or [(math.nan, math.nan)], strict=True)
        seconds = [f"{of(map(abs, times)):.2f} s" for of in (statistics.median, max)]
        percent = [f"{of(map(abs, sizes)):.1%}" for of in (statistics.median, max)]
        print(f"| {1 - ratio:.1%} | {len(of_ratio)} | {sum(map(bool, of_ratio))} | {' | '.join(seconds + percent)} |")
    print(f"\n{false} other changes in {len(quiet)} trials without a step and {len(stepped)} with one")
    return int(false > 0 or any(each is None for of_ratio in errors.values() for each in of_ratio))


def _changes(course: Measurement) -> list[tuple[float, float]]:
    """The changes of a course, each with its time and the logarithm of its size."""
    step_s = course.step_s or 1.0
    changes = change_points(course.points, least=1 / step_s)
    return [((course.start_s or 0.0) + change.index * step_s, change.log_ratio) for change in changes]


if __name__ == "__main__":
    sys.exit(main())
