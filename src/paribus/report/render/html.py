"""The report as one HTML file that needs nothing else: no network, no other file.

In: a view. Out: text. Called by the command line. The still pictures stand in the page; where
scripts run, each is replaced by its live chart when it comes near the window. Names and plans are not trusted:
everything is escaped, and the page's own policy refuses every script but its own and every address.
"""

import base64
import hashlib
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paribus.i18n import gettext, tag
from paribus.report.charts import chart_worker, charts
from paribus.report.charts.chart_library import vega_embed
from paribus.report.charts.forest import forest
from paribus.report.charts.heat_map import shade_paths
from paribus.report.charts.timeline import lane_bars, load_paths
from paribus.report.view import numbers
from paribus.report.view.blocks import Place
from paribus.report.view.comparison_models import FormattedDifference
from paribus.report.view.view_models import LevelTable, ReportView, TableFigure

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_STILLS = 60
"""So many charts get a still picture (60 ms and 10 kB each); the rest are only drawn live."""

_STRIP, _ARROW = 132.0, 8.0
_MAX_WITH_REASONS = 12
"""The longest verdict table that shows its reasons below each row."""

_MAX_EFFECTS, _MAX_TRIALS = 500, 5000
"""The most effects and trials in a page, half a megabyte each; sets of other people's results may have more."""


def _closed(script: str) -> str:
    """A script that cannot end its own element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def digest(script: str) -> str:
    """Return the source expression of a script for the content security policy."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'"


def strip_limit(rows: Sequence[FormattedDifference]) -> float:
    """Half the width of the strips of a table, in percent: all intervals, within reason."""
    widest = max((row.margin_high for row in rows), default=1.0)
    bounds = [abs(b) for row in rows for b in (row.low, row.high) if math.isfinite(b)]
    return min(max([2 * widest, *bounds]) * 1.06, 15 * widest)


def strip(row: FormattedDifference, limit: float) -> dict[str, Any]:
    """Return the positions of the marks on a row's strip; an arrow marks an interval that leaves the strip."""

    def place(percent: float) -> float:
        return round((min(max(percent, -limit), limit) / limit + 1) * _STRIP / 2, 1)

    return {
        "width": _STRIP,
        "margin": (place(row.margin_low), place(row.margin_high)),
        "interval": (place(row.low), place(row.high)),
        "estimate": min(max(place(row.estimate), _ARROW), _STRIP - _ARROW),  # beside the arrow of what lies beyond
        "beyond": (row.low < -limit, row.high > limit),
    }


def _sparkline(values: Sequence[float]) -> dict[str, Any]:
    """The line of a small picture: the rounds from left to right, from nothing to the most of them."""
    largest = max(values) or 1.0
    step = _STRIP / max(len(values) - 1, 1)
    points = (f"{index * step:.1f},{17.5 - 16 * value / largest:.1f}" for index, value in enumerate(values))
    return {"width": _STRIP, "points": " ".join(points)}


def _places(table: LevelTable) -> list[list[int]]:
    """For each column and arm, the decimals its numbers are aligned by."""
    return [
        [
            max((max(f.places, 0) for row in table.rows if (f := row.figures[c][a])), default=0)
            for a in range(len(table.rows[0].figures[c]))
        ]
        for c in range(len(table.columns))
    ]


def _aligned(figure: TableFigure, text: str, decimals: int) -> str:
    """A number with invisible digits after it, so that decimal points stand below each other."""
    missing = decimals - max(figure.places, 0)
    if missing <= 0 or not text or text.endswith("]"):
        return text
    point = "\N{PUNCTUATION SPACE}" if figure.places <= 0 else ""
    return text + point + "\N{FIGURE SPACE}" * missing


