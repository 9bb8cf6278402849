"""mpstat of sysstat: how much of each processor was used, and its interrupts."""

import re

from ceteris.parsers import clocked
from ceteris.parsers.log import Log
from ceteris.parsers.samples import CPU, Column

FORMAT = "mpstat"

_COLUMNS = {**CPU, "intr/s": Column("interrupts_per_s", "1/s")}
_HEAD = re.compile(
    r"^\S+(?: [AP]M)? +(?:CPU|NODE) +(?:CORE +SOCK +NODE +)?"
    r"(?:%us(?:er|r) +%nice +%sys +%iowait +%irq|intr/s)",
    re.MULTILINE,
)


def recognises(text: str) -> float:
    """By the head of its table, which unlike that of sar has %irq after %iowait."""
    return 0.92 if _HEAD.search(text[:8192]) or _HEAD.search(text[-8192:]) else 0.0


def read(text: str) -> Log:
    """Each processor's course, the whole machine's without a subject; averages are readings."""
    return clocked.read(text, FORMAT, _COLUMNS)
