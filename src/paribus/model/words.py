"""Values, verdicts, states, and the responses that can be judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Value = bool | int | float | str
Settings = Mapping[str, Value]
Parameters = Mapping[str, Any]  # of a workload: values, and lists and tables of them

TPCC = "tpcc"
"""The kind of workload whose tables have conditions that the load engine verifies."""

SYSTEM = "system"
"""Value of a limit of one md array: that of all arrays."""


class Verdict(StrEnum):
    """Conclusion about a level against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    NO_EFFECT_POSSIBLE = "no_effect_possible"
    DEPENDS_ON_LOAD = "depends_on_load"
    UNDECIDED = "undecided"


class Tag(StrEnum):
    """Qualification of a verdict."""

    MATERIAL = "material"
    NEGLIGIBLE = "negligible"
    AVERAGE = "average"
    CAPPED = "capped"
    STALLS = "stalls"
    SUSPECT = "suspect"
    DOUBTFUL = "doubtful"


class Purpose(StrEnum):
    """Purpose of a trial.

    `alone` tries what a screen found equivalent. `select` is that of looks for the best level, at compared trials.
    """

    CALIBRATE = "calibrate"
    NOISE_FLOOR = "noise_floor"
    COMPARE = "compare"
    SCREEN = "screen"
    PLACEBO = "placebo"
    CONFIRM = "confirm"
    ALONE = "alone"
    SELECT = "select"
    MEASURE = "measure"
    PRECONDITION = "precondition"


SINGLE = (Purpose.COMPARE, Purpose.CONFIRM, Purpose.ALONE)
"""Purposes of trials that compare a factor by itself."""

COMPARING = (*SINGLE, Purpose.SCREEN)
"""Purposes of trials that answer a question of a plan."""

DIRECTIONAL = (Verdict.BETTER, Verdict.WORSE)
"""Verdicts that state the direction of an effect."""

LAYOUT = "layout"
"""The setting whose levels are storage layouts."""

COMBINATION = "combination"
"""The factor of combinations, in trials."""

PLATFORM = "platform"
"""The setting whose levels are the machines that run the workload."""


class Platform(StrEnum):
    """The machine that runs the workload of a trial: the guest under test, or its hypervisor."""

    GUEST = "guest"
    HOST = "host"


class TrialState(StrEnum):
    """State of a trial; `superseded` ones were rerun with their block, `spared` ones were not needed to decide."""

    PLANNED = "planned"
    APPLYING = "applying"
    SETTLING = "settling"
    MEASURING = "measuring"
    DONE = "done"
    FAILED = "failed"
    INVALID = "invalid"
    SUPERSEDED = "superseded"
    SPARED = "spared"


class FailureClass(StrEnum):
    """Reason why a trial did not finish."""

    SETTING_REJECTED = "setting-rejected"
    SERVER_WOULD_NOT_START = "server-would-not-start"
    LOAD_ERROR = "load-error"
    NO_DATA = "no-data"
    INTERRUPTED = "interrupted"
    LIMIT_REACHED = "limit-reached"
    TOOLING = "tooling"


class ExperimentState(StrEnum):
    """State of an experiment; an `imported` one is a set of what others measured."""

    PLANNED = "planned"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    DONE = "done"
    IMPORTED = "imported"


class ChangeState(StrEnum):
    """Outcome of one change of one knob; `written` reads back different, and was not requested by itself."""

    WRITTEN = "written"
    VERIFIED = "verified"
    MISMATCHED = "mismatched"


class Fitness(StrEnum):
    """Whether a condition of a machine lets it be measured on: it does, it must be known, or it does not."""

    FIT = "fit"
    NOTE = "note"
    UNFIT = "unfit"


class NotTaken(StrEnum):
    """Fate of a setting that is not in force as requested; the values complete a sentence about the knob."""

    IGNORED = "was ignored"
    CLAMPED = "was clamped"
    ROUNDED = "was rounded"
    RESET = "was changed by another program"
    REFUSED = "was refused"
    READ_ONLY = "is read-only here"
    MISSING = "does not exist here"


