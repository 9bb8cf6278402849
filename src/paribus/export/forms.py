"""The forms of exported files. Rows are taken as they come, a batch at a time, whatever their number."""

import csv
import itertools
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from paribus.errors import UsageError
from paribus.export.tables import Cell, Form, Row, Table, Type

Writer = Callable[[Table, Iterable[Row], Path], int]

_BATCH_ROWS = 50_000


def writer(form: Form) -> Writer:
    """What writes a table into a file and returns how many rows it has. Raises UsageError where it lacks a library."""
    if form is Form.CSV:
        return _write_csv
    try:
        import pyarrow  # noqa: F401  whether it is there is asked before anything is read
    except ImportError as error:
        raise UsageError(
            f"Parquet needs pyarrow, which cannot be used here: {error}",
            f"install it: {sys.executable} -m pip install 'paribus[parquet]'; or use --format csv",
        ) from error
    return _write_parquet


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while batch := list(itertools.islice(left, _BATCH_ROWS)):
        yield batch


def _write_csv(table: Table, rows: Iterable[Row], path: Path) -> int:
    """Comma-separated (RFC 4180), UTF-8, a line of names; numbers read back exactly, what is not there is empty."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(column.name for column in table.columns)
        for batch in _batches(rows):
            out.writerows(map(_plain, row) for row in batch)
            count += len(batch)
    return count


def _plain(cell: Cell) -> Cell:
    """What the csv module would write in Python's words is written as JSON has it."""
    return json.dumps(cell) if isinstance(cell, bool | list) else cell


def _write_parquet(table: Table, rows: Iterable[Row], path: Path) -> int:
    """A row group for each batch, compressed; orders of trials are a list."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {
        Type.INTEGER: pa.int64(),
        Type.REAL: pa.float64(),
        Type.BOOLEAN: pa.bool_(),
        Type.TEXT: pa.string(),
        Type.JSON: pa.string(),
        Type.ORDERS: pa.list_(pa.int64()),
    }
    schema = pa.schema([(column.name, types[column.type]) for column in table.columns])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as out:
        for batch in _batches(rows):
            columns = zip(zip(*batch, strict=True), schema.types, strict=True)
            out.write_batch(pa.record_batch([pa.array(values, kind) for values, kind in columns], schema=schema))
            count += len(batch)
    return count
