"""Form of a plan file: every key with its type, its default and its description. The JSON Schema is made from it."""

import functools
import operator
import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    create_model,
    model_validator,
)

from paribus.knobs.catalog.health_rows import HealthRows
from paribus.knobs.catalog.member_rows import MemberRows
from paribus.knobs.catalog.own_rows import OwnRows
from paribus.model import RESPONSES
from paribus.plan.database import DatabaseTable
from paribus.plan.form.events import EventTable
from paribus.plan.form.table import Duration, Level, PathText, Size, StrictTable, SwitchOrDuration
from paribus.registry import workload_kinds
from paribus.units import parse_share

_HYPERVISOR = re.compile(
    r"qemu(\+unix)?:///(system|session)(\?socket=/[^?&#\s]+)?|qemu\+ssh://[A-Za-z0-9._~@:\[\]-]+/(system|session)"
)


def _as_list(written: Any) -> Any:
    """Returns a number as the list of it, and anything else as it is."""
    return [written] if isinstance(written, int) and not isinstance(written, bool) else written


def _responses(written: Any) -> list[str]:
    """Returns the list of responses that a plan writes as one name or as a list."""
    names = [written] if isinstance(written, str) else written
    if not isinstance(names, list) or not names:
        raise ValueError("must be a response or a list of them")
    for name in names:
        if name not in RESPONSES:
            raise ValueError(f"{name!r} is not one of {', '.join(RESPONSES)}")
    return names


def _hypervisor(text: str) -> str:
    """Returns the address of libvirt as it is. Raises ValueError."""
    if not _HYPERVISOR.fullmatch(text):
        raise ValueError(f"{text!r}: write qemu:///system, or qemu+ssh://[user@]host[:port]/system")
    return text


Share = Annotated[
    float,
    BeforeValidator(parse_share),
    Field(gt=0, lt=1),
    WithJsonSchema({"type": ["string", "number"], "examples": ["2%"]}),
]
CpuList = Annotated[str, StringConstraints(max_length=1000, pattern=r"^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$")]
Threads = Annotated[int, Field(ge=1, le=1024)]
LoadLevels = Annotated[
    list[Threads],
    BeforeValidator(_as_list, json_schema_input_type=Annotated[list[Threads], Field(min_length=1)] | Threads),
]
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]
ResponseName = Literal[
    "throughput_per_s",
    "bytes_per_s",
    "queries_per_s",
    "throughput_p05_per_s",
    "new_orders_per_s",
    "degraded_per_s",
    "rebuilding_per_s",
    "degraded_share",
    "rebuilding_share",
    "slow_per_s",
    "slow_share",
    "beside_job_share",
    "job_s",
    "rebuild_s",
    "impaired_s",
    "recovery_s",
    "outage_s",
    "longest_stall_s",
    "seconds_below_half",
    "fairness",
    "response_p95_s",
    "response_p99_s",
]
Crash = Annotated[
    Literal["none", "server", "power-cut"],
    BeforeValidator(lambda value: _CRASHES.get(value, value) if isinstance(value, bool) else value),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": ["none", "server", "power-cut"], "type": "string"}]}),
]
_CRASHES = {True: "server", False: "none"}
MOST_OUTSTANDING = 64  # of an open loop that sets no limit; 1,000/s of 64 ms each
Responses = Annotated[
    list[str],
    BeforeValidator(_responses),
    WithJsonSchema(
        {
            "anyOf": [
                name := {"enum": list(RESPONSES), "type": "string"},
                {"items": name, "minItems": 1, "type": "array"},
            ]
        }
    ),
]
assert set(ResponseName.__args__) == set(RESPONSES)  # type: ignore[attr-defined]


HypervisorAddress = Annotated[str, AfterValidator(_hypervisor), WithJsonSchema({"type": "string"})]
_ADDRESS = r"^(local|ssh://[A-Za-z0-9._~@:\[\]-]+/?)$"


def _address(text: str) -> str:
    if not re.fullmatch(_ADDRESS, text):
        raise ValueError("write local, or ssh://[user@]host[:port]")
    return text


