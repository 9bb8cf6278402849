"""A user's own transactions on a database: from a plan's tables to the workload's part of an engine job."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

from paribus.engine.protocol import Filling, Interval, MixStatement, MixTransaction, Result, SqlMixJob
from paribus.model import Measurement
from paribus.registry import DataSet, Tool, WorkloadSeries, workload_kinds
from paribus.workloads.arguments import Argument, SqlmixTable, draws
from paribus.workloads.files import Share
from paribus.workloads.jobs import DataLocation
from paribus.workloads.measurements import operation_measurements, statement_metrics

_ROW_BYTES = 40  # of a row beside its values, as databases store it
# What has no parameters, or stands before a statement's first word.
_QUOTED = re.compile(r"'[^']*(?:'|$)|\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|--[^\n]*|/\*.*?(?:\*/|$)", re.DOTALL)
_COMMENTS = re.compile(r"(?:[\s(]|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*", re.DOTALL)
_READING = ("SELECT", "SHOW", "VALUES", "WITH")


Sql = Annotated[str, StringConstraints(min_length=1, max_length=100_000, pattern=r"^[^\x00]*\S[^\x00]*$")]


def parameter_count(sql: str) -> int:
    """Return the number of parameters of a statement: each `?` outside of quotes and comments."""
    return _QUOTED.sub("", sql).count("?")


def _refuse_argument_count(sql: str, arguments: Sequence[Argument]) -> None:
    parameters = parameter_count(sql)
    if parameters != len(arguments):
        raise ValueError(f"the statement has {parameters} parameters and {len(arguments)} arguments: {sql[:60]}")


def _refuse_forward_reference(arguments: Sequence[Argument]) -> None:
    for number, argument in enumerate(arguments, start=1):
        if argument.same and argument.same >= number:
            raise ValueError(f"same = {argument.same} in argument {number} is not an earlier argument")


class RowsTable(SqlmixTable):
    """So many rows for a table, each inserted by one statement."""

    count: int = Field(ge=1, le=2**31, description="how many rows")
    insert: Sql = Field(description="the statement, with ? for each parameter")
    arguments: list[Argument] = Field([], description="one for each parameter")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _refuse_argument_count(self.insert, self.arguments)
        _refuse_forward_reference(self.arguments)
        return self


class StatementTable(SqlmixTable):
    """A statement of a transaction."""

    sql: Sql = Field(description="with ? for each parameter")
    arguments: list[Argument] = Field([], description="one for each parameter")
    repeat: int = Field(1, ge=1, le=10_000, description="how often it is carried out, with new arguments each time")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _refuse_argument_count(self.sql, self.arguments)
        return self

    @property
    def reads(self) -> bool:
        """Whether the statement only reads, judging by its first word."""
        match = _COMMENTS.match(self.sql)
        return self.sql[match.end() if match else 0 :].upper().startswith(_READING)


class TransactionTable(SqlmixTable):
    """A transaction of the mix."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]
    weight: float = Field(1.0, ge=1e-6, le=1e9, description="it is drawn in proportion to this")
    rollback: Share = Field(0.0, description="the share that ends with a ROLLBACK that is meant")
    transaction: bool = Field(True, description="false: no BEGIN and COMMIT, each statement by itself")
    statements: list[StatementTable] = Field(min_length=1, description="carried out in this order")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.rollback and not self.transaction:
            raise ValueError(f"{self.name}: rollback needs a transaction: remove transaction = false, or the rollback")
        _refuse_forward_reference([argument for statement in self.statements for argument in statement.arguments])
        return self


class SqlmixParameters(SqlmixTable):
    """Plan keys of a `sqlmix` workload."""

    schema_: list[Sql] = Field(
        [], alias="schema", description="statements that make the tables, in order, when data is prepared"
    )
    rows: list[RowsTable] = Field([], description="how the tables are filled, in order")
    transactions: list[TransactionTable] = Field(min_length=1, description="what is carried out, drawn by weight")
    prepared: bool = Field(True, description="statements prepared once on each connection; false: sent as text")

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [transaction.name for transaction in self.transactions]
        if duplicates := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two transactions have the name {duplicates[0]!r}: rename one")
        return self


def _typed(parameters: BaseModel) -> SqlmixParameters:
    """The parameters with their static type; the plan's form guarantees it."""
    assert isinstance(parameters, SqlmixParameters)
    return parameters


class SqlmixKind:
    """The kind `sqlmix`."""

    name = "sqlmix"
    table: type[BaseModel] = SqlmixParameters
    parameters: type[BaseModel] = SqlmixParameters
    axes: frozenset[str] = frozenset()
    sizes_an_operation: frozenset[str] = frozenset()
    size_response = "queries_per_s"
    on_database = True
    tool: Tool | None = None

    def series(self, table: Any) -> list[WorkloadSeries]:
        """The single series of a table."""
        return [WorkloadSeries(name="", parameters=table, threads=tuple(table.threads))]

    def data(self, parameters: BaseModel) -> DataSet:
        """The tables; their definition identifies the shape."""
        p = _typed(parameters)
        data_definition = json.dumps(p.model_dump(include={"schema_", "rows"}), sort_keys=True)
        return DataSet(
            device="",
            shape=hashlib.sha256(data_definition.encode()).hexdigest()[:12],
            size_bytes=sum(
                rows.count * (_ROW_BYTES + sum(argument.bytes for argument in rows.arguments)) for rows in p.rows
            ),
            made=True,
            written=not all(statement.reads for transaction in p.transactions for statement in transaction.statements),
            cached=True,
            rows=sum(rows.count for rows in p.rows),
        )

    def job(self, parameters: BaseModel, location: DataLocation) -> SqlMixJob:
        """The workload's part of an engine job."""
        assert location.database is not None  # a plan without one is refused
        p = _typed(parameters)
        return SqlMixJob(
            database=location.database,
            schema=p.schema_,
            rows=[Filling(count=rows.count, insert=rows.insert, arguments=draws(rows.arguments)) for rows in p.rows],
            transactions=[
                MixTransaction(
                    name=transaction.name,
                    weight=transaction.weight,
                    rollback=transaction.rollback,
                    transaction=transaction.transaction,
                    statements=[
                        MixStatement(sql=statement.sql, arguments=draws(statement.arguments), repeat=statement.repeat)
                        for statement in transaction.statements
                    ],
                )
                for transaction in p.transactions
            ],
            prepared=p.prepared,
        )

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """Measurements of a window: transactions and their statements."""
        return operation_measurements(result, intervals, statement_metrics(result))


workload_kinds.register("sqlmix", SqlmixKind())
