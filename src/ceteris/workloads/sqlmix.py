"""A user's own transactions on a database: a plan's tables in, the workload's part of an engine job out."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from ceteris.engine.protocol import (
    ChoiceDraw,
    DigitsDraw,
    Draw,
    Filling,
    FloatDraw,
    IntDraw,
    Interval,
    MixStatement,
    MixTransaction,
    NullDraw,
    Result,
    SameDraw,
    SequenceDraw,
    SqlMixJob,
    TextDraw,
)
from ceteris.model import Measurement
from ceteris.registry import DataSet, Series, Tool, workload_kinds
from ceteris.workloads.files import Share
from ceteris.workloads.jobs import Ground
from ceteris.workloads.measured import of_operations, of_statements

_ROW_BYTES, _VALUE_BYTES = 40, 12  # of a row beside its values, and of a value, as databases store them
_LONGEST_TEXT = 2**20
_MOST_NUMBERS = 2**53
_INT64 = 2**63
# What has no parameters, or stands before a statement's first word.
_QUOTED = re.compile(r"'[^']*(?:'|$)|\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|--[^\n]*|/\*.*?(?:\*/|$)", re.DOTALL)
_COMMENTS = re.compile(r"(?:[\s(]|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*", re.DOTALL)
_READING = ("SELECT", "SHOW", "VALUES", "WITH")


def _both(length: Any) -> Any:
    """One length, or the least and the most."""
    return [length, length] if isinstance(length, int) and not isinstance(length, bool) else length


def _plain(value: Any) -> Any:
    """Only what every database has."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("a choice is among numbers and texts")
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        raise ValueError("a whole number has at most 64 bits")
    return value


Sql = Annotated[str, StringConstraints(min_length=1, max_length=100_000, pattern=r"^[^\x00]*\S[^\x00]*$")]
Int64 = Annotated[int, Field(ge=-_INT64, lt=_INT64)]
Choosable = Annotated[Any, BeforeValidator(_plain), WithJsonSchema({"type": ["number", "integer", "string"]})]
Two = Field(min_length=2, max_length=2)
Lengths = Annotated[
    list[Annotated[int, Field(ge=0, le=_LONGEST_TEXT)]],
    Two,
    BeforeValidator(_both),
    WithJsonSchema({"type": ["integer", "array"], "items": {"type": "integer"}, "examples": [20, [5, 20]]}),
]
_ONE_OF = "int, float, text, digits, choice, sequence, same or null"


class Table(BaseModel):
    """A table of the plan within a workload; strict, as all of a plan."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, serialize_by_alias=True)


class Argument(Table):
    """Where the value of a parameter comes from: exactly one of its generators."""

    integer: Annotated[list[Int64], Two] | None = Field(
        None, alias="int", description="a whole number from the first to the second"
    )
    number: Annotated[list[float], Two] | None = Field(
        None, alias="float", description="a number from the first to the second"
    )
    text: Lengths | None = Field(None, description="so many random letters, or from the first to the second")
    digits: str | None = Field(None, max_length=1000, description="a text in which each # is a digit: ###-###")
    choice: list[Choosable] | None = Field(None, min_length=1, description="one of these values")
    sequence: Int64 | None = Field(
        None,
        description="of rows: counted up from this number; in a transaction: a number from it on that no other "
        "connection and no other trial on the same data draws, which needs a column of 64 bits",
    )
    same: int | None = Field(None, ge=1, description="once more the value of an earlier argument, counted from 1")
    null: Literal[True] | None = Field(None, description="NULL")
    distribution: Literal["uniform", "zipf", "pareto"] = Field("uniform", description="of int: which are preferred")
    zipf_exponent: float = Field(0.8, ge=0.01, le=10, description="of zipf: the larger, the more uneven")
    pareto_h: float = Field(0.2, ge=0.001, le=0.5, description="of pareto: at 0.2, four of five go to a fifth")

    @model_validator(mode="after")
    def _one_generator(self) -> Self:
        given = self._given()
        if len(given) != 1:
            raise ValueError(f"{' and '.join(given) or 'nothing'} is given: write one of {_ONE_OF}")
        for name in ("integer", "number", "text"):
            low, high = getattr(self, name) or (0, 0)
            if low > high:
                raise ValueError(f"{given[0]} from {low} to {high} is no range: the first is the lowest")
        if self.integer and self.integer[1] - self.integer[0] >= _MOST_NUMBERS:
            raise ValueError("int is a range of at most 2^53 numbers")
        if not self.integer and self.model_dump().keys() & {"distribution", "zipf_exponent", "pareto_h"}:
            raise ValueError(f"{given[0]} has no distribution: it is for int")
        return self

    def _given(self) -> list[str]:
        generators = [(name, field) for name, field in type(self).model_fields.items() if field.default is None]
        return [field.alias or name for name, field in generators if getattr(self, name) is not None]

    @model_serializer
    def _as_written(self) -> dict[str, Any]:
        fields = type(self).model_fields.items()
        values = ((field.alias or name, getattr(self, name), field.default) for name, field in fields)
        return {key: value for key, value, usual in values if value != usual}

    @property
    def bytes(self) -> int:
        """What its value takes, about."""
        return _VALUE_BYTES + (self.text[1] if self.text else 0) + len(self.digits or "")

    def draw(self) -> Draw:
        """In the engine's words."""
        if self.integer:
            low, high = self.integer
            return IntDraw(
                low=low, high=high, distribution=self.distribution,
                zipf_exponent=self.zipf_exponent, pareto_h=self.pareto_h,
            )  # fmt: skip
        if self.number:
            return FloatDraw(low=self.number[0], high=self.number[1])
        if self.text:
            return TextDraw(least=self.text[0], most=self.text[1])
        if self.digits is not None:
            return DigitsDraw(pattern=self.digits)
        if self.choice:
            return ChoiceDraw(values=self.choice)
        if self.sequence is not None:
            return SequenceDraw(start=self.sequence)
        return SameDraw(argument=self.same) if self.same else NullDraw()


