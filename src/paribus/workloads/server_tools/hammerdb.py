"""HammerDB's TPROC-C as a load: from parameters to a Tcl script for hammerdbcli, and from its output to figures."""

import re
import zlib
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, StringConstraints, model_validator

from paribus.i18n import stored_message
from paribus.parsers import tool_reports
from paribus.parsers.report import ToolReport
from paribus.registry import DataSet, Tool, workload_kinds
from paribus.workloads.tools import Argv, OptionValue, RunRequest, ToolExecution, ToolKindBase, ToolParameters, whole

_WAREHOUSE_ROWS = 500_000
_WAREHOUSE_BYTES = 100 << 20
_PREFIXES = {"mariadb": "maria", "postgres": "pg"}
_RESERVED = {
    "count_ware": "warehouses",
    "num_vu": "build_users",
    "driver": "Paribus, which runs timed tests",
    "rampup": "protocol.settle",
    "duration": "protocol.trial",
    "total_iterations": "protocol.trial, since a run ends by time",
    "timeprofile": "time_profile",
    "allwarehouse": "all_warehouses",
    **dict.fromkeys(("user", "pass", "superuser", "superuserpass", "defaultdbase", "dbase"), "the private server"),
}
_NOTE = stored_message(
    "HammerDB runs for whole minutes: settle and trial are rounded up. The throughput is new orders per second, "
    "which is NOPM divided by 60; response times are those of new orders, of the whole run with its settling"
)
# hammerdbcli must be started in its own folder, and ends with 0 also where virtual users have failed.
_SCRIPT = r"""
home=$1 here=$PWD
printf '%s\n' "$2" > script.tcl
rm -f "$HOME"/hdbxtprofile*.log
cd "$home" && ./hammerdbcli tcl auto "$here/script.tcl" > "$here/output" 2>&1
status=$?
cat "$here/output" "$HOME"/hdbxtprofile*.log 2> /dev/null
failed=$(grep -m 1 -e 'Error in Virtual User' -e 'FINISHED FAILED' "$here/output") && echo "$failed"
[ $status = 0 ] && [ -z "$failed" ]
"""


class HammerdbParameters(ToolParameters):
    """Plan keys of a `hammerdb` workload, whose load levels are virtual users."""

    on_server: ClassVar[bool] = True

    home: Annotated[str, StringConstraints(pattern=r"^/[^\x00]*$")] = Field(
        description="the full path of the folder of HammerDB on the target, which has hammerdbcli; 4.6 or newer"
    )
    warehouses: int = Field(1, ge=1, le=100_000, description="of TPROC-C; about 100 MiB for each")
    build_users: int = Field(
        1, ge=1, le=1024, description="virtual users that build the schema, at most one a warehouse"
    )
    all_warehouses: bool = Field(
        False, description="each virtual user works on all warehouses, not on its own one alone"
    )
    time_profile: bool = Field(True, description="measure response times; HammerDB's xtprof")
    options: dict[str, OptionValue] = Field(
        {},
        description="more settings of HammerDB's tpcc dictionary, without the prefix of the database: "
        '{ storage_engine = "innodb", partition = true }',
    )

    @model_validator(mode="before")
    @classmethod
    def _has_no_rate(cls, table: Any) -> Any:
        if isinstance(table, dict) and table.get("rate") is not None:
            raise ValueError("HammerDB has no arrival rate: remove rate, and give threads, its virtual users")
        return table

    @model_validator(mode="after")
    def _options_are_free(self) -> "HammerdbParameters":
        for name in self.options:
            if not re.fullmatch("[a-z_]+", name):
                raise ValueError(f"{name!r} is not the name of a setting: write it without the prefix, as partition")
            if name in _RESERVED:
                raise ValueError(f"the option {name} is set by {_RESERVED[name]}: remove it")
        return self


def _typed(parameters: BaseModel) -> HammerdbParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, HammerdbParameters)
    return parameters


