"""Lists of settings, counters and properties: text in columns that describes a machine or server and measures nothing.

In: the rows of what could be a table. Out: whether it is such a list, as of lscpu, SHOW VARIABLES or tsar.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from paribus.parsers.tables.heads import head_of

_OF_SERVERS = {"variable_name", "variable_value"}
_NAMES = {"variable", "setting", "parameter", "name", "key", "property", "option"}
_NAMES |= {"hardware", "software", "component", "item", "attribute", "environment"}
_VALUES = {"value", "setting", "current_value", "current_setting"}
_VALUES |= {"spec", "specs", "specification", "details", "description", "model", "version", "configuration", "info"}
_FEWEST_METRICS = 2  # among the names of a table of results
_PROPERTY = re.compile(r"[^:]*[^\W\d][^:]*:(?:\s{2,}\S.*)?")  # `Model name:   AMD EPYC`, cut at the blanks or not
_LOAD = re.compile(r"(?:threads?|clients?|connections?|users?|warehouses?|(?:io)?depth)\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"_?[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+")  # LINK_MAX, numa_hit
_KIND = re.compile(r"oltp|tpc|read|write|rand|seq|select|insert|update|delete", re.IGNORECASE)  # of a workload
_OF_STATUS = re.compile(r"(?:Innodb|Rocksdb|Aria|Tokudb|Handler|Com|wsrep|Binlog|Performance_schema)_")
_STATE = re.compile(r"history_list_length|checkpoint_age|(?:Threads|Open|Key|Qcache|Created_tmp)_\w+", re.IGNORECASE)
_FEWEST_IDENTIFIERS, _MOST = 4, 0.8
_LEAST = 0.2  # share of names of a status, or of lines without a number, that results do not have
_FEWEST_LINES = 40  # of a list without heads
_PAIR = re.compile(r"(?P<name>\w+)(?:\s{2,}|\s*$)(?P<value>(?:[^\t ]| (?! ))*)")
_TABBED_PAIR = re.compile(r"(?P<name>\w+(?::[\w ]+)?)\t *(?P<value>[^\t]*)")  # a value may have dates
_OF_ONE_LINE = {"checkpoints_timed", "buffers_clean", "xact_commit", "blks_hit"}  # pg_stat_bgwriter, pg_stat_database
_DISTANCES = re.compile(r"node distances:\s*")  # numactl --hardware
_GROUP = re.compile(r"-{2,}\w+-{2,}")  # over the columns of tsar


def describes(rows: Sequence[Sequence[str]], above: str) -> bool:
    """Whether rows of cells below this line are such a list; one with metrics has results."""
    heads = [cell.strip() for cell in rows[0] if cell.strip()]
    words = [head.lower().replace(" ", "_") for head in heads]
    is_tsar = words[:1] == ["time"] and len(_GROUP.findall(above)) > 1
    if is_tsar or not heads or any(head_of(text).metric is not None for text in (*heads[1:], above)):
        return is_tsar
    metrics = sum(head_of(row[0]).metric is not None for row in rows[1:] if row)
    if "copyright" in words[0]:  # years of a licence, as in the heads of sources
        return True
    if not _OF_SERVERS.isdisjoint(words[:2]) or not _OF_ONE_LINE.isdisjoint(words) or _DISTANCES.fullmatch(above):
        return True
    if _are_counters([row[0].strip() for row in rows if row]):
        return True
    if len(words) > 1 and words[0] in _NAMES and words[1] in _VALUES:
        return metrics < _FEWEST_METRICS
    properties = sum(bool(_PROPERTY.fullmatch(row[0].strip())) for row in rows if row)
    return len(heads) <= 2 and 2 * metrics <= len(rows) < 2 * properties and not _LOAD.match(heads[0])


def listed_lines(lines: Sequence[str]) -> set[int]:
    """Return the numbers, from 1 on, of lines in summaries of servers, and in long lists of variables without heads."""
    listed: set[int] = set()
    stripped = ((number, line.strip()) for number, line in enumerate(lines, 1))
    pairs = ((number, _TABBED_PAIR.fullmatch(line) or _PAIR.fullmatch(line)) for number, line in stripped)
    for is_list, group in groupby(pairs, key=lambda pair: pair[1] is not None):
        matches = {number: match for number, match in group if match is not None}
        if is_list and _are_settings([*matches.values()]):
            listed |= matches.keys()
    return listed | set(_of_summaries(lines))


def _of_summaries(lines: Sequence[str]) -> Iterator[int]:
    """Lines of what pt-mysql-summary and pt-summary print, up to another heading."""
    is_summary = False
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            is_summary = line.endswith("##") and (is_summary or line.startswith("# Percona Toolkit "))
        if is_summary:
            yield number


def _are_settings(pairs: Sequence[re.Match[str]]) -> bool:
    """Whether pairs are variables or counters: results have other names, and a number beside each."""
    names = [pair["name"] for pair in pairs]
    counters = _counters(names)
    if len(names) < _FEWEST_LINES or len(counters) < _MOST * len(names):
        return False
    of_status = sum(bool(_OF_STATUS.match(name)) for name in names)
    without_number = sum(not pair["value"][:1].isdigit() for pair in pairs)
    return max(of_status, without_number) >= _LEAST * len(names)


def _are_counters(names: Sequence[str]) -> bool:
    """Whether the first column, below an empty corner or from its head on, names counters or limits of a system."""
    identifiers = _counters(names)
    has_corner = bool(names[0]) and names[0] not in identifiers
    return not has_corner and len(identifiers) >= max(_FEWEST_IDENTIFIERS, _MOST * (len(names) - 1))


def _counters(names: Sequence[str]) -> list[str]:
    """Return the names that are those of counters or variables, and not of tests."""
    return [
        name for name in names if _IDENTIFIER.fullmatch(name) and (_OF_STATUS.match(name) or not _KIND.search(name))
    ]


def is_status(name: str) -> bool:
    """Return whether a name is that of a status counter of a server."""
    return bool(_OF_STATUS.match(name) or _STATE.fullmatch(name))
