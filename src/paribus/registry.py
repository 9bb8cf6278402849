"""Registries of plug-ins by name; workload kinds register themselves on import."""

import dataclasses
import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from paribus.errors import UsageError
from paribus.i18n import StoredMessage

if TYPE_CHECKING:
    from pydantic import BaseModel

    from paribus.model import Settings, Value, Workload

T = TypeVar("T")

DATABASE_DEFAULT = "default"  # the value of a database's setting that is not set
CREATION_SETTINGS = frozenset({"page_size", "auto_vacuum", "encoding"})  # settings that are fixed when the data is made


def nearest(name: str, known_names: Iterable[str]) -> str:
    """`did you mean …?` for an unknown name; empty when no known name is similar."""
    near = difflib.get_close_matches(name, list(known_names), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""


def import_modules(package: str, folders: Iterable[str]) -> None:
    """Import every module of a package, so that each registers its entries."""
    for module in pkgutil.iter_modules(folders, f"{package}."):
        importlib.import_module(module.name)


class Registry(Generic[T]):
    """Named entries of one kind, such as every workload kind."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str, entry: T) -> T:
        """Add an entry; registering a name twice is a programming error."""
        if name in self._entries:
            raise AssertionError(f"{self._kind} {name!r} is registered twice")
        self._entries[name] = entry
        return entry

    def get(self, name: str) -> T:
        """The entry of that name. Raises UsageError with the nearest name."""
        try:
            return self._entries[name]
        except KeyError:
            hint = nearest(name, self._entries) or f"known: {', '.join(self._entries)}"
            raise UsageError(f"there is no {self._kind} {name!r}", hint) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """The data of a workload: files, or the `device` that is named; data of one `shape` is shared.

    `made`: the data must be created for the load. `written`: the load changes it. `cached`: access is through the page
    cache. `rows` is the number of rows of tables. `existing`: a database of a running server that is used as it is.
    """

    device: str
    shape: str
    size_bytes: int
    made: bool
    written: bool
    cached: bool
    rows: int = 0
    existing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSeries:
    """One of the workloads that a workload table of a plan defines; `name` is empty if it is the only one.

    `parameters` are of the kind's type `parameters`, `threads` are the load levels.
    """

    name: str
    parameters: "BaseModel"
    threads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the user, as plans need it: its `program`, and a note on its figures for readers.

    `placeholders` are those of a server in its parameters, such as `socket`; a workload that has any is on the plan's
    server. `package` is Debian's with the program, for the kinds whose program is fixed. `kinds` are the kinds of
    servers that the tool can drive; empty: any. `private_because`: why it may not work on a server in use by others.
    `addressed` completes a table of a plan with the address of its server, which has a family and perhaps a socket.
    `needs_database` tells parameters that work on a database and name none.
    """

    program: Callable[["BaseModel"], str]
    note: StoredMessage | None = None
    placeholders: Callable[["BaseModel"], Sequence[str]] = lambda _parameters: ()
    package: str = ""
    kinds: tuple[str, ...] = ()
    private_because: str = ""
    addressed: Callable[[Mapping[str, Any], str, bool], Mapping[str, Any]] = lambda table, _family, _has_socket: table
    needs_database: Callable[["BaseModel"], bool] = lambda _parameters: False


class WorkloadKind(Protocol):
    """Contract of a workload kind with plans.

    `table` is the table in a plan, `parameters` those of one workload. They differ in the `axes`: for these a plan
    gives a list, and every value belongs to a series of its own. A kind with axes can be measured without factors.
    `sizes_an_operation` are the parameters that change what an operation is; then `size_response` is judged.
    `on_database`: its data is in the plan's database. `tool`: its load is a program of the user, so that each trial has
    a run of its own.
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
        """The workloads that a table defines; it has the fields of `table`, and `threads`."""
        ...

    def data(self, parameters: "BaseModel") -> DataSet:
        """The data of a workload."""
        ...


workload_kinds: Registry[WorkloadKind] = Registry("workload kind")


def parameters_of(workload: "Workload", settings: "Settings") -> "BaseModel":
    """The workload's parameters with a trial's settings applied; settings of other owners are ignored.

    Raises pydantic's ValidationError for an invalid combination.
    """
    parameters = dict(workload.parameters)
    for key, value in settings.items():
        owner, _, parameter = key.partition(".")
        if owner in workload.owners:
            parameters[parameter] = value
    return workload_kinds.get(workload.kind).parameters.model_validate(parameters)


def database_settings(workload: "Workload", settings: "Settings") -> dict[str, "Value"]:
    """A trial's settings of the workload's database, by variable; those with the value `default` are left out."""
    named_values = ((key.partition(".")[::2], value) for key, value in settings.items())
    return {
        name: value for (owner, name), value in named_values if owner == workload.database and value != DATABASE_DEFAULT
    }


def data_of(workload: "Workload", settings: "Settings") -> DataSet:
    """The data of a trial with these settings; a preconditioned data set is written. Raises as `parameters_of`."""
    data_set = workload_kinds.get(workload.kind).data(parameters_of(workload, settings))
    data_settings = database_settings(workload, settings)
    shape = "".join(f"-{name}={data_settings[name]}" for name in sorted(CREATION_SETTINGS.intersection(data_settings)))
    data_set = dataclasses.replace(data_set, shape=data_set.shape + shape)
    return dataclasses.replace(data_set, made=True, written=True) if workload.precondition else data_set
