"""Notes of a report on making servers ready for their trials."""

import dataclasses

from report_samples import typical

from paribus.model import Measurement
from paribus.report.contents import blocks_at
from paribus.report.render.document import document
from paribus.report.sections.notes import server_notes
from paribus.report.view.blocks import ItemList, Place

GIB = 2.0**30


def _ready(rest_s: float, restless: int = 0, **warmed: float) -> dict[str, Measurement]:
    values = {"server_rest_s": rest_s, "server_restless": float(restless)} | warmed
    return {
        name: Measurement(
            phase="prepare", metric=name, unit="", source="server", n=1, mean=value, low=value, high=value, total=value
        )
        for name, value in values.items()
    }


def _warm(data: float, cached: float | None, cache: float = 4 * GIB) -> dict[str, float]:
    found = {"server_warm_s": 12.0, "server_cache_bytes": cache, "server_data_bytes": data}
    return found if cached is None else found | {"server_cached_bytes": cached}


def _said(*ready: dict[str, Measurement]) -> tuple[str, ...]:
    trials = [dataclasses.replace(one, workload="oltp") for one in typical().trials]
    return server_notes(trials, {trial.order: metrics for trial, metrics in zip(trials, ready, strict=False)})


def test_no_note_without_a_started_server() -> None:
    assert _said() == ()
    assert _said(_ready(0.0) | {}, {})[0].startswith("before 1 trial under oltp")


def test_warming_is_told_with_its_time_and_what_the_cache_then_had() -> None:
    first, second = _said(_ready(1.0, **_warm(2 * GIB, 2.1 * GIB)), _ready(3.0, **_warm(2 * GIB, 2 * GIB)))
    assert "2 trials" in first and "read once, in 12 s on average" in first
    assert first.endswith("its cache of 4 GiB then held all of the data of 2 GiB")
    assert second.endswith("time to become idle, 2 s on average and 3 s at most")


def test_data_that_is_larger_than_the_cache_is_told() -> None:
    (first, _) = _said(_ready(1.0, **_warm(16 * GIB, 4 * GIB)))
    assert first.endswith("held 25% of the data of 16 GiB, which is larger, so that trials read from disk")
    (first, _) = _said(_ready(1.0, **_warm(2 * GIB, None)))
    assert "held an unknown part of the data" in first


def test_a_cold_start_and_one_that_did_not_come_to_rest_are_told() -> None:
    first, second = _said(_ready(0.2), _ready(60.0, restless=2))
    assert first.endswith("restarted with empty caches")
    order = typical().trials[1].order
    assert second.endswith(f"1 min at most; it was still busy before {order}")


def test_server_notes_follow_those_of_the_experiment() -> None:
    bench = typical()
    found = dataclasses.replace(bench.input(), summaries={bench.trials[0].order: _ready(0.2)})
    (notes,) = blocks_at(Place.NOTES, found)
    assert isinstance(notes, ItemList)
    texts = tuple(item.text for item in notes.items)
    assert texts[: len(bench.experiment.notes)] == bench.experiment.notes
    assert len(texts) == len(bench.experiment.notes) + 2
    assert document(found).model_dump()["notes"] == list(texts)
