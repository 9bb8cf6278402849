"""Titles and headings of tables: factor, metric, workload and load."""

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


_SENTENCE = re.compile(
    r"\b(?:is|are|was|were|we|you|there|here|this|these|those|it|show|shows|shown|see|can|will|has|have)\b"
    r"|(?-i:\bI (?=[a-z]))",
    re.IGNORECASE,
)
_WITH_SIZE = re.compile(r"\w[ =:]{1,3}[0-9]{1,7}(?:\.[0-9]{1,3})? ?[kmgt]i?b?$", re.IGNORECASE)  # buffer pool 100G
_LEADING = re.compile(
    r"^(?:(?:the|all|overall|test|benchmark|performance) )*"
    r"(?:results?|comparisons?|summary|benchmarks?|numbers|figures) ",
    re.IGNORECASE,
)
_OF_RESULTS = re.compile(  # The average results in TPS
    r"^(?:the )?(?:average|mean|median|raw|final) (?:results?|throughput|performance|numbers|figures)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Titles:
    """Parts of a table's title and nearest heading.

    `title` is the table's name, `around` a part of the heading that is neither factor nor workload.
    """

    title: str
    factor: str
    workload: str
    titled: Head
    load: int | None
    around: str


def titles_of(title: str, over: str, *, needs_factor: bool) -> Titles:
    """Split the titles. The title names the factor if no column does, else the workload."""
    loads = [{int(number) for number in _LOAD.findall(text)} for text in (title, over)]
    load = next((numbers.pop() for numbers in loads if len(numbers) == 1), None)
    plain, general = (_plain(text) for text in (title, over))
    factor, titled, beside = _parts(plain)
    outer, _, outer_beside = _parts(general)
    name = plain if factor or beside or not general else general
    is_sentence = bool(_SENTENCE.search(plain))
    around = outer if factor or is_sentence or (beside and not needs_factor) else ""
    if needs_factor:
        is_product = is_sentence and bool(re.search("[0-9]", outer))  # PG 17
        return Titles(name, factor or ("" if is_product else outer), beside or outer_beside, titled, load, around)
    return Titles(name, "", beside or factor or outer_beside or outer, titled, load, around)


def _plain(text: str) -> str:
    """Remove marks and the load; empty if only a generic word such as `results` remains."""
    bare = _LOAD.sub("", re.sub("[*`]+", "", text).strip("# :")).strip(" ,;:-")
    before, _colon, after = bare.partition(": ")
    bare = after if after and _GENERAL.fullmatch(before) else bare
    return "" if _GENERAL.fullmatch(bare) else bare


def _parts(text: str) -> tuple[str, Head, str]:
    factor, head, beside = factor_of(text)
    if any(expression.search(text) for expression in (_SENTENCE, _OF_RESULTS)) or _WITH_SIZE.search(factor):
        return "", head, ", ".join(filter(None, (factor, beside)))  # a condition is no factor
    factor = _LEADING.sub("", factor, count=1)
    if kind_in(factor):  # nor is a workload
        return "", head, ", ".join(filter(None, (factor, beside)))
    return factor, head, beside
