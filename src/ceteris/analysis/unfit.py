"""What a set states that cannot be: its trials put before the laws.

In: trials of a set and where each comes from. Out: breaches, whose cells are orders of trials.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ceteris.findings import Breach
from ceteris.laws import Figure, Stated, of_set
from ceteris.model import Origin, Trial
from ceteris.units import LoadUnit, parse_size

_BLOCKS = ("file-block-size", "file_block_size", "bs", "block-size", "block_size", "memory-block-size")
_IN_WORDS = re.compile(r"(?<![\w.])([0-9]+)\s*(?:-byte|([KM])i?B?|B)\b(?: blocks)?", re.IGNORECASE)
_CLOSED = ("sysbench", "pgbench", "fio", "tpcc")


def unfit(trials: Sequence[Trial], origins: Mapping[int, Origin], paths: Mapping[int, str]) -> list[Breach]:
    """Every breach of a law in what the trials state; `paths` are those of the sources, by number."""
    known = [trial for trial in trials if trial.order in origins]
    cells = [_stated(trial, origins[trial.order], paths) for trial in known]
    return [replace(one, cells=tuple(known[at].order for at in one.cells)) for one in of_set(cells)]


def _stated(trial: Trial, origin: Origin, paths: Mapping[int, str]) -> Stated:
    said = origin.said
    figures: dict[str, Figure] = {}
    for metric, value, _unit, _line, stated, subject in said["readings"]:
        if not subject:
            figures.setdefault(metric, Figure(value, stated))
    workload = str(said.get("workload") or trial.workload)
    return Stated(
        figures=figures,
        table=str(said["options"].get("table", "")),
        source=paths.get(origin.source, ""),
        line=origin.lines[0],
        workload=trial.workload,
        levels={key: str(level) for key, level in trial.settings.items()},
        load=float(trial.load.n) if trial.load.unit is LoadUnit.OUTSTANDING else None,
        closed=any(tool in f"{said['tool']} {workload}".casefold() for tool in _CLOSED),
        think="tpcc" in workload.casefold(),
        block_bytes=_block_bytes(said["options"], workload),
    )


def _block_bytes(options: Mapping[str, Any], workload: str) -> float | None:
    """How large an operation is, where the tool was told, or the workload's name says it once."""
    for name in _BLOCKS:
        if options.get(name):
            try:
                return float(parse_size(_size(str(options[name]))))
            except ValueError:
                continue
    if "fileio" not in workload.casefold() and "random" not in workload.casefold():
        return None
    sizes = {float(n) * {"": 1, "K": 2**10, "M": 2**20}[unit.upper()] for n, unit in _IN_WORDS.findall(workload)}
    return next(iter(sizes)) if len(sizes) == 1 else None


def _size(text: str) -> str:
    """`16k`, `16Kb` as `16K`."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgtKMGT]?)(?:i?[bB])?\s*", text)
    return f"{found[1]}{found[2].upper()}" if found else text
