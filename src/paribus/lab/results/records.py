"""Sequences of records, convertible to pandas and Arrow tables."""

import dataclasses
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from paribus.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

RecordT = TypeVar("RecordT")


class Records(Sequence[RecordT], Generic[RecordT]):
    """An immutable sequence of records of one type: frozen dataclasses or frozen pydantic models.

    A table made of it has one column per field, in the order of the fields; nested records become columns such as
    `percent.low`.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Point:
        ...     load: int
        ...     mean: float
        >>> points = Records(Point, [Point(1, 0.5), Point(2, 0.75)])
        >>> points[1].mean
        0.75
        >>> points.rows()[0]
        {'load': 1, 'mean': 0.5}
    """

    def __init__(self, record_type: type[RecordT], records: Iterable[RecordT]) -> None:
        self._type = record_type
        self._records = tuple(records)

    @overload
    def __getitem__(self, index: int) -> RecordT: ...

    @overload
    def __getitem__(self, index: slice) -> "Records[RecordT]": ...

    def __getitem__(self, index: int | slice) -> "RecordT | Records[RecordT]":
        """Return a record, or the records of a slice."""
        if isinstance(index, slice):
            return Records(self._type, self._records[index])
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[RecordT]:
        return iter(self._records)

    def __eq__(self, other: object) -> bool:
        return self._records == other._records if isinstance(other, Records) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._type, len(self._records)))

    def __repr__(self) -> str:
        return f"<{len(self)} records of {self._type.__name__}>"

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat mapping of column names to plain values per record."""
        return [dict(_flat(_fields(record))) for record in self._records]

    def to_pandas(self) -> "pd.DataFrame":
        """Return a DataFrame with one row per record.

        Raises:
            UsageError: pandas is not installed.
        """
        pandas = _library("pandas", "pip install pandas")
        table: pd.DataFrame = pandas.DataFrame(self.rows(), columns=self.columns() if not self else None)
        return table

    def to_arrow(self) -> "pa.Table":
        """Return an Arrow table with one row per record.

        Raises:
            UsageError: pyarrow is not installed.
        """
        pyarrow = _library("pyarrow", "pip install pyarrow")
        if not self:
            return pyarrow.table({name: pyarrow.nulls(0) for name in self.columns()})
        return pyarrow.Table.from_pylist(self.rows())

    def columns(self) -> list[str]:
        """Return the names of the columns; without records, those of the fields of the record type."""
        rows = self.rows()
        if rows:
            return list(dict.fromkeys(name for row in rows for name in row))
        if dataclasses.is_dataclass(self._type):
            return [field.name for field in dataclasses.fields(self._type)]
        return list(getattr(self._type, "model_fields", {}))


def _library(name: str, installation: str) -> Any:
    """Import a library that only tables need. Raises UsageError that states how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed", installation) from error


def _fields(record: Any) -> Mapping[str, Any]:
    """Return the fields of a record by name."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    return {name: getattr(record, name) for name in type(record).model_fields}


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) or hasattr(type(value), "model_fields")


def _flat(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield columns of plain values; fields of nested records carry the name of their record before a dot."""
    for name, value in fields.items():
        if _is_record(value):
            yield from _flat(_fields(value), f"{prefix}{name}.")
        else:
            yield prefix + name, _plain(value)


def _plain(value: Any) -> Any:
    """Return a value of enumerations, tuples and mappings as plain text, lists and JSON text."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        import json

        return json.dumps({str(key): _plain(each) for key, each in value.items()}, sort_keys=True)
    if isinstance(value, (tuple, list)):
        return [dict(_flat(_fields(each))) if _is_record(each) else _plain(each) for each in value]
    return value
