"""Columns of tables that hold the times or the numbers of the points of a run."""

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from itertools import chain, pairwise
from statistics import median

from paribus.parsers.numbers import printed
from paribus.parsers.tables.column_names import unit_of
from paribus.parsers.tables.heads import head_of

_COUNTED = re.compile(
    r"(?:sample|point|interval|tick|measurement)s? ?(?:index|idx|id|no\.?|number|#)|"
    r"seq(?:uence)?(?: ?(?:no\.?|number|#))?|seconds?|secs?|tick",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:index|idx|id|row|line|entry|record)(?: ?(?:no\.?|number|#))?", re.IGNORECASE)
_CLOCK = re.compile(
    r"time ?stamps?|ts|date(?: ?time)?|datetime|date and time|time of day|clock|epoch|unix ?time|时间戳|日期",
    re.IGNORECASE,
)
_ELAPSED = re.compile(
    r"(?:elapsed|relative|running|wall)(?: ?time)?|time(?: ?elapsed)?|t|minutes?|mins?|uptime|interval|sample|"
    r"时间|経過時間",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")
_SUFFIX = re.compile(r" (s|secs?|ms|us|ns|mins?)$", re.IGNORECASE)  # time_s
_DATE = re.compile(
    r"(?P<day>\d{4}[-/]\d\d[-/]\d\d)[T ](?P<time>\d\d:\d\d(?::\d\d)?)(?P<part>[.,]\d{1,9})?(?: ?Z| ?UTC)?"
)
_TIME_OF_DAY = re.compile(r"(?P<h>\d{1,2}):(?P<m>\d\d)(?::(?P<s>\d\d)(?P<part>[.,]\d{1,9})?)?(?: (?P<half>[AP]M))?")
_FEWEST = 4  # points of a series whose column may also be a measured time
_IN_MS = 1e11  # a Unix time in seconds is smaller
_USUAL_STEP_S = 60.0  # points of one run are closer than the starts of runs
_BACK = 0.1  # share of steps back, as at midnight
_DAY_S = 86400.0


class TimeRole(Enum):
    """Role of a column of times: the points of runs, or a remark on each run."""

    POINTS = auto()
    REMARK = auto()


def time_role(name: str, cells: Sequence[str], settings: Sequence[Hashable]) -> TimeRole | None:
    """Return the role of a column; None for a column that holds no times of points.

    Args:
        name: Head of the column.
        cells: Cells of the column.
        settings: Other conditions of each row. Rows of equal settings are points of one run, or repetitions.
    """
    plain = _words(name)
    numbered = bool(_NUMBERED.fullmatch(plain))
    counted, clock = numbered or bool(_COUNTED.fullmatch(plain)), bool(_CLOCK.fullmatch(plain))
    at_s = [time_of(name, cell) for cell in cells]
    if not is_time_name(name) or None in at_s or len(cells) < 2:
        return None
    series: dict[Hashable, list[float]] = defaultdict(list)
    for setting, at in zip(settings, at_s, strict=True):
        series[setting].append(at or 0.0)
    steps = list(chain.from_iterable([b - a for a, b in pairwise(times)] for times in series.values()))
    rising = [step for step in steps if step > 0]
    if numbered and len(set(at_s)) == 2:
        return None  # levels, as 0 and 1
    if numbered and len(set(at_s)) == len(at_s) and len(series) > 1:
        return TimeRole.REMARK  # it numbers the rows
    if not counted and not clock:
        from_zero = bool(rising) and all(times[0] <= 1.5 * median(rising) for times in series.values())
        fewest = _FEWEST - 1 if from_zero else _FEWEST
        is_series = max(map(len, series.values())) >= fewest and _regular(rising, len(steps))
        return TimeRole.POINTS if is_series else None
    if not rising or (clock and median(rising) > _USUAL_STEP_S):
        return TimeRole.REMARK
    again = sum(b < a and b == times[0] for times in series.values() for a, b in pairwise(times))
    return TimeRole.POINTS if len(rising) + again >= (1 - _BACK) * len(steps) - 1 else None


def is_time_name(name: str) -> bool:
    """Return whether a head names times or numbers of points."""
    return any(expression.fullmatch(_words(name)) for expression in (_COUNTED, _NUMBERED, _CLOCK, _ELAPSED))


def next_time(at_s: float, last_s: float) -> float | None:
    """Return the time as one after the last, past midnight if it is of a clock; None where another run begins."""
    if at_s >= last_s:
        return at_s
    midnights = (last_s - at_s) // _DAY_S + 1
    next_day_s = at_s + midnights * _DAY_S
    return next_day_s if next_day_s - last_s < _DAY_S / 2 else None


def time_of(name: str, cell: str) -> float | None:
    """Return the time in a cell in seconds, or the number of the point; None for no time."""
    text = cell.strip().strip("*`")
    if match := _DATE.fullmatch(text):
        form = "%Y-%m-%d %H:%M:%S" if match["time"].count(":") > 1 else "%Y-%m-%d %H:%M"
        try:
            moment = datetime.strptime(f"{match['day'].replace('/', '-')} {match['time']}", form).replace(tzinfo=UTC)
        except ValueError:
            return None
        return moment.timestamp() + _part(match["part"])
    if match := _TIME_OF_DAY.fullmatch(text):
        hours = int(match["h"]) % 12 + 12 * (match["half"] == "PM") if match["half"] else int(match["h"])
        past = timedelta(hours=hours, minutes=int(match["m"]), seconds=int(match["s"] or 0))
        return past.total_seconds() + _part(match["part"])
    value = printed(re.sub(r" ?s$", "", text))
    if value is None:
        return None
    suffix = _SUFFIX.search(name.replace("_", " ").strip("*` "))
    unit = unit_of(suffix[1]) if suffix else head_of(name).unit
    if unit is not None and unit.base == "s":
        return unit.of(value)
    return value / 1000 if value > _IN_MS else value


def _part(digits: str | None) -> float:
    return float(f"0.{digits[1:]}") if digits else 0.0


def _words(name: str) -> str:
    """The name without units and marks: time of `Time (seconds)` and `time_s`."""
    words = " ".join(_BRACKETS.sub(" ", name.replace("_", " ").strip("*` ")).split())
    return _SUFFIX.sub("", words)


def _regular(rising: Sequence[float], steps: int) -> bool:
    """Return whether most steps rise, and by one width, as the times of interval lines do."""
    if len(rising) * 2 <= steps:
        return False
    usual = median(rising)
    return all(0.5 * usual < step < 1.5 * usual for step in rising)
