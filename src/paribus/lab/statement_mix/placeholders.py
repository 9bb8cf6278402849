"""Statements of digests with an expression and an argument for each literal, drawn from the ranges of the data."""

import dataclasses
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from paribus.errors import QueryRefused
from paribus.lab.statement_mix.dialect import POSTGRES, Dialect
from paribus.lab.statement_mix.marks import (
    NotExpressible,
    Substitute,
    as_insert,
    has_text,
    with_marks,
    without,
    written,
)
from paribus.lab.statement_mix.range_bounds import LOWER, TRANSPARENT, UPPER, DataRange, bounds_of
from paribus.lab.statement_mix.table_shape import LARGE_DIGITS, ColumnShape, TableShape
from paribus.parsers.statements.digest import StatementDigest

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # it warns about statements that are left out and counted
WRITING_STATEMENTS = ("INSERT", "REPLACE", "UPDATE", "DELETE")
DATA_STATEMENTS = ("SELECT", "WITH", *WRITING_STATEMENTS)
_STATEMENTS = (exp.Select, exp.SetOperation, exp.Insert, exp.Update, exp.Delete)
_PLACE = re.compile(r"p\d+")  # the name of a mark
_EQUALITIES = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.Interval)


class TableReader(Protocol):
    """The tables of a server."""

    dialect: Dialect
    functions: frozenset[str]  # of users, which a private server does not have; in small letters

    def databases(self, name: str) -> list[str]:
        """The databases that have a table of this name."""

    def shape(self, database: str, name: str) -> TableShape:
        """The shape of a table."""


