"""Which trials count, and what they showed: the pairs of a comparison, and the mean of each cell."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from paribus.model import (
    ArmKey,
    Cell,
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
from paribus.stats.pairs import mean_interval
from paribus.units import LoadLevel

Summaries = Mapping[int, Mapping[str, Measurement]]

_THROUGHPUT = "throughput_per_s"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two trials of one block: the baseline's and the compared arm's values of a response.

    `later` says how many applications the compared one came after the baseline's.
    `count` is the number of operations of the trial that has fewer, 0 where it is not known.
    """

    block: int
    load: LoadLevel
    baseline: float
    compared: float
    later: int
    trials: tuple[int, int]
    count: int


@dataclass(frozen=True, slots=True)
class Series:
    """Every whole pair of one arm against its baseline, under one workload.

    `split`: an application of a setting holds for several trials, which are no replicates. `planned` are units.
    `faults`: in how many blocks a trial of the baseline, and of the arm, was invalid or failed, rerun or not.
    """

    purpose: Purpose
    factor: str
    workload: str
    response: str
    baseline: str
    arm: str
    planned: int
    pairs: tuple[Pair, ...]
    faults: tuple[int, int]
    split: bool

    @property
    def units(self) -> int:
        """What is counted: the pairs, or where an application is several trials, the pairs of applications."""
        return len({pair.block for pair in self.pairs}) if self.split else len(self.pairs)

    def first(self, units: int) -> "Series":
        """With so many of them, those made first."""
        made = list(dict.fromkeys(pair.block for pair in self.pairs))[:units] if self.split else None
        pairs = self.pairs[:units] if made is None else tuple(pair for pair in self.pairs if pair.block in made)
        return replace(self, pairs=pairs)


_BY_ARM = (Purpose.COMPARE, Purpose.CONFIRM, Purpose.MEASURE)


def counting(trials: Iterable[Trial], purposes: Container[Purpose] = _BY_ARM) -> list[Trial]:
    """The trials that were not rerun; those that precondition data or compare equals measure nothing that is asked."""
    return [t for t in trials if t.state is not TrialState.SUPERSEDED and t.purpose in purposes]


def whole_blocks(trials: Iterable[Trial], purposes: Container[Purpose] = _BY_ARM) -> dict[int, list[Trial]]:
    """The done trials of the blocks in which all counting ones are done; the others enter no effect.

    An arm whose setting the machine refuses does not spoil the blocks of the others, nor those of its own before.
    """
    trials = list(trials)
    given_up = arms_given_up(trials)
    blocks: dict[int, list[Trial]] = defaultdict(list)
    for trial in counting(trials, purposes):
        refused = trial.failure is FailureClass.SETTING_REJECTED
        never = trial.state is TrialState.PLANNED and arm_of(trial) in given_up
        if not refused and not never and trial.state is not TrialState.SPARED:
            blocks[trial.block].append(trial)
    whole = {n: block for n, block in blocks.items() if all(t.state is TrialState.DONE for t in block)}
    for number, block in whole.items():
        if len(set(Counter(arm_of(trial) for trial in block).values())) > 1:
            raise AssertionError(f"an arm counts twice in block {number}")
    return whole


def series(
    trials: Sequence[Trial],
    summaries: Summaries,
    responses: Mapping[str, str],
    purposes: Container[Purpose] = _BY_ARM,
) -> list[Series]:
    """The pairs of every compared arm. `responses`: by workload, the metric judged."""
    counted = [trial for trial in counting(trials, purposes) if trial.workload in responses]
    made = {t.order: (t.started or 0.0, t.order) for t in counted}  # a rerun has a later number than its time
    found: dict[ArmKey, list[Pair]] = defaultdict(list)
    asked = [block for block in whole_blocks(trials, purposes).values() if block[0].workload in responses]
    for block in asked:
        for trial, pair in _pairs(block, summaries, responses):
            found[arm_of(trial)].append(pair)
    faulty = [t for t in trials if t.invalid_because or t.failure not in (None, FailureClass.INTERRUPTED)]
    faults = Counter(arm for arm, _ in {(arm_of(t), t.block) for t in faulty})  # what hits a block may hit it again
    names = {(t.factor, t.workload): t.arm for t in counted if t.baseline}
    planned: dict[ArmKey, list[Trial]] = defaultdict(list)
    for trial in counted:
        if not trial.baseline:
            planned[arm_of(trial)].append(trial)
    series = []
    for (factor, workload, arm), mine in planned.items():
        baseline, blocks = names[factor, workload], {trial.block for trial in mine}
        pairs = sorted(found[factor, workload, arm], key=lambda pair: max(made[order] for order in pair.trials))
        series.append(
            Series(
                purpose=mine[0].purpose,
                factor=factor,
                workload=workload,
                response=responses[workload],
                baseline=baseline,
                arm=arm,
                planned=len(blocks),
                pairs=tuple(pairs),
                faults=(faults[factor, workload, baseline], faults[factor, workload, arm]),
                split=len(mine) > len(blocks),
            )
        )
    return series


