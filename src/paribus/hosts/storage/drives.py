"""Error counters of drives (SMART), read by smartctl where it is installed.

In: `smartctl --json` of each disk under a block device. Out: counters that never grow on a sound drive.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from paribus.errors import HostError
from paribus.hosts.transport import Host

# By number, since names differ between makers; raw values.
_OF_ATA = {
    5: "reallocated_sectors",
    184: "end_to_end_errors",
    187: "uncorrectable_errors",
    196: "reallocation_events",
    197: "pending_sectors",
    198: "offline_uncorrectable_sectors",
    199: "link_errors",
}
_OF_NVME = {
    "media_errors": "media_errors",
    "critical_warning": "critical_warnings",
    "warning_temp_time": "minutes_too_warm",
    "critical_comp_time": "minutes_much_too_warm",
}


def error_counters(host: Host, device: str) -> dict[str, int]:
    """By `disk counter` ("sda pending_sectors"), of every disk under `device`; empty where none can be read."""
    counters: dict[str, int] = {}
    for disk in _disks(host, device):
        answer = _answer(host, ["smartctl", "--json", "-A", "-H", disk])
        with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):  # an unknown form
            counters |= {f"{disk.removeprefix('/dev/')} {name}": value for name, value in _counters(answer)}
    return counters


def _disks(host: Host, device: str) -> list[str]:
    tree = _answer(host, ["lsblk", "--json", "--inverse", "--list", "--output", "PATH,TYPE", device])
    with contextlib.suppress(AttributeError, KeyError, TypeError):  # an unknown form
        return [str(node["path"]) for node in tree.get("blockdevices", []) if node["type"] == "disk"]
    return []


def _answer(host: Host, argv: list[str]) -> Mapping[str, Any]:
    """The document that a program prints; its exit code describes the drive, not the document."""
    try:
        answer = json.loads(host.run(argv).stdout)
    except (HostError, RecursionError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _counters(answer: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    passed = answer.get("smart_status", {}).get("passed")
    if passed is not None:
        yield "failing", int(not passed)
    for row in answer.get("ata_smart_attributes", {}).get("table", []):
        if row["id"] in _OF_ATA:
            yield _OF_ATA[row["id"]], int(row["raw"]["value"])
    log = answer.get("nvme_smart_health_information_log", {})
    yield from ((name, int(log[key])) for key, name in _OF_NVME.items() if key in log)
    if "scsi_grown_defect_list" in answer:
        yield "grown_defects", int(answer["scsi_grown_defect_list"])
    for kind, row in answer.get("scsi_error_counter_log", {}).items():
        yield f"uncorrected_{kind}_errors", int(row["total_uncorrected_errors"])
