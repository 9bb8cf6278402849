"""Tool-independent report of one run."""

import statistics
from dataclasses import dataclass, field


class NotUnderstood(ValueError):
    """The text is no report of a successful run; the message completes `what it printed …`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    """One interval line: averages over the interval that ended `at_s` after the start."""

    at_s: float
    operations_per_s: float
    bytes_per_s: float | None = None
    queries_per_s: float | None = None
    responses_s: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReport:
    """One run; what the tool does not report is None, or absent from `responses_s` (mean, p95, p99, max).

    `transactions_per_s`: all transactions, where operations are only some of them. `seconds` are its interval lines.
    `errors` by name invalidate a run; `ignored_per_s` are errors that the tool ignored.
    """

    operations_per_s: float
    bytes_per_s: float | None = None
    queries_per_s: float | None = None
    transactions_per_s: float | None = None
    responses_s: dict[str, float] = field(default_factory=dict)
    ignored_per_s: float | None = None
    errors: dict[str, int] = field(default_factory=dict)
    seconds: tuple[Second, ...] = ()


def within(report: ToolReport, start_s: float, end_s: float) -> ToolReport:
    """Return the report of a part of the run, from its interval lines; response times are means over the lines.

    Raises NotUnderstood if the lines do not cover that part.
    """
    seconds = [second for second in report.seconds if start_s < second.at_s <= end_s]
    if not seconds or len(seconds) < round(end_s - start_s):
        raise NotUnderstood(f"tells of {len(seconds)} s of the {end_s - start_s:g} s that were to be measured")
    names = set(seconds[0].responses_s).intersection(*(second.responses_s for second in seconds))
    return ToolReport(
        operations_per_s=statistics.fmean(second.operations_per_s for second in seconds),
        bytes_per_s=_mean([second.bytes_per_s for second in seconds]),
        queries_per_s=_mean([second.queries_per_s for second in seconds]),
        responses_s={name: statistics.fmean(second.responses_s[name] for second in seconds) for name in sorted(names)},
        ignored_per_s=report.ignored_per_s,
        errors=report.errors,
        seconds=tuple(seconds),
    )


def _mean(values: list[float | None]) -> float | None:
    known_values = [value for value in values if value is not None]
    return statistics.fmean(known_values) if known_values else None
