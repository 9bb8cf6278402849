"""Every kind of chart is what Vega-Lite's schema allows: what it does not know, it would silently leave out."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from chosen_samples import chosen
from jsonschema import Draft7Validator
from report_samples import many, typical
from test_matrix_report import _view as of_matrix
from test_matrix_report import matrix

from paribus.report.charts import charts

SPECS: dict[str, dict[str, Any]] = {
    f"{title}, {key}": spec
    for title, view in {
        "typical": typical().view(),
        "many": many(2).view(),
        "chosen": chosen(),
        "matrix": of_matrix(matrix()),
    }.items()
    for drawn in (*charts.of_view(view).values(), charts.of_trials(view))
    for key, spec in drawn.items()
}


@pytest.fixture(scope="module")
def vega_lite() -> Draft7Validator:
    """The schema that Altair brings."""
    (schema,) = Path(str(files("altair"))).rglob("vega-lite-schema.json")
    return Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))


@pytest.mark.parametrize("key", SPECS)
def test_a_chart_obeys_the_schema(key: str, vega_lite: Draft7Validator) -> None:
    spec = json.loads(json.dumps(SPECS[key] | {"config": charts.CONFIG}))
    assert vega_lite.is_valid(spec)
    assert not vega_lite.is_valid(spec | {"hieght": 1})