class HammerdbKind(ToolKindBase):
    """The kind `hammerdb`."""

    name = "hammerdb"
    table: type[BaseModel] = HammerdbParameters
    parameters: type[BaseModel] = HammerdbParameters
    on_database = True
    tool: Tool | None = Tool(
        program=lambda parameters: f"{_typed(parameters).home}/hammerdbcli",
        note=_NOTE,
        kinds=("mariadb", "postgres"),  # its MySQL driver knows no user without a password
        private_because="HammerDB builds its schema in an empty database only, and sets the password of its user",
    )

    def prepare_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """Hammerdbcli with a script that builds the schema."""
        p = _typed(parameters)
        tpcc_settings = {"count_ware": p.warehouses, "num_vu": min(p.build_users, p.warehouses), **p.options}
        return _call(p, request, tpcc_settings, ["buildschema"])

    def cleanup_command(self, parameters: BaseModel, request: RunRequest) -> Argv:  # noqa: ARG002  as of every kind
        """None: the database is dropped."""
        return []

    def runs(self, parameters: BaseModel, request: RunRequest) -> list[ToolExecution]:
        """One timed test; the ramp-up is HammerDB's own."""
        p = _typed(parameters)
        rampup, duration = whole(request.settle_s, 60), whole(request.measure_s, 60)
        tpcc_settings = {
            "driver": "timed",
            "rampup": rampup,
            "duration": duration,
            "allwarehouse": p.all_warehouses,
            "timeprofile": p.time_profile,
            **p.options,
        }
        steps = ["loadscript", f"vuset vu {request.threads}", "vucreate", "vurun", "vudestroy"]
        return [
            ToolExecution(
                argv=_call(p, request, tpcc_settings, steps),
                settle_s=60.0 * rampup,
                measure_s=60.0 * duration,
            )
        ]

    def command_line(self, argv: Argv) -> Argv:
        """Without the wrapper that starts it in its folder."""
        *_, home, _script = argv
        return [f"{home}/hammerdbcli", "tcl", "auto", "script.tcl"]

    def read(self, parameters: BaseModel, request: RunRequest, text: str) -> ToolReport:  # noqa: ARG002  as of every kind
        """NOPM as operations, and the response times of new orders."""
        return tool_reports.of_hammerdb(text)

    def data(self, parameters: BaseModel) -> DataSet:
        """The tables of TPROC-C."""
        p = _typed(parameters)
        options = f"-{zlib.crc32(repr(sorted(p.options.items())).encode()):08x}" if p.options else ""
        return DataSet(
            device="",
            shape=f"{p.warehouses}-warehouses{options}",
            size_bytes=p.warehouses * _WAREHOUSE_BYTES,
            made=True,
            written=True,
            cached=True,
            rows=p.warehouses * _WAREHOUSE_ROWS,
        )


def _call(
    p: HammerdbParameters, request: RunRequest, tpcc_settings: dict[str, OptionValue], steps: Sequence[str]
) -> Argv:
    """The command line: a wrapper of hammerdbcli, and its script. There is no password, as the server is private."""
    prefix = _PREFIXES.get(request.server_kind, "maria")
    address = request.address or dict.fromkeys(("host", "port", "socket", "user", "database"), "")
    if prefix == "pg":
        connection = {"host": address["host"], "port": address["port"]}
        login = {"superuser": address["user"], "superuserpass": "none", "defaultdbase": "postgres", "pass": "none"}
    else:
        connection = {"host": "localhost", "socket": address["socket"]}
        login = {"pass": "null"}  # HammerDB's word for no password
    settings = {"user": address["user"], "dbase": address["database"], **login, **tpcc_settings}
    script = [f"dbset db {prefix}", "dbset bm TPC-C"]
    script += [f"diset connection {prefix}_{name} {_word(value)}" for name, value in connection.items()]
    script += [f"diset tpcc {prefix}_{name} {_word(value)}" for name, value in settings.items()]
    return ["sh", "-c", _SCRIPT, "hammerdbcli", p.home, "\n".join([*script, *steps])]


def _word(value: OptionValue) -> str:
    """A value as one word of Tcl."""
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    return re.sub(r"([^A-Za-z0-9_./:+-])", r"\\\1", text)


workload_kinds.register("hammerdb", HammerdbKind())
