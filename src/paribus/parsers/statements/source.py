"""Recognition of a file with the statements of a server."""

import itertools
from pathlib import Path

from paribus.parsers.statements.digest import StatementRecord
from paribus.parsers.statements.exports import export_columns, read_export
from paribus.parsers.statements.slow_log import is_slow_log, read_slow_log

_BEGINNING = 2_000  # lines
_FORMS = (
    "a slow query log of MySQL, MariaDB or Percona Server, and no export of pg_stat_statements or of "
    "events_statements_summary_by_digest with the names of its columns in the first line"
)


def read_statements(path: Path) -> StatementRecord:
    """Return the statements of a file. Raises OSError, and ValueError where it has none of the forms."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        beginning = list(itertools.islice(file, _BEGINNING))
        lines = itertools.chain(beginning, file)
        if is_slow_log(beginning):
            return read_slow_log(lines)
        if beginning and export_columns(beginning[0]):
            return read_export(next(lines), lines)
    raise ValueError("is empty" if not "".join(beginning).strip() else f"is not {_FORMS}")
