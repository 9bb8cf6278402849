"""Columns of iostat, sysstat 9 to 12, and the versions that print them."""

from paribus.parsers.sysstat.samples import SysstatColumn, shares, sizes

_READ, _WRITTEN, _GONE = "device_read_bytes", "device_written_bytes", "device_discarded_bytes"
_UNITS = {"kB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "Blk": 512.0, "sec": 512.0}
COLUMNS: dict[str, SysstatColumn] = {
    **{
        name: SysstatColumn(metric, "1/s")
        for name, metric in {
            "tps": "device_operations_per_s",
            "r/s": "device_reads_per_s",
            "w/s": "device_writes_per_s",
            "d/s": "device_discards_per_s",
            "f/s": "device_flushes_per_s",
            "rqm/s": "device_merges_per_s",
            "rrqm/s": "device_read_merges_per_s",
            "wrqm/s": "device_write_merges_per_s",
            "drqm/s": "device_discard_merges_per_s",
        }.items()
    },
    **{
        name: SysstatColumn(metric, "s", 0.001)
        for name, metric in {
            "await": "device_await_s",
            "r_await": "device_read_await_s",
            "w_await": "device_write_await_s",
            "d_await": "device_discard_await_s",
            "f_await": "device_flush_await_s",
            "svctm": "device_service_s",
        }.items()
    },
    **shares(
        {
            "%util": "device_utilisation",
            "%rrqm": "device_read_merges_share",
            "%wrqm": "device_write_merges_share",
            "%drqm": "device_discard_merges_share",
        }
    ),
    "avgqu-sz": SysstatColumn("device_queue", "1"),
    "aqu-sz": SysstatColumn("device_queue", "1"),
    "avgrq-sz": SysstatColumn("device_request_bytes", "B", 512.0, size=True),  # in sectors up to 11.5.7, then in KiB
    **sizes(
        {
            "areq-sz": "device_request_bytes",
            "rareq-sz": "device_read_request_bytes",
            "wareq-sz": "device_write_request_bytes",
            "dareq-sz": "device_discard_request_bytes",
        },
        1024.0,
        "B",
    ),
}
for _word, _times in _UNITS.items():
    COLUMNS |= sizes({f"r{_word}/s": f"{_READ}_per_s", f"w{_word}/s": f"{_WRITTEN}_per_s"}, _times)
    COLUMNS |= sizes({f"{_word}_read/s": f"{_READ}_per_s", f"{_word}_wrtn/s": f"{_WRITTEN}_per_s"}, _times)
    COLUMNS |= sizes({f"d{_word}/s": f"{_GONE}_per_s", f"{_word}_dscd/s": f"{_GONE}_per_s"}, _times)
    COLUMNS |= sizes({f"{_word}_read": _READ, f"{_word}_wrtn": _WRITTEN, f"{_word}_dscd": _GONE}, _times, "B")
    COLUMNS |= sizes({f"{_word}/s": "device_bytes_per_s"}, _times)
    COLUMNS |= sizes({f"{_word}_w+d/s": "device_written_or_discarded_bytes_per_s"}, _times)
    COLUMNS |= sizes({f"{_word}_w+d": "device_written_or_discarded_bytes"}, _times, "B")
_VERSIONS = (
    ("f/s", "12.3 or newer"),
    ("d/s", "12.1 or newer"),
    ("areq-sz", "11.5.7 or newer"),
    ("rareq-sz", "11.5.7 or newer"),
)
"""Versions by the first of these columns that is present; iostat does not print its version."""
_OLD_VERSIONS = (("rareq-sz", "11.5.7 to 12.1"), ("r_await", "9.1.2 to 11.5.6"), ("svctm", "before 9.1.2"))


def version(columns: set[str]) -> str:
    """Return the versions that print these columns; empty if all do."""
    versions = _OLD_VERSIONS if "svctm" in columns else _VERSIONS
    return next((version for column, version in versions if column in columns), "")
