"""What a tool's output tells of one run, whatever the tool."""

from dataclasses import dataclass, field


class NotUnderstood(ValueError):
    """The text is not what the tool prints after a run that went well; the words complete `what it printed …`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    """What an interval line tells: of the time since the one before, which ended `at_s` after the start."""

    at_s: float
    operations_per_s: float
    bytes_per_s: float | None = None
    queries_per_s: float | None = None
    responses_s: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReport:
    """One run. What the tool does not say is None, or missing among `responses_s` (mean, p95, p99, max).

    `seconds` are its interval lines. `errors` by name spoil a run; `ignored_per_s` were the tool's to ignore.
    """

    operations_per_s: float
    bytes_per_s: float | None = None
    queries_per_s: float | None = None
    responses_s: dict[str, float] = field(default_factory=dict)
    ignored_per_s: float | None = None
    errors: dict[str, int] = field(default_factory=dict)
    seconds: tuple[Second, ...] = ()
