"""The intent: what is to be compared, on what, under which load."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from paribus.model.events import PlannedEvent
from paribus.model.health import HealthCheck
from paribus.model.machine import Knob
from paribus.model.places import Guest, Location, is_of_hypervisor
from paribus.model.servers import RunningServer
from paribus.model.words import Parameters, Platform, Settings, Value
from paribus.units import LoadLevel, LoadUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """Overwriting of data before its first trial: sequentially, then at random until the rate is steady.

    Steady rates of the last `window` rounds spread by at most `most_spread` of their mean. The line through them
    rises or falls by at most `most_drift` of the mean.
    """

    fills: int
    round_s: float
    most_rounds: int
    window: int
    most_spread: float
    most_drift: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The machine under test: `device` is what `block.*` knobs address, `path` where data lives, `mount` below what.

    `address` is `local` or `ssh://…`, `become` whether root is reached by sudo there. `may_destroy` names for good
    the devices whose content a load may overwrite. `devices` are the disks that layouts are made of, `device_bytes`
    their sizes, 0 where unknown. `more_disks`, `top` and `arrays` are as in a `Location`. `guest` says which virtual
    machine it is, None where the plan names none.
    """

    address: str
    path: str
    device: str | None
    may_destroy: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    device_bytes: tuple[int, ...] = ()
    more_disks: tuple[str, ...] = ()
    top: str | None = None
    arrays: tuple[str, ...] = ()
    become: bool = False
    mount: str | None = None
    guest: Guest | None = None

    def location_of(self, key: str) -> Location:
        """Part of the machine that a knob addresses: of the hypervisor for `host.*`, else of the target."""
        return self.guest.location if self.guest is not None and is_of_hypervisor(key) else self.location

    @property
    def location(self) -> Location:
        """Part of the machine that knobs address."""
        return Location(self.device, self.mount, self.more_disks, self.top, self.arrays, is_layout=bool(self.devices))

    @property
    def is_local(self) -> bool:
        """Whether it is the machine that this program runs on."""
        return self.address == "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlatform:
    """The hypervisor as the platform `host`: where the workload runs there, and how small it is made.

    `groups` are the subjects whose control groups are limited to the processors `cpus`; the last one has the memory.
    """

    target: Target
    groups: tuple[str, ...]
    cpus: str
    memory_bytes: int

    @property
    def settings(self) -> Settings:
        """The limits by knob."""
        processors = {f"cgroup.{group}.cpus": self.cpus for group in self.groups}
        return {**processors, f"cgroup.{self.groups[-1]}.memory_max": self.memory_bytes}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadHost:
    """The machine that makes the load on a running server; no setting is changed on it.

    `address` and `become` are as for a target. `credential` says where the server's password is kept there. Of several,
    each has a share of the load in proportion to its `weight`.
    """

    address: str
    become: bool = False
    weight: int = 1
    credential: Mapping[str, str] | None = None

    @property
    def variable(self) -> str:
        """The variable of this program's environment that has the password; empty where it is elsewhere."""
        return (self.credential or {}).get("env", "")