def _pairs(block: Sequence[Trial], summaries: Summaries, responses: Mapping[str, str]) -> Iterator[tuple[Trial, Pair]]:
    """The trials of a whole block that are not its baseline's, each with the baseline's at the same place."""
    block = sorted(block, key=lambda trial: trial.position)
    bases = [trial for trial in block if trial.baseline]
    for arm in dict.fromkeys(arm_of(trial) for trial in block if not trial.baseline):
        for base, trial in zip(bases, [t for t in block if arm_of(t) == arm], strict=False):
            metric = responses[trial.workload]
            values = [summaries.get(t.order, {}).get(metric) for t in (base, trial)]
            if values[0] is not None and values[1] is not None:
                yield (
                    trial,
                    Pair(
                        block=trial.block,
                        load=trial.load,
                        baseline=values[0].mean,
                        compared=values[1].mean,
                        later=(trial.position - base.position) // len(bases),
                        trials=(base.order, trial.order),
                        count=min(_operations(summaries[t.order]) for t in (base, trial)),
                    ),
                )


def metrics_of_pairs(workloads: Iterable[Workload]) -> set[str]:
    """The metrics that pairs are made of: each response, and how many operations there were."""
    return {_THROUGHPUT, *(response for workload in workloads for response in workload.responses)}


def _operations(measured: Mapping[str, Measurement]) -> int:
    """How many operations a trial completed."""
    throughput = measured.get(_THROUGHPUT)
    return round(throughput.total) if throughput else 0


def cells(
    trials: Sequence[Trial], summaries: Summaries, confidence: float, factors: Sequence[Factor] = ()
) -> list[Cell]:
    """Each metric's mean over the trials that count, for each arm at each load level.

    A screen shows the levels of each of its `factors` over all settings of the others; where one was tried alone
    afterwards, that counts.
    """
    groups: dict[tuple[str, str, str, LoadLevel], list[Trial]] = defaultdict(list)
    for block in whole_blocks(trials).values():
        for trial in block:
            groups[trial.factor, trial.arm, trial.workload, trial.load].append(trial)
    alone = {(factor, workload) for factor, _, workload, _ in groups}
    screened = [trial for block in whole_blocks(trials, (Purpose.SCREEN,)).values() for trial in block]
    for workload in dict.fromkeys(trial.workload for trial in screened):
        for factor in factors_of_screen(screened, workload, factors):
            for trial in screened if (factor.key, workload) not in alone else ():
                if trial.workload == workload:
                    label = factor.labels[factor.levels.index(trial.settings[factor.key])]
                    groups[factor.key, label, workload, trial.load].append(trial)
    found = []
    for (name, arm, workload, load), members in groups.items():
        measured = [summaries.get(trial.order, {}) for trial in members]
        for metric in sorted(set().union(*measured)):
            values = [m[metric].mean for m in measured if metric in m]
            mean, low, high = mean_interval(values, confidence)
            found.append(
                Cell(
                    factor=name,
                    arm=arm,
                    workload=workload,
                    load=load,
                    metric=metric,
                    mean=mean,
                    low=low,
                    high=high,
                    trials=tuple(trial.order for trial, m in zip(members, measured, strict=True) if metric in m),
                )
            )
    return found


def factors_of_screen(trials: Iterable[Trial], workload: str, factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """The factors whose settings the trials of a screen vary under a workload."""
    mine = [trial.settings for trial in trials if trial.purpose is Purpose.SCREEN and trial.workload == workload]
    return tuple(f for f in factors if len({one.get(f.key) for one in mine}) > 1)
