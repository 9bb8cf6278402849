"""An audit as one HTML file that needs nothing else, in the style of the report.

In: a view. Out: text. Called by `audit`. Names are not trusted: everything is escaped, and the page has no script.
"""

from paribus.report.charts import charts
from paribus.report.render.html import environment
from paribus.report.view.audit_models import AuditView


def render(view: AuditView) -> str:
    """The whole page."""
    palettes = charts.LIGHT, charts.DARK
    return environment().get_template("audit.html").render(view=view, palettes=palettes, policy="'none'")