def shared_out(connections: int, weights: Sequence[int]) -> list[int]:
    """The connections of each load host by its weight; those left over go to the largest remainders."""
    exact = [connections * weight / sum(weights) for weight in weights]
    numbers = [int(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda number: numbers[number] - exact[number])
    for number in by_remainder[: connections - sum(numbers)]:
        numbers[number] += 1
    return numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A knob or workload parameter that the plan varies; the first level is the baseline.

    `labels` are the levels as the plan writes them, `scope` the workloads the factor is tried under.
    """

    key: str
    levels: tuple[Value, ...]
    labels: tuple[str, ...]
    scope: tuple[str, ...]

    @property
    def arm_alone(self) -> str:
        """The name of the arm that sets it to its second level, beside arms of other factors."""
        return f"{self.key} = {self.labels[1]}"


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
    """Load of one kind: its parameters, in values that JSON has, and the load levels.

    `load_levels` are operations outstanding at once, or with `open_loop` operations started each second.
    `response` is judged, and so are those `also` declared.
    `part_of` is what the plan calls a workload that is made of several, each with a name of its own.
    `database` is the family of the database that it works on (sqlite), empty where it works on files.
    """

    name: str
    kind: str
    parameters: Parameters
    load_levels: tuple[int, ...]
    response: str
    data: str
    cache: str
    open_loop: OpenLoop | None = None
    part_of: str = ""
    precondition: Precondition | None = None
    also: tuple[str, ...] = ()
    database: str = ""

    @property
    def responses(self) -> tuple[str, ...]:
        """Responses that are judged, the one that matters most first."""
        return self.response, *self.also

    @property
    def levels(self) -> tuple[LoadLevel, ...]:
        """The load levels with what they count."""
        unit = LoadUnit.RATE_PER_S if self.open_loop else LoadUnit.OUTSTANDING
        return tuple(LoadLevel(n, unit) for n in self.load_levels)

    @property
    def plan_name(self) -> str:
        """Name of the workload in the plan."""
        return self.part_of or self.name

    @property
    def owners(self) -> frozenset[str]:
        """First parts of the keys of its parameters."""
        return frozenset({self.name, self.plan_name, self.kind})


_DISCARDED_OF_SEGMENT = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Method of the comparison. `margins` are log ratios by response; `rounds` is None: the budget decides.

    `usual_margin`: none was declared for throughput, so that the noise of the machine decides it before any data.
    `method`: looks after each round until it is decided, one look at the end, or looks without a last one.
    `design`: whether many two-level factors are tried one at a time, or screened together and what is found confirmed.
    `sub_trials` are made in each application of a costly setting; None: as many as are worth it.
    `apply_s` is the time that applying each factor took on this machine before, in seconds.
    `level_sd` is the noise of a pair at each load level, for workloads whose levels differ in it.
    `placebo`: the baseline is also compared with itself, once for every four arms.
    `settled` says who sets the settle time: the plan, what is usual, or `settle_runs` of `settle_run_s` seconds each.
    Where settings change `in_flight` one load carries a block: `takeoff_s` are discarded at its start, `toggle_s`
    after each change; elsewhere `settle_s` at the start of each trial's load.
    `trial_chosen`: the plan states `trial_s`. Otherwise trials become longer where a setting needs that to act, and
    `noise_trial_s` is then the length of the noise trials before.
    `washes_out`: what a setting leaves behind is washed out of the next trial; None: where a knob's nature suggests it.
    `washed_out` are the factors for which that holds, or what their combinations are called. `wash_s` are the seconds
    that a setting must have run before its trial; None: as long as a trial.
    `open_rounds` are comparisons (factor, workload) whose first pairs decide their number of rounds.
    `segment_s`: settings that leave nothing behind are toggled under one load, and measured for so long each time.
    `segment_chosen`: the plan states `segment_s`. Otherwise response times are judged by longer trials.
    `recovers`: the private server is killed at the end of each trial, and started again. With `cuts_off` the layout's
    file system loses at that moment what it has not written, as at a power cut.
    """

    trial_s: float
    settle_s: float
    budget_s: float
    confidence: float
    seed: int
    margins: Mapping[str, float]
    rounds: int | None
    method: Literal["adaptive", "fixed", "open-ended"] = "adaptive"
    design: Literal["auto", "one-at-a-time", "screen"] = "auto"
    in_flight: bool = False
    takeoff_s: float = 0.0
    toggle_s: float = 0.0
    usual_margin: bool = False
    sub_trials: int | None = None
    apply_s: Mapping[str, float] = field(default_factory=dict)
    level_sd: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    placebo: bool = True
    settled: Literal["plan", "usual", "calibrated"] = "plan"
    settle_runs: int = 0
    settle_run_s: float = 0.0
    trial_chosen: bool = True
    noise_trial_s: float | None = None
    washes_out: bool | None = None
    washed_out: tuple[str, ...] = ()
    wash_s: float | None = None
    open_rounds: tuple[tuple[str, str], ...] = ()
    segment_s: float | None = None
    segment_chosen: bool = True
    recovers: bool = False
    cuts_off: bool = False

    def in_segments(self) -> "Protocol":
        """The protocol of a load whose settings are toggled: a new load and a change are given little time."""
        segment_s = self.segment_s or self.trial_s
        toggle_s = round(segment_s * _DISCARDED_OF_SEGMENT, 9)
        return replace(self, trial_s=segment_s, takeoff_s=segment_s, toggle_s=toggle_s)

    @property
    def wash_out_s(self) -> float:
        """Seconds that a setting must have run before its trial where another setting is washed out."""
        return self.trial_s if self.wash_s is None else self.wash_s

    def with_wash_out(self, ran_s: float = 0.0) -> "Protocol":
        """The protocol of a load that first runs longer; in whole nanoseconds, as the engine counts.

        `ran_s`: how long its settings have just run.
        """
        longer_s = max(0.0, self.wash_out_s - ran_s)
        settle_s, takeoff_s = (round(longer_s + seconds, 9) for seconds in (self.settle_s, self.takeoff_s))
        return replace(self, settle_s=settle_s, takeoff_s=takeoff_s)

    @property
    def learns_trial_length(self) -> bool:
        """Whether noise trials show how long trials must be; not where the plan states their length or number."""
        return not self.trial_chosen and self.rounds is None and self.noise_trial_s is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that end the experiment at once, since the machine has other work or could suffer; None: no limit."""

    response_p99_s: float | None = None
    errors_per_s: float | None = None
    free_bytes: int | None = None
    temperature_c: float | None = None


# By the kind of a database, what the keys of its settings begin with.
READY_S = 120.0
"""The time in which a server starts, unless a plan states another."""

FAMILIES = {"sqlite": "sqlite", "mariadb": "mysql", "mysql": "mysql", "percona": "mysql", "postgres": "postgres"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """Database of workloads: a file of SQLite, a private server, or a `running` one that others use.

    `program` is a private server's, empty where it is looked for; `built_in` are settings that its data is made with;
    `ready_s` is how long a start may take. A private server is restarted after `restart_every` blocks of a
    comparison; 0: never for that.
    """

    kind: str
    program: str = ""
    ready_s: float = READY_S
    restart_every: int = 0
    built_in: tuple[str, ...] = ()
    running: RunningServer | None = None

    @property
    def family(self) -> str:
        """First part of the keys of its settings."""
        return FAMILIES[self.kind]

    @property
    def is_server(self) -> bool:
        """Whether a server is needed."""
        return self.kind != "sqlite"

    @property
    def is_private(self) -> bool:
        """Whether the server is started and ended with the experiment."""
        return self.is_server and self.running is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A mechanism that a knob needs in order to act in one arm of a comparison.

    Attributes:
        factor: The factor of the comparison.
        arm: The compared arm.
        workload: The workload of the comparison.
        knob: The knob that the arm changes.
        mechanism: The name of the mechanism.
        obstacle: The fact that excludes the mechanism in both arms, as a message; empty where nothing excludes it.
        values: The values of that message.
        threshold: The value of the mechanism's counter from which the knob acts; None where any value above 0 counts.
        least_bytes: The fewest bytes that a trial must write for the mechanism to occur; 0 where that is unknown.
        least_s: The fewest seconds that it must last instead; 0 where lasting does not help.
        constant: The setting behind these two.
    """

    factor: str
    arm: str
    workload: str
    knob: str
    mechanism: str
    obstacle: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    threshold: float | None = None
    least_bytes: float = 0.0
    least_s: float = 0.0
    constant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The intent, checked against the catalogue and the host.

    `baseline` is every setting that some trial makes, as it is where nothing else is said: held, a factor's first
    level, or, of what only a combination names, the value as found. `knobs` are those that it sets, placed on the host.
    `load_hosts` are none where the target makes the load itself. `bound` is None where no trial runs on the hypervisor.
    `requirements` are the mechanisms that each compared arm needs in order to act.
    `events` happen in every trial. `health` is watched in every trial.
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
    limits: Limits = Limits()
    knobs: tuple[Knob, ...] = ()
    database: Database | None = None
    load_hosts: tuple[LoadHost, ...] = ()
    bound: HostPlatform | None = None
    requirements: tuple[Requirement, ...] = ()
    events: tuple[PlannedEvent, ...] = ()
    health: tuple[HealthCheck, ...] = ()

    def on(self, platform: Platform) -> "Plan":
        """The plan as one of its platforms carries it out."""
        if platform is Platform.GUEST or self.bound is None:
            return self
        return replace(self, target=self.bound.target, bound=None, health=())
