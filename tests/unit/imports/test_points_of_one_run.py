"""Null simulation: the points of one run of each arm decide nothing, whatever the column of times is called."""

import math
from pathlib import Path

import numpy as np
import pytest

from paribus.experiment.evidence import evidence
from paribus.imports import pipeline
from paribus.lab.results import imported_reporting
from paribus.lab.store import importing
from paribus.model import Verdict
from paribus.store.open import open_engine, store_url

_RUN_SD, _POINT_SD = 0.03, 0.01


def _table(head: str, rng: np.random.Generator) -> str:
    """A run without an effect: a level of its own, and small differences between points."""
    level = 1000 * math.exp(rng.normal(0, _RUN_SD))
    rates = level * np.exp(rng.normal(0, _POINT_SD, 30))
    if head == "long":
        return "elapsed,threads,metric,unit,value\n" + "".join(
            f"{10 * n},8,tps,1/s,{rate:.2f}\n" for n, rate in enumerate(rates)
        )
    clock = head == "timestamp"
    times = [f"2024-05-06 07:08:{n:02}" if clock else str(n) for n in range(len(rates))]
    return f"{head},threads,TPS\n" + "".join(f"{at},8,{rate:.2f}\n" for at, rate in zip(times, rates, strict=True))


@pytest.mark.parametrize("head", ["second", "timestamp", "sample_index", "time (s)", "seq", "long"])
def test_one_run_of_each_arm_is_not_decided_by_its_points(tmp_path: Path, head: str) -> None:
    rng = np.random.default_rng(5)
    store = open_engine(store_url(str(tmp_path / "s.db")), create=True)
    for number in range(4):
        for level in ("noop", "cfq"):
            path = tmp_path / f"{number}-{level}.csv"
            path.write_text(_table(head, rng))
            request = importing.import_request(
                [str(path)], "scheduler", level, None, name=f"set {number}", baseline="", file_format=""
            )
            target = pipeline.set_named(store, request.name)
            _, experiment = pipeline.carry_out(request, store, target, "0", lambda _outcome: None)
        assert experiment is not None
        stored_evidence = evidence(store, experiment.id)
        assert len(stored_evidence.trials) == 2
        effects = imported_reporting.judgement(store, experiment, stored_evidence).effects
        assert {effect.verdict for effect in effects if effect.load is None} == {Verdict.UNDECIDED}
