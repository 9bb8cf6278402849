"""A folder of exported tables: all of its files whole, and none of anybody's overwritten unasked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paribus.errors import StoreError, UsageError
from paribus.export.forms import writer
from paribus.export.tables import Form, Row, Table
from paribus.files import replacing


@dataclass(frozen=True, slots=True)
class Written:
    """A table that was written."""

    table: str
    path: Path
    rows: int


def write(
    folder: Path, form: Form, tables: Sequence[Table], rows: Callable[[Table], Iterable[Row]], *, force: bool
) -> list[Written]:
    """Write each table into a file of its name; `rows` gives those of one, and is asked only when they are written.

    Each file comes into its place when it is whole. Raises UsageError where one is there already and is not to be
    replaced, or a library is missing, with nothing written; StoreError where a file cannot be written.
    """
    write_table = writer(form)
    paths = {table.name: folder / f"{table.name}.{form}" for table in tables}
    there = [path for path in paths.values() if path.exists()]
    if there and not force:
        raise UsageError(
            f"{', '.join(path.name for path in there)} in {folder} would be overwritten",
            "name another folder with -o, or add --force",
        )
    found = []
    for table in tables:
        path = paths[table.name]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as beside:
                count = write_table(table, rows(table), beside)
        except OSError as error:
            raise StoreError(
                f"cannot write {path}: {error.strerror or error}", "name another folder with -o"
            ) from error
        found.append(Written(table.name, path, count))
    return found
