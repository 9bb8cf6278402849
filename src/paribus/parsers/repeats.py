"""Detection of copied runs: a run that appears twice in a text is no repeated measurement."""

from collections.abc import Iterable

from paribus.parsers.log import LogRun

_MAX_REMARKS = 10  # individual remarks on copies


def drop_copies(runs: Iterable[LogRun]) -> tuple[list[LogRun], list[str]]:
    """Return the runs without copies of earlier ones, and a remark for each copy."""
    unique: list[LogRun] = []
    remarks: list[str] = []
    first_with: dict[tuple[object, ...], LogRun] = {}
    for run in runs:
        content = (
            run.tool,
            run.workload,
            run.load,
            tuple(run.labels.items()),
            tuple(sorted(run.options.items())),
            tuple(sorted((reading.metric, reading.subject, reading.value) for reading in run.readings)),
            tuple((series.metric, series.subject, series.at_s, series.values) for series in run.courses),
        )
        first = first_with.setdefault(content, run)
        if first is run or not (run.readings or run.courses):
            unique.append(run)
        else:
            remarks.append(
                f"lines {run.lines[0]} to {run.lines[1]} say the same as lines {first.lines[0]} to {first.lines[1]}"
            )
    if len(remarks) > _MAX_REMARKS:
        remarks[_MAX_REMARKS:] = [f"so do {len(remarks) - _MAX_REMARKS} more runs, as runs before them"]
    return unique, remarks
