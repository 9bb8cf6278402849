"""Which formats of logs can be read, and which of them a text is in, from its content alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from paribus.parsers import foreign, hammerdb, orion, pgbench, tpcc_mysql
from paribus.parsers.fio import fio_output
from paribus.parsers.log import Log
from paribus.parsers.redact import redact
from paribus.parsers.shapes import lines_of
from paribus.parsers.sysbench import sysbench_output
from paribus.parsers.sysstat import iostat, mpstat, sar, vmstat
from paribus.parsers.tables import table

_SURE_ENOUGH, _LIKELY, _CERTAIN = 0.3, 0.5, 0.9
_HEAD, _PIECE, _MOST = 4096, 16384, 2**22


class Format(Protocol):
    """What each module of a format has: the word for `--format`, how sure it is of a text (0 to 1), and its reader.

    `recognises` looks at the first and last kilobytes alone; `read` raises nothing, whatever the text.
    """

    FORMAT: str

    def recognises(self, text: str, /) -> float: ...

    def read(self, text: str, /) -> Log: ...


_ALL: tuple[Format, ...] = (
    sysbench_output,
    tpcc_mysql,
    pgbench,
    hammerdb,
    fio_output,
    orion,
    iostat,
    vmstat,
    sar,
    mpstat,
    table,
)
_OF_MACHINES: tuple[Format, ...] = (iostat, vmstat, sar, mpstat, table)
FORMATS: Mapping[str, Format] = {one.FORMAT: one for one in _ALL}
"""By the names that `--format` takes."""


def recognise(text: str) -> str | None:
    """The format that is surest of the text; None where none is, or it is of another tool that prints alike.

    Where its ends tell nothing, as of a script that says much before and after, what is between them does.
    """
    sure, found = _surest(text)
    if found in (None, table) and sure < _CERTAIN and len(text) > 2 * _PIECE:
        without = _OF_MACHINES if foreign.name(text) else (table,)
        inside = range(_PIECE, min(len(text), _MOST) - _PIECE, _PIECE)
        pieces = (_surest(text[start : start + 2 * _PIECE], without)[1] for start in inside)
        found = next(filter(None, pieces), found)
    return found.FORMAT if found else None


def _surest(text: str, without: tuple[Format, ...] = ()) -> tuple[float, Format | None]:
    surest, found = _SURE_ENOUGH, None
    for one in _ALL:
        sure = one.recognises(text) if one not in without else 0.0
        if sure >= surest:
            surest, found = sure, one
        if sure >= _CERTAIN:
            break
    # Beside a table of somebody's own there may be anything; what is none of his begins with what it is of.
    of_others = text[:_HEAD] if found is table else text if found in _OF_MACHINES and surest < _CERTAIN else ""
    if of_others and foreign.name(of_others):
        return 0.0, None
    return surest, found


def read(text: str, format: str | None = None) -> Log:
    """What the text says without its passwords, in the format that is named or else the one that is recognised.

    Where no format is recognised, no line is understood, and a remark says what the text is.
    """
    return read_plain(redact(text), format)


def read_plain(text: str, format: str | None = None) -> Log:
    """The same of a text that has no passwords any more.

    Where its format makes nothing of it, others are tried; a remark tells of another that it has as well.
    """
    name = format or recognise(text)
    if name is None:
        what = foreign.name(text) or "in no format that is known"
        lines = tuple((number, line) for number, line in enumerate(lines_of(text), 1) if line.strip())
        return Log(format="", runs=(), not_understood=lines, remarks=(f"it is {what}",))
    log = FORMATS[name].read(text)
    if log.runs or format or foreign.name(text):
        return _with_remark(log, name)
    others = (one for one in _ALL if name != one.FORMAT and one.recognises(text) >= _LIKELY)
    return next((other for other in (one.read(text) for one in others) if other.runs), log)


def _with_remark(log: Log, name: str) -> Log:
    """A remark where lines that are not understood are another tool's."""
    rest = "\n".join(line for _, line in log.not_understood)
    other = recognise(rest) if rest else None
    runs = FORMATS[other].read(rest).runs if other and other not in (name, table.FORMAT) else ()
    if not runs:
        return log
    first, _ = log.not_understood[min(runs[0].lines[0], len(log.not_understood)) - 1]  # form feeds end lines for some
    remark = f"it has output of {other} too, from line {first} on: put that into a file of its own to import it"
    return replace(log, remarks=(*log.remarks, remark))
