"""Heads and titles of tables split into metric, unit, and factor or level."""

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
    r"[A-Za-z]+ ?(?:/|\bper\b) ?(?:s|sec|second|min|minute|hour)|[A-Za-z]?i?[bB]|[kKMG]|[x×*]? ?1,?000s?|'000|千|万"
)  # unknown units, and multiples of 1000
_THOUSANDS = re.compile(r"\b[x×*] ?1,?000\b|'000\b|\bin thousands\b|\bk(?=(?:iops|qps|tps)\b)", re.IGNORECASE)
_LONGEST = 300
_WORDS = re.compile(r"[^\s,:;()\[\]|]+")


_OF_DURATION = re.compile(r"\b(?:time|duration|length|age|warm-?up|at|under|with)\b", re.IGNORECASE)
_RESPONSE_TIME = re.compile(r"(?:response|query|service|wait)[ _]time", re.IGNORECASE)
_MINIMUM = re.compile(r"[(\[] ?min(?:[,;] ?(?P<unit>[^()\[\]]{1,60}))?[)\]]|, ?min$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Head:
    """Parts of a head or title: metric, unit, and a qualifier that is a level or a factor."""

    metric: ColumnMetric | None
    unit: Unit | None
    qualifier: str
    unknown_unit: str = ""  # text of an unrecognised unit


def _may_be_minutes(text: str) -> bool:
    """Return whether a head before `min` names no rate and no response time, of which it is the minimum."""
    if _OF_DURATION.search(_RESPONSE_TIME.sub("", text)):
        return True
    metrics = (metric_of(word[0]) for word in _WORDS.finditer(text))
    return not any(
        metric and (metric.expects in ("1/s", "B/s") or metric.name.startswith("response")) for metric in metrics
    )


def _minimum_first(text: str) -> str:
    """Return `latency (min, ms)` as `min latency (ms)`; min stays where it may be minutes."""
    match = _MINIMUM.search(text)
    if match is None or _may_be_minutes(text[: match.start()]):
        return text
    unit = f"({match['unit']})" if match["unit"] else ""
    return f"min {text[: match.start()].strip()} {unit}{text[match.end() :]}".strip()


@lru_cache(4096)
def head_of(text: str) -> Head:
    """Split a head into parts; the longest sequence of words that names a metric is its metric."""
    text = " ".join(re.sub("[*`]+", " ", in_english(text[:_LONGEST])).strip("# ").split())
    unknown_unit = match[0] if (match := _THOUSANDS.search(text)) else ""
    text = _minimum_first(_THOUSANDS.sub(" ", text))
    unit, bare = None, text
    for match in _UNIT.finditer(text):
        word = match["unit"] or match["after"] or ""
        named_unit = next(filter(None, map(unit_of, re.split("[,;]", word))), None)
        if named_unit is not None:
            unit, bare = named_unit, (text[: match.start()] + " " + text[match.end() :]).strip()
        elif match["unit"] and _STRANGE.fullmatch(word.strip()) and metric_of(word) is None:
            unknown_unit, bare = word, (text[: match.start()] + " " + text[match.end() :]).strip()
    words = list(_WORDS.finditer(bare))
    for length in range(min(5, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            span = words[start].start(), words[start + length - 1].end()
            metric = metric_of(bare[slice(*span)])
            inner = unit_of(words[start + length - 1][0]) if length > 1 else None
            is_minimum = words[start + length - 1][0].lower() == "min" and not _may_be_minutes(bare[slice(*span)])
            if metric is None and inner is not None and not is_minimum:
                metric = metric_of(bare[span[0] : words[start + length - 2].end()])
                unit = unit or inner if metric else unit
            qualifier = words_of(f"{bare[: span[0]]} {bare[span[1] :]}")
            if metric is not None and not (
                metric.loose and qualifier and (unit is None or unit.base != metric.expects)
            ):
                return Head(metric, unit, qualifier, unknown_unit)
    for word in words if unit is not None or len(words) > 1 else []:
        part = metric_of(f"latency {word[0]}")
        time_unit = unit or next(filter(None, (unit_of(other[0]) for other in words if other is not word)), None)
        if part is not None and time_unit is not None and time_unit.base == "s":
            remaining = " ".join(
                other[0] for other in words if other is not word and (unit or unit_of(other[0]) is None)
            )
            return Head(part, time_unit, words_of(remaining), unknown_unit)
    standalone = [word[0] for word in words if unit_of(word[0]) is not None and not word[0].isdecimal()]
    if unit is None and len(standalone) == 1 and "/" in standalone[0]:
        unit, bare = unit_of(standalone[0]), bare.replace(standalone[0], " ")
    if unit is not None and unit.base in ("B/s", "1/s", "1/min"):
        qualifier = words_of(bare) if bare.isascii() else ""  # otherwise the name of the metric in another language
        return Head(metric_of("throughput" if unit.base == "B/s" else "tps"), unit, qualifier, unknown_unit)
    return Head(None, unit, words_of(bare), unknown_unit)


def words_of(text: str) -> str:
    """Return the text without empty brackets, enclosing brackets and outer punctuation."""
    bare = " ".join(text.replace("()", " ").replace("[]", " ").strip(" -_:,;|").split())
    return bare[1:-1] if bare.startswith("(") and bare.find(")") == len(bare) - 1 else bare


def factor_of(title: str) -> tuple[str, Head, str]:
    """Return the factor that a title names, the parts of the title, and the text in brackets."""
    head = head_of(title)
    beside = " ".join(match["words"] for match in _BESIDE.finditer(head.qualifier))
    bare = _BESIDE.sub(" ", head.qualifier)
    if match := _UNDER.match(bare):
        bare, beside = match["what"], beside or words_of(match["where"])
    return " ".join(_NOISE.sub(" ", bare).strip(" -_").split()), head, beside
