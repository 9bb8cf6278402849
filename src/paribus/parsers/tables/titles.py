"""What stands over a table: the factor, the measure, the workload and the load that its title and heading name."""

import re
from dataclasses import dataclass

from paribus.parsers.tables.columns import kind_in
from paribus.parsers.tables.heads import Head, factor_of

_LOAD = re.compile(r"\b([0-9]{1,6})[ -]?(?:threads?|clients?|connections?|users|线程|并发)(?![\w/])", re.IGNORECASE)
_GENERAL = re.compile(
    r"(?:the |test |sample |benchmark |performance |raw |full |final |all )*"
    r"(?:results?|summary|benchmarks?|performance|numbers|figures|measurements|data|table|测试结果|结果)"
    r"(?: table| summary)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Titles:
    """The title of a table and the nearest heading over it, in parts; `title` is what the table is called."""

    title: str
    factor: str
    workload: str
    titled: Head
    load: int | None


def titles_of(title: str, over: str, *, needs_factor: bool) -> Titles:
    """The parts. Where columns do not name the factor, the title does; else it tells of the workload."""
    loads = [{int(one) for one in _LOAD.findall(text)} for text in (title, over)]
    load = next((found.pop() for found in loads if len(found) == 1), None)
    plain, general = (_plain(text) for text in (title, over))
    factor, titled, beside = _parts(plain)
    outer, _, more = _parts(general)
    called = plain if factor or beside or not general else general
    if needs_factor:
        return Titles(called, factor or outer, beside or more, titled, load)
    return Titles(called, "", beside or factor or more or outer, titled, load)


def _plain(text: str) -> str:
    """Without marks and the load; empty where it says nothing but that there are results."""
    bare = _LOAD.sub("", re.sub("[*`]+", "", text).strip("# :")).strip(" ,;:-")
    before, _colon, after = bare.partition(": ")
    bare = after if after and _GENERAL.fullmatch(before) else bare
    return "" if _GENERAL.fullmatch(bare) else bare


def _parts(text: str) -> tuple[str, Head, str]:
    factor, head, beside = factor_of(text)
    if kind_in(factor):  # a kind of load is no factor
        return "", head, ", ".join(filter(None, (factor, beside)))
    return factor, head, beside
