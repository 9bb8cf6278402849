"""The records: frozen, numbers stay numbers, units stand in the names.

Everything that crosses from one part of the program to another is one of these. Nothing here does any work.
Effects are natural-log ratios to the baseline; times are UTC seconds since the epoch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from ceteris.precondition import Precondition
from ceteris.units import LoadLevel, LoadUnit

Value = bool | int | float | str
Settings = Mapping[str, Value]


class Verdict(StrEnum):
    """What is concluded about a level against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    DEPENDS_ON_LOAD = "depends_on_load"
    UNDECIDED = "undecided"


class Tag(StrEnum):
    """What qualifies a verdict."""

    MATERIAL = "material"
    NEGLIGIBLE = "negligible"
    SUSPECT = "suspect"


class Purpose(StrEnum):
    """Why a trial is made."""

    CALIBRATE = "calibrate"
    NOISE_FLOOR = "noise_floor"
    COMPARE = "compare"
    SCREEN = "screen"
    PLACEBO = "placebo"
    CONFIRM = "confirm"
    MEASURE = "measure"
    PRECONDITION = "precondition"


class TrialState(StrEnum):
    """Where a trial is; `superseded` trials were rerun with their block and count nowhere."""

    PLANNED = "planned"
    APPLYING = "applying"
    SETTLING = "settling"
    MEASURING = "measuring"
    DONE = "done"
    FAILED = "failed"
    INVALID = "invalid"
    SUPERSEDED = "superseded"


class FailureClass(StrEnum):
    """Why a trial did not finish."""

    SETTING_REJECTED = "setting-rejected"
    LOAD_ERROR = "load-error"
    NO_DATA = "no-data"
    INTERRUPTED = "interrupted"
    TOOLING = "tooling"


class ExperimentState(StrEnum):
    """Where an experiment is."""

    PLANNED = "planned"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    DONE = "done"


class ChangeState(StrEnum):
    """How one change of one knob ended; `written` reads back different, and was not asked for by itself."""

    WRITTEN = "written"
    VERIFIED = "verified"
    MISMATCHED = "mismatched"


@dataclass(frozen=True, slots=True)
class Response:
    """A measured quantity that can be judged: which direction is good and what is too small to matter."""

    name: str
    title: str
    unit: str
    higher_is_better: bool
    margin: float


RESPONSES = {
    response.name: response
    for response in (
        Response("throughput_per_s", "throughput", "1/s", True, 0.02),
        Response("bytes_per_s", "bandwidth", "B/s", True, 0.02),
        Response("response_p95_s", "p95 response time", "s", False, 0.05),
        Response("response_p99_s", "p99 response time", "s", False, 0.10),
    )
}


