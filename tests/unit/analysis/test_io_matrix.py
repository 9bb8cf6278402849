"""I/O matrices: published ones, and simulated ones with known limits."""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import trial_samples as samples

from paribus.analysis.diagnostics.io_matrix import matrices
from paribus.findings import Bound, Matrix, MatrixSeries
from paribus.model import Measurement, Purpose, Trial, Workload

GOLDEN = Path(__file__).parent.parent.parent / "golden" / "matrix"
KIB8, MIB = 8192, 2**20
Point = tuple[float, int, int]  # write share, small and large operations outstanding
Rates = Callable[[Point], tuple[float, float]]  # small and large operations per second


def _workload(share: float, large: int, levels: Sequence[int]) -> Workload:
    return Workload(
        name=f"m-{share}-{large}",
        kind="iomatrix",
        parameters={"write_share": share, "large": large, "small_block": KIB8, "large_block": MIB},
        load_levels=tuple(levels),
        response="throughput_per_s",
        data="keep",
        cache="warm",
        part_of="m",
    )


def _metrics(small: int, large: int, small_per_s: float, large_per_s: float, large_bytes: float) -> dict[str, float]:
    metrics = {
        "throughput_per_s": small_per_s + large_per_s,
        "bytes_per_s": small_per_s * KIB8 + large_bytes,
        "small_per_s": small_per_s,
        "large_bytes_per_s": large_bytes,
    }
    if small:
        metrics["small_response_mean_s"] = small / small_per_s
    if large:
        metrics["large_response_mean_s"] = large / large_per_s
    return metrics


def _read(points: Sequence[Point], values: Sequence[Sequence[Mapping[str, float]]]) -> Matrix:
    """Return the matrix of some points, from the metrics of each point in each round."""
    trials: list[Trial] = []
    summaries: dict[int, dict[str, Measurement]] = {}
    for number, round_values in enumerate(values, start=1):
        for (share, small, large), metrics in zip(points, round_values, strict=True):
            order = len(trials) + 1
            trials.append(
                samples.trial(
                    order,
                    "",
                    small,
                    round=number,
                    factor="",
                    baseline=True,
                    purpose=Purpose.MEASURE,
                    workload=f"m-{share}-{large}",
                )
            )
            summaries[order] = {name: samples.measured(v, name) for name, v in metrics.items()}
    keys = dict.fromkeys((share, large) for share, _, large in points)
    workloads = [_workload(s, n, sorted({p[1] for p in points if (p[0], p[2]) == (s, n)})) for s, n in keys]
    (matrix,) = matrices(trials, summaries, workloads, {}, 0.95)
    return matrix


def _device(points: Sequence[Point], rates: Rates, rounds: int = 4, sd: float = 0.01) -> Matrix:
    rng = np.random.default_rng(3)

    def metrics(point: Point) -> dict[str, float]:
        small, large = (rate * math.exp(sd * rng.standard_normal()) for rate in rates(point))
        return _metrics(point[1], point[2], small, large, large * MIB)

    return _read(points, [[metrics(point) for point in points] for _ in range(rounds)])


def _published(name: str, changed: Mapping[int, tuple[int, float]] | None = None) -> Matrix:
    rows = csv.DictReader((GOLDEN / name).read_text(encoding="utf-8").splitlines())
    points, values = [], []
    for row in rows:
        small, rate = (changed or {}).get(int(row["small"]), (int(row["small"]), float(row["small_per_s"])))
        points.append((0.0, small, int(row["large"])))
        values.append(
            _metrics(small, int(row["large"]), rate, float(row["large_per_s"]), float(row["large_bytes_per_s"]))
        )
    return _read(points, [values])


def _series(matrix: Matrix, share: float = 0.0, large: int = 0) -> MatrixSeries:
    return next(s for s in matrix.series if (s.write_share, s.large) == (share, large))


def _bounds(series: MatrixSeries) -> list[Bound | None]:
    return [point.bound for point in series.points]


