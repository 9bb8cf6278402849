"""Writing of exported tables into a folder: atomic per file, without overwriting unless forced."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paribus.errors import StoreError, UsageError
from paribus.export.forms import writer
from paribus.export.tables import ExportTable, FileFormat, Row
from paribus.files import make_folder, replacing


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A table that was written."""

    table: str
    path: Path
    rows: int


def write(
    folder: Path,
    file_format: FileFormat,
    tables: Sequence[ExportTable],
    rows: Callable[[ExportTable], Iterable[Row]],
    *,
    force: bool,
) -> list[WrittenFile]:
    """Write each table into a file of its name; `rows` is called for a table when that is written.

    Each file is renamed into place when complete. Raises UsageError, before anything is written, if a file exists and
    `force` is unset, or a library is missing; StoreError if a file cannot be written.
    """
    write_table = writer(file_format)
    paths = {table.name: folder / f"{table.name}.{file_format}" for table in tables}
    existing = [path for path in paths.values() if path.exists()]
    if existing and not force:
        raise UsageError(
            f"{', '.join(path.name for path in existing)} in {folder} would be overwritten",
            "name another folder with -o, or add --force",
        )
    written_files = []
    for table in tables:
        path = paths[table.name]
        try:
            make_folder(folder)
            with replacing(path) as temporary_path:
                count = write_table(table, rows(table), temporary_path)
        except OSError as error:
            raise StoreError(
                f"cannot write {path}: {error.strerror or error}", "name another folder with -o"
            ) from error
        written_files.append(WrittenFile(table.name, path, count))
    return written_files
