"""Outputs of memtier in one log: different tests, single runs with their mean, and amounts of another output."""

from paribus.parsers import formats
from paribus.parsers.log import LogRun

HEADS = "Type        Ops/sec     Hits/sec   Misses/sec      Latency       KB/sec \n"


def _table(title: str, sets: float, gets: float) -> str:
    rows = "".join(
        f"{name}s     {rate:.2f}          ---          ---      9.36700       149.43 \n"
        for name, rate in (("Set", sets), ("Get", gets), ("Total", sets + gets))
    )
    return f"{title}\n{'=' * 72}\n{HEADS}{'-' * 72}\n{rows}\n"


def _output(*tables: str, command: str = "", amounts: bool = True) -> str:
    begin = f"{command}\n[RUN #1] Preparing benchmark client...\n[RUN #1] Launching threads now...\n"
    counts = "2         Threads\n100       Connections per thread\n" if amounts else ""
    return begin + counts + "".join(tables)


def _runs(text: str) -> list[LogRun]:
    log = formats.read(text, "memtier")
    assert not log.not_understood
    return list(log.runs)


def test_different_tests_are_different_workloads() -> None:
    preload, reads = _runs(_output(_table("ALL STATS", 500, 0)) + _output(_table("ALL STATS", 0, 900)))
    assert (preload.workload, reads.workload) == ("memtier sets", "memtier gets")


def test_the_mix_and_the_command_are_options() -> None:
    command = "$ memtier_benchmark -s h --pipeline=16 --ratio 1:1 --hide-histogram"
    (mixed,) = _runs(_output(_table("ALL STATS", 500, 502), command=command))
    assert mixed.options == {"pipeline": "16", "ratio": "1:1", "gets per set": "1"}
    assert mixed.load == 200


def test_the_mean_of_single_runs_is_no_run() -> None:
    tables = [_table("RUN #1 RESULTS", 10, 100), _table("RUN #2 RESULTS", 12, 120)]
    runs = _runs(_output(*tables, _table("AGGREGATED AVERAGE RESULTS (2 runs)", 11, 110)))
    assert [run.readings[0].value for run in runs] == [10, 12]


def test_amounts_of_another_output_are_not_taken_over() -> None:
    runs = _runs(_output(_table("ALL STATS", 5, 5)) + _output(_table("ALL STATS", 6, 6), amounts=False))
    assert [run.load for run in runs] == [200, None]
