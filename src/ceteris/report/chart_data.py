"""How charts are made in little time: the library would copy and look at every part of them again and again."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt


def inline(rows: Sequence[Mapping[str, Any]]) -> "alt.InlineData":
    """Rows as the data of a chart, to six digits: a tuple, since lists are copied with every step of making it."""
    import altair as alt

    return alt.InlineData(values=tuple({name: _short(value) for name, value in row.items()} for row in rows))


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


@contextmanager
def unchecked() -> Iterator[None]:
    """Within it, no part of a chart is held against the schema of Vega-Lite, which takes most of the time."""
    from altair.utils import schemapi

    with schemapi.debug_mode(False):
        yield
