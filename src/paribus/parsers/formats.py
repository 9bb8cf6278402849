"""The supported log formats and their recognition from the text alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from paribus.parsers import foreign
from paribus.parsers.log import Log
from paribus.parsers.redact import redact
from paribus.parsers.shapes import lines_of
from paribus.parsers.sysstat import iostat, mpstat, sar, vmstat
from paribus.parsers.tables import table
from paribus.parsers.tools import go_tpc, hammerdb, memtier, orion, pgbench, tpcc_mysql, ycsb
from paribus.parsers.tools.fio import fio_output
from paribus.parsers.tools.sysbench import sysbench_output

_SURE_ENOUGH, _LIKELY, _CERTAIN = 0.3, 0.5, 0.9
_HEAD, _PIECE, _MAX_CHARACTERS = 4096, 16384, 2**22


class Format(Protocol):
    """Interface of a format module: its name for `--format`, its recognition score (0 to 1) and its reader.

    `recognises` examines only the first and last kilobytes. `read` never raises.
    """

    FORMAT: str

    def recognises(self, text: str, /) -> float:
        """Return the recognition score of a text, 0 to 1."""
        ...

    def read(self, text: str, /) -> Log:
        """Return everything that a text states with certainty."""
        ...


_ALL: tuple[Format, ...] = (
    sysbench_output,
    tpcc_mysql,
    pgbench,
    hammerdb,
    go_tpc,
    memtier,
    fio_output,
    ycsb,
    orion,
    iostat,
    vmstat,
    sar,
    mpstat,
    table,
)
_OF_MACHINES: tuple[Format, ...] = (iostat, vmstat, sar, mpstat, table)
FORMATS: Mapping[str, Format] = {reader.FORMAT: reader for reader in _ALL}
"""Format modules by the names that `--format` accepts."""


def recognise(text: str) -> str | None:
    """Return the format with the highest score; None if there is none or the text belongs to an unsupported tool.

    If the ends of the text match no format, the middle is examined, as in the output of a verbose script.
    """
    score, best = _surest(text)
    if best in (None, table) and score < _CERTAIN and len(text) > 2 * _PIECE:
        excluded = _OF_MACHINES if foreign.name(text) else (table,)
        starts = range(_PIECE, min(len(text), _MAX_CHARACTERS) - _PIECE, _PIECE)
        candidates = (_surest(text[start : start + 2 * _PIECE], excluded)[1] for start in starts)
        best = next(filter(None, candidates), best)
    return best.FORMAT if best else None


def _surest(text: str, excluded: tuple[Format, ...] = ()) -> tuple[float, Format | None]:
    best_score, best = _SURE_ENOUGH, None
    for candidate in _ALL:
        score = candidate.recognises(text) if candidate not in excluded else 0.0
        if score >= best_score:
            best_score, best = score, candidate
        if score >= _CERTAIN:
            break
    # A user's table may be surrounded by any text; output of an unsupported tool starts with that tool's header.
    foreign_text = text[:_HEAD] if best is table else text if best in _OF_MACHINES and best_score < _CERTAIN else ""
    if foreign_text and foreign.name(foreign_text):
        return 0.0, None
    return best_score, best


def read(text: str, format: str | None = None) -> Log:
    """Remove passwords from the text and read it in the given format, or in the recognised one.

    Without a recognised format, no line is understood and a remark names what the text is.
    """
    return read_plain(redact(text), format)


def read_plain(text: str, format: str | None = None) -> Log:
    """Read a text that contains no passwords.

    If the recognised format yields no runs, other likely formats are tried. A remark names another tool whose output is
    also present.
    """
    name = format or recognise(text)
    if name is None:
        description = foreign.name(text) or "in no format that is known"
        lines = tuple((number, line) for number, line in enumerate(lines_of(text), 1) if line.strip())
        return Log(format="", runs=(), not_understood=lines, remarks=(f"it is {description}",))
    log = FORMATS[name].read(text)
    if log.runs or format or foreign.name(text):
        return _with_remark(log, name)
    candidates = (candidate for candidate in _ALL if name != candidate.FORMAT and candidate.recognises(text) >= _LIKELY)
    return next(
        (candidate_log for candidate_log in (candidate.read(text) for candidate in candidates) if candidate_log.runs),
        log,
    )


def _with_remark(log: Log, name: str) -> Log:
    """Add a remark if the lines that were not understood are output of another tool."""
    unread = "\n".join(line for _, line in log.not_understood)
    other = recognise(unread) if unread else None
    runs = FORMATS[other].read(unread).runs if other and other not in (name, table.FORMAT) else ()
    if not runs:
        return log
    first, _ = log.not_understood[
        min(runs[0].lines[0], len(log.not_understood)) - 1
    ]  # some readers also split lines at form feeds
    remark = f"it has output of {other} too, from line {first} on: put that into a file of its own to import it"
    return replace(log, remarks=(*log.remarks, remark))
