"""Section of notes: those of the experiment, and how servers were made ready for trials."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from paribus.i18n import gettext, translate_stored
from paribus.model import Measurement, Trial
from paribus.report.inputs import ReportInput
from paribus.report.section import DocumentField, section
from paribus.report.view.blocks import ItemList, ListItem, Place
from paribus.report.view.numbers import count, few
from paribus.units import show_duration, show_size

_ALL = 0.995


def _notes(report_input: ReportInput) -> list[str]:
    return [*report_input.experiment.notes, *server_notes(report_input.trials, report_input.summaries)]


@section(Place.NOTES, 2, DocumentField("notes", list[str], _notes))
def notes(report_input: ReportInput) -> Iterator[ItemList]:
    """The notes, each a sentence."""
    if texts := _notes(report_input):
        yield ItemList(items=tuple(ListItem(text=translate_stored(text)) for text in texts))


def server_notes(trials: Sequence[Trial], summaries: Mapping[int, Mapping[str, Measurement]]) -> tuple[str, ...]:
    """Return how servers were warmed, what they cached then, and how long they rested; empty where none was started."""
    sentences = []
    for workload in dict.fromkeys(trial.workload for trial in trials):
        by_order = {t.order: summaries[t.order] for t in trials if t.workload == workload and t.order in summaries}
        ready = {order: metrics for order, metrics in by_order.items() if "server_rest_s" in metrics}
        if ready:
            sentences += _of_workload(workload, ready)
    return tuple(sentences)


def _of_workload(workload: str, ready: Mapping[int, Mapping[str, Measurement]]) -> list[str]:
    warmed = [metrics for metrics in ready.values() if "server_warm_s" in metrics]
    times = gettext("before {trials} under {workload}", trials=count(len(ready), "trial"), workload=workload)
    start = _warming(warmed) if warmed else gettext("the server was restarted with empty caches")
    waited = [metrics["server_rest_s"].mean for metrics in ready.values()]
    longest, usual = show_duration(max(waited)), show_duration(statistics.mean(waited))
    restless = [order for order, metrics in ready.items() if metrics["server_restless"].mean > 0]
    sentence = gettext(
        "{times} the server was given time to become idle, {usual} on average and {longest} at most",
        times=times,
        usual=usual,
        longest=longest,
    )
    delays = [gettext("it was still busy before {trials}", trials=few(restless))] if restless else []
    return [gettext("{times} {what}", times=times, what=start), gettext("; ").join([sentence, *delays])]


def _warming(warmed: Sequence[Mapping[str, Measurement]]) -> str:
    """Return a note on warming: its duration, the content of the cache, and whether the cache can hold the data."""
    took_s = statistics.mean(metrics["server_warm_s"].mean for metrics in warmed)
    read = gettext(
        "the server was started and all tables were read once, in {duration} on average",
        duration=show_duration(took_s),
    )
    size, data = (max(metrics[f"server_{name}_bytes"].mean for metrics in warmed) for name in ("cache", "data"))
    if not size or not data:
        return read
    shares = [
        min(1.0, metrics["server_cached_bytes"].mean / data) for metrics in warmed if "server_cached_bytes" in metrics
    ]
    share = (
        gettext("an unknown part") if not shares else gettext("all") if min(shares) >= _ALL else f"{min(shares):.0%}"
    )
    holds = gettext(
        "its cache of {size} then held {share} of the data of {data}",
        size=show_size(size),
        share=share,
        data=show_size(data),
    )
    larger = gettext(", which is larger, so that trials read from disk") if data > size else ""
    return gettext("; ").join((read, holds + larger))
