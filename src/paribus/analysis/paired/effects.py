"""Trials that count, and the pairs of each comparison."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from paribus.analysis.paired.unusable import Faults, lost_before, unusable_attempts
from paribus.model import (
    PLATFORM,
    SERVER_STARTED,
    SINGLE,
    ArmKey,
    Factor,
    FailureClass,
    Measurement,
    Purpose,
    Trial,
    TrialState,
    Workload,
    arm_of,
    arms_given_up,
)
from paribus.units import LoadLevel, LoadUnit

Summaries = Mapping[int, Mapping[str, Measurement]]

_THROUGHPUT = "throughput_per_s"
_OTHER_LOAD = "other_cpu_share"
SAME_START_S = 2.0
"""Greatest difference between statements of one server start: some servers state it to a second only."""
_MOST_OTHER_LOAD = 0.9  # a load always gets some processor time


@dataclass(frozen=True, slots=True)
class Pair:
    """A response of the baseline and of the compared arm in one block.

    `later` counts the applications by which the compared trial ran after the baseline's. `sides` are the trials of the
    baseline and of the compared arm: one each, or several if settings were toggled. `count` is the number of
    operations of the side with fewer of them, 0 where unknown. `other_load` is the log ratio of the processor time
    that other processes left free, compared over baseline. `after`, which the fit adjusts for, is 1 where only the
    compared trial followed the compared arm, and -1 where only the baseline's did. `start` is when the server
    was started on which all trials of the pair worked, in seconds since 1970; 0 where there is no such start. `lost` is
    the number of pairs lost since the pair before to unusable trials of the baseline, and of the compared arm.
    `served` holds the operations per second of each trial as shares of the rate that was asked for; empty for closed
    loops.
    """

    block: int
    load: LoadLevel
    baseline: float
    compared: float
    later: int
    sides: tuple[tuple[int, ...], tuple[int, ...]]
    count: int
    other_load: float = 0.0
    after: int = 0
    start: float = 0.0
    lost: tuple[int, int] = (0, 0)
    served: tuple[float, ...] = ()

    @property
    def trials(self) -> tuple[int, ...]:
        """The trials of both sides."""
        return self.sides[0] + self.sides[1]

    @property
    def is_toggled(self) -> bool:
        """Whether the settings were toggled."""
        return len(self.trials) > len(self.sides)


@dataclass(frozen=True, slots=True)
class PairSeries:
    """All complete pairs of one arm against its baseline under one workload.

    `split`: an application holds for several trials, which are no replicates. `planned` counts units.
    """

    purpose: Purpose
    factor: str
    workload: str
    response: str
    baseline: str
    arm: str
    planned: int
    pairs: tuple[Pair, ...]
    faults: Faults
    split: bool

    @property
    def units(self) -> int:
        """Number of units of replication: pairs, or pairs of applications where `split`."""
        return len({pair.block for pair in self.pairs}) if self.split else len(self.pairs)

    def first(self, units: int) -> "PairSeries":
        """Return the series with its first `units` units only."""
        first_blocks = list(dict.fromkeys(pair.block for pair in self.pairs))[:units] if self.split else None
        pairs = (
            self.pairs[:units]
            if first_blocks is None
            else tuple(pair for pair in self.pairs if pair.block in first_blocks)
        )
        return replace(self, pairs=pairs)


_BY_ARM = (*SINGLE, Purpose.MEASURE)


def counting(trials: Iterable[Trial], purposes: Container[Purpose] = _BY_ARM) -> list[Trial]:
    """Return the trials that count: not superseded, and of one of the purposes.

    The default purposes leave out preconditioning and comparisons of the baseline with itself.
    """
    return [t for t in trials if t.state is not TrialState.SUPERSEDED and t.purpose in purposes]


def whole_blocks(trials: Iterable[Trial], purposes: Container[Purpose] = _BY_ARM) -> dict[int, list[Trial]]:
    """Return the done trials of complete blocks, by block number; trials of other blocks enter no effect.

    A setting that the machine refuses leaves the other arms' blocks complete, and its own other blocks. Of a block in
    which it was refused no trial of its arm counts, also where a block has several of each arm.
    """
    trials = list(trials)
    given_up = arms_given_up(trials)
    counted = [trial for trial in counting(trials, purposes) if trial.state is not TrialState.SPARED]
    refused = {
        (trial.block, arm_of(trial))
        for trial in counted
        if trial.failure is FailureClass.SETTING_REJECTED
        or (trial.state is TrialState.PLANNED and arm_of(trial) in given_up)
    }
    blocks: dict[int, list[Trial]] = defaultdict(list)
    for trial in counted:
        if (trial.block, arm_of(trial)) not in refused:
            blocks[trial.block].append(trial)
    whole = {n: block for n, block in blocks.items() if all(t.state is TrialState.DONE for t in block)}
    for number, block in whole.items():
        if len(set(Counter(arm_of(trial) for trial in block).values())) > 1:
            raise AssertionError(f"an arm counts twice in block {number}")
    return whole


def pair_series(
    trials: Sequence[Trial],
    summaries: Summaries,
    responses: Mapping[str, str],
    purposes: Container[Purpose] = _BY_ARM,
) -> list[PairSeries]:
    """Return the pairs of every compared arm.

    Args:
        trials: All trials of an experiment.
        summaries: Measurements by trial and metric.
        responses: The judged metric of each workload.
        purposes: Purposes of the trials to pair.
    """
    counted = [trial for trial in counting(trials, purposes) if trial.workload in responses]
    run_time = {t.order: (t.started or 0.0, t.order) for t in counted}  # a rerun's number is higher than its time
    pairs_of_arm: dict[ArmKey, list[Pair]] = defaultdict(list)
    judged_blocks = [block for block in whole_blocks(trials, purposes).values() if block[0].workload in responses]
    for block in judged_blocks:
        for trial, pair in _pairs(block, summaries, responses):
            pairs_of_arm[arm_of(trial)].append(pair)
    unusable = unusable_attempts(trials)
    names = {(t.factor, t.workload): t.arm for t in counted if t.baseline}
    planned: dict[ArmKey, list[Trial]] = defaultdict(list)
    for trial in counted:
        if not trial.baseline:
            planned[arm_of(trial)].append(trial)
    result = []
    for (factor, workload, arm), arm_trials in planned.items():
        baseline, blocks = names[factor, workload], {trial.block for trial in arm_trials}
        ended = {pair: max(run_time[order] for order in pair.trials) for pair in pairs_of_arm[factor, workload, arm]}
        pairs = sorted(ended, key=ended.__getitem__)
        of_baseline, of_arm = (
            {attempt: ran for attempt, ran in unusable[factor, workload, name].items() if attempt[0] in blocks}
            for name in (baseline, arm)
        )
        lost = lost_before(of_baseline, of_arm, [ended[pair] for pair in pairs])
        result.append(
            PairSeries(
                purpose=arm_trials[0].purpose,
                factor=factor,
                workload=workload,
                response=responses[workload],
                baseline=baseline,
                arm=arm,
                planned=len(blocks),
                pairs=tuple(replace(pair, lost=count) for pair, count in zip(pairs, lost, strict=True)),
                faults=Faults.of(of_baseline, of_arm),
                split=len(arm_trials) > len({(trial.block, trial.application) for trial in arm_trials}),
            )
        )
    return result


def _pairs(block: Sequence[Trial], summaries: Summaries, responses: Mapping[str, str]) -> Iterator[tuple[Trial, Pair]]:
    """The pairs of a complete block, each with one of its compared trials.

    Each compared trial is paired with the baseline trial at the same position of its application. If settings were
    toggled, all trials of an arm are one side.
    """
    block = sorted(block, key=lambda trial: trial.position)
    baseline_trials = [trial for trial in block if trial.baseline]
    is_toggled = len({trial.application for trial in baseline_trials}) > 1
    for arm in dict.fromkeys(arm_of(trial) for trial in block if not trial.baseline):
        compared_trials = [trial for trial in block if arm_of(trial) == arm]
        singles = zip(([trial] for trial in baseline_trials), ([trial] for trial in compared_trials), strict=False)
        of_application = 1 if is_toggled else len(baseline_trials)
        for baseline, compared in [(baseline_trials, compared_trials)] if is_toggled else singles:
            later = (compared[0].position - baseline[0].position) // of_application
            if pair := _pair(baseline, compared, later, summaries, responses[block[0].workload]):
                yield compared[0], pair


def _pair(
    baseline_trials: Sequence[Trial], compared_trials: Sequence[Trial], later: int, summaries: Summaries, metric: str
) -> Pair | None:
    """The pair of two sides; None where a trial did not measure the metric."""
    sides = (baseline_trials, compared_trials)
    values = [[summaries.get(trial.order, {}).get(metric) for trial in side] for side in sides]
    if any(value is None for side in values for value in side):
        return None
    is_open = baseline_trials[0].load.unit is LoadUnit.RATE_PER_S
    counts = [sum(_operations(summaries[trial.order]) for trial in side) for side in sides]
    free = [sum(_free(summaries[trial.order]) for trial in side) / len(side) for side in sides]
    baseline, compared = ([value.mean for value in side if value is not None] for side in values)
    return Pair(
        block=baseline_trials[0].block,
        load=baseline_trials[0].load,
        baseline=_mean(baseline),
        compared=_mean(compared),
        later=later,
        sides=(tuple(trial.order for trial in baseline_trials), tuple(trial.order for trial in compared_trials)),
        count=min(counts),
        other_load=free[1] - free[0],
        served=tuple(_served(trial, summaries[trial.order]) for side in sides for trial in side) if is_open else (),
        start=_start([trial for side in sides for trial in side], summaries),
    )


def _start(trials: Sequence[Trial], summaries: Summaries) -> float:
    """The start of the server that all these trials worked on; 0 where there is none, or several.

    Two platforms have a server each. Both are started for the same pairs, so the later start stands for both.
    """
    metrics = [summaries[trial.order] for trial in trials]
    starts = [measured[SERVER_STARTED].mean if SERVER_STARTED in measured else 0.0 for measured in metrics]
    if len({trial.settings.get(PLATFORM) for trial in trials}) > 1:
        return max(starts) if min(starts) else 0.0
    return min(starts) if max(starts) - min(starts) <= SAME_START_S else 0.0


def _mean(values: Sequence[float]) -> float:
    """The geometric mean, whose logarithm does not depend on how a side is divided; else the arithmetic one."""
    if len(values) == 1:
        return values[0]
    return statistics.geometric_mean(values) if min(values) > 0 else statistics.mean(values)


def metrics_of_pairs(workloads: Iterable[Workload]) -> set[str]:
    """Return the metrics that pairs need: each response, throughput for operation counts, and other processes' use."""
    return {
        _THROUGHPUT,
        _OTHER_LOAD,
        SERVER_STARTED,
        *(response for workload in workloads for response in workload.responses),
    }


