"""What stands twice in a text is no repetition of a measurement: copies of a run are told of, and kept once."""

from collections.abc import Iterable

from paribus.parsers.log import LogRun

_MOST = 10  # remarks on copies, one by one


def once(runs: Iterable[LogRun]) -> tuple[list[LogRun], list[str]]:
    """The runs without copies of earlier ones, and a remark on each copy."""
    kept: list[LogRun] = []
    remarks: list[str] = []
    seen: dict[tuple[object, ...], LogRun] = {}
    for one in runs:
        said = (
            one.tool,
            one.workload,
            one.load,
            tuple(one.labels.items()),
            tuple(sorted(one.options.items())),
            tuple(sorted((each.metric, each.subject, each.value) for each in one.readings)),
            tuple((each.metric, each.subject, each.at_s, each.values) for each in one.courses),
        )
        before = seen.setdefault(said, one)
        if before is one or not (one.readings or one.courses):
            kept.append(one)
        else:
            remarks.append(
                f"lines {one.lines[0]} to {one.lines[1]} say the same as lines {before.lines[0]} to {before.lines[1]}"
            )
    if len(remarks) > _MOST:
        remarks[_MOST:] = [f"so do {len(remarks) - _MOST} more runs, as runs before them"]
    return kept, remarks