HostAddress = Annotated[str, AfterValidator(_address), WithJsonSchema({"type": "string", "pattern": _ADDRESS})]


class BoundTable(StrictTable):
    """The hypervisor as the other platform: the folder for data there, and the limits of the same workload."""

    path: PathText = Field(description="the folder on the hypervisor under which data is made, in paribus-data/")
    cores: Annotated[int, Field(ge=1, le=4096)] | None = Field(
        None, description="processors, the first ones; default: as many as the guest has"
    )
    cpus: CpuList | None = Field(None, description="the processors themselves, such as 8-11; instead of cores")
    memory: Size | None = Field(None, description="memory, page cache included; default: as much as the guest has")

    @model_validator(mode="after")
    def _names_processors_once(self) -> Self:
        if self.cores is not None and self.cpus is not None:
            raise ValueError("cores and cpus name the processors twice: keep one of them")
        return self


class TargetTable(StrictTable):
    """The machine under test."""

    host: HostAddress = Field(
        "local", description="how it is reached: local, or ssh://[user@]host[:port] by way of your own ssh"
    )
    become: bool = Field(False, description="over ssh: do everything there as root, by sudo without a question")
    device: PathText | None = Field(
        None,
        description="the disk that block.* knobs address; default: the one all workloads are on, under path or not",
    )
    path: PathText = Field(".", description="the folder under which data is made, in paribus-data/")
    may_destroy: list[PathText] = Field(
        [],
        description="block devices whose content a load may overwrite, each by its serial, its wwn, its name under "
        "/dev/disk/by-id, or a loop device's backing file",
    )
    devices: list[PathText] = Field(
        [], max_length=64, description="the disks that the setting layout is made of; each in may_destroy too"
    )
    may_fail: list[PathText] = Field(
        [],
        description="drives of a controller's volume that events may let fail, by the names of their rows; the volume "
        "has no redundancy meanwhile",
    )
    guest: PathText | None = Field(
        None,
        description="the name that libvirt has for the target where that is a virtual machine; allows host.* knobs",
    )
    hypervisor: HypervisorAddress = Field(
        "qemu:///system",
        description="libvirt that runs the guest: qemu:///system on this machine, or qemu+ssh://[user@]host[:port]/system",
    )
    bound: BoundTable | None = Field(
        None, description="the hypervisor as the other level of platform, limited to the size of the guest"
    )
    allow_live: bool = Field(False, description="variables of a running server that others use may be changed")


class LoadTable(StrictTable):
    """The machines that make the load on a running server, where that is not the target."""

    host: HostAddress | None = Field(None, description="how it is reached: local, or ssh://[user@]host[:port]")
    hosts: list[HostAddress] = Field([], description="how each of several is reached; they make the load together")
    weights: list[Annotated[int, Field(ge=1, le=1000)]] = Field(
        [], description="how the load is shared out to hosts; default: equally"
    )
    become: bool = Field(False, description="over ssh: make the load there as root, by sudo without a question")

    @property
    def addresses(self) -> list[str]:
        """The addresses of all load hosts."""
        return [self.host] if self.host else self.hosts

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        if (self.host is None) == (not self.hosts):
            raise ValueError("write either host, or hosts for several that make the load together")
        names = [address.rstrip("/") for address in self.hosts]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"hosts has {repeated} twice: name each machine once")
        if self.weights and self.host is not None:
            raise ValueError("weights are of hosts, and host is one: remove weights")
        if self.weights and len(self.weights) != len(self.hosts):
            numbers = f"{len(self.weights)} and {len(self.hosts)}"
            raise ValueError(f"weights and hosts are {numbers}: write one weight for each host")
        return self


class SandboxTable(StrictTable):
    """The virtual machine that `paribus sandbox run` makes for the plan."""

    disks: list[str] = Field([], description="as after --disk of paribus sandbox up")
    cores: int = Field(2, ge=1, le=64, description="processors")
    nodes: int = Field(1, ge=1, le=8, description="NUMA nodes")
    memory: str = Field("1GiB", description="memory")
    packages: list[str] = Field([], description="more programs that are installed there")


class CombinationTable(StrictTable):
    """Several settings tried together."""

    name: Name
    settings: dict[str, Level] = Field(min_length=1)


