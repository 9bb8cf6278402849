"""Capacity and write amplification of storage layouts, from the counters of the disks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paribus.findings import LayoutUse
from paribus.model import COMBINATION, LAYOUT, Factor, Measurement, Trial, TrialState

_SEPARATOR = " / "
_BASELINE = "baseline"
Metrics = Mapping[str, Measurement]


@dataclass(frozen=True, slots=True)
class _Use:
    """A layout under a workload; `combination` is the one that it is part of, empty for the baseline's."""

    combination: str
    text: str
    workload: str


def layout_uses(
    trials: Sequence[Trial], summaries: Mapping[int, Metrics], factors: Sequence[Factor]
) -> tuple[LayoutUse, ...]:
    """Describe every layout under every workload, in the order of the trials; none where no plan has layouts.

    Each combination is an entry of its own, also where several share a layout. Write amplification is the ratio
    of sums over all trials that count: bytes written to all disks, and bytes that the load wrote, or the layout where
    the load does not count them. So is the ratio of operations.
    """
    names = {
        level: label
        for factor in factors
        if factor.key == LAYOUT
        for level, label in zip(factor.levels, factor.labels, strict=True)
    }
    by_use: dict[_Use, list[int]] = {}
    for trial in trials:
        if LAYOUT in trial.settings and trial.state is TrialState.DONE and trial.order in summaries:
            text = str(trial.settings[LAYOUT])
            combination = "" if trial.baseline or trial.factor != COMBINATION else trial.arm
            by_use.setdefault(_Use(combination, text, trial.workload), []).append(trial.order)
    has_combinations = any(use.combination for use in by_use)
    throughputs = {use: _throughputs(trials, summaries, orders) for use, orders in by_use.items()}
    return tuple(
        LayoutUse(
            level=use.combination or names.get(use.text, _BASELINE if has_combinations else use.text),
            workload=use.workload,
            layers=tuple(use.text.split(_SEPARATOR)),
            usable_bytes=_mean([summaries[order] for order in orders], "layout_usable_bytes"),
            written_per_byte=_ratio([_bytes(summaries[order]) for order in orders])
            or _ratio([_layer_bytes(summaries[order]) for order in orders]),
            operations_per_operation=_ratio([_operations(summaries[order]) for order in orders]),
            share_of_best=_share_of_best(
                throughputs[use], [of_use for other, of_use in throughputs.items() if other.workload == use.workload]
            ),
            cache_hit_share=_mean([summaries[order] for order in orders], "cache_hit_share"),
            cache_dirty_bytes=_mean([summaries[order] for order in orders], "cache_dirty_bytes"),
            trials=tuple(orders),
        )
        for use, orders in by_use.items()
    )


def _mean(measured: Sequence[Metrics], metric: str) -> float | None:
    values = [metrics[metric].mean for metrics in measured if metric in metrics]
    return sum(values) / len(values) if values else None


def _throughputs(trials: Sequence[Trial], summaries: Mapping[int, Metrics], orders: Sequence[int]) -> dict[str, float]:
    """Mean throughput by load level."""
    by_level: dict[str, list[float]] = {}
    for trial in trials:
        if trial.order in orders and (measured := summaries[trial.order].get("throughput_per_s")):
            by_level.setdefault(str(trial.load), []).append(measured.mean)
    return {level: sum(values) / len(values) for level, values in by_level.items()}


def _share_of_best(throughput: Mapping[str, float], all_throughputs: Sequence[Mapping[str, float]]) -> float | None:
    """The mean, over the load levels, of the share of the highest throughput there."""
    best = {level: max(each.get(level, 0.0) for each in all_throughputs) for level in throughput}
    shares = [value / best[level] for level, value in throughput.items() if best[level]]
    return sum(shares) / len(shares) if shares else None


def _ratio(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The sum on the disks over the sum of the load; None where the load counts nothing."""
    of_load = sum(load for _, load in pairs)
    return sum(on_disks for on_disks, _ in pairs) / of_load if of_load else None


def _bytes(metrics: Metrics) -> tuple[float, float]:
    """Bytes a second written to the disks, and by the load; zeros where one is unknown."""
    metric = "device_written_bytes_per_s"
    return (metrics[metric].mean, _written_per_s(metrics)) if metric in metrics else (0.0, 0.0)


def _layer_bytes(metrics: Metrics) -> tuple[float, float]:
    """Bytes that a trial wrote to all disks, and to the device below its files; zeros where they are unknown."""
    disks, top = "layout_disks_written_bytes", "layout_top_written_bytes"
    return (metrics[disks].mean, metrics[top].mean) if {disks, top} <= metrics.keys() else (0.0, 0.0)


def _operations(metrics: Metrics) -> tuple[float, float]:
    """Operations a second of the disks, and of the load; zeros where one is unknown."""
    if not {"device_reads_per_s", "device_writes_per_s", "reads_per_s", "throughput_per_s"} <= metrics.keys():
        return 0.0, 0.0
    on_disks = metrics["device_reads_per_s"].mean + metrics["device_writes_per_s"].mean
    return on_disks, metrics["throughput_per_s"].mean


def _written_per_s(metrics: Metrics) -> float:
    """Bytes a second that the load wrote: its share of writes, since all its operations have one size."""
    if not {"bytes_per_s", "reads_per_s", "writes_per_s"} <= metrics.keys():
        return 0.0
    reads, writes = metrics["reads_per_s"].mean, metrics["writes_per_s"].mean
    return metrics["bytes_per_s"].mean * writes / (reads + writes) if reads + writes else 0.0