# --- the plan -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The machine under test: `device` is what `block.*` knobs address, `path` where data lives.

    `may_destroy` names for good the devices whose content a load may overwrite.
    """

    address: str
    path: str
    device: str | None
    may_destroy: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A knob or workload parameter that the plan varies; the first level is the baseline.

    `labels` are the levels as the plan writes them, `scope` the workloads the factor is tried under.
    """

    key: str
    levels: tuple[Value, ...]
    labels: tuple[str, ...]
    scope: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Several settings tried together under one name."""

    name: str
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoop:
    """Operations start by a schedule, whatever becomes of earlier ones; at most `outstanding` are under way."""

    arrivals: Literal["constant", "poisson"]
    outstanding: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What load is made: parameters of its kind, and the load levels.

    `load_levels` are operations outstanding at once, or with `open_loop` operations started each second.
    `part_of` is what the plan calls a workload that is made of several, each with a name of its own.
    """

    name: str
    kind: str
    parameters: Settings
    load_levels: tuple[int, ...]
    response: str
    data: str
    cache: str
    open_loop: OpenLoop | None = None
    part_of: str = ""
    precondition: Precondition | None = None

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        """The load levels with what they count."""
        unit = LoadUnit.RATE_PER_S if self.open_loop else LoadUnit.OUTSTANDING
        return tuple(LoadLevel(n, unit) for n in self.load_levels)

    @property
    def plan_name(self) -> str:
        """What the plan calls it."""
        return self.part_of or self.name

    @property
    def owners(self) -> frozenset[str]:
        """What the keys of its parameters begin with."""
        return frozenset({self.name, self.plan_name, self.kind})


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """How the comparison is made. `margins` are log ratios by response; `rounds` is None: the budget decides."""

    trial_s: float
    settle_s: float
    budget_s: float
    confidence: float
    seed: int
    margins: Mapping[str, float]
    rounds: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The intent, checked against the catalogue and the host.

    `baseline` is every setting that some trial makes, as it is where nothing else is said: held, a factor's first
    level, or, of what only a combination names, the value as found.
    """

    name: str
    question: str
    target: Target
    hold: Settings
    baseline: Settings
    factors: tuple[Factor, ...]
    combinations: tuple[Combination, ...]
    workloads: tuple[Workload, ...]
    protocol: Protocol
    digest: str
    text: str
    notes: tuple[str, ...] = ()


# --- the machine ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One row of the catalogue.

    `addresses` may hold `{device}` and, in a family (a name ending in `.*`), `{member}`. `resets` names knobs
    that a write moves. `exists_under` names the knob whose value a family belongs to. `aliases` are the
    kernel's own names where several are one knob.
    """

    name: str
    kind: str
    addresses: tuple[str, ...]
    type: str
    summary: str
    documentation: str
    unit: str = ""
    allowed: tuple[Value, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    takes_effect: str = "live"
    resets: tuple[str, ...] = ()
    readback: str = "exact"
    aliases: tuple[str, ...] = ()
    exists_under: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Put `text` into the file at `path`; `readback` says how to find the value in what it then says."""

    path: str
    text: str
    readback: str = "plain"


Action = WriteFile


@dataclass(frozen=True, slots=True)
class Reading:
    """A value in force, and the values the kernel offers where it lists them."""

    value: Value
    allowed: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a host says of one knob: its value now and what it allows, or why it cannot be used."""

    knob: str
    addresses: tuple[str, ...]
    current: Value | None
    allowed: tuple[Value, ...]
    refused: str = ""
    todo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockDevice:
    """A block device as found, for deciding whether a load may read it or destroy what is on it.

    `ids` name it for good: serial, wwn, names under /dev/disk/by-id, a loop device's backing file. `claims` say
    who has it (a mount, swap, a holder, partitions), `signatures` what is on it (ext4, LVM2_member, gpt).
    `refused` says why it could not be looked at.
    """

    path: str
    size_bytes: int = 0
    ids: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    read_only: bool = False
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a plan is checked against: the machine as found. Empty `*_refused` means: possible."""

    hostname: str
    kernel: str
    boot_id: str
    root: bool
    cores: int
    memory_bytes: int
    path: str
    path_refused: str
    free_bytes: int
    filesystem: str
    path_device: str | None
    device: str | None
    device_refused: str
    io_uring_refused: str
    direct_refused: str
    fingerprint: Mapping[str, str]
    offers: Mapping[str, Offer] = field(default_factory=dict)
    block_devices: Mapping[str, BlockDevice] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One setting as applied for one application: what was there, what was wanted, what was found.

    `refused` is what the kernel said where it did not take the write.
    """

    knob: str
    address: str
    before: Value
    wanted: Value
    observed: Value | None
    state: ChangeState
    refused: str = ""


# --- the experiment -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One execution of one arm under one workload at one load level: the unit of replication.

    `order` is its number in the experiment and its identity there; `position` its place in the block.
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

    @property
    def subject(self) -> str:
        """What it is made for: `block.scheduler = none`; where nothing is compared, `as it is` or `preconditioning`."""
        if self.purpose is Purpose.PRECONDITION:
            return f"preconditioning with {self.arm}" if self.arm else "preconditioning"
        return f"{self.factor} = {self.arm}" if self.factor else "as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One metric of one trial: the summary, and the points (equally spaced) or the histogram behind it."""

    phase: str
    metric: str
    unit: str
    source: str
    n: int
    mean: float
    low: float
    high: float
    total: float
    start_s: float | None = None
    step_s: float | None = None
    points: tuple[float, ...] = ()
    histogram: bytes = b""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A decision point: what was known of one comparison after a round."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The noise of one workload on one host, both as digests: standard deviation of a pair's log-ratio."""

    host: str
    workload: str
    load: LoadLevel
    settle_s: float
    pair_sd: float
    made: float
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What changing `factor` from `baseline` to `arm` did to a response: a log ratio and its interval.

    `load` None means all load levels together, and only then is there a verdict. `margin` is a log ratio too.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one arm showed at one load level: the mean of a metric over its valid trials, with its interval.

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
