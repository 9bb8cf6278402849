"""Losses by a crash or a power cut that a setting risks: the price of speed, next to the advice to use it.

In: a knob and a value. Out: a message, empty where the value is safe. Sources: the manuals of MySQL (options of InnoDB
and of the binary log), PostgreSQL (write-ahead log) and SQLite (pragmas). For ext4 and the block layer: the kernel's.
For guests: QEMU's, of -drive cache.
"""

from collections.abc import Mapping

from paribus.i18n import N_
from paribus.model import HYPERVISOR, Knob, Value

_OFF = ("0", "off", "false", "no")
_A_SECOND = N_("a power cut loses up to 1 s of commits, a crash of the server alone none")
_A_SECOND_ANYWAY = N_("a crash of the server or a power cut loses up to 1 s of commits")
_LOGGED = N_("a power cut loses transactions of the binary log, and replicas no longer match")
_TORN = N_("a power cut can leave half-written pages, which nothing repairs")
_CORRUPT = N_("a power cut can destroy the database")
_WRITER_DELAY = N_("a crash loses the commits of up to three times wal_writer_delay, 0.6 s by default")
_CRASH_CORRUPTS = N_("a crash in the middle of a transaction can destroy the database")
_LAST_COMMITS = N_(
    "a power cut can lose the last commits where there is a write-ahead log, and rarely destroy the database where not"
)
_FILE_SYSTEM = N_("a power cut can destroy the file system, unless the drive's cache outlives it")
_DRIVE = N_("a power cut loses what a volatile cache of the drive holds, also of synchronous writes")
_UNSYNCED = N_("a crash loses writes without fsync since the journal's last commit")
_NO_CHECKSUMS = N_("without checksums, damage by the device stays undetected")
_UNFLUSHED = N_("a power cut of the hypervisor loses what the guest wrote and did not flush")
_NO_FLUSHES = N_(
    "a power cut or a crash of the hypervisor can destroy the guest's file systems: no flush is carried out"
)
_OLD_DATA = N_("files that were being written can hold old data after a crash")
_UNKNOWN = {
    "data_loss": N_("some values can lose data at a power cut or a crash: read its documentation"),
    "durability": N_("some values lose the last writes in a crash: read its documentation"),
}
_LOSSES: Mapping[str, Mapping[str, str]] = {
    "mysql.innodb_flush_log_at_trx_commit": {"0": _A_SECOND_ANYWAY, "2": _A_SECOND},
    "mysql.sync_binlog": {"1": "", "*": _LOGGED},
    "mysql.innodb_doublewrite": dict.fromkeys((*_OFF, "detect_only"), _TORN),
    "mysql.innodb_flush_method": dict.fromkeys(("nosync", "littlesync"), _CORRUPT),
    "postgres.synchronous_commit": dict.fromkeys(_OFF, _WRITER_DELAY),
    "postgres.fsync": dict.fromkeys(_OFF, _CORRUPT),
    "postgres.full_page_writes": dict.fromkeys(_OFF, _TORN),
    "sqlite.synchronous": {"off": _CORRUPT, "normal": _LAST_COMMITS},
    "sqlite.journal_mode": {"off": _CRASH_CORRUPTS, "memory": _CRASH_CORRUPTS},
    "mount.barrier": {"nobarrier": _FILE_SYSTEM},
    "mount.commit": {"*": _UNSYNCED},
    "mount.datacow": {"nodatacow": _NO_CHECKSUMS},
    "mount.datasum": {"nodatasum": _NO_CHECKSUMS},
    "mount.data": {"writeback": _OLD_DATA},
    "block.write_cache": {"write through": _DRIVE},
    "guest.disk.cache": {"unsafe": _NO_FLUSHES, "writeback": _UNFLUSHED, "default": _UNFLUSHED},
}
"""By knob: the losses by value, `*` for all others; values that are not there lose nothing more than usual."""


def loss_of(knob: Knob, value: Value) -> str:
    """Return the loss by a crash with a setting as a message, not translated; empty where none is known."""
    losses = _LOSSES.get(knob.name.removeprefix(HYPERVISOR))
    if losses is None:
        return _UNKNOWN.get(knob.danger, "")
    return losses.get(str(value).lower(), losses.get("*", ""))
