"""Tables of one text that give the same run other figures: the headings above their titles tell them apart."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from paribus.parsers.log import LogRun

_REPETITION = re.compile(
    r"#?(?:run|round|trial|repetition|repeat|replicate|iteration|pass|test|try|attempt|sample)s?\W*[0-9]+.*",
    re.IGNORECASE,
)
Group = tuple[str, tuple[str, ...]]
"""Workload and factors."""


def told_apart(tables: Sequence[tuple[str, Sequence[LogRun]]]) -> list[LogRun]:
    """Return the runs of tables; where tables under other headings clash, the heading becomes part of the workload.

    Args:
        tables: Heading above the title, and runs, of each table.
    """
    tables = [("" if _REPETITION.fullmatch(heading) else heading, runs) for heading, runs in tables]
    clashing = _clashing(tables)
    return [
        replace(run, workload=", ".join(filter(None, (heading, run.workload))))
        if heading and _group(run) in clashing
        else run
        for heading, runs in tables
        for run in runs
    ]


def _group(run: LogRun) -> Group:
    return run.workload, tuple(run.labels)


def _clashing(tables: Sequence[tuple[str, Sequence[LogRun]]]) -> set[Group]:
    """Groups most of whose figures differ between headings; a few that differ may be misprints."""
    figures: defaultdict[tuple[Group, object], dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
    for heading, runs in tables:
        for run in runs:
            options = tuple((name, value) for name, value in run.options.items() if name != "title")
            for reading in run.readings:
                cell = (tuple(run.labels.values()), run.load, options, reading.metric)
                figures[_group(run), cell][heading].add(reading.value)
    balance: defaultdict[Group, int] = defaultdict(int)
    for (group, _cell), by_heading in figures.items():
        if len(by_heading) > 1:
            first, *others = by_heading.values()
            balance[group] += 1 if any(values != first for values in others) else -1
    return {group for group, differing in balance.items() if differing > 0}
