"""One question on several machines as one HTML file that needs nothing else, in the style of the report.

In: a view. Out: text. Called by `fleet report`. Names are not trusted: everything is escaped, and the page has no
script.
"""

from paribus.report.charts import charts
from paribus.report.charts.forest import forest
from paribus.report.render.html import environment
from paribus.report.view.fleet_models import FleetView


def render(view: FleetView) -> str:
    """The whole page."""
    plots = [
        forest([*(machine.mark for machine in row.machines), row.mean_mark, row.next_mark]) for row in view.effects
    ]
    palettes = charts.LIGHT, charts.DARK
    return environment().get_template("fleet.html").render(view=view, palettes=palettes, policy="'none'", plots=plots)
