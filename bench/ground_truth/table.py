"""Results of a campaign: right and false verdicts, coverage, time, and whether it holds."""

import math
from collections.abc import Sequence

from campaign import Row, verdict

MARGIN = 0.02
LEAST_TAIL = 0.02  # of the binomial distribution: what is less likely than this does not hold


def is_false(row: Row) -> bool:
    """Whether Paribus claimed what is not so: a difference where none is, the wrong sign, or equivalence beyond it."""
    word, effect = verdict(row), row["ratio"]
    if effect == 0:
        return word in ("better", "worse", "depends_on_load")
    return word in (("worse" if effect > 0 else "better"), "depends_on_load", "equivalent")


def is_right(row: Row) -> bool:
    """Whether it said what is so."""
    word, effect = verdict(row), row["ratio"]
    return word == ("equivalent" if effect == 0 else "better" if effect > 0 else "worse")


def _covered(row: Row) -> bool:
    found = row["effect"]
    return bool(found) and found["log_ratio"]["low"] <= row["true"] <= found["log_ratio"]["high"]


def _practice(row: Row) -> str:
    """Return the conclusion that somebody draws from two long runs."""
    ratio = row["practice"]
    return "same" if abs(ratio - 1) <= MARGIN else "better" if ratio > 1 else "worse"


def _practice_is_right(row: Row) -> bool:
    effect = row["ratio"]
    return _practice(row) == ("same" if effect == 0 else "better" if effect > 0 else "worse")


def holds(rows: Sequence[Row]) -> bool:
    """Whether what was seen is as likely as 2 % under the error rates promised."""
    for effect in sorted({row["ratio"] for row in rows}):
        mine = [row for row in rows if row["ratio"] == effect]
        false = sum(map(is_false, mine))
        right = sum(map(is_right, mine))
        if effect == 0 and tail(false, len(mine), 0.05) < LEAST_TAIL:
            return False
        if effect != 0 and right < 0.8 * len(mine):
            return False
    return True


def tail(count: int, of: int, p: float) -> float:
    """The probability of at least so many."""
    return sum(math.comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(count, of + 1))


def text(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    head = ["true ratio", "neighbour", "experiments", "right", "false", "undecided or none", "interval holds the truth"]
    head += ["median width", "minutes", "right by practice"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    groups = sorted({(row["ratio"], row["neighbour"]) for row in rows})
    for effect, beside in [*groups, (None, None)]:
        mine = [row for row in rows if effect is None or (row["ratio"], row["neighbour"]) == (effect, beside)]
        right, false = sum(map(is_right, mine)), sum(map(is_false, mine))
        widths = sorted(e["percent"]["high"] - e["percent"]["low"] for row in mine if (e := row["effect"]) is not None)
        cells = [
            "all" if effect is None else f"{effect:+.0%}",
            "" if effect is None else ("yes" if beside else "no"),
            len(mine),
            right,
            false,
            len(mine) - right - false,
            sum(map(_covered, mine)),
            f"{widths[len(widths) // 2]:.2f} %" if widths else "",
            f"{sum(row['seconds'] for row in mine) / 60:.1f}",
            sum(map(_practice_is_right, mine)),
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)