def _refuse_other_number(sql: str, arguments: Sequence[Argument]) -> None:
    parameters = _QUOTED.sub("", sql).count("?")
    if parameters != len(arguments):
        raise ValueError(f"the statement has {parameters} parameters and {len(arguments)} arguments: {sql[:60]}")


def _refuse_later(arguments: Sequence[Argument]) -> None:
    for number, argument in enumerate(arguments, start=1):
        if argument.same and argument.same >= number:
            raise ValueError(f"same = {argument.same} in argument {number} is no earlier argument")


class RowsTable(Table):
    """So many rows for a table, each inserted by one statement."""

    count: int = Field(ge=1, le=2**31, description="how many rows")
    insert: Sql = Field(description="the statement, with ? for each parameter")
    arguments: list[Argument] = Field([], description="one for each parameter")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _refuse_other_number(self.insert, self.arguments)
        _refuse_later(self.arguments)
        return self


class StatementTable(Table):
    """A statement of a transaction."""

    sql: Sql = Field(description="with ? for each parameter")
    arguments: list[Argument] = Field([], description="one for each parameter")
    repeat: int = Field(1, ge=1, le=10_000, description="how often it is carried out, with new arguments each time")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _refuse_other_number(self.sql, self.arguments)
        return self

    @property
    def reads(self) -> bool:
        """Whether it changes nothing, by its first word."""
        found = _COMMENTS.match(self.sql)
        return self.sql[found.end() if found else 0 :].upper().startswith(_READING)


class TransactionTable(Table):
    """A transaction of the mix."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]
    weight: float = Field(1.0, ge=1e-6, le=1e9, description="it is drawn in proportion to this")
    rollback: Share = Field(0.0, description="the share that ends with a ROLLBACK that is meant")
    transaction: bool = Field(True, description="false: no BEGIN and COMMIT, each statement by itself")
    statements: list[StatementTable] = Field(min_length=1, description="carried out in this order")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.rollback and not self.transaction:
            raise ValueError(f"{self.name}: with transaction = false there is nothing to roll back")
        _refuse_later([argument for statement in self.statements for argument in statement.arguments])
        return self


class SqlmixParameters(Table):
    """What a `sqlmix` workload can be told, beside its load levels."""

    schema_: list[Sql] = Field(
        [], alias="schema", description="statements that make the tables, in order, when data is prepared"
    )
    rows: list[RowsTable] = Field([], description="how the tables are filled, in order")
    transactions: list[TransactionTable] = Field(min_length=1, description="what is carried out, drawn by weight")
    prepared: bool = Field(True, description="statements prepared once on each connection; false: sent as text")

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [one.name for one in self.transactions]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"two transactions are named {twice[0]!r}")
        return self


def _own(parameters: BaseModel) -> SqlmixParameters:
    """The parameters as those of this kind, which they are by the plan's form."""
    assert isinstance(parameters, SqlmixParameters)
    return parameters


def _draws(arguments: Sequence[Argument]) -> list[Draw]:
    return [argument.draw() for argument in arguments]


class Sqlmix:
    """The kind `sqlmix`."""

    name = "sqlmix"
    table: type[BaseModel] = SqlmixParameters
    parameters: type[BaseModel] = SqlmixParameters
    axes: frozenset[str] = frozenset()
    sizes_an_operation: frozenset[str] = frozenset()
    size_response = "queries_per_s"
    on_database = True
    tool: Tool | None = None

    def series(self, table: Any) -> list[Series]:
        """The one workload of a table."""
        return [Series(name="", parameters=table, threads=tuple(table.threads))]

    def data(self, parameters: BaseModel) -> DataSet:
        """The tables; what they are made of tells one shape from another."""
        p = _own(parameters)
        made_of = json.dumps(p.model_dump(include={"schema_", "rows"}), sort_keys=True)
        return DataSet(
            device="",
            shape=hashlib.sha256(made_of.encode()).hexdigest()[:12],
            size_bytes=sum(rows.count * (_ROW_BYTES + sum(one.bytes for one in rows.arguments)) for rows in p.rows),
            made=True,
            written=not all(one.reads for transaction in p.transactions for one in transaction.statements),
            cached=True,
            rows=sum(rows.count for rows in p.rows),
        )

    def job(self, parameters: BaseModel, ground: Ground) -> SqlMixJob:
        """The workload's part of an engine job."""
        assert ground.database is not None  # a plan without one is refused
        p = _own(parameters)
        return SqlMixJob(
            database=ground.database,
            schema=p.schema_,
            rows=[Filling(count=one.count, insert=one.insert, arguments=_draws(one.arguments)) for one in p.rows],
            transactions=[
                MixTransaction(
                    name=one.name,
                    weight=one.weight,
                    rollback=one.rollback,
                    transaction=one.transaction,
                    statements=[
                        MixStatement(sql=each.sql, arguments=_draws(each.arguments), repeat=each.repeat)
                        for each in one.statements
                    ],
                )
                for one in p.transactions
            ],
            prepared=p.prepared,
        )

    def measurements(self, result: Result, intervals: Sequence[Interval]) -> tuple[Measurement, ...]:
        """What a window measured: its transactions, and the statements they are made of."""
        return of_operations(result, intervals, of_statements(result))


workload_kinds.register("sqlmix", Sqlmix())
