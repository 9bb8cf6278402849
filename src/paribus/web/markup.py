"""Pages from templates, and their parts: what a page shows within a block named `part_…` can be sent alone."""

import functools
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from paribus.i18n import gettext, tag, translate_stored
from paribus.report.render import charts
from paribus.web import funnel

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"
_OF_REPORTS = Path(charts.__file__).parent / "templates"
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


def page(template: str, **shown: object) -> str:
    """A whole page."""
    return _environment().get_template(template).render(**shown)


def parts(template: str, **shown: object) -> dict[str, str]:
    """What of a page changes as time goes on, by the id of the element that holds it."""
    of = _environment().get_template(template)
    context = of.new_context(shown)
    return {
        name.removeprefix(_PART): "".join(block(context)).strip()
        for name, block in of.blocks.items()
        if name.startswith(_PART)
    }


@functools.cache
def style() -> str:
    """The style sheet: that of reports in their colours, and what is only here."""
    light, dark = (
        "".join(f"--{name}: {value}; " for name, value in palette.items()) for palette in (charts.LIGHT, charts.DARK)
    )
    sheets = [path.read_text(encoding="utf-8") for path in (_OF_REPORTS / "report.css", _TEMPLATES / "live.css")]
    colours = f":root {{ color-scheme: light dark; {light}}}\n"
    colours += f"@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"
    return colours + "\n".join(sheets)


@functools.cache
def script() -> str:
    """The script that keeps a page up to date."""
    return (_TEMPLATES / "live.js").read_text(encoding="utf-8")


def policy_of(report_page: str) -> str:
    """The content security policy that a report carries within, to be sent with it; it may also stand in no frame."""
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', report_page)
    assert found, "a report has a policy"
    return f"{html.unescape(found[1])}; frame-ancestors 'none'"
