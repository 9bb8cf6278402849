"""PostgreSQL's own pgbench as a load: from parameters to command lines, and from its report to figures."""

import dataclasses
import zlib
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from paribus.i18n import stored_message
from paribus.model import SERVER_PLACEHOLDERS
from paribus.parsers import pattern, tool_reports
from paribus.parsers.report import ToolReport, within
from paribus.registry import DataSet, Tool, workload_kinds
from paribus.workloads.tools import (
    Argv,
    OptionValue,
    RunRequest,
    ToolExecution,
    ToolKindBase,
    ToolParameters,
    refuse_options,
    whole,
)

_SCALE_ROWS = 100_000  # of pgbench_accounts
_SCALE_BYTES = 16 << 20  # with the index
_MOST_JOBS = 8
_PARIBUS = "Paribus"
_RESERVED = {
    "client": "threads",
    "rate": "rate",
    "time": "protocol.trial",
    "transactions": "protocol.trial, since a run ends by time",
    "progress": f"{_PARIBUS}, which reads each second",
    "log": "percentiles",
    "log-prefix": "percentiles",
    "sampling-rate": "percentiles",
    "aggregate-interval": "percentiles",
    "no-vacuum": f"{_PARIBUS}, since the data is restored",
    "initialize": f"{_PARIBUS}, which prepares with initialize_options",
    **{name: f"the key {name}" for name in ("jobs", "protocol", "scale", "builtin")},
    "file": "script",
    **dict.fromkeys(("host", "port", "username", "dbname"), "database.dsn"),
}
_NOTE = stored_message(
    "pgbench runs for settle plus trial in whole seconds, plus one second. Its per-second lines after settle count; "
    "percentiles are of all transactions of these seconds, from its log"
)
# Runs pgbench, then prints the percentiles of the transactions that ended within the window. Lines of the log are:
# client, number, microseconds or a word, script, and the end in seconds and microseconds.
_SCRIPT = r"""
settle=$1 measure=$2; shift 2
rm -f pgbench_log.*
"$@" || exit
window='
$3 ~ /^[0-9]+$/ { end = $5 + $6 / 1000000; begin = end - $3 / 1000000
  if (pass == 1) { if (first == "" || begin < first) first = begin }
  else if (end > first + settle && end <= first + settle + measure) print $3 }'
awk -v settle="$settle" -v measure="$measure" "$window" pass=1 pgbench_log.* pass=2 pgbench_log.* | sort -n |
awk '{ times[NR] = $1 }
function rank(share) { n = int(share * NR); if (n < share * NR) n++; return times[n] }
END { if (NR) { print "paribus p95:", rank(0.95), "us"; print "paribus p99:", rank(0.99), "us" } }'
rm -f pgbench_log.*
"""
_PERCENTILES = {name: rf"^paribus {name}: (?P<value>[0-9]+) us$" for name in ("p95", "p99")}


class PgbenchParameters(ToolParameters):
    """Plan keys of a `pgbench` workload, whose load levels are pgbench's clients."""

    on_server: ClassVar[bool] = True

    scale: int = Field(
        1, ge=1, le=100_000, description="100,000 accounts, about 16 MiB, for each; made by pgbench --initialize"
    )
    builtin: Literal["tpcb-like", "simple-update", "select-only"] = Field(
        "tpcb-like", description="pgbench's own transaction"
    )
    script: Annotated[str, StringConstraints(pattern=r"^(/[^\x00]*)?$")] = Field(
        "", description="in place of builtin: the full path of a script of your own on the target, on pgbench's tables"
    )
    protocol: Literal["simple", "extended", "prepared"] = Field(
        "simple", description="how statements are sent: as text, with parameters, or prepared once"
    )
    jobs: int | None = Field(
        None, ge=1, le=1024, description=f"threads of pgbench; default: one for each client, at most {_MOST_JOBS}"
    )
    percentiles: bool = Field(
        True, description="log each transaction, for response_p95_s and response_p99_s; some 40 bytes for each"
    )
    options: dict[str, OptionValue] = Field({}, description="given to the run as --name=value; true: --name alone")
    initialize_options: dict[str, OptionValue] = Field({}, description="the same, given to pgbench --initialize")

    @model_validator(mode="before")
    @classmethod
    def _is_possible_for_pgbench(cls, table: Any) -> Any:
        if isinstance(table, dict) and table.get("arrivals") == "constant":
            raise ValueError("pgbench supports only poisson arrivals: remove arrivals")
        if isinstance(table, dict) and table.get("percentiles") is False:
            responses = table.get("response") or ("response_p95_s" if table.get("rate") else "")
            if named := [name for name in ("response_p95_s", "response_p99_s") if name in responses]:
                raise ValueError(f"{named[0]} is judged, and needs percentiles: remove percentiles = false")
        return table

    @model_validator(mode="after")
    def _options_are_free(self) -> "PgbenchParameters":
        refuse_options(self.options, _RESERVED)
        refuse_options(self.initialize_options, _RESERVED)
        if self.script and "builtin" in self.model_fields_set:
            raise ValueError("script and builtin both name a transaction: keep one of them")
        return self


