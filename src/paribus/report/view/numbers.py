"""Numbers as text: only the digits that the interval supports, one unit per column.

In: plain numbers in seconds, bytes, ratios and log ratios. Out: text, and the scale that a column shares.
Called by the view; nothing here knows records.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from paribus.findings import Estimate
from paribus.i18n import N_, N_plural, gettext, ngettext

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"


class MetricKind(Enum):
    """Kind of a metric, by which figures are scaled for people."""

    RATE = auto()
    BYTES = auto()
    SIZE = auto()
    TIME = auto()
    SHARE = auto()
    PLAIN = auto()


@dataclass(frozen=True, slots=True)
class DisplayedMetric:
    """A metric that can be shown: its title and its kind."""

    name: str
    title: str
    kind: MetricKind


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit, and by what a plain number is multiplied to be shown in it."""

    unit: str
    factor: float


METRICS = {
    metric.name: metric
    for metric in (
        DisplayedMetric("offered_per_s", N_("offered"), MetricKind.RATE),
        DisplayedMetric("throughput_per_s", N_("throughput"), MetricKind.RATE),
        DisplayedMetric("throughput_p05_per_s", N_("p5 throughput"), MetricKind.RATE),
        DisplayedMetric("bytes_per_s", N_("bandwidth"), MetricKind.BYTES),
        DisplayedMetric("queries_per_s", N_("queries"), MetricKind.RATE),
        DisplayedMetric("response_mean_s", N_("mean response time"), MetricKind.TIME),
        DisplayedMetric("response_p95_s", N_("p95 response time"), MetricKind.TIME),
        DisplayedMetric("response_p99_s", N_("p99 response time"), MetricKind.TIME),
        DisplayedMetric("run_queue", N_("run queue"), MetricKind.PLAIN),
        DisplayedMetric("load_1m", N_("load average"), MetricKind.PLAIN),
        DisplayedMetric("cpu_iowait_share", N_("iowait"), MetricKind.SHARE),
    )
}

_COUNTED = {
    "trial": N_plural("{n:,} trial", "{n:,} trials"),
    "pair": N_plural("{n:,} pair", "{n:,} pairs"),
    "condition": N_plural("{n:,} condition", "{n:,} conditions"),
    "check": N_plural("{n:,} check", "{n:,} checks"),
    "round": N_plural("{n:,} round", "{n:,} rounds"),
    "fill": N_plural("{n:,} fill", "{n:,} fills"),
    "effect": N_plural("{n:,} effect", "{n:,} effects"),
    "machine": N_plural("{n:,} machine", "{n:,} machines"),
}
_SIZES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def scale(kind: MetricKind, values: Iterable[float]) -> Scale:
    """The unit in which all of these numbers are shown: that of the largest."""
    largest = max((abs(value) for value in values), default=0.0)
    if kind is MetricKind.SHARE:
        return Scale("%", 100.0)
    if kind is MetricKind.TIME:
        if largest < 0.002:
            return Scale("µs", 1e6)
        return Scale("ms", 1e3) if largest < 2 else Scale("s", 1.0)
    if kind in (MetricKind.BYTES, MetricKind.SIZE):
        suffix = "/s" if kind is MetricKind.BYTES else ""
        fitting = (Scale(unit + suffix, 1 / size) for size, unit in _SIZES if largest >= 2 * size)
        return next(fitting, Scale(f"B{suffix}", 1.0))
    return Scale("/s" if kind is MetricKind.RATE else "", 1.0)


def decimals(value: float, half_width: float | None) -> int:
    """Return the decimals that a number deserves: two digits of its uncertainty, or three of its own without one."""
    if half_width is not None and half_width > 0:
        return min(1 - math.floor(math.log10(half_width)), 4)
    return min(max(2 - math.floor(math.log10(abs(value))), 0), 4) if value else 0


