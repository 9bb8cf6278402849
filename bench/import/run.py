"""Time and memory of importing many logs.

Writes logs of sysbench 1.0 with 600 interval lines each, imports them into a store of its own, and removes both. The
same again with a tenth of them shows whether memory follows their number.

    .venv/bin/python bench/import/run.py [LOGS]          # 10,000 where nothing is said: about 650 MB of logs
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests" / "unit" / "imports"))
from logs import sysbench

_LINES = 600
_LIMIT_S = 60.0
_GROWTH = 1.5
_LEVELS, _LOADS = ("noop", "deadline"), (8, 16, 32, 64)
_MIB = 2**20


def write_logs(folder: Path, count: int) -> None:
    """`count` logs, no two of them alike: both levels at every load, again and again."""
    rng = random.Random(1)
    for number in range(count):
        level, load = _LEVELS[number % 2], _LOADS[number // 2 % len(_LOADS)]
        rate = 150.0 * load**0.7 * rng.gauss(1, 0.02)
        lines = [rate * rng.gauss(1, 0.06) for _ in range(_LINES)]
        name = folder / level / f"t{load}-{number // 8}.log"
        name.parent.mkdir(exist_ok=True)
        name.write_text(sysbench(sum(lines) / _LINES, load, float(_LINES), lines))


def _most_of(pid: int, found: dict[int, int]) -> None:
    """Note the most memory that each process below `pid` has had so far, in bytes."""
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            status = Path(f"/proc/{one}/status").read_text()
            children = Path(f"/proc/{one}/task/{one}/children").read_text().split()
        except OSError:
            continue
        peak = next((line for line in status.splitlines() if line.startswith("VmHWM")), "")
        if peak:
            found[one] = max(found.get(one, 0), int(peak.split()[1]) * 1024)
        waiting += map(int, children)


def measure(count: int) -> tuple[float, float, int, int, int]:
    """Wall and processor seconds, the most memory of the process that keeps and of one that reads, the store's size."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", ".")) as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        write_logs(folder / "logs", count)
        rules = folder / "rules.toml"
        rules.write_text("[[rule]]\npath = '(?P<scheduler>noop|deadline)/'\n")
        command = [sys.executable, "-m", "paribus.cli.main", "import", str(folder / "logs"), "--map", str(rules)]
        command += ["--name", "bench", "--store", str(folder / "store.db")]
        began, used = time.monotonic(), _used_s()
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        peaks: dict[int, int] = {}
        watch = threading.Thread(target=_watch, args=(running, peaks))
        watch.start()
        code = running.wait()
        took, worked = time.monotonic() - began, _used_s() - used
        watch.join()
        assert code == 0, code
        size = sum(path.stat().st_size for path in folder.glob("store.db*"))
        shutil.rmtree(folder / "logs")
    readers = [peak for pid, peak in peaks.items() if pid != running.pid]
    return took, worked, peaks[running.pid], max(readers, default=0), size


def _used_s() -> float:
    """Processor seconds of all that this process has started and that has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watch(running: subprocess.Popen[bytes], peaks: dict[int, int]) -> None:
    while running.poll() is None:
        _most_of(running.pid, peaks)
        time.sleep(0.05)


def main() -> int:
    """Print the table; 1 where a bar does not hold."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print("| logs | time | processor time | logs/s | memory, who keeps | memory, who reads | store |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    found = {}
    for n in (max(count // 10, 1), count):
        took, worked, keeper, reader, size = found[n] = measure(n)
        shown = f"{keeper / _MIB:.0f} MiB | {reader / _MIB:.0f} MiB | {size / _MIB:.0f} MiB"
        print(f"| {n:,} | {took:.1f} s | {worked:.1f} s | {n / took:,.0f} | {shown} |", flush=True)
    in_time = found[count][0] <= _LIMIT_S * count / 10_000
    flat = all(found[count][at] <= _GROWTH * found[max(count // 10, 1)][at] for at in (2, 3))
    print(f"\n10,000 logs in {_LIMIT_S:.0f} s: {'pass' if in_time else 'FAIL'} ({os.cpu_count()} processors)")
    print(f"memory at ten times as many within {_GROWTH:.0%}: {'pass' if flat else 'FAIL'}")
    return 0 if in_time and flat else 1


if __name__ == "__main__":
    sys.exit(main())
