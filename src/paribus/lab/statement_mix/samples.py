"""Figures of a column: bounds, number of distinct values and average length, from a sample of a table's rows."""

import datetime
from dataclasses import dataclass, replace

_MOST_ROWS = 10_000
_LEAST_ROWS = 100
_MOST_BYTES = 64 * 2**20
_MOSTLY = 0.9


def sampled_rows(row_bytes: int) -> int:
    """Return the number of rows to sample, so that wide rows do not burden the server."""
    return max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_BYTES // max(row_bytes, 1)))


@dataclass(frozen=True, slots=True)
class ColumnSample:
    """Figures of a column. `low` and `high` are numbers or times as the server writes them; None for other types."""

    low: str | None
    high: str | None
    filled: int
    distinct: int
    length: int
    total: int

    @classmethod
    def read(
        cls,
        low: str | None,
        high: str | None,
        filled: str | None,
        distinct: str | None,
        length: str | None,
        total: str | None,
    ) -> "ColumnSample":
        """Return the figures of a server's answer."""
        return cls(
            low, high, int(filled or 0), max(int(distinct or 0), 1), round(float(length or 1)) or 1, int(total or 0)
        )

    def of_table(self, rows: int, *, unique: bool) -> "ColumnSample":
        """The figures of the whole table: where most values of the sample differ, those of all rows do."""
        if unique or (self.distinct >= self.filled * _MOSTLY and self.filled > 1):
            return replace(self, distinct=max(rows, 1))
        return self


def first_time(low: str | None) -> str:
    """Return a time of a server; another one where it is none, such as MySQL's 0000-00-00."""
    try:
        return str(datetime.datetime.fromisoformat(low or "").replace(microsecond=0))
    except ValueError:
        return "2000-01-01 00:00:00"


def seconds_between(low: str | None, high: str | None) -> float:
    """Return the whole seconds between two times of a server; one day where there are none."""
    try:
        span = datetime.datetime.fromisoformat(high or "") - datetime.datetime.fromisoformat(low or "")
    except ValueError:
        return 86_400.0
    return float(max(int(span.total_seconds()), 1))