@dataclass(frozen=True, slots=True)
class Response:
    """A measured quantity that can be judged: which direction is good and what is too small to matter."""

    name: str
    title: str
    unit: str
    higher_is_better: bool
    margin: float


RATES = ("throughput_per_s", "bytes_per_s", "queries_per_s", "new_orders_per_s")
"""Responses that are counts over the time of a trial."""

SERVER_STARTED = "server_started"
"""Metric: the start of the server that a trial worked on, in seconds since 1970."""

SLOW_SECONDS = "throughput_p05_per_s"
"""The throughput that all but 5 % of the seconds of a trial exceed; stalls lower it."""

SECONDS_BELOW_HALF = "seconds_below_half"
"""Seconds of a trial with less than half of the throughput of its median second."""

OF_SECONDS = (SLOW_SECONDS, SECONDS_BELOW_HALF)
"""Responses that are computed from the single seconds of a trial."""

TRANSACTIONS_OF = {
    "new_order": "new_orders",
    "payment": "payments",
    "order_status": "order_statuses",
    "delivery": "deliveries",
    "stock_level": "stock_levels",
}
"""By kind of transaction of TPC-C, as the engine names it: what metrics of its rate begin with."""

TPCC_KINDS = tuple(TRANSACTIONS_OF)
TPCC_TABLES = (
    "customer", "district", "history", "item", "new_orders", "order_line", "orders", "stock", "warehouse",
)  # fmt: skip
NEW_ORDERS = "new_orders_per_s"

FEWEST_SECONDS = 20
"""Seconds that a trial must have for `OF_SECONDS`: a twentieth of them is one."""

RESPONSES = {
    response.name: response
    for response in (
        Response("throughput_per_s", "throughput", "1/s", True, 0.02),
        Response("bytes_per_s", "bandwidth", "B/s", True, 0.02),
        Response("queries_per_s", "queries", "1/s", True, 0.02),
        Response(SLOW_SECONDS, "p5 throughput", "1/s", True, 0.05),
        Response(NEW_ORDERS, "New-Orders", "1/s", True, 0.02),
        Response("degraded_per_s", "throughput while degraded", "1/s", True, 0.05),
        Response("rebuilding_per_s", "throughput while rebuilding", "1/s", True, 0.05),
        Response("degraded_share", "share of the throughput while degraded", "", True, 0.05),
        Response("rebuilding_share", "share of the throughput while rebuilding", "", True, 0.05),
        Response("slow_per_s", "throughput with a slow disk", "1/s", True, 0.05),
        Response("slow_share", "share of the throughput with a slow disk", "", True, 0.05),
        Response("beside_job_share", "share of the throughput beside the job", "", True, 0.05),
        Response("job_s", "duration of the job", "s", False, 0.05),
        Response("rebuild_s", "time to rebuild", "s", False, 0.05),
        Response("impaired_s", "time until the throughput is as before", "s", False, 0.10),
        Response("recovery_s", "restart after a crash", "s", False, 0.10),
        Response("outage_s", "time without the server", "s", False, 0.10),
        Response("longest_stall_s", "longest stall", "s", False, 0.20),
        Response(SECONDS_BELOW_HALF, "time below half of the throughput", "s", False, 0.20),
        Response("fairness", "fairness", "", True, 0.02),
        Response("response_p95_s", "p95 response time", "s", False, 0.05),
        Response("response_p99_s", "p99 response time", "s", False, 0.10),
    )
}

EVENT_RESPONSES = {
    "degraded_per_s": ("fail-member", "error", "offline"),
    "degraded_share": ("fail-member", "error", "offline"),
    "rebuilding_per_s": ("replace", "add"),
    "rebuilding_share": ("replace", "add"),
    "rebuild_s": ("replace", "add"),
    "impaired_s": ("replace", "add", "delay", "run", "kill-server", "check", "resync", "trim"),
    "slow_per_s": ("delay",),
    "slow_share": ("delay",),
    "beside_job_share": ("run",),
    "job_s": ("run",),
    "outage_s": ("kill-server",),
}
"""Responses that exist only where a plan has an event, by the actions of which it is one."""
