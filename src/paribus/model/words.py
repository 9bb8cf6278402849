"""Values, verdicts, states, and the responses that can be judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Value = bool | int | float | str
Settings = Mapping[str, Value]
Parameters = Mapping[str, Any]  # of a workload: values, and lists and tables of them


class Verdict(StrEnum):
    """What is concluded about a level against the baseline."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    NO_EFFECT_POSSIBLE = "no_effect_possible"
    DEPENDS_ON_LOAD = "depends_on_load"
    UNDECIDED = "undecided"


class Tag(StrEnum):
    """What qualifies a verdict."""

    MATERIAL = "material"
    NEGLIGIBLE = "negligible"
    STALLS = "stalls"
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


COMPARING = (Purpose.COMPARE, Purpose.SCREEN, Purpose.CONFIRM)
"""What answers a question of a plan."""


class TrialState(StrEnum):
    """Where a trial is; `superseded` ones were rerun with their block, `spared` ones were not needed to decide."""

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
    """Why a trial did not finish."""

    SETTING_REJECTED = "setting-rejected"
    SERVER_WOULD_NOT_START = "server-would-not-start"
    LOAD_ERROR = "load-error"
    NO_DATA = "no-data"
    INTERRUPTED = "interrupted"
    LIMIT_REACHED = "limit-reached"
    TOOLING = "tooling"


class ExperimentState(StrEnum):
    """Where an experiment is; an `imported` one is a set of what others measured."""

    PLANNED = "planned"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    DONE = "done"
    IMPORTED = "imported"


class ChangeState(StrEnum):
    """How one change of one knob ended; `written` reads back different, and was not asked for by itself."""

    WRITTEN = "written"
    VERIFIED = "verified"
    MISMATCHED = "mismatched"


class Fitness(StrEnum):
    """Whether a condition of a machine lets it be measured on: it does, it must be known, or it does not."""

    FIT = "fit"
    NOTE = "note"
    UNFIT = "unfit"


class NotTaken(StrEnum):
    """What became of a setting that is not in force as wanted; the values complete a sentence about the knob."""

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


RESPONSES = {
    response.name: response
    for response in (
        Response("throughput_per_s", "throughput", "1/s", True, 0.02),
        Response("bytes_per_s", "bandwidth", "B/s", True, 0.02),
        Response("queries_per_s", "queries", "1/s", True, 0.02),
        Response("response_p95_s", "p95 response time", "s", False, 0.05),
        Response("response_p99_s", "p99 response time", "s", False, 0.10),
    )
}
