"""Two experiments beside each other as one HTML file that needs nothing else, in the style of the report.

In: a view. Out: text. Called by `compare`. Names are not trusted: everything is escaped, and the page has no script.
"""

from paribus.report.charts import charts
from paribus.report.render.html import environment, strip, strip_limit
from paribus.report.view.comparison_models import ComparedView


def render(view: ComparedView) -> str:
    """The whole page."""
    changes = [row.change for row in view.baseline]
    differences = [row.difference for row in view.effects]
    limits = strip_limit(changes), strip_limit(differences)
    return (
        environment()
        .get_template("compared.html")
        .render(
            view=view,
            palettes=(charts.LIGHT, charts.DARK),
            policy="'none'",
            strips=[
                [strip(row, limit) for row in rows] for rows, limit in zip((changes, differences), limits, strict=True)
            ],
            limits=[f"{limit:.2g}" for limit in limits],
        )
    )
