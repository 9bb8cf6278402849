"""Writers of the export file formats. Rows are consumed in batches, so memory is bounded."""

import csv
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from paribus.errors import UsageError
from paribus.export import hlog
from paribus.export.tables import Cell, ColumnType, ExportTable, FileFormat, Row

Writer = Callable[[ExportTable, Iterable[Row], Path], int]

_BATCH_ROWS = 50_000


def writer(form: FileFormat) -> Writer:
    """Return the function that writes a table and returns its number of rows. Raises UsageError without its library."""
    if form is FileFormat.CSV:
        return _write_csv
    if form is FileFormat.HLOG:
        return hlog.write
    try:
        import pyarrow  # noqa: F401  checked before anything is read
    except ImportError as error:
        raise UsageError(
            f"Parquet needs pyarrow, which cannot be used here: {error}",
            f"install it: {sys.executable} -m pip install pyarrow; or use --format csv",
        ) from error
    return _write_parquet


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(itertools.islice(remaining, _BATCH_ROWS)):
        yield batch


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _write_csv(table: ExportTable, rows: Iterable[Row], path: Path) -> int:
    """Write RFC 4180 CSV in UTF-8 with a header; numbers round-trip exactly, None is an empty cell."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(column.name for column in table.columns)
        for batch in _batches(rows):
            out.writerows(map(_csv_cell, row) for row in batch)
            count += len(batch)
    return count


def _csv_cell(cell: Cell) -> Cell:
    """Return booleans and lists as JSON, and a text that a spreadsheet would take for a formula after a `'`."""
    if isinstance(cell, str) and cell[:1] in _FORMULA and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return json.dumps(cell) if isinstance(cell, bool | list) else cell


def _write_parquet(table: ExportTable, rows: Iterable[Row], path: Path) -> int:
    """Write compressed Parquet with a row group per batch; orders of trials are a list column."""
    import pyarrow as pa
    from pyarrow import parquet

    types = {
        ColumnType.INTEGER: pa.int64(),
        ColumnType.REAL: pa.float64(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.TEXT: pa.string(),
        ColumnType.JSON: pa.string(),
        ColumnType.ORDERS: pa.list_(pa.int64()),
    }
    schema = pa.schema([(column.name, types[column.type]) for column in table.columns])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as out:
        for batch in _batches(rows):
            columns = zip(zip(*batch, strict=True), schema.types, strict=True)
            out.write_batch(
                pa.record_batch([pa.array(values, arrow_type) for values, arrow_type in columns], schema=schema)
            )
            count += len(batch)
    return count