def test_the_published_card_has_its_knee_at_forty_thousand_operations() -> None:
    matrix = _published("flash-card.csv")
    series = _series(matrix)
    assert series.knee is not None
    assert series.knee.per_s == pytest.approx(40_000, rel=0.1)
    assert series.knee.response_s == pytest.approx(0.001, rel=0.25)
    assert series.bend == (40, 475)
    assert series.peak_per_s is not None
    assert (series.peak_at, series.peak_per_s.value) == (475, 50_000)
    assert _bounds(series) == [Bound.NOTHING, Bound.NOTHING, Bound.NOTHING, Bound.IOPS]
    assert _bounds(_series(matrix, large=50)) == [Bound.BANDWIDTH]


def test_a_card_at_its_ceiling_below_a_millisecond_has_its_knee_there() -> None:
    series = _series(_published("flash-card.csv", {40: (47, 50_000.0)}))
    assert series.knee is not None
    assert series.knee.per_s == pytest.approx(50_000, rel=0.1)
    assert series.knee.response_s < 0.00105
    assert series.bend == (47, 475)
    assert _bounds(series)[-2:] == [Bound.IOPS, Bound.IOPS]


SMALL = (0, 1, 2, 4, 8, 16, 32, 64)
GRID = [(0.0, small, large) for large in (0, 1, 2, 4) for small in SMALL if small or large]


def _shared(point: Point) -> tuple[float, float]:
    """A disk of eight servers: 8,000 small or 1,000 large operations per second, each 1 ms or 8 ms long."""
    _, small, large = point
    total = small * 0.001 + large * 0.008
    shrink = min(1.0, 8 / (small + large))
    demand_small, demand_large = (small / 0.001, large / 0.008)
    return (demand_small * shrink if small else 0.0, demand_large * shrink if large else 0.0) if total else (0.0, 0.0)


def test_small_operations_alone_are_bound_by_their_number_after_the_knee() -> None:
    series = _series(_device(GRID, _shared))
    assert [point.small for point in series.points] == [1, 2, 4, 8, 16, 32, 64]
    assert _bounds(series) == [Bound.NOTHING] * 3 + [Bound.IOPS] * 4
    assert series.knee is not None
    assert series.knee.level.low is not None
    assert series.knee.level.high is not None
    assert series.knee.level.low < series.knee.level.high
    assert series.knee.level.value == pytest.approx(8, rel=0.25)
    assert series.peak_per_s is not None
    assert series.peak_per_s.value == pytest.approx(8000, rel=0.02)
    assert series.bend == (8, 16)


def test_large_and_small_together_share_the_device() -> None:
    series = _series(_device(GRID, _shared), large=4)
    assert series.points[0].bound is Bound.NOTHING  # four large ones alone leave half of it idle
    assert Bound.BOTH in _bounds(series)
    assert series.points[-1].bound in (Bound.BOTH, Bound.IOPS)


def test_a_disk_that_moves_no_more_bytes_is_bound_by_bandwidth() -> None:
    def rates(point: Point) -> tuple[float, float]:
        _, small, large = point
        demand = small * 1000.0 * KIB8 + large * 200.0 * MIB
        shrink = min(1.0, 500 * MIB / demand)
        return small * 1000.0 * shrink, large * 200.0 * shrink

    matrix = _device([(0.2, s, n) for n in (0, 4) for s in (0, 1, 4, 16, 256, 1024) if s or n], rates)
    assert _bounds(_series(matrix, 0.2, 4))[-1] is Bound.BANDWIDTH
    assert _bounds(_series(matrix, 0.2))[0] is Bound.NOTHING


def test_throughput_in_proportion_is_not_bound_and_has_no_knee() -> None:
    series = _series(_device([(0.0, small, 0) for small in (1, 2, 4, 8)], lambda p: (1000.0 * p[1], 0.0)))
    assert series.knee is None
    assert series.bend is None
    assert set(_bounds(series)) == {Bound.NOTHING}


def test_a_single_point_has_no_bound() -> None:
    (point,) = _series(_device([(0.0, 4, 0)], lambda _: (1000.0, 0.0))).points
    assert point.bound is None
    assert point.measured["small_per_s"].value == pytest.approx(1000, rel=0.02)


def test_matrix_without_measurements_is_empty() -> None:
    (matrix,) = matrices([], {}, [_workload(0.0, 0, (1, 2))], {}, 0.95)
    assert matrix.rounds == 0
    assert [series.points for series in matrix.series] == [()]
