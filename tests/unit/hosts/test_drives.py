"""Counters of errors out of what smartctl prints of drives of three families, and of what has none."""

import json
from collections.abc import Sequence

import pytest

from paribus.hosts.fake import FakeHost
from paribus.hosts.storage.drives import error_counters
from paribus.hosts.transport import Completed

ATA = {
    "smart_status": {"passed": True},
    "ata_smart_attributes": {
        "table": [
            {"id": 5, "name": "Reallocated_Sector_Ct", "value": 100, "thresh": 10, "raw": {"value": 8, "string": "8"}},
            {"id": 9, "name": "Power_On_Hours", "value": 98, "thresh": 0, "raw": {"value": 9000, "string": "9000"}},
            {
                "id": 197,
                "name": "Current_Pending_Sector",
                "value": 100,
                "thresh": 0,
                "raw": {"value": 1, "string": "1"},
            },
        ]
    },
}
NVME = {
    "smart_status": {"passed": False, "nvme": {"value": 4}},
    "nvme_smart_health_information_log": {
        "critical_warning": 4,
        "temperature": 41,
        "media_errors": 2,
        "num_err_log_entries": 77,
        "warning_temp_time": 3,
        "critical_comp_time": 0,
    },
}
SCSI = {
    "smart_status": {"passed": True},
    "scsi_grown_defect_list": 5,
    "scsi_error_counter_log": {
        "read": {"total_errors_corrected": 100, "total_uncorrected_errors": 1},
        "write": {"total_errors_corrected": 0, "total_uncorrected_errors": 0},
    },
}
NONE = {"smartctl": {"messages": [{"string": "Unable to detect device type", "severity": "error"}], "exit_status": 1}}


class Drives(FakeHost):
    """Disks by name, each with what smartctl prints of it; md0 stands on all of them."""

    def __init__(self, disks: dict[str, str]) -> None:
        super().__init__({})
        self.disks = disks

    def run(self, argv: Sequence[str], *, text: str = "", timeout_s: float | None = 60.0) -> Completed:
        if argv[0] == "lsblk":
            rows = [{"path": "/dev/md0", "type": "raid1"}] + [{"path": disk, "type": "disk"} for disk in self.disks]
            return Completed(0, json.dumps({"blockdevices": rows}), "")
        assert argv[:-1] == ["smartctl", "--json", "-A", "-H"]
        return Completed(64, self.disks[argv[-1]], "")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ATA, {"failing": 0, "reallocated_sectors": 8, "pending_sectors": 1}),
        (
            NVME,
            {
                "failing": 1,
                "critical_warnings": 4,
                "media_errors": 2,
                "minutes_too_warm": 3,
                "minutes_much_too_warm": 0,
            },
        ),
        (SCSI, {"failing": 0, "grown_defects": 5, "uncorrected_read_errors": 1, "uncorrected_write_errors": 0}),
        (NONE, {}),
    ],
)
def test_only_what_a_sound_drive_never_counts(answer: object, expected: dict[str, int]) -> None:
    counters = error_counters(Drives({"/dev/sda": json.dumps(answer)}), "/dev/md0")
    assert counters == {f"sda {name}": value for name, value in expected.items()}


def test_every_disk_under_a_device_counts_for_itself() -> None:
    counters = error_counters(Drives({"/dev/sda": json.dumps(SCSI), "/dev/sdb": json.dumps(ATA)}), "/dev/md0")
    assert counters["sda grown_defects"] == 5
    assert counters["sdb pending_sectors"] == 1


@pytest.mark.parametrize(
    "nonsense", ["", "no document", "[]", "null", '{"smart_status": 1}', '{"scsi_error_counter_log": [1]}']
)
def test_malformed_documents_give_no_counters(nonsense: str) -> None:
    assert error_counters(Drives({"/dev/sda": nonsense}), "/dev/sda") == {}


def test_missing_smartctl_gives_no_counters() -> None:
    assert error_counters(FakeHost({}), "/dev/sda") == {}
