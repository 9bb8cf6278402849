"""What an I/O matrix that others measured says of a device, read like one of our own.

In: the trials of a set with what they measured, and what Orion was asked in each. Out: `Matrix` records, of the level
that others are compared with. Where the sizes of operations are not told, there is none.
"""

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
_Asked = tuple[int, int, float, str]  # sizes, write share, order of large operations


def imported_matrices(
    trials: Sequence[Trial],
    summaries: Summaries,
    options: Mapping[int, Mapping[str, str]],
    factors: Sequence[Factor],
    confidence: float,
) -> tuple[Matrix, ...]:
    """Every matrix of a set, whose points have small operations beside large ones."""
    varied = {factor.key for factor in factors if len(factor.levels) > 1}
    found: dict[_Asked, list[Trial]] = defaultdict(list)
    for trial in trials:
        if asked := _asked(options.get(trial.order, {})):
            found[asked].append(trial)
    return tuple(
        one
        for asked, mine in found.items()
        if any(all(_point(options[trial.order])) for trial in mine)
        for one in _matrices(asked, mine, summaries, options, varied, confidence)
    )


def _matrices(
    asked: _Asked,
    trials: Sequence[Trial],
    summaries: Summaries,
    options: Mapping[int, Mapping[str, str]],
    varied: Collection[str],
    confidence: float,
) -> list[Matrix]:
    small_bytes, large_bytes, share, order = asked
    settings = next((trial.settings for trial in trials if trial.baseline), {})
    called = ", ".join(["Orion", *(f"{factor} {level}" for factor, level in settings.items() if factor in varied)])
    series: dict[str, Workload] = {}
    placed, measured = [], {}
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
            part_of=called,
        )
        placed.append(replace(trial, workload=name, load=LoadLevel(small)))
        measured[trial.order] = _measured(summaries.get(trial.order, {}), small, large, small_bytes)
    made = matrices(placed, measured, list(series.values()), {}, confidence)
    return [replace(one, large_order=order) for one in made]


def _asked(options: Mapping[str, str]) -> _Asked | None:
    """What the whole test was asked; None of what is no test of Orion's with its sizes."""
    if not {"small", "large", "Small IO size", "Large IO size"} <= options.keys():
        return None
    try:
        sizes = [parse_size(options[f"{one} IO size"].replace(" KB", "KiB")) for one in ("Small", "Large")]
        share = float(options.get("Write", "0%").rstrip("% ")) / 100
    except ValueError:
        return None
    order = "random" if "Large Random" in options.get("IO Types", options.get("IO Type", "")) else "sequential"
    return sizes[0], sizes[1], share, order


def _point(options: Mapping[str, str]) -> tuple[int, int]:
    return int(options["small"]), int(options["large"])


def _measured(found: Mapping[str, Measurement], small: int, large: int, small_bytes: int) -> dict[str, Measurement]:
    """What a point measured, called as our own matrices call it; bytes of all, as far as both parts are told."""
    told = {name: replace(found[of], metric=name) for of, name in _SMALL.items() if small and of in found}
    moved = next((found[name] for name in _LARGE if large and name in found), None)
    if moved:
        told["large_bytes_per_s"] = replace(moved, metric="large_bytes_per_s")
    rate = told.get("small_per_s")
    if (moved or not large) and (rate or not small) and (base := moved or rate):
        total = (moved.mean if moved else 0.0) + (rate.mean * small_bytes if rate else 0.0)
        told["bytes_per_s"] = replace(base, metric="bytes_per_s", unit="B/s", mean=total, low=total, high=total)
    if rate and not large:
        told["throughput_per_s"] = replace(rate, metric="throughput_per_s")
    return told