def _typed(parameters: BaseModel) -> PgbenchParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, PgbenchParameters)
    return parameters


def _switches(values: dict[str, OptionValue]) -> Argv:
    """Options as `--name=value`; pgbench's options that are on or off have no value."""
    enabled = {name: value for name, value in values.items() if value is not False}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in enabled.items()]


class PgbenchKind(ToolKindBase):
    """The kind `pgbench`."""

    name = "pgbench"
    table: type[BaseModel] = PgbenchParameters
    parameters: type[BaseModel] = PgbenchParameters
    on_database = True
    tool: Tool | None = Tool(
        program=lambda _parameters: "pgbench", note=_NOTE, package="postgresql", kinds=("postgres",)
    )

    def prepare_command(self, parameters: BaseModel, request: RunRequest) -> Argv:
        """`pgbench --initialize`."""
        p = _typed(parameters)
        options = ["--initialize", "--quiet", f"--scale={p.scale}", *_switches(p.initialize_options)]
        return ["pgbench", *options, *_connection(request)]

    def cleanup_command(self, parameters: BaseModel, request: RunRequest) -> Argv:  # noqa: ARG002  as of every kind
        """None: the database is dropped."""
        return []

    def runs(self, parameters: BaseModel, request: RunRequest) -> list[ToolExecution]:
        """One run, one second longer, since the last progress line may be missing."""
        p = _typed(parameters)
        settle_s, measure_s = whole(request.settle_s), whole(request.measure_s)
        options = [
            f"--file={p.script}" if p.script else f"--builtin={p.builtin}",
            f"--protocol={p.protocol}",
            f"--client={request.threads}",
            f"--jobs={p.jobs or min(request.threads, _MOST_JOBS)}",
            f"--time={settle_s + measure_s + 1}",
            "--progress=1",
            "--no-vacuum",
            *([f"--rate={request.rate}"] if request.rate else []),
            *(["--log"] if p.percentiles else []),
            *_switches(p.options),
        ]
        argv = ["pgbench", *options, *_connection(request)]
        wrapper = ["sh", "-c", _SCRIPT, "sh", str(settle_s), str(measure_s)] if p.percentiles else []
        return [ToolExecution(argv=[*wrapper, *argv], settle_s=settle_s, measure_s=measure_s)]

    def command_line(self, argv: Argv) -> Argv:
        """Without the wrapper that computes percentiles."""
        return argv[argv.index("pgbench") :]

    def read(self, parameters: BaseModel, request: RunRequest, text: str) -> ToolReport:
        """The figures of the seconds after settling."""
        settle_s, measure_s = whole(request.settle_s), whole(request.measure_s)
        figures = within(tool_reports.of_pgbench(text), settle_s, settle_s + measure_s)
        if not _typed(parameters).percentiles:
            return figures
        percentiles = {name: pattern.value(expression, text) / 1e6 for name, expression in _PERCENTILES.items()}
        return dataclasses.replace(figures, responses_s=figures.responses_s | percentiles)

    def data(self, parameters: BaseModel) -> DataSet:
        """Pgbench's tables."""
        p = _typed(parameters)
        options = (
            f"-{zlib.crc32(repr(sorted(p.initialize_options.items())).encode()):08x}" if p.initialize_options else ""
        )
        return DataSet(
            device="",
            shape=f"scale-{p.scale}{options}",
            size_bytes=p.scale * _SCALE_BYTES,
            made=True,
            written=bool(p.script) or p.builtin != "select-only",
            cached=True,
            rows=p.scale * _SCALE_ROWS,
        )


def _connection(request: RunRequest) -> Argv:
    values = request.address or {name: f"{{{name}}}" for name in SERVER_PLACEHOLDERS}
    return [f"--host={values['host']}", f"--port={values['port']}", f"--username={values['user']}", values["database"]]


workload_kinds.register("pgbench", PgbenchKind())
