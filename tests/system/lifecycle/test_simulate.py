"""Simulations of a plan, on a machine that does not exist."""

import json
from pathlib import Path

import jsonschema
import pytest


def test_a_simulation_touches_nothing_and_tells_what_a_plan_would_find(paribus, plan, tmp_path: Path) -> None:
    path = plan('"fileio.fsync_every" = [100, 1]')
    before = sorted(tmp_path.iterdir())
    done = paribus("simulate", path, "--times", "20", "--effect", "90%", "--json")
    assert done.code == 0, done.err
    document = done.json
    schema = Path(__file__).parents[3] / "schema" / "simulate.json"
    jsonschema.validate(document, json.loads(schema.read_text()))
    (arm,) = document["arms"]
    assert arm["verdicts"] == {"better": 20}
    assert "better" in paribus("simulate", path, "--times", "5", "--effect", "90%").out
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("options", [("--effect", "a lot"), ("--effect", "-100%"), ("--noise", "0%"), ("--times", "0")])
def test_a_simulation_of_nonsense_is_refused(paribus, plan, options: tuple[str, str]) -> None:
    done = paribus("simulate", plan(), *options)
    assert done.code == 2
    assert options[0].removeprefix("--") in done.err