def _operations(measured: Mapping[str, Measurement]) -> int:
    """Operations that a trial completed."""
    throughput = measured.get(_THROUGHPUT)
    return round(throughput.total) if throughput else 0


def _served(trial: Trial, measured: Mapping[str, Measurement]) -> float:
    """The operations per second of an open loop, as a share of the rate that was asked for; 0 where unknown."""
    return measured[_THROUGHPUT].mean / trial.load.n if _THROUGHPUT in measured else 0.0


def _free(measured: Mapping[str, Measurement]) -> float:
    """The log of the processor time that was left free in a trial; 0 where that was not recorded."""
    other_load = measured.get(_OTHER_LOAD)
    return free_log(other_load.mean) if other_load else 0.0


def free_log(other_share: float) -> float:
    """Return the log of the share of all processors that other processes leave free.

    The throughput of a load that needs every processor is proportional to that share. The share that others used is
    cut off at 0.9.
    """
    return math.log1p(-min(max(other_share, 0.0), _MOST_OTHER_LOAD))


def factors_of_screen(trials: Iterable[Trial], workload: str, factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """Return the factors that the trials of a workload's screen vary."""
    settings_of_trials = [
        trial.settings for trial in trials if trial.purpose is Purpose.SCREEN and trial.workload == workload
    ]
    return tuple(factor for factor in factors if len({settings.get(factor.key) for settings in settings_of_trials}) > 1)
