"""Registries of plug-ins by name; workload kinds register themselves on import."""

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from paribus.errors import UsageError
from paribus.i18n import StoredMessage

if TYPE_CHECKING:
    from pydantic import BaseModel

    from paribus.model import Settings, Value, Workload

T = TypeVar("T")

LEFT_TO_IT = "default"  # the value of a database's setting that is not set
OF_THE_DATA = frozenset({"page_size", "auto_vacuum", "encoding"})  # settings that are fixed when the data is made


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean …?` for a name that is not known; empty when nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""


class Registry(Generic[T]):
    """Named entries of one sort, such as every workload kind."""

    def __init__(self, sort: str) -> None:
        self._sort = sort
        self._entries: dict[str, T] = {}

    def register(self, name: str, entry: T) -> T:
        """Add an entry; a name taken twice is a mistake of the programmer."""
        if name in self._entries:
            raise AssertionError(f"{self._sort} {name!r} is registered twice")
        self._entries[name] = entry
        return entry

    def get(self, name: str) -> T:
        """The entry of that name. Raises UsageError with the nearest name."""
        try:
            return self._entries[name]
        except KeyError:
            hint = nearest(name, self._entries) or f"known: {', '.join(self._entries)}"
            raise UsageError(f"there is no {self._sort} {name!r}", hint) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """What a workload works on: files, or the `device` that is named; data of one `shape` is shared.

    `made`: it must be made for the load; `written`: the load changes it; `cached`: by way of the page cache. `rows` are
    those of tables.
    """

    device: str
    shape: str
    size_bytes: int
    made: bool
    written: bool
    cached: bool
    rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSeries:
    """One workload of those that a workload table of a plan stands for; `name` is empty where it is the only one.

    `parameters` are of the kind's `parameters`, `threads` the load levels.
    """

    name: str
    parameters: "BaseModel"
    threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """What a plan needs to know of a tool of the user's: its `program`, and what a reader must know of its figures."""

    program: Callable[["BaseModel"], str]
    note: StoredMessage | None = None


class WorkloadKind(Protocol):
    """What a plan needs to know of a workload kind.

    `table` is what a plan writes, `parameters` what one workload has. They differ in the `axes`: of these a plan
    gives a list, and every value belongs to a series of its own. A kind with axes is worth measuring by itself.
    `sizes_an_operation` are the parameters that change what an operation is; then `size_response` is judged.
    `on_database`: its data is in the plan's database. `tool`: its load is a program of the user's, so that each trial
    has a run of its own.
    """

    name: str
    table: type["BaseModel"]
    parameters: type["BaseModel"]
    axes: frozenset[str]
    sizes_an_operation: frozenset[str]
    size_response: str
    on_database: bool
    tool: Tool | None

    def series(self, table: Any) -> Sequence[WorkloadSeries]:
        """The workloads that a table stands for; it has the fields of `table`, and `threads`."""
        ...

    def data(self, parameters: "BaseModel") -> DataSet:
        """What the load works on."""
        ...


workload_kinds: Registry[WorkloadKind] = Registry("workload kind")


def parameters_of(workload: "Workload", settings: "Settings") -> "BaseModel":
    """The workload's parameters with a trial's settings in place; those of other owners are passed over.

    Raises pydantic's ValidationError where they do not go together.
    """
    own = dict(workload.parameters)
    for key, value in settings.items():
        owner, _, parameter = key.partition(".")
        if owner in workload.owners:
            own[parameter] = value
    return workload_kinds.get(workload.kind).parameters.model_validate(own)


def database_settings(workload: "Workload", settings: "Settings") -> dict[str, "Value"]:
    """A trial's settings of the workload's database, by their names there; those left to it are passed over."""
    own = ((key.partition(".")[::2], value) for key, value in settings.items())
    return {name: value for (owner, name), value in own if owner == workload.database and value != LEFT_TO_IT}


def data_of(workload: "Workload", settings: "Settings") -> DataSet:
    """What a trial with these settings works on; what is preconditioned is written. Raises as above."""
    found = workload_kinds.get(workload.kind).data(parameters_of(workload, settings))
    own = database_settings(workload, settings)
    shape = "".join(f"-{name}={own[name]}" for name in sorted(OF_THE_DATA.intersection(own)))
    found = dataclasses.replace(found, shape=found.shape + shape)
    return dataclasses.replace(found, made=True, written=True) if workload.precondition else found