class PreconditionTable(StrictTable):
    """Before the first trial the data is overwritten until the device is in its steady state."""

    fills: int = Field(2, ge=1, le=100, description="how often all of the data is overwritten in order first")
    round: Duration = Field(60.0, ge=0.01, description="how long a round of random overwriting is")
    most_rounds: int = Field(25, ge=2, le=10_000, description="after so many rounds it ends, steady or not")
    window: int = Field(5, ge=2, le=1000, description="the rounds that are looked at, the last ones")
    spread: Share = Field(0.20, description="steady: the largest minus the smallest IOPS, as a share of the average")
    drift: Share = Field(
        0.10, description="steady: what the fitted line rises or falls over the window, as a share of the average"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.window > self.most_rounds:
            raise ValueError(f"window ({self.window}) is more than most_rounds ({self.most_rounds}): raise most_rounds")
        return self


class WorkloadTable(StrictTable):
    """Keys that every workload has, whatever its kind."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")] | None = Field(
        None, description="letters, digits, - and _; default: the kind"
    )
    threads: LoadLevels = Field(
        [1], min_length=1, description="load levels: operations outstanding at once; with rate: one number, the most"
    )
    rate: list[Annotated[int, Field(ge=1, le=10_000_000)]] | None = Field(
        None,
        min_length=1,
        description="load levels of an open loop: operations started each second, whatever becomes of earlier ones; "
        f"then threads is the most under way at once, {MOST_OUTSTANDING} where it is not given",
    )
    arrivals: Literal["poisson", "constant"] = Field(
        "poisson",
        description="with rate: poisson, as of users who know nothing of each other; constant, as of a clock",
    )
    response: Responses | None = Field(
        None, description="what is judged, or a list of it, the most important first; default: the protocol's"
    )
    data: Literal["keep", "round", "application"] | None = Field(
        None,
        description="when the data is restored; default: round for writing workloads, keep for reading and for "
        "preconditioned ones",
    )
    cache: Literal["warm", "cold"] = Field(
        "warm", description="cold: the page cache of the data is dropped before each trial, and a server is restarted"
    )
    precondition: PreconditionTable | None = Field(
        None, description="overwrite the data before the first trial until that is steady; {} takes all defaults"
    )

    @model_validator(mode="after")
    def _one_loop(self) -> Self:
        if self.rate is None and "arrivals" in self.model_fields_set:
            raise ValueError("arrivals needs an open loop: add for example rate = [1000]")
        if self.rate is not None and len(self.threads) > 1:
            raise ValueError("with rate, threads is one number, the limit of operations under way: write one")
        return self


class ProtocolTable(StrictTable):
    """Method of the comparison; every key has a default."""

    margin: Share | None = Field(
        None, description="what is too small to matter; default 2 %, and 3 % where equal trials differ by more than 5 %"
    )
    margins: dict[ResponseName, Share] = Field({}, description="margins of single responses")
    confidence: float = Field(0.95, ge=0.8, le=0.999)
    trial: Duration = Field(
        60.0,
        ge=0.01,
        description="measured time of a trial; where it is left out, trials become longer if a setting needs that to "
        "act and the budget holds them",
    )
    settle: Duration | None = Field(
        None,
        description="discarded time before a trial; default: calibrated by long runs where the budget has room for "
        "them; else half of trial, at most 30 s; in flight a third, at most 20 s, for the start of the load, and a "
        "fifth, at most 12 s, after a change",
    )
    budget: Duration = Field(4 * 3600.0, description="machine time for all but making and preconditioning data")
    rounds: int | None = Field(
        None,
        ge=2,
        le=16,
        description="rounds of each comparison; default: what the question needs, within the budget",
    )
    seed: int = Field(1, ge=0, lt=2**31, description="of the run order")
    response: Responses | None = Field(
        None,
        description="what is judged, or a list of it, the most important first; default: throughput_per_s, in an "
        "open loop response_p95_s",
    )
    in_flight: bool = Field(
        True,
        description="change settings that take effect at once while the load continues, without a new load for each "
        "trial",
    )
    segment: Duration | None = Field(
        None,
        description="toggle settings that take effect at once and leave nothing behind under one load (baseline, "
        "other, other, baseline), and measure each for so long; default: 6s where throughput is judged and trial, "
        "settle, rounds and wash_out are left out",
    )
    wash_out: SwitchOrDuration | None = Field(
        None,
        description="let a trial that follows another setting run one trial longer before it is measured, or for this "
        "time, so that nothing of that setting is left, such as dirty pages; default: where settings may leave "
        "something behind",
    )
    method: Literal["adaptive", "fixed", "open-ended"] = Field(
        "adaptive",
        description="adaptive: look after each round and stop what is decided; fixed: one look at the end; "
        "open-ended: look after each round, with intervals that hold however long it continues",
    )
    placebo: bool = Field(
        True, description="compare the baseline with itself too, once for every four arms that are tried one at a time"
    )
    sub_trials: int | None = Field(
        None,
        ge=1,
        le=64,
        description="trials of each application of a setting, such as a mount; default: 1, and where applying takes "
        "long as many as are worth it",
    )
    recovery: Crash = Field(
        "none",
        description="kill the private server at the end of each trial, and measure how it starts again; power-cut: the "
        "layout's file system also loses what it has not written",
    )
    design: Literal["auto", "one-at-a-time", "screen"] = Field(
        "auto",
        description="screen: try all factors of two levels in the same trials, then confirm one at a time what that "
        "shows; one-at-a-time: each factor in trials of its own; auto: screen where four factors or more can be",
    )


class LimitsTable(StrictTable):
    """Limits that end the experiment at once and restore the machine; for machines that have other work."""

    response_p99_s: Duration | None = Field(None, description="p99 response time of any second of the load")
    errors_per_s: float | None = Field(None, ge=0, description="errors in any second of the load")
    free_space: Size | None = Field(None, description="what must stay free on the file system of target.path")
    temperature: float | None = Field(None, ge=0, le=150, description="°C, of the hottest sensor that the kernel shows")


class PlanTable(StrictTable):
    """A plan: which knobs, which levels, which workloads."""

    name: Name
    question: str = Field("", description="what is to be found out, in words")
    target: TargetTable = TargetTable()
    load: LoadTable | None = None
    sandbox: SandboxTable | None = None
    database: DatabaseTable | None = None
    knob: OwnRows = Field({}, description="knobs of your own: programs that print and set a value")
    health: HealthRows = Field({}, description="states of the machine that decide whether trials count")
    member: MemberRows = Field({}, description="drives of a controller's volume that events may let fail")
    hold: dict[str, Level] = Field({}, description="settings held in every trial")
    factors: dict[str, Annotated[list[Level], Field(min_length=2, max_length=32)]] = Field(
        {}, description="knobs or workload parameters, each with its levels; the first is the baseline"
    )
    factor_scope: dict[str, list[str]] = Field(
        {}, description="the workloads a factor is tried under; default: all it applies to"
    )
    combination: list[CombinationTable] = Field([])
    event: list[EventTable] = Field(
        [], max_length=16, description="what happens in every trial, such as a disk that fails"
    )
    workload: list[Any] = Field(min_length=1)  # plan_form() replaces it with the registered kinds
    protocol: ProtocolTable = ProtocolTable()
    limits: LimitsTable = LimitsTable()


@functools.cache
def plan_form() -> type[PlanTable]:
    """Returns the form of a plan with the registered workload kinds."""
    tables: list[Any] = []
    for kind in workload_kinds:
        tables.append(
            create_model(
                f"{kind.title()}Workload",
                __base__=(
                    workload_kinds.get(kind).table,
                    WorkloadTable,
                ),  # first, as a kind may define its own load levels
                kind=(Literal[kind], ...),  # type: ignore[arg-type]  # the kinds are known at run time only
            )
        )
    either: Any = functools.reduce(operator.or_, tables)
    if len(tables) > 1:
        either = Annotated[either, Field(discriminator="kind")]
    return create_model(
        "PlanFile",
        __base__=PlanTable,
        workload=(Annotated[list[either], Field(min_length=1)], ...),
    )
