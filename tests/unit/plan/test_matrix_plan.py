"""A matrix in a plan: one table, a workload for each series, measured point by point or compared."""

from collections import Counter, defaultdict

import pytest
from plan_samples import checked, simple

from paribus.errors import PlanError
from paribus.model import Plan, Purpose
from paribus.plan import data
from paribus.plan.schedule.budget import OVERHEAD_S, block_s, round_s
from paribus.plan.schedule.design import comparisons, measured, schedule

MATRIX = """
[[workload]]
kind = "iomatrix"
total_size = "64MiB"
threads = [0, 2, 8]
large = [0, 4]
write_share = ["0%", "20%"]
"""
SERIES = {"iomatrix-w0-large0", "iomatrix-w0-large4", "iomatrix-w20-large0", "iomatrix-w20-large4"}


def _measured_only(rest: str = "") -> Plan:
    return checked(f'name = "n"\n{MATRIX}\n{rest}')


def test_every_series_is_a_workload_without_the_point_at_which_nothing_is_outstanding() -> None:
    plan = _measured_only()
    levels = {one.name: one.load_levels for one in plan.workloads}
    assert set(levels) == SERIES
    assert all(load == ((2, 8) if name.endswith("large0") else (0, 2, 8)) for name, load in levels.items())
    assert {one.plan_name for one in plan.workloads} == {"iomatrix"}
    assert {one.data for one in plan.workloads} == {"round"}, "one data set, so one age"


def test_without_factors_every_point_is_measured_once_a_round_in_another_order() -> None:
    plan = _measured_only("[protocol]\nrounds = 3")
    trials = schedule(plan, "e", 3)
    points = [[(t.workload, t.load.n) for t in trials if t.round == number] for number in (1, 2, 3)]
    assert [len(one) for one in points] == [10, 10, 10]
    assert sorted(points[0]) == sorted(points[1]) == sorted(points[2])
    assert points[0] != points[1] != points[2]
    assert {t.purpose for t in trials} == {Purpose.MEASURE}
    assert Counter(t.block for t in trials).most_common(1)[0][1] == 1
    assert [t.order for t in trials] == list(range(1, 31))
    assert round_s(plan) == pytest.approx(10 * (90 + OVERHEAD_S))


def test_a_factor_is_tried_under_every_series_and_what_it_does_not_reach_is_measured() -> None:
    text = simple('"vm.swappiness" = [60, 1]', MATRIX + MATRIX + 'name = "alone"')
    plan = checked(text + '[factor_scope]\n"vm.swappiness" = ["iomatrix"]')
    trials = schedule(plan, "e", 2)
    by_purpose = defaultdict(set)
    for trial in trials:
        by_purpose[trial.purpose].add(trial.workload)
    assert by_purpose[Purpose.COMPARE] == SERIES
    assert by_purpose[Purpose.MEASURE] == {one.name for one in measured(plan)}
    assert all(name.startswith("alone-") for name in by_purpose[Purpose.MEASURE])
    alone = [trial for trial in trials if trial.round == 1 and trial.purpose is Purpose.MEASURE]
    blocks = {trial.block for trial in trials if trial.round == 1 and trial.purpose is Purpose.COMPARE}
    each_s = block_s(comparisons(plan)[0], plan)
    assert round_s(plan) == pytest.approx(len(alone) * (90 + OVERHEAD_S) + len(blocks) * each_s)


def test_all_series_share_one_data_set() -> None:
    plan = _measured_only()
    assert list(data.data_sets(plan)) == ["iomatrix"]
    assert data.size_bytes(plan) == {"": 64 * 2**20}
    assert data.creation_bytes(plan, schedule(plan, "e", 2)) == {"": 2 * 64 * 2**20}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (MATRIX + "rate = [100]", "varies outstanding operations: remove rate"),
        (MATRIX.replace("[0, 2, 8]", "[0]").replace("[0, 4]", "[0]"), "threads and large have only zeros"),
        (MATRIX.replace("[0, 4]", "[0, 1025]"), "less than or equal to 1024"),
        (MATRIX.replace('"20%"', '"120%"'), "less than or equal to 1"),
        (MATRIX + "direct = true\nsmall_block = 1000", "small_block must be a multiple of 512"),
        (MATRIX.replace("64MiB", "512KiB"), "total_size is less than one large_block in each file"),
        (MATRIX + 'mode = "rndrd"', "unknown key"),
        (MATRIX + '[factors]\n"iomatrix.large" = [0, 1]', "give the values of large in the workload itself"),
        (MATRIX + MATRIX, "two workloads have the name 'iomatrix'"),
        (MATRIX + MATRIX + 'name = "iomatrix-w0-large0"', "two workloads have the name 'iomatrix-w0-large0'"),
    ],
)
def test_a_mistake_is_told_with_what_would_be_right(text: str, word: str) -> None:
    with pytest.raises(PlanError) as caught:
        checked(f'name = "n"\n{text}')
    assert word in str(caught.value)


def test_a_parameter_of_the_matrix_can_be_a_factor_and_another_block_size_is_judged_by_bytes() -> None:
    plan = checked(f'name = "n"\n{MATRIX}\n[factors]\n"iomatrix.large_block" = ["1MiB", "256KiB"]')
    assert not measured(plan)
    assert {one.response for one in plan.workloads} == {"bytes_per_s"}
    assert set(plan.factors[0].scope) == SERIES
