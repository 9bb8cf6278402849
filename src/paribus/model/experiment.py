"""The carrying out: trials, and what was concluded."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paribus.i18n import N_, stored_message
from paribus.model.words import ExperimentState, FailureClass, Purpose, Settings, Tag, TrialState, Verdict
from paribus.units import LoadLevel

_EMULATED = "QEMU TCG"  # in the name of a processor


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One execution of one arm under one workload at one load level: the unit of replication.

    `order` is its number in the experiment and its identity there; `position` its place in the block, `application`
    the number in the block of the application that it is part of: settings are made at its first trial and then held.
    `applied` is when they were in force.
    """

    experiment: str
    order: int
    round: int
    block: int
    position: int
    attempt: int
    factor: str
    arm: str
    baseline: bool
    purpose: Purpose
    settings: Settings
    workload: str
    load: LoadLevel
    state: TrialState = TrialState.PLANNED
    started: float | None = None
    ended: float | None = None
    fingerprint: str = ""
    invalid_because: tuple[str, ...] = ()
    failure: FailureClass | None = None
    failure_message: str = ""
    supersedes: int | None = None
    application: int = 1
    applied: float | None = None

    @property
    def took_s(self) -> float:
        """Seconds from its beginning to its end; 0 of a trial that was not made."""
        return self.ended - self.started if self.ended and self.started else 0.0

    @property
    def subject(self) -> str:
        """Subject of a trial: `block.scheduler = none`; where nothing is compared, `as it is` or `preconditioning`."""
        if self.purpose is Purpose.PRECONDITION:
            with_data = N_("preconditioning with {data}")
            return stored_message(with_data, data=self.arm) if self.arm else stored_message("preconditioning")
        if self.purpose is Purpose.CALIBRATE:
            of_arm = N_("settling of {factor} = {arm}")
            alone = stored_message("settling of the baseline")
            return stored_message(of_arm, factor=self.factor, arm=self.arm) if self.arm else alone
        if self.purpose is Purpose.SCREEN:
            return f"{self.factor}, {self.arm}"
        return f"{self.factor} = {self.arm}" if self.factor else stored_message("as it is")


ArmKey = tuple[str, str, str]
"""Factor, workload and name of an arm."""

_REFUSALS = 2  # so often a setting is refused before its arm is given up


def arm_of(trial: Trial) -> ArmKey:
    """Return the arm of a trial: factor, workload and level."""
    return trial.factor, trial.workload, trial.arm


def arms_given_up(trials: Iterable[Trial]) -> set[ArmKey]:
    """The arms whose settings the machine has refused or replaced twice, for whatever purpose they were tried."""
    refused = Counter(arm_of(t) for t in trials if t.failure is FailureClass.SETTING_REJECTED)
    return {arm for arm, count in refused.items() if count >= _REFUSALS}


def machine_s(trials: Iterable[Trial]) -> float:
    """Seconds of the trials that a budget is for, those made again included: of all but preconditioning."""
    return sum(trial.took_s for trial in trials if trial.purpose is not Purpose.PRECONDITION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The carrying out of a plan."""

    id: str
    name: str
    plan_digest: str
    plan_text: str
    overrides: Mapping[str, str]
    seed: int
    schedule_hash: str
    rounds: int
    state: ExperimentState
    started: float
    ended: float | None
    versions: Mapping[str, str]
    fingerprint: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def is_emulated(self) -> bool:
        """Whether the processors of the machine are QEMU's emulation, so that times mean nothing."""
        return _EMULATED in self.fingerprint.get("cpu", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A decision point of one comparison after some pairs; `verdict` is None where it continues.

    `alpha_spent` is the error spent on claims of a difference, up to here. `purpose` is that of the pairs' trials: a
    factor is looked at in a screen, and again when that is confirmed.
    """

    factor: str
    arm: str
    workload: str
    response: str
    number: int
    pairs: int
    alpha_spent: float
    low: float
    high: float
    estimate: float
    verdict: Verdict | None = None
    purpose: Purpose = Purpose.COMPARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The noise of one workload on one host, both as digests: standard deviation of a pair's log-ratio.

    `freedom` are the degrees of freedom that it is known with.
    """

    host: str
    workload: str
    load: LoadLevel
    settle_s: float
    pair_sd: float
    made: float
    expires: float
    freedom: int = 0


@dataclass(frozen=True, slots=True)
class Check:
    """An assumption behind a verdict, by name: whether it holds, and what was found, in words; None is unknown.

    `limit` is the bound that the finding is held against, in words; empty where there is none, or the finding names it.
    """

    name: str
    passed: bool | None
    finding: str
    limit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EquivalenceInterval:
    """The interval of the two tests of equivalence, log ratios; each test errs in (1 - confidence) / 2 of the cases."""

    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """Shared conditions of a comparison's pairs, and how often each was recreated; None: unknown or absent.

    `data_states` counts restorations of the data, `layouts` those of the storage below it. Differences between starts,
    states, layouts and boots are no part of an interval unless its reasons say so.
    """

    server_starts: int | None = None
    data_states: int | None = None
    layouts: int | None = None
    boots: int | None = None


@dataclass(frozen=True, slots=True)
class PairChange:
    """The change of a response from the baseline to the compared arm in one pair, a log ratio as it was measured."""

    block: int
    load: LoadLevel
    log_ratio: float
    trials: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Effect of changing `factor` from `baseline` to `arm` on a response: a log ratio and its interval.

    `load` None means all load levels together, and only then is there a verdict. `margin` is a log ratio too.
    `equivalence` is None where no test of equivalence was made. The
    probabilities, of being for the better and of lying within the margin, are of a posterior with a flat prior.
    `alpha_spent` is the error of claims spent up to this look, of which `confidence` leaves so much. `would_decide`
    says in words what would decide a comparison that is undecided, and `decide_s` the machine time of that.
    `pair_changes` are of the pairs behind the estimate, in run order; empty at one load level, and for a screen.
    """

    factor: str
    baseline: str
    arm: str
    workload: str
    response: str
    load: LoadLevel | None
    estimate: float
    low: float
    high: float
    confidence: float
    pairs: int
    margin: float
    method: str
    look: int
    verdict: Verdict | None
    tags: tuple[Tag, ...]
    reasons: tuple[str, ...]
    trials: tuple[int, ...]
    checks: tuple[Check, ...] = ()
    better_probability: float | None = None
    within_probability: float | None = None
    alpha_spent: float | None = None
    would_decide: str = ""
    decide_s: float | None = None
    equivalence: EquivalenceInterval | None = None
    repetition: Repetition | None = None
    pair_changes: tuple[PairChange, ...] = ()

    @property
    def deciding(self) -> tuple[float, float, float]:
        """Ends of the interval that the verdict follows from, log ratios, and its confidence."""
        if self.verdict is Verdict.EQUIVALENT and self.equivalence is not None:
            return self.equivalence.low, self.equivalence.high, self.equivalence.confidence
        return self.low, self.high, self.confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Result of one arm at one load level: the mean of a metric over its valid trials, with its interval.

    `low` and `high` are None where one trial alone gives no interval.
    """

    factor: str
    arm: str
    workload: str
    load: LoadLevel
    metric: str
    mean: float
    low: float | None
    high: float | None
    trials: tuple[int, ...]
