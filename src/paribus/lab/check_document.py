"""The document of `paribus check`."""

from pydantic import BaseModel, ConfigDict, Field

from paribus.lab.machine.server_data import OnServer, ServerData
from paribus.model import PlannedEvent, Purpose
from paribus.units import LoadUnit


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Command(_Document):
    """A setting that will be made, with what takes it back."""

    setting: str
    command: str
    undo: str


class ToolRun(_Document):
    """Start of a workload's own tool, at its lowest load level and the baseline."""

    workload: str
    commands: list[str]


class Block(_Document):
    """Arms back to back, each at the same load levels; `purpose` says why."""

    number: int
    round: int
    workload: str
    loads: list[int]
    load_unit: LoadUnit
    purpose: Purpose
    factor: str
    arms: list[str]


class Reach(_Document):
    """Power of a comparison by the noise measured here before; effects and margins are log ratios.

    `effect` is seen four times out of five, equivalence within `margin_reached` is shown nine times out of ten, and
    within the plan's `margin` in `margin_takes_s`.
    """

    workload: str
    pair_sd: float
    effect: float
    margin: float
    margin_reached: float
    margin_takes_s: float


class ForeseenReach(_Document):
    """Power of a comparison whose noise is not known here, at a noise that it may have; both are log ratios."""

    pair_sd: float
    effect: float


class Screen(_Document):
    """Factors of two levels that are tried in the same trials; each that shows an effect is then tried alone."""

    workload: str
    factors: list[str]
    pairs: int
    confirming_s: float = Field(description="shortest time of the confirmation of one of them")
    left_s: float = Field(description="time that the budget leaves for confirmations")


class SplitPlot(_Document):
    """Settings whose application takes so long that each holds for several trials, which count as one."""

    workload: str
    factor: str
    apply_s: float
    trials: int


class Preconditioning(_Document):
    """Overwriting of a data set before the first trial; `most_s` is the most time that it is overwritten at random."""

    workload: str
    place: str
    fills: int
    least_bytes: int
    most_s: float


class WipedDevice(_Document):
    """A device whose content is lost, with its permanent names and what is on it."""

    device: str
    node: str
    ids: list[str]
    size_bytes: int
    contents: list[str]


class GuestTarget(_Document):
    """The virtual machine that the target is; `image` is behind its disk under test, `device` below that."""

    name: str
    hypervisor: str
    uri: str
    image: str
    device: str | None


class BoundHost(_Document):
    """The hypervisor as the platform `host`: the data there, and the limits of its control groups."""

    path: str
    device: str | None
    cpus: str
    memory_bytes: int


class CheckDocument(_Document):
    """The answer of `paribus check --json`."""

    plan: str
    question: str
    path: str
    device: str | None
    fingerprint: dict[str, str] = Field(description="what identifies the machine, by name of the fact")
    running: list[str] = Field(description="experiments that run on the machine now")
    cut_off: list[str] = Field(description="experiments that a crash ended: the machine has to be restored")
    load_hosts: list[str] = Field(description="empty where the target makes the load")
    guest: GuestTarget | None = Field(description="null where the plan names none")
    bound: BoundHost | None = Field(description="null where no trial runs on the hypervisor")
    notes: list[str]
    rounds: int
    settle_runs: int
    noise_rounds: int
    trials: int
    duration_s: float
    data_bytes: int
    made_bytes: dict[str, int]
    wiped: list[WipedDevice]
    events: list[PlannedEvent]
    server_data: ServerData | None = Field(description="null where no workload is on a private server")
    on_server: OnServer | None = Field(description="what is made in a server that others use")
    preconditioning: list[Preconditioning]
    in_page_cache: list[str]
    memory_bytes: int
    in_flight: list[str]
    toggled: list[str]
    segment_s: float | None
    screens: list[Screen]
    split_plots: list[SplitPlot]
    commands: list[Command]
    tools: list[ToolRun] = Field(description="what makes the load where that is a tool of the user's")
    also_moved: list[str]
    reach: list[Reach]
    foreseen_reach: list[ForeseenReach]
    blocks: list[Block]
