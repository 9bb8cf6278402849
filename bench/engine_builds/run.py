"""Processor time of two builds of the engine for one OLTP operation on SQLite, as a ratio of paired runs.

    python bench/engine_builds/run.py ENGINE ENGINE [--pairs N]

For the static engine of a wheel against that of `make`. The order within a pair alternates. The interval is that of the
mean of the log ratios (t, 95 %).
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

from paribus.stats.pairs import mean_interval

ROOT = Path(__file__).resolve().parents[2]
JOBS = ROOT / "engine/tests/golden/jobs"
MEASURE_S = 2.0


def job(name: str, folder: str) -> dict[str, object]:
    """A job of the engine's tests with one connection that never waits, and its data in a folder."""
    content = json.loads((JOBS / name).read_text(encoding="utf-8"))
    content["workload"]["database"]["path"] = f"{folder}/db.sqlite"
    content["load"] = {"outstanding": 1, "rate_per_s": None, "arrivals": "constant"}
    content["settle_s"], content["measure_s"] = 0.5, MEASURE_S if content["phase"] == "run" else None
    return content


def events(engine: str, content: dict[str, object]) -> list[dict[str, object]]:
    """The events of the engine carrying out a job; stdin stays open, since its end stops a job."""
    with subprocess.Popen([engine, "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(content) + "\n")
        process.stdin.flush()
        return [json.loads(line) for line in process.stdout]


def cpu_s(engine: str, content: dict[str, object]) -> float:
    """Processor seconds of an operation."""
    [result] = [event for event in events(engine, content) if event["event"] == "result"]
    times = result["cpu"]
    assert isinstance(times, dict) and isinstance(result["operations"], int)
    return float(times["user_s"] + times["system_s"]) / result["operations"]


def main() -> None:
    """Measure, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engines", nargs=2, metavar="ENGINE")
    parser.add_argument("--pairs", type=int, default=12)
    options = parser.parse_args()
    first, second = (os.path.abspath(engine) for engine in options.engines)  # noqa: PTH100  links stay
    logs = []
    with tempfile.TemporaryDirectory() as folder:
        events(first, job("prepare-sqlite.json", folder))
        for pair in range(options.pairs):
            content = job("run-sqlite.json", folder)
            of_engine = {each: cpu_s(each, content) for each in ((first, second), (second, first))[pair % 2]}
            logs.append(math.log(of_engine[first] / of_engine[second]))
    mean, low, high = mean_interval(logs, 0.95)
    ends = "" if low is None or high is None else f" [{math.exp(low):.3f}, {math.exp(high):.3f}]"
    print(f"processor time per operation, first : second = {math.exp(mean):.3f}{ends}, {options.pairs} pairs")


if __name__ == "__main__":
    main()
