"""Pages from templates, and their parts: a block named `part_…` can be sent alone."""

import functools
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from paribus.i18n import gettext, tag, translate_stored
from paribus.report import render
from paribus.report.charts import charts
from paribus.web import funnel

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_REPORT_TEMPLATES = Path(render.__file__).parent / "templates"
_PART = "part_"


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "strip_width": funnel.WIDTH,
        "gettext": gettext,
        "tag": tag,
        "translate_stored": translate_stored,
    }
    return environment


def page(template: str, **variables: object) -> str:
    """A whole page."""
    return _environment().get_template(template).render(**variables)


def parts(template: str, **variables: object) -> dict[str, str]:
    """The parts of a page that change over time, by the id of the element that holds each."""
    loaded = _environment().get_template(template)
    context = loaded.new_context(variables)
    return {
        name.removeprefix(_PART): "".join(block(context)).strip()
        for name, block in loaded.blocks.items()
        if name.startswith(_PART)
    }


@functools.cache
def style() -> str:
    """The style sheet: that of the reports, their colours, and rules for live pages."""
    light, dark = (
        "".join(f"--{name}: {value}; " for name, value in palette.items()) for palette in (charts.LIGHT, charts.DARK)
    )
    sheets = [path.read_text(encoding="utf-8") for path in (_REPORT_TEMPLATES / "report.css", _TEMPLATES / "live.css")]
    colours = f":root {{ color-scheme: light dark; {light}}}\n"
    colours += f"@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"
    return colours + "\n".join(sheets)


@functools.cache
def script() -> str:
    """The script that updates a page."""
    return (_TEMPLATES / "live.js").read_text(encoding="utf-8")


def policy_of(report_page: str) -> str:
    """The content security policy inside a report, to be sent as a header; it also forbids frames."""
    match = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', report_page)
    assert match, "a report has a policy"
    return f"{html.unescape(match[1])}; frame-ancestors 'none'"
