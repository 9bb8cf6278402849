"""Tool-independent report of one run."""

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

    `seconds` are its interval lines. `errors` by name invalidate a run; `ignored_per_s` are errors that the tool
    ignored.
    """

    operations_per_s: float
    bytes_per_s: float | None = None
    queries_per_s: float | None = None
    responses_s: dict[str, float] = field(default_factory=dict)
    ignored_per_s: float | None = None
    errors: dict[str, int] = field(default_factory=dict)
    seconds: tuple[Second, ...] = ()
