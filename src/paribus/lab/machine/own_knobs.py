"""Catalogues with the user's own knobs: of the system, of the user, beside a plan, and in it."""

from collections.abc import Iterable
from pathlib import Path

from paribus.errors import UsageError
from paribus.knobs.catalog import Catalogue, load
from paribus.knobs.catalog.own_rows import FOLDER, RowFile, configuration_folders, rows_in, rows_of
from paribus.model import Knob
from paribus.plan.form.parse import Parsed


def catalogue_here() -> Catalogue:
    """The knobs of the program, of the system, of the user and of this folder's `knobs`. Raises UsageError."""
    return _with_rows(load(), rows_in([*configuration_folders(), Path(FOLDER)]).knobs)


def with_own_rows(catalogue: Catalogue, parsed: Parsed) -> Catalogue:
    """A catalogue with the knobs of a plan, of the folder `knobs` beside it, of the user and of the system.

    Raises UsageError where a file is wrong, or where a name is taken.
    """
    return _with_rows(catalogue, [*rows_for(parsed).knobs, *rows_of(parsed.table.knob)])


def rows_for(parsed: Parsed) -> RowFile:
    """The rows that hold for a plan and are not in it. Raises UsageError where a file is wrong."""
    return rows_in([*configuration_folders(), Path(parsed.name).parent / FOLDER])


def _with_rows(catalogue: Catalogue, rows: Iterable[Knob]) -> Catalogue:
    """The catalogue and the rows; a later row of the same name takes the place of an earlier one."""
    rows = list(rows)
    for row in rows:
        if catalogue.find(row.name) is not None:
            raise UsageError(f"{row.name} is a knob of Paribus", "give yours another name")
    return catalogue.with_rows(rows)