@dataclass(slots=True)
class MappedStatement:
    """A statement as a plan writes it. `large` are columns that take numbers which never repeat, by table."""

    name: str
    sql: str
    arguments: list[dict[str, Any]]
    tables: list[TableShape]
    large: dict[str, set[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def mapped(digest: StatementDigest, tables: TableReader) -> MappedStatement:
    """Return the statement of a digest for a plan. Raises NotExpressible and ServerGone."""
    return _Mapping(digest, tables).statement()


class _Mapping:
    def __init__(self, digest: StatementDigest, tables: TableReader) -> None:
        self._digest = digest
        self._tables = tables
        self._dialect = tables.dialect
        sql, self._replaces = as_insert(digest.sql)
        self._marked, self._count = with_marks(sql)
        self._tree = self._parsed()
        self._shapes = self._referenced()
        self._large: dict[str, set[str]] = {}
        self._notes: list[str] = []

    def statement(self) -> MappedStatement:
        if has_text(self._marked):
            raise NotExpressible("a text that the server has not replaced")
        substitutes = {}
        for node in self._tree.find_all(exp.Placeholder):
            position = int(node.name[1:]) if _PLACE.fullmatch(node.name) else self._count
            if position >= self._count:
                raise NotExpressible("a literal in a syntax that is not known here")
            substitutes[position] = self._substitute(node, position)
        if len(substitutes) != self._count:
            raise NotExpressible("a literal in a syntax that is not known here")
        sql, arguments = written(without(self._marked, _qualifiers(self._tree)), substitutes)
        if self._leaves_out_rows():
            self._notes.append("new rows whose key is there already are left out (several columns are unique together)")
            sql = self._dialect.ignoring(sql)
        if self._replaces:
            sql = sql.replace("INSERT INTO", "REPLACE INTO", 1)
        name = " ".join([type(self._tree).__name__.lower(), *dict.fromkeys(shape.name for shape in self._bases())])
        name = "".join(character for character in name if character.isprintable())[:60]
        return MappedStatement(name, sql, arguments, self._bases(), self._large, self._notes)

    def _bases(self) -> list[TableShape]:
        return list({id(shape): shape for shape in self._shapes.values()}.values())

    def _parsed(self) -> exp.Expr:
        word = self._digest.first_word
        if word not in DATA_STATEMENTS:
            raise NotExpressible(f"{word or 'no statement'}, which is no SELECT, INSERT, REPLACE, UPDATE or DELETE")
        try:
            trees = [tree for tree in sqlglot.parse(self._marked, dialect=self._dialect.name) if tree]
        except (SqlglotError, RecursionError):
            raise NotExpressible("cut off, or in a syntax that is not known here") from None
        if len(trees) != 1:
            raise NotExpressible("several statements in one" if trees else "empty")
        if not isinstance(trees[0], _STATEMENTS) or trees[0].find(exp.Into):
            raise NotExpressible("SELECT … INTO")
        functions = [function.name for function in trees[0].find_all(exp.Anonymous)]
        if lost := [name for name in functions if name.lower() in self._tables.functions]:
            raise NotExpressible(f"function {lost[0]} of this server")
        if any(cast.args["to"].this is exp.DataType.Type.USERDEFINED for cast in trees[0].find_all(exp.Cast)):
            raise NotExpressible("a type of this server")
        return trees[0]

    def _referenced(self) -> dict[str, TableShape]:
        """The tables of the statement by name and alias."""
        tables = list(self._tree.find_all(exp.Table))
        # A DELETE from several tables names them by their aliases.
        aliases = {node.alias for node in (*tables, *self._tree.find_all(exp.CTE)) if node.alias}
        shapes: dict[str, TableShape] = {}
        for table in tables:
            if not table.name:
                raise NotExpressible("a function in place of a table")
            if table.args.get("partition"):
                raise NotExpressible(f"PARTITION of table {table.name}")
            if table.db or table.alias or table.name not in aliases:
                shape = self._shape(table)
                if any(other.name == shape.name and other.database != shape.database for other in shapes.values()):
                    raise NotExpressible(f"two tables of the name {shape.name}, in different databases")
                shapes[table.alias_or_name] = shape
        return shapes

    def _shape(self, table: exp.Table) -> TableShape:
        identifier = table.this
        is_quoted = isinstance(identifier, exp.Identifier) and bool(identifier.quoted)
        name = self._dialect.table_name(table.name, quoted=is_quoted)
        databases = self._tables.databases(name)
        database = table.db or self._digest.database
        if database not in databases:
            if table.db or not databases:
                raise NotExpressible(
                    f"no table {table.db + '.' if table.db else ''}{name} that the user of --database sees"
                )
            if len(databases) > 1 and "public" not in databases:
                raise NotExpressible(f"table {name} is in several databases: {', '.join(sorted(databases))}")
            database = "public" if "public" in databases else databases[0]
        try:
            return self._tables.shape(database, name)
        except QueryRefused as error:
            raise NotExpressible(f"table {name}, which the user of --database may not read ({error.code})") from error

    # --- a literal ---

    def _substitute(self, node: exp.Expr, position: int) -> Substitute:
        """The text in place of a literal; without its sign if the range of a column decides."""
        outer = node
        while isinstance(outer.parent, TRANSPARENT):
            outer = outer.parent
        parent = outer.parent
        if located := self._inserted(outer):
            return dataclasses.replace(self._new_value(*located), signed=True)
        if located := self._column_of(outer):
            shape, column = located
            is_set = isinstance(self._tree, exp.Update) and parent is not None and parent.parent is self._tree
            if is_set and shape.is_unique(column.name):
                raise NotExpressible(f"an UPDATE of {shape.name}.{column.name}, whose values are unique")
            if isinstance(parent, (*LOWER, *UPPER, exp.Between)):
                substitute = self._bound(outer, position, shape, column)
            elif isinstance(parent, exp.Like | exp.ILike):
                substitute = self._pattern(shape, column)
            else:
                substitute = Substitute(column.expression("?"), shape.draw(column))
            return dataclasses.replace(substitute, signed=True)
        return Substitute(self._number(parent, position))

    def _inserted(self, outer: exp.Expr) -> tuple[TableShape, ColumnShape] | None:
        """The table and column into which an INSERT writes this value."""
        insert = self._tree
        parent = outer.parent
        if not isinstance(insert, exp.Insert) or not isinstance(parent, exp.Tuple | exp.Select):
            return None
        if parent is not insert.expression and parent.parent is not insert.expression:
            return None
        schema = insert.this
        shape = self._shapes[schema.find(exp.Table).alias_or_name]
        names = [column.name for column in schema.expressions] if isinstance(schema, exp.Schema) else []
        names = names or [column.name for column in shape.columns]
        index = next(number for number, value in enumerate(parent.expressions) if value is outer)
        column = shape.column(names[index]) if index < len(names) else None
        if column is None:
            raise NotExpressible("a value of a column that cannot be filled here")
        return shape, column

    def _column_of(self, outer: exp.Expr) -> tuple[TableShape, ColumnShape] | None:
        """The table and column with which a literal is compared, or to which an UPDATE sets it."""
        parent = outer.parent
        match parent:
            case exp.Between() | exp.In():
                other = parent.this
            case exp.Tuple(parent=exp.In(this=exp.Tuple() as columns)) if parent is not columns:
                index = next(number for number, value in enumerate(parent.expressions) if value is outer)
                other = columns.expressions[index] if index < len(columns.expressions) else None
            case exp.Binary() if isinstance(parent, (*_EQUALITIES, *LOWER, *UPPER, exp.Like, exp.ILike)):
                other = parent.expression if parent.this is outer else parent.this
            case _:
                other = None
        while isinstance(other, exp.Paren | exp.Cast):
            other = other.this
        return self._resolved(other) if isinstance(other, exp.Column) else None

    def _resolved(self, column: exp.Column) -> tuple[TableShape, ColumnShape] | None:
        if column.table:
            shape = self._shapes.get(column.table)
            candidate = shape.column(column.name) if shape else None
            if shape and not candidate:
                raise NotExpressible(f"no column {column.table}.{column.name} that can be filled here")
            return (shape, candidate) if shape and candidate else None
        query = column.find_ancestor(*_STATEMENTS)
        while query:
            for table in query.find_all(exp.Table):
                shape = self._shapes.get(table.alias_or_name)
                if shape and (candidate := shape.column(column.name)):
                    return shape, candidate
            query = query.find_ancestor(*_STATEMENTS)
        if column.name in {alias.alias for alias in self._tree.find_all(exp.Alias)}:
            return None
        raise NotExpressible(f"no column {column.name} that can be filled here")

    def _new_value(self, shape: TableShape, column: ColumnShape) -> Substitute:
        if self._updates_existing():
            return Substitute(column.expression("?"), shape.draw(column))
        fits = bool(column.large_type) or column.longest >= LARGE_DIGITS
        is_unique = shape.is_unique(column.name)
        if is_unique and not fits:
            raise NotExpressible(
                f"new values of {shape.name}.{column.name}, which are unique, and no 64-bit number fits"
            )
        if is_unique or (fits and column.name == shape.numbering_column):
            self._large.setdefault(shape.name, set()).add(column.name)
            return Substitute(column.expression("?"), {"sequence": int(column.low) + shape.filled_rows})
        return Substitute(column.expression("?"), column.draw())

    def _updates_existing(self) -> bool:
        """Whether an INSERT says what becomes of a row whose key is there already."""
        return self._replaces or bool(self._tree.args.get("conflict") or self._tree.args.get("ignore"))

    def _leaves_out_rows(self) -> bool:
        """Whether an INSERT draws keys that may be there already."""
        if not isinstance(self._tree, exp.Insert) or self._updates_existing():
            return False
        target = self._tree.this.find(exp.Table)
        shape = self._shapes[target.alias_or_name]
        numbered = shape.numbering_column in self._large.get(shape.name, ())
        return shape.has_several_wide_keys or (shape.has_wide_key and not numbered)

    def _pattern(self, shape: TableShape, column: ColumnShape) -> Substitute:
        reads_most = shape.rows > 1 and self._digest.rows_of_a_call >= shape.rows / 2
        self._notes.append(
            "LIKE: as many rows were read as with a % " + ("in front" if reads_most else "at the end only")
        )
        front = "'%', " if reads_most else ""
        return Substitute(f"CONCAT({front}{column.expression('?')}, '%')", shape.draw(column))

    def _bound(self, outer: exp.Expr, position: int, shape: TableShape, column: ColumnShape) -> Substitute:
        """A bound of a range, such that as many rows are in it as the source reports."""
        select = outer.find_ancestor(exp.Select)
        narrowed = self._is_looked_up(outer, shape)
        data_range = DataRange(shape, column, self._digest, self._dialect)
        lower, upper = bounds_of(outer)
        if lower is not None and upper is not None:
            return data_range.between(lower, upper, position, narrowed=narrowed)
        if narrowed or (select and select.args.get("limit")) or not self._digest.rows:
            return Substitute(column.expression("?"), shape.draw(column))
        self._notes.append("ranges with one bound are near an end of the data, as wide as the rows that were read")
        return data_range.beyond(is_lower=lower is not None)

    def _is_looked_up(self, outer: exp.Expr, shape: TableShape) -> bool:
        """Whether an index finds the rows of the table by other columns than a range's."""
        where = outer.find_ancestor(exp.Where)
        comparisons = where.find_all(exp.EQ, exp.In) if where else ()
        columns = (comparison.this for comparison in comparisons if isinstance(comparison.this, exp.Column))
        leading = {index.columns[0].casefold() for index in shape.indexes}
        return any(
            column.name.casefold() in leading and self._shapes.get(column.table or shape.name) in (shape, None)
            for column in columns
        )

    def _number(self, parent: exp.Expr | None, position: int) -> str:
        """The text of a literal that no column decides: the median of the source, or a usual number."""
        number = self._digest.number(position)
        if number is None and self._digest.has_numbers:
            raise NotExpressible("a text in an expression or function")
        if isinstance(parent, exp.Predicate) and not parent.find_ancestor(exp.Having):
            raise NotExpressible("a value that an expression is compared with")
        if number is None:
            match parent:
                case exp.Limit() | exp.Fetch():
                    number = max(round(self._digest.rows_of_a_call), 1)
                case exp.Offset():
                    number = 0
                case exp.Select() | exp.Alias():
                    number = 1
                case exp.Interval() if self._dialect is POSTGRES:
                    raise NotExpressible("an interval")
                case exp.Binary() | exp.Interval() if isinstance(parent, _ARITHMETIC):
                    number = 1
                case _:
                    raise NotExpressible("a text, or a number without examples, in an expression or function")
        return str(int(number)) if float(number).is_integer() else repr(float(number))


def _qualifiers(tree: exp.Expr) -> Iterator[tuple[int, int]]:
    """The spans of the databases or schemas before names of tables."""
    for node in tree.find_all(exp.Table, exp.Column):
        database, table = node.args.get("db"), node.args.get("table" if isinstance(node, exp.Column) else "this")
        if database and table:
            yield database.meta["start"], table.meta["start"]
