"""I/O matrices from imported Orion results, in the form of the product's own matrices."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from paribus.analysis.diagnostics.io_matrix import matrices
from paribus.analysis.paired.effects import Summaries
from paribus.findings import Matrix
from paribus.model import Factor, Measurement, Trial, Workload
from paribus.units import LoadLevel, parse_size

_KIND = "iomatrix"
_SMALL = {"throughput_per_s": "small_per_s", "response_mean_s": "small_response_mean_s"}
_LARGE = ("bytes_per_s", "bytes_per_s:large")
_Test = tuple[int, int, float, str]  # sizes, write share, order of large operations


def imported_matrices(
    trials: Sequence[Trial],
    summaries: Summaries,
    options: Mapping[int, Mapping[str, str]],
    factors: Sequence[Factor],
    confidence: float,
) -> tuple[Matrix, ...]:
    """Return every matrix of a set whose points combine small and large operations.

    Args:
        trials: Trials of the set.
        summaries: Measurements by trial and metric.
        options: Options of Orion, by trial.
        factors: Factors of the set.
        confidence: Coverage of all intervals.
    """
    varying = {factor.key for factor in factors if len(factor.levels) > 1}
    trials_by_test: dict[_Test, list[Trial]] = defaultdict(list)
    for trial in trials:
        if test := _test_of(options.get(trial.order, {})):
            trials_by_test[test].append(trial)
    return tuple(
        matrix
        for test, test_trials in trials_by_test.items()
        if any(all(_point(options[trial.order])) for trial in test_trials)
        for matrix in _matrices(test, test_trials, summaries, options, varying, confidence)
    )


def _matrices(
    test: _Test,
    trials: Sequence[Trial],
    summaries: Summaries,
    options: Mapping[int, Mapping[str, str]],
    varying: Collection[str],
    confidence: float,
) -> list[Matrix]:
    small_bytes, large_bytes, share, order = test
    settings = next((trial.settings for trial in trials if trial.baseline), {})
    name_of_matrix = ", ".join(
        ["Orion", *(f"{factor} {level}" for factor, level in settings.items() if factor in varying)]
    )
    series: dict[str, Workload] = {}
    series_trials, measured = [], {}
    for trial in trials:
        small, large = _point(options[trial.order])
        name = f"Orion, {large} large"
        series[name] = Workload(
            name=name,
            kind=_KIND,
            parameters={"write_share": share, "large": large, "small_block": small_bytes, "large_block": large_bytes},
            load_levels=(),
            response="small_per_s",
            data="keep",
            cache="warm",
            part_of=name_of_matrix,
        )
        series_trials.append(replace(trial, workload=name, load=LoadLevel(small)))
        measured[trial.order] = _measured(summaries.get(trial.order, {}), small, large, small_bytes)
    results = matrices(series_trials, measured, list(series.values()), {}, confidence)
    return [replace(matrix, large_order=order) for matrix in results]


def _test_of(options: Mapping[str, str]) -> _Test | None:
    """Sizes, write share and order of a test; None where it is not one of Orion's with stated sizes."""
    if not {"small", "large", "Small IO size", "Large IO size"} <= options.keys():
        return None
    try:
        sizes = [parse_size(options[f"{kind} IO size"].replace(" KB", "KiB")) for kind in ("Small", "Large")]
        share = float(options.get("Write", "0%").rstrip("% ")) / 100
    except ValueError:
        return None
    order = "random" if "Large Random" in options.get("IO Types", options.get("IO Type", "")) else "sequential"
    return sizes[0], sizes[1], share, order


def _point(options: Mapping[str, str]) -> tuple[int, int]:
    return int(options["small"]), int(options["large"])


def _measured(summary: Mapping[str, Measurement], small: int, large: int, small_bytes: int) -> dict[str, Measurement]:
    """The measurements under the names of the product's own matrices; total bytes where both parts are known."""
    renamed = {
        name: replace(summary[source_name], metric=name)
        for source_name, name in _SMALL.items()
        if small and source_name in summary
    }
    large_rate = next((summary[name] for name in _LARGE if large and name in summary), None)
    if large_rate:
        renamed["large_bytes_per_s"] = replace(large_rate, metric="large_bytes_per_s")
    rate = renamed.get("small_per_s")
    if (large_rate or not large) and (rate or not small) and (base := large_rate or rate):
        total = (large_rate.mean if large_rate else 0.0) + (rate.mean * small_bytes if rate else 0.0)
        renamed["bytes_per_s"] = replace(base, metric="bytes_per_s", unit="B/s", mean=total, low=total, high=total)
    if rate and not large:
        renamed["throughput_per_s"] = replace(rate, metric="throughput_per_s")
    return renamed
