"""Which formats of logs can be read, and which of them a text is in, from its content alone."""

from collections.abc import Mapping
from typing import Protocol

from ceteris.parsers import (
    fio,
    hammerdb,
    iostat,
    mpstat,
    orion,
    pgbench,
    sar,
    sysbench,
    table,
    tpcc_mysql,
    vmstat,
)
from ceteris.parsers.log import Log
from ceteris.parsers.redact import redact
from ceteris.parsers.shapes import lines_of

_SURE_ENOUGH, _LIKELY, _CERTAIN = 0.3, 0.5, 0.9


class Format(Protocol):
    """What each module of a format has: the word for `--format`, how sure it is of a text (0 to 1), and its reader.

    `recognises` looks at the first and last kilobytes alone; `read` raises nothing, whatever the text.
    """

    FORMAT: str

    def recognises(self, text: str, /) -> float: ...

    def read(self, text: str, /) -> Log: ...


_ALL: tuple[Format, ...] = (
    sysbench,
    tpcc_mysql,
    pgbench,
    hammerdb,
    fio,
    orion,
    iostat,
    vmstat,
    sar,
    mpstat,
    table,
)
FORMATS: Mapping[str, Format] = {one.FORMAT: one for one in _ALL}
"""By the names that `--format` takes."""


def recognise(text: str) -> str | None:
    """The format that is surest of the text; None where none is."""
    surest, name = _SURE_ENOUGH, None
    for one in _ALL:
        sure = one.recognises(text)
        if sure >= surest:
            surest, name = sure, one.FORMAT
        if sure >= _CERTAIN:
            break
    return name


def read(text: str, format: str | None = None) -> Log:
    """What the text says without its passwords, in the format that is named or else the one that is recognised.

    Where no format is recognised, no line is understood.
    """
    return read_plain(redact(text), format)


def read_plain(text: str, format: str | None = None) -> Log:
    """The same of a text that has no passwords any more. Where its format makes nothing of it, others are tried."""
    name = format or recognise(text)
    if name is None:
        lines = tuple((number, line) for number, line in enumerate(lines_of(text), 1) if line.strip())
        return Log(format="", runs=(), not_understood=lines, remarks=("it is in no format that is known",))
    log = FORMATS[name].read(text)
    if log.runs or format:
        return log
    others = (one for one in _ALL if name != one.FORMAT and one.recognises(text) >= _LIKELY)
    return next((other for one in others if (other := one.read(text)).runs), log)
