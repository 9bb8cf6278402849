"""Settings of a private server that need more memory or disk than the machine has. The check of a plan calls this."""

from collections.abc import Iterator
from typing import Any

from paribus.model import FAMILIES, Facts
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.units import parse_size, show_size

_IN_MEMORY = {"mysql.innodb_buffer_pool_size": 1, "postgres.shared_buffers": 8192}
_ON_DISK = {"mysql.innodb_log_file_size": 1, "mysql.innodb_redo_log_capacity": 1}
"""By variable: the bytes of a number without a unit."""


def complaints(parsed: Parsed, facts: Facts) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields every level that cannot be had: a buffer beyond the memory, a log beyond what the data's disk has free."""
    table = parsed.table
    if table.database is None or table.database.dsn is not None:
        return
    family = FAMILIES[table.database.kind]
    for key_path, key, written in _settings(parsed):
        owner, _, variable = key.partition(".")
        name = f"{FAMILIES.get(owner, owner)}.{variable}"
        if FAMILIES.get(owner, owner) != family:
            continue
        of_file = key_path == ("database", "config")
        subject, remedy = (f"{variable} = ", f"set {variable} under [database.settings]") if of_file else ("", "")
        needed = _bytes(written, (_IN_MEMORY | _ON_DISK).get(name))
        size = f"{subject}{show_size(needed)}"
        if name in _IN_MEMORY and needed > facts.memory_bytes > 0:
            message = f"{size} is more than the memory of {facts.hostname}, {show_size(facts.memory_bytes)}"
            yield key_path, message, remedy or "write at most about three quarters of the memory"
        if name in _ON_DISK and needed > facts.free_bytes and facts.path_refusal is None:
            message = f"{size} is more than {facts.path} has free, {show_size(facts.free_bytes)}"
            yield key_path, message, remedy or "write less, or set target.path to a folder on a larger disk"


def _settings(parsed: Parsed) -> Iterator[tuple[KeyPath, str, Any]]:
    """Yields every value of every setting, with its place and its name."""
    table = parsed.table
    for key, levels in table.factors.items():
        yield from ((("factors", key), key, level) for level in levels)
    yield from ((("hold", key), key, level) for key, level in table.hold.items())
    for number, combination in enumerate(table.combination):
        places = ((("combination", number, "settings", key), key, level) for key, level in combination.settings.items())
        yield from places
    if table.database is not None:
        kind = table.database.kind
        for name, level in table.database.settings.items():
            yield ("database", "settings", name), f"{kind}.{name}", level
        for name, line in parsed.configuration.settings.items():
            if name not in table.database.settings:
                yield ("database", "config"), f"{kind}.{name}", line.value


def _bytes(written: Any, unit_bytes: int | None) -> int:
    """The size as the server reads it: units in any case, all binary; 0 for other text, which other checks report."""
    if unit_bytes is None:
        return 0
    if isinstance(written, int) and not isinstance(written, bool):
        return written * unit_bytes
    text = str(written).strip().upper()
    text = text.removesuffix("B").removesuffix("I")
    try:
        return parse_size(text) * (unit_bytes if text.isdigit() else 1)
    except ValueError:
        return 0
