"""Memory of the controller for each trial of a long experiment.

Runs a plan of the null engine whose comparisons are never decided. Reads the private memory of the controller after
every 250 of about 6,100 trials. Prints the growth over the whole run and in its second half, when caches are
full. Takes 25 minutes.

    .venv/bin/python bench/overhead/memory.py
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLAN = """
name = "memory"
[target]
path = "{path}"
[factors]
"fileio.fsync_call" = ["fsync", "fdatasync"]
{workloads}
[protocol]
trial  = "20ms"
settle = "5ms"
rounds = 16
margin = "0.01%"
budget = "8h"
"""
WORKLOAD = """
[[workload]]
name       = "null{number}"
kind       = "fileio"
engine     = "null"
total_size = "1MiB"
data       = "keep"
response   = "throughput_per_s"
threads    = [1, 2, 3, 4]
"""
WORKLOADS = 24
EVERY = 250
_PRIVATE = re.compile(r"^Private_(?:Clean|Dirty): +(\d+) kB$", re.MULTILINE)


def measure() -> list[tuple[int, int]]:
    """The private memory of the controller in KiB, by how many trials were made."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan, words = folder / "plan.toml", folder / "words"
        plan.write_text(_plan(folder))
        command = [sys.executable, "-m", "paribus.cli.main", "run", str(plan), "--store", str(folder / "store.db")]
        seen: list[tuple[int, int]] = []
        with words.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            while _runs(process.pid):
                made = words.read_text().count("\ntrial ")
                if made >= EVERY * (len(seen) + 1):
                    rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
                    seen.append((made, sum(map(int, _PRIVATE.findall(rollup)))))
                if "\nfactor, from" in words.read_text():
                    break  # what follows is the report
                time.sleep(0.02)
            assert process.wait() in (0, 3), words.read_text()[-1000:]
        return seen


def _plan(folder: Path) -> str:
    workloads = "".join(WORKLOAD.format(number=number) for number in range(WORKLOADS))
    return PLAN.format(path=folder.absolute(), workloads=workloads)


def _runs(pid: int) -> bool:
    """Whether a child runs; one that ended has no memory to look at."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def main() -> None:
    """Print the table and the growth."""
    seen = measure()
    print("| trials | private memory, KiB |\n|---:|---:|")
    for made, kib in seen:
        print(f"| {made} | {kib} |")
    last, after = seen[-1]
    print()
    for first, before in (seen[0], seen[len(seen) // 2]):
        print(f"from trial {first} to {last}: {(after - before) / (last - first):.2f} KiB per trial")


if __name__ == "__main__":
    main()
