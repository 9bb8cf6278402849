"""Numbers for Prometheus: in the form of OpenMetrics, behind the token, and the same as on the pages."""

import asyncio
import math
from pathlib import Path

import pytest
import sqlalchemy as sa
import web_samples as samples
from asked import KNOWN, TOKEN, Answer, Site
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from sqlalchemy.engine import Engine as Store

from paribus.model import Verdict
from paribus.store import schema

BEARER = {"host": "localhost:8321", "authorization": f"Bearer {TOKEN}"}
Numbers = dict[str, dict[tuple[tuple[str, str], ...], float]]


def ask(path: Path, headers: dict[str, str] = BEARER) -> Answer:
    return asyncio.run(Site(path).ask("/metrics", headers=headers))


def numbers(path: Path) -> Numbers:
    """The samples by name and labels, as the reader of Prometheus takes them."""
    answer = ask(path)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    found: Numbers = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_an_experiment_is_counted_as_on_its_page(path: Path, store: Store) -> None:
    experiment = samples.begin(store, 6, 'a "name" \\ of\ntwo lines')
    samples.make(store, experiment)
    samples.make(store, experiment, because="other processes took 1.85 of 2 cores")
    found = numbers(path)
    assert found["paribus_experiments"][("state", "running"),] == 1
    trials = {dict(labels)["result"]: count for labels, count in found["paribus_experiment_trials"].items()}
    assert trials == {"usable": 1, "unusable": 1, "open": 4, "spared": 0}
    [labels] = found["paribus_experiment_info"]
    assert dict(labels) == {"experiment": experiment, "name": 'a "name" \\ of\ntwo lines', "state": "running"}
    assert found["paribus_experiment_cut_off"] == {(("experiment", experiment),): 0}


def test_effects_are_those_of_the_last_look(path: Path, store: Store) -> None:
    experiment = samples.begin(store)
    samples.look(store, experiment, 1)
    samples.look(store, experiment, 2, Verdict.BETTER)
    found = numbers(path)
    ends = {dict(labels)["bound"]: math.log1p(value) for labels, value in found["paribus_effect_ratio"].items()}
    assert ends == pytest.approx({"estimate": 0.076, "low": 0.016, "high": 0.136})
    [labels] = found["paribus_effect_info"]
    assert (dict(labels)["verdict"], dict(labels)["arm"]) == ("better", samples.ARMS[1])


def test_an_effect_beyond_all_numbers_is_infinite(path: Path, store: Store) -> None:
    experiment = samples.begin(store)
    samples.look(store, experiment, 1)
    with store.begin() as connection:
        connection.execute(sa.update(schema.look).values(high=800.0, low=-800.0))
    ends = {dict(labels)["bound"]: value for labels, value in numbers(path)["paribus_effect_ratio"].items()}
    assert (ends["high"], ends["low"]) == (math.inf, -1.0)


def test_a_store_without_experiments_has_no_series(tmp_path: Path) -> None:
    assert set(numbers(tmp_path / "no.db")) == {"paribus_experiments"}


def test_the_scheme_of_the_token_ignores_case(tmp_path: Path) -> None:
    assert ask(tmp_path / "no.db", BEARER | {"authorization": f"bearer  {TOKEN}"}).status == 200


@pytest.mark.parametrize("value", ["", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN])
def test_without_the_token_there_are_no_numbers(tmp_path: Path, value: str) -> None:
    answer = ask(tmp_path / "no.db", {"host": "localhost:8321", "authorization": value})
    assert answer.status == 403
    assert "paribus_experiments" not in answer.text


def test_a_browser_with_the_cookie_may_read_them(tmp_path: Path) -> None:
    assert ask(tmp_path / "no.db", KNOWN).status == 200