def number(value: float, decimals_shown: int) -> str:
    """A number with that many decimals (negative: tens, hundreds), thousands set apart by commas."""
    if not math.isfinite(value):
        return DASH
    rounded = round(value, decimals_shown)
    text = f"{abs(rounded):,.{max(decimals_shown, 0)}f}"
    return f"{MINUS}{text}" if rounded < 0 else text


def percent_of(log_ratio: float) -> float:
    """A natural-log ratio in percent; what is beyond measure becomes infinite."""
    try:
        return math.expm1(log_ratio) * 100
    except OverflowError:
        return math.inf


def signed(value: float, decimals_shown: int) -> str:
    """A number with its sign, but for zero."""
    if not math.isfinite(value):
        return DASH if math.isnan(value) else "+∞" if value > 0 else f"{MINUS}∞"
    text = f"{abs(value):,.{decimals_shown}f}"
    return text if float(text.replace(",", "")) == 0 else ("+" if value > 0 else MINUS) + text


def _places(low: float, high: float) -> int:
    half = (high - low) / 2
    decimals_shown = 0 if half >= 10 else 1 if half >= 0.1 else 2
    if math.isfinite(half) and low * high > 0:
        while decimals_shown < 4 and round(min(abs(low), abs(high)), decimals_shown) == 0:
            decimals_shown += 1
    return decimals_shown


@dataclass(frozen=True, slots=True)
class EffectText:
    """A log ratio as people read it: `estimate` is `+6.1 %`, `interval` is `[+4.0, +8.3]`."""

    estimate: str
    interval: str
    low: str
    high: str

    def __str__(self) -> str:
        return f"{self.estimate} {self.interval}"


def effect(estimate: float, low: float, high: float) -> EffectText:
    """A log ratio and its interval in percent; a bound beside zero is never rounded into it."""
    shares = [percent_of(value) for value in (estimate, low, high)]
    decimals_shown = _places(shares[1], shares[2])
    middle, under, over = (signed(share, decimals_shown) for share in shares)
    if math.isfinite(estimate) and low == -math.inf and high == math.inf:
        return EffectText(f"{signed(shares[0], 1)} %", gettext("(no interval)"), DASH, DASH)
    return EffectText(f"{middle} %", f"[{under}, {over}]", f"{under} %", f"{over} %")


def probability(p: float) -> str:
    """A probability as a percentage that is never 0 or 100: `97.3 %`, `over 99.9 %`."""
    if p > 0.999 or p < 0.001:
        return gettext("over 99.9 %") if p > 0.5 else gettext("under 0.1 %")
    return f"{p * 100:.1f} %"


def margin(log_ratio: float) -> str:
    """A margin as it was declared: `±2 %`."""
    return f"±{math.expm1(log_ratio) * 100:.3g} %"


def orders(trials: Sequence[int]) -> str:
    """Trial numbers with runs closed up: `7-9, 12, 15`, with a dash."""
    parts: list[list[int]] = []
    for order in sorted(set(trials)):
        if parts and order == parts[-1][1] + 1:
            parts[-1][1] = order
        else:
            parts.append([order, order])
    return ", ".join(str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}{DASH}{b}" for a, b in parts)


def few(trials: Sequence[int]) -> str:
    """Trial numbers for a glance: all of a few, else the first and how many: `7, 12, 15 … (96 trials)`."""
    parts = orders(trials).split(", ")
    if len(parts) <= 6:
        return ", ".join(parts)
    return f"{', '.join(parts[:5])} … ({count(len(set(trials)), 'trial')})"


def estimate(value: Estimate, form: Callable[[float], str]) -> str:
    """An estimate and its interval, where it has one: `21 s [19 s, 24 s]`."""
    if value.low is None or value.high is None:
        return form(value.value)
    return f"{form(value.value)} [{form(value.low)}, {form(value.high)}]"


def count(n: int, noun: str) -> str:
    """A count with its noun: `1 trial`, `12 trials`."""
    return ngettext(*_COUNTED[noun], n)
