"""Our engine and the tools people trust, sysbench and fio, on the same files: the same operations, the same figures.

Counts must be equal. Rates and times must agree within a wide factor only. They are medians of pairs that ran one
after the other, so another load on the machine falls on both of a pair.
"""

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from contestants import Data, Figures, Load, fio, paribus, sysbench

FOLDER = Path(__file__).parents[3] / "artefacts" / "agreement"  # not where O_DIRECT may be refused
PAIRS = (3, 9)
FACTOR = 1.5
THREADS = 4
FSYNC_EVERY = 100
Tool = Callable[[Data, Load], Figures]
MODES = ("rndrd", "rndwr", "rndrw", "seqrd", "seqrewr")


@pytest.fixture(scope="module")
def one_file() -> Iterator[Data]:
    """Yield the data for fio: it fsyncs one file at a time, so there must be no other."""
    yield from _prepared(Data(FOLDER / "one", 1, 256 * 2**20))


@pytest.fixture(scope="module")
def two_files() -> Iterator[Data]:
    """Yield the data for sysbench."""
    yield from _prepared(Data(FOLDER / "two", 2, 256 * 2**20))


def _prepared(data: Data) -> Iterator[Data]:
    data.prepare()
    yield data
    data.remove()


def _run_pairs(data: Data, load: Load, rival: Tool) -> Iterator[tuple[Figures, Figures]]:
    """Ours and theirs, which goes first in turn. More pairs only where the first few do not agree."""
    pairs: list[tuple[Figures, Figures]] = []
    for wanted in PAIRS:
        while len(pairs) < wanted:
            if len(pairs) % 2:
                theirs, ours = rival(data, load), paribus(data, load)
            else:
                ours, theirs = paribus(data, load), rival(data, load)
            pairs.append((ours, theirs))
            yield ours, theirs
        ratios = {
            name: sorted(getattr(ours, name) / getattr(theirs, name) for ours, theirs in pairs)
            for name in ("iops", "mean_s", "p95_s")
        }
        if all(1 / FACTOR < statistics.median(found) < FACTOR for found in ratios.values()):
            return
    raise AssertionError(f"ours to theirs: {ratios}")


def _assert_counts(found: Figures, load: Load, files: int, by_chance: bool = False) -> None:
    """Check the counts that any tool must reach, but for operations outstanding when it began and ended."""
    requests = found.reads + found.writes
    assert requests > 0
    if load.mode == "rndrw":
        # Two of five are writes: exactly, or drawn one by one, and then within six standard deviations.
        unsure = 6 * (0.4 * 0.6 * requests) ** 0.5 if by_chance else 2 * load.outstanding
        assert abs(found.writes - 0.4 * requests) <= unsure, found
    else:
        assert (found.writes == 0) == (load.mode in ("rndrd", "seqrd"))
        assert found.reads * found.writes == 0
    # Every file once after so many requests; each thread may be within a series of fsyncs of its own.
    series = requests // load.fsync_every if found.writes and load.fsync_every else 0
    assert abs(found.fsyncs - series * files) <= (files * (load.outstanding + 1) if series else 0), found


@pytest.mark.parametrize("mode", MODES)
def test_sysbench_and_we_do_the_same_operations_at_the_same_rate(two_files: Data, mode: str) -> None:
    load = Load(mode, "sync", THREADS, 1.0, fsync_every=FSYNC_EVERY)
    for pair in _run_pairs(two_files, load, sysbench):
        for found in pair:
            _assert_counts(found, load, two_files.files)


@pytest.mark.parametrize("mode", MODES)
def test_fio_and_we_do_the_same_operations_at_the_same_rate(one_file: Data, mode: str) -> None:
    # Each of fio's threads has a position of its own, ours share one; and its fsyncs in rndrw mean something else.
    threads = 1 if mode.startswith("seq") else THREADS
    load = Load(mode, "sync", threads, 0.6, fsync_every=0 if mode == "rndrw" else FSYNC_EVERY)
    for ours, theirs in _run_pairs(one_file, load, fio):
        _assert_counts(ours, load, one_file.files)
        _assert_counts(theirs, load, one_file.files, by_chance=True)