def _unbroken(text: str) -> str:
    """A sentence whose intervals and percentages are not torn apart at the end of a line."""
    joined = re.sub(r"\[[^\[\]]*\]", lambda interval: interval[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    return joined.replace(" %", "\N{NO-BREAK SPACE}%")


_NEEDLESS = re.compile(
    r' (?:font-family|pointer-events|aria-roledescription)="[^"]*"| opacity="1"|(?<=<path) aria-hidden="true"'
    r'|<path class="(?:fore|back)ground"[^>]*/>'
)


_SYMBOLS = re.compile(r'(<g class="mark-symbol[^>]*)>((?:<path [^>]*/>){4,})</g>')
_ATTRIBUTE = re.compile(r' (?!d=|transform=)[\w-]+="[^"]*"')


def _hoisted(symbols: re.Match[str]) -> str:
    """The symbols of a chart, with the attributes that all of them have at their group."""
    first, *others = (set(_ATTRIBUTE.findall(path)) for path in symbols[2].split("/>")[:-1])
    common = first.intersection(*others)
    paths = _ATTRIBUTE.sub(lambda attribute: "" if attribute[0] in common else attribute[0], symbols[2])
    return f"{symbols[1]}{''.join(sorted(common))}>{paths}</g>"


class _Still:
    """A picture that is on its way, waited for where it stands in the page."""

    def __init__(self, picture: Callable[[], str], description: str) -> None:
        self._picture, self._description = picture, description

    def __html__(self) -> str:
        """As it stands there: SVG by Vega, of escaped data, without what the page says too, or nobody sees."""
        return _SYMBOLS.sub(_hoisted, _NEEDLESS.sub("", charts.still(self._picture(), self._description)))


def _alike(values: Sequence[str]) -> str:
    """Return the value shared by all rows of a table; empty where they differ."""
    return values[0] if len(set(values)) == 1 else ""


def environment() -> "Environment":
    """Return the environment of the report's templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.filters |= {"aligned": _aligned, "few": numbers.few, "unbroken": _unbroken}
    environment.globals |= {
        "count": numbers.count,
        "listed": None,  # the trials that have a row on the page; None for all
        "Place": Place,
        "places": _places,
        "sparkline": _sparkline,
        "lane_bars": lane_bars,
        "load_paths": load_paths,
        "shade_paths": shade_paths,
        "gettext": gettext,
        "tag": tag,
    }
    return environment


def _bounded(view: ReportView) -> ReportView:
    """Return the view with as many effects and trials as a page may have, the first ones."""
    if len(view.answers) <= _MAX_EFFECTS and len(view.trust.trials) <= _MAX_TRIALS:
        return view
    open_answers = view.unanswered[: _MAX_EFFECTS // 10]
    verdicts = view.verdicts[: _MAX_EFFECTS - len(open_answers)]
    answers = (*(row.answer for row in verdicts), *view.unanswered[: _MAX_EFFECTS - len(verdicts)])
    trust = replace(view.trust, trials=view.trust.trials[:_MAX_TRIALS])
    return replace(view, verdicts=verdicts, answers=answers, trust=trust)


def render(view: ReportView) -> str:
    """The whole report as one self-contained HTML page."""
    from markupsafe import Markup

    page_environment = environment()
    totals = {"answers": len(view.answers), "trials": len(view.trust.trials)}
    view = _bounded(view)
    page_environment.globals["listed"] = {trial.order for trial in view.trust.trials}
    chart_specs = charts.of_view(view)
    time_series_specs = charts.of_trials(view)
    specs = {key: spec for group in (*chart_specs.values(), time_series_specs) for key, spec in group.items()}
    first = {key: specs[key] for key in [*time_series_specs, *specs][:_STILLS]}
    library = _closed(vega_embed()) if specs else ""
    script = _closed((_TEMPLATES / "report.js").read_text(encoding="utf-8"))
    column_values = {
        "response": [row.answer.response for row in view.verdicts],
        "confidence": [row.confidence for row in view.verdicts],
    }
    with chart_worker.drawing(list(first.values()), charts.CONFIG) as pictures:
        return page_environment.get_template("report.html").render(
            view=view,
            drawn=chart_specs,
            timed=time_series_specs,
            stills={
                key: _Still(picture, specs[key]["description"]) for key, picture in zip(first, pictures, strict=True)
            },
            specs=specs,
            config=charts.CONFIG,
            forest=forest(view.verdicts),
            palettes=(charts.LIGHT, charts.DARK),
            library=Markup(library),  # noqa: S704  scripts from files of ours
            script=Markup(script),  # noqa: S704
            policy=" ".join(digest(text) for text in (library, script)),
            max_with_reasons=_MAX_WITH_REASONS,
            totals=totals,
            alike={name: _alike(values) for name, values in column_values.items()},
        )
