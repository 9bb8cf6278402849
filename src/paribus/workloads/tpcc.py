"""TPC-C on a database: from parameters to the workload's part of an engine job."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from paribus.engine.protocol import Interval, Result, TpccJob
from paribus.model import TPCC, TPCC_KINDS, TRANSACTIONS_OF, Measurement
from paribus.registry import DataSet, Tool, WorkloadSeries, workload_kinds
from paribus.workloads.jobs import DataLocation
from paribus.workloads.measurements import Metrics, operation_measurements, statement_metrics

_DECK = [45, 43, 4, 4, 4]
_WAREHOUSE_BYTES = 105_000_000  # with its indexes, as databases store it
_ITEMS_BYTES = 12_000_000
_WAREHOUSE_ROWS = 499_011  # 300,000 of them lines of orders, on average
_ITEMS = 100_000


class TpccParameters(BaseModel):
    """Plan keys of a `tpcc` workload."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    warehouses: int = Field(10, ge=1, le=10_000, description="number of warehouses, of about 100 MB each")
    mix: list[Annotated[int, Field(ge=0, le=10_000)]] = Field(
        _DECK,
        min_length=5,
        max_length=5,
        description="cards of New-Order, Payment, Order-Status, Delivery and Stock-Level in the deck of transactions",
    )
    home: Literal["random", "fixed"] = Field(
        "random",
        description="warehouse of a transaction: drawn as tpcc-mysql does, or one for each connection",
    )
    think: bool = Field(
        False, description="each connection is a terminal that types and thinks for the times of the specification"
    )
    foreign_keys: bool = Field(False, description="tables with the foreign keys of the specification; servers only")
    partitions: int = Field(
        0, ge=0, le=1024, description="partitions that each table is divided into, by warehouse; 0: none; servers only"
    )
    existing: str = Field(
        "",
        pattern=r"^([A-Za-z0-9_$-]{1,64})?$",
        description="a database of a running server with the tables of tpcc-mysql, used as it is; rows change for good",
    )
    verify: bool = Field(
        False, description="after the load of each trial the twelve consistency conditions are checked"
    )
    prepared: bool = Field(True, description="statements prepared once on each connection; false: sent as text")

    @model_validator(mode="after")
    def _something_to_do(self) -> "TpccParameters":
        if not 0 < sum(self.mix) <= 10_000:
            raise ValueError("mix has no card, or more than 10,000: use some such as [45, 43, 4, 4, 4]")
        if self.existing and (self.foreign_keys or self.partitions):
            raise ValueError("existing tables keep their keys and partitions: remove foreign_keys and partitions")
        return self


def _typed(parameters: BaseModel) -> TpccParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, TpccParameters)
    return parameters


class TpccKind:
    """The kind `tpcc`."""

    name = TPCC
    table: type[BaseModel] = TpccParameters
    parameters: type[BaseModel] = TpccParameters
    axes: frozenset[str] = frozenset()
    sizes_an_operation: frozenset[str] = frozenset({"mix"})
    size_response = "queries_per_s"
    on_database = True
    tool: Tool | None = None

    def series(self, table: TpccParameters) -> list[WorkloadSeries]:
        """The single series of a table."""
        return [WorkloadSeries(name="", parameters=table, threads=tuple(table.threads))]  # type: ignore[attr-defined]

    def data(self, parameters: BaseModel) -> DataSet:
        """The tables."""
        p = _typed(parameters)
        is_written = any(p.mix[TPCC_KINDS.index(kind)] for kind in ("new_order", "payment", "delivery"))
        if p.existing:
            return DataSet(
                device="",
                shape=p.existing,
                size_bytes=0,
                made=False,
                written=is_written,
                cached=True,
                existing=p.existing,
            )
        return DataSet(
            device="",
            shape=f"{p.warehouses}w{f'-{p.partitions}p' if p.partitions else ''}{'-keys' if p.foreign_keys else ''}",
            size_bytes=_ITEMS_BYTES + p.warehouses * _WAREHOUSE_BYTES,
            made=True,
            written=is_written,
            cached=True,
            rows=_ITEMS + p.warehouses * _WAREHOUSE_ROWS,
        )

    def job(self, parameters: BaseModel, location: DataLocation) -> TpccJob:
        """The workload's part of an engine job."""
        assert location.database is not None  # a plan without one is refused
        return TpccJob(database=location.database, **_typed(parameters).model_dump(exclude={"verify", "existing"}))

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """Measurements of a window: transactions, those of each kind, and their statements."""
        return operation_measurements(result, intervals, [*statement_metrics(result), *_kind_metrics(result)])


def _kind_metrics(result: Result) -> Metrics:
    """Rates and response times of each kind of transaction.

    New-Orders that are rolled back as clause 2.4.1.4 of the specification has it are among those per minute.
    """
    metrics: list[tuple[str, str, float | None]] = []
    for kind, of_kind in (result.kinds or {}).items():
        metrics += [
            (f"{TRANSACTIONS_OF[kind]}_per_s", "1/s", of_kind.per_s),
            (f"{kind}_mean_s", "s", of_kind.mean_s),
            (f"{kind}_p90_s", "s", of_kind.p90_s),
            (f"{kind}_p95_s", "s", of_kind.p95_s),
            (f"{kind}_max_s", "s", of_kind.max_s),
        ]
    if made_of := result.statements:
        metrics += [("skipped_deliveries", "", made_of.skipped), ("lost_new_orders", "", made_of.lost)]
    return metrics


workload_kinds.register(TPCC, TpccKind())
