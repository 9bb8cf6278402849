"""Heads and titles of tables in parts: the measure, its unit, and the level or factor beside them."""

import re
from dataclasses import dataclass
from functools import lru_cache

from paribus.parsers.tables.column_names import ColumnMetric, Unit, in_english, metric_of, unit_of

_UNIT = re.compile(r"[(\[](?P<unit>[^()\[\]]{1,60})[)\]]|, ?(?P<after>[A-Za-zµ%/]{1,10}|1/s)$")
_NOISE = re.compile(
    r"^(?:#+|table|tab\.?|figure|fig\.?)? ?(?:[0-9]+(?:[.-][0-9]+)*)? ?[.:)-]? *|"
    r"\b(?:by|vs\.?|versus|per|for|with|of|and|in|the)\b|[:,;|]+",
    re.IGNORECASE,
)
_BESIDE = re.compile(r"\((?P<words>[^()]*)\)")
_UNDER = re.compile(
    r"(?P<what>.*?[^\s,:;-])(?:,? (?:under|on|with|using|at)|[,:;]| [-–—])"
    r" (?P<where>.*\b(?:sysbench|fileio|oltp|fio|tpcc|pgbench|rnd|rand|random|seq|sequential|blocks?|workload).*)",
    re.IGNORECASE,
)
_STRANGE = re.compile(
    r"[A-Za-z]+/s(?:ec)?|[A-Za-z]?i?[bB]|[kKMG]|[x×*]? ?1,?000s?|'000|千|万"
)  # units that are not known, and thousands
_THOUSANDS = re.compile(r"\b[x×*] ?1,?000\b|'000\b|\bin thousands\b|\bk(?=(?:iops|qps|tps)\b)", re.IGNORECASE)
_LONGEST = 300
_WORDS = re.compile(r"[^\s,:;()\[\]|]+")


@dataclass(frozen=True, slots=True)
class Head:
    """What a head or a title names: a measure with its unit, and words beside it, which are a level or a factor."""

    metric: ColumnMetric | None
    unit: Unit | None
    rest: str
    strange: str = ""  # a unit that is not known


@lru_cache(4096)
def head_of(text: str) -> Head:
    """A head in parts. The longest run of words that is a measure's name is taken for it."""
    text = " ".join(re.sub("[*`]+", " ", in_english(text[:_LONGEST])).strip("# ").split())
    strange = found[0] if (found := _THOUSANDS.search(text)) else ""
    text = _THOUSANDS.sub(" ", text)
    unit, bare = None, text
    for found in _UNIT.finditer(text):
        word = found["unit"] or found["after"] or ""
        known = next(filter(None, map(unit_of, re.split("[,;]", word))), None)
        if known is not None:
            unit, bare = known, (text[: found.start()] + " " + text[found.end() :]).strip()
        elif found["unit"] and _STRANGE.fullmatch(word.strip()) and metric_of(word) is None:
            strange, bare = word, (text[: found.start()] + " " + text[found.end() :]).strip()
    words = list(_WORDS.finditer(bare))
    for length in range(min(5, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = words[start].start(), words[start + length - 1].end()
            metric = metric_of(bare[slice(*span)])
            inner = unit_of(words[start + length - 1][0]) if length > 1 else None
            if metric is None and inner is not None:
                metric = metric_of(bare[span[0] : words[start + length - 2].end()])
                unit = unit or inner if metric else unit
            rest = words_of(f"{bare[: span[0]]} {bare[span[1] :]}")
            if metric is not None and not (metric.loose and rest and (unit is None or unit.base != metric.expects)):
                return Head(metric, unit, rest, strange)
    for word in words if unit is not None or len(words) > 1 else []:
        part = metric_of(f"latency {word[0]}")
        known = unit or next(filter(None, (unit_of(other[0]) for other in words if other is not word)), None)
        if part is not None and known is not None and known.base == "s":
            said = " ".join(other[0] for other in words if other is not word and (unit or unit_of(other[0]) is None))
            return Head(part, known, words_of(said), strange)
    alone = [word[0] for word in words if unit_of(word[0]) is not None and not word[0].isdecimal()]
    if unit is None and len(alone) == 1 and "/" in alone[0]:
        unit, bare = unit_of(alone[0]), bare.replace(alone[0], " ")
    if unit is not None and unit.base in ("B/s", "1/s", "1/min"):
        rest = words_of(bare) if bare.isascii() else ""  # else the measure's name, in whatever language
        return Head(metric_of("throughput" if unit.base == "B/s" else "tps"), unit, rest, strange)
    return Head(None, unit, words_of(bare), strange)


def words_of(text: str) -> str:
    bare = " ".join(text.replace("()", " ").replace("[]", " ").strip(" -_:,;|").split())
    return bare[1:-1] if bare.startswith("(") and bare.find(")") == len(bare) - 1 else bare


def factor_of(title: str) -> tuple[str, Head, str]:
    """The factor that a title names, the measure, and what stands in brackets beside them."""
    head = head_of(title)
    beside = " ".join(found["words"] for found in _BESIDE.finditer(head.rest))
    bare = _BESIDE.sub(" ", head.rest)
    if found := _UNDER.match(bare):
        bare, beside = found["what"], beside or words_of(found["where"])
    return " ".join(_NOISE.sub(" ", bare).strip(" -_").split()), head, beside
