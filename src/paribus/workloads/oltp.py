"""sysbench's OLTP workloads on a database: from parameters to the workload's part of an engine job."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from paribus.engine.protocol import Interval, OltpJob, Result
from paribus.model import Measurement
from paribus.registry import DataSet, Tool, WorkloadSeries, workload_kinds
from paribus.workloads.jobs import DataLocation
from paribus.workloads.measurements import operation_measurements, statement_metrics

Mix = Literal[
    "point_select", "read_only", "write_only", "read_write", "insert", "update_index", "update_non_index", "delete"
]
_READING = ("point_select", "read_only")
_TRANSACTIONS = ("read_only", "write_only", "read_write")
ROW_BYTES = 260  # of a row with its part of the indexes, as databases store it
_TRANSACTION_PARAMETERS = (
    "point_selects",
    "simple_ranges",
    "sum_ranges",
    "order_ranges",
    "distinct_ranges",
    "index_updates",
    "non_index_updates",
    "delete_inserts",
)
Count = int


class OltpParameters(BaseModel):
    """Plan keys of an OLTP workload; names and defaults are sysbench's."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    tables: int = Field(1, ge=1, le=10_000, description="number of tables, sbtest1 and so on")
    table_size: int = Field(10_000, ge=1, le=2**31, description="rows of each table")
    range_size: int = Field(100, ge=1, le=1_000_000, description="rows that a range query reads")
    point_selects: Count = Field(10, ge=0, le=10_000, description="of a transaction: rows read by their number")
    simple_ranges: Count = Field(1, ge=0, le=10_000, description="of a transaction: ranges read")
    sum_ranges: Count = Field(1, ge=0, le=10_000, description="of a transaction: ranges summed up")
    order_ranges: Count = Field(1, ge=0, le=10_000, description="of a transaction: ranges read and sorted")
    distinct_ranges: Count = Field(1, ge=0, le=10_000, description="of a transaction: ranges read without doubles")
    index_updates: Count = Field(1, ge=0, le=10_000, description="of a transaction: updates of the indexed column")
    non_index_updates: Count = Field(1, ge=0, le=10_000, description="of a transaction: updates of another column")
    delete_inserts: Count = Field(1, ge=0, le=10_000, description="of a transaction: rows deleted and inserted again")
    skip_trx: bool = Field(False, description="no transactions: each statement is committed by itself")
    secondary: bool = Field(False, description="a secondary index in the place of the primary key")
    distribution: Literal["uniform", "special", "pareto", "zipf"] = Field(
        "special",
        description="which rows are preferred; special: three of four operations go to a hundredth in the middle",
    )
    zipf_exponent: float = Field(0.8, ge=0.01, le=10, description="of zipf: the larger, the more uneven")
    pareto_h: float = Field(0.2, ge=0.001, le=0.5, description="of pareto: at 0.2, four of five go to a fifth")
    prepared: bool = Field(True, description="statements prepared once on each connection; false: sent as text")

    verify: bool = Field(
        False, description="after the load of each trial the server checks its tables and indexes itself"
    )

    @model_validator(mode="after")
    def _something_to_do(self) -> "OltpParameters":
        if not any(getattr(self, name) for name in _TRANSACTION_PARAMETERS):
            raise ValueError(
                "the transaction has no statement: set the number of at least one kind of statement above 0"
            )
        return self


def _typed(parameters: BaseModel) -> OltpParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, OltpParameters)
    return parameters


class OltpKind:
    """One of the kinds `oltp_…`."""

    table: type[BaseModel] = OltpParameters
    parameters: type[BaseModel] = OltpParameters
    axes: frozenset[str] = frozenset()
    size_response = "queries_per_s"
    on_database = True
    tool: Tool | None = None

    def __init__(self, mix: Mix) -> None:
        self.name = f"oltp_{mix}"
        self._mix: Mix = mix
        has_transactions = mix in _TRANSACTIONS
        self.sizes_an_operation = frozenset({*_TRANSACTION_PARAMETERS, "skip_trx"} if has_transactions else ())

    def series(self, table: OltpParameters) -> list[WorkloadSeries]:
        """The single series of a table."""
        return [WorkloadSeries(name="", parameters=table, threads=tuple(table.threads))]  # type: ignore[attr-defined]

    def data(self, parameters: BaseModel) -> DataSet:
        """The tables."""
        p = _typed(parameters)
        return DataSet(
            device="",
            shape=f"{p.tables}x{p.table_size}{'-secondary' if p.secondary else ''}",
            size_bytes=p.tables * p.table_size * ROW_BYTES,
            made=True,
            written=self._mix not in _READING,
            cached=True,
            rows=p.tables * p.table_size,
        )

    def job(self, parameters: BaseModel, location: DataLocation) -> OltpJob:
        """The workload's part of an engine job."""
        assert location.database is not None  # a plan without one is refused
        return OltpJob(database=location.database, mix=self._mix, **_typed(parameters).model_dump(include=_PARAMETERS))

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """Measurements of a window: transactions and their statements."""
        return operation_measurements(result, intervals, statement_metrics(result))


_PARAMETERS = set(OltpParameters.model_fields) - {"verify"}


for _mix in Mix.__args__:  # type: ignore[attr-defined]
    workload_kinds.register(f"oltp_{_mix}", OltpKind(_mix))
