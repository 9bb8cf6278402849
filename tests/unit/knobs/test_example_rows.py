"""The rows under examples/knobs, with what the programs print according to their manuals."""

from pathlib import Path

import pytest

from paribus.knobs.catalog.own_rows import rows_in_file
from paribus.knobs.health import unsound
from paribus.knobs.kinds.by_command import extract
from paribus.knobs.recipe import check_command
from paribus.model import CommandLines

EXAMPLES = Path(__file__).parents[3] / "examples" / "knobs"
FILES = [rows_in_file(file) for file in sorted(EXAMPLES.glob("*.toml"))]
KNOBS = {knob.name: knob for file in FILES for knob in file.knobs}
HEALTH = {check.name: check for file in FILES for check in file.health}
VOLUME = """
Virtual Drives :
==============

-------------------------------------------------------------
DG/VD TYPE  State Access Consist Cache Cac sCC     Size Name
-------------------------------------------------------------
0/0   RAID1 Optl  RW     Yes     {cache} -   ON  278.875 GB
-------------------------------------------------------------

Cac=CacheCade|Rec=Recovery|OfLn=OffLine|Pdgd=Partially Degraded|Dgrd=Degraded
R=Read Ahead Always|NR=No Read Ahead|WB=WriteBack|AWB=Always WriteBack|WT=WriteThrough|C=Cached IO|D=Direct IO
"""
PROPERTIES = """
VD0 Properties :
==============
Strip Size = 64 KB
Write Cache(initial setting) = WriteBack
Disk Cache Policy = Disk's Default
Encryption = None
"""
RATE = """
Controller = 0
Status = Success

----------------
Ctrl_Prop  Value
----------------
Rebuildrate 30%
----------------
"""
SMART_ARRAY = """
Smart Array P816i-a SR Gen10 in Slot 0 (Embedded)
   Rebuild Priority: Medium High
   Cache Ratio: 10% Read / 90% Write
   Configured Drive Write Cache Policy: Default
   Unconfigured Drive Write Cache Policy: Default
   No-Battery Write Cache: Disabled
"""
LOGICAL_DRIVE = """
      Logical Drive: 1
         Size: 279.4 GB
         Caching:  Enabled
"""
ADAPTEC = """
Logical Device number 0
   Read-cache setting                       : Enabled
   Read-cache status                        : On
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   Write-cache status                       : On
"""
MEGACLI = """
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
Default Cache Policy: WriteBack, ReadAdaptive, Direct, No Write Cache if Bad BBU
Current Cache Policy: WriteThrough, ReadAheadNone, Cached, No Write Cache if Bad BBU
Disk Cache Policy   : Enabled
"""
TASKS = """
Ctrl_Prop                    Value
----------------------------------
{task} Mode                      Auto
{task} Execution Delay           168 hours
{task} Current State             {state}
"""
RING = """Ring parameters for eth0:
Pre-set maximums:
RX:\t\t4096
TX:\t\t4096
Current hardware settings:
RX:\t\t512
TX:\t\t512
"""
PRINTED = [
    ("raid.background_initialisation", "VD Operation Status\n 0 AutoBGI   On\n", "On"),
    ("raid.background_initialisation_rate", RATE.replace("Rebuildrate", "BGI Rate"), "30"),
    ("raid.patrol_read_mode", TASKS.format(task="PR", state="Stopped"), "Auto"),
    ("raid.consistency_check_mode", "CC Operation Mode        Concurrent\n", "Concurrent"),
    ("network.rx_ring", RING, "512"),
    ("network.rx_usecs", "Coalesce parameters for eth0:\nrx-usecs: 3\nrx-frames: 0\n", "3"),
    ("processor.performance_bias", "analyzing CPU 0:\nperf-bias: 6\n", "6"),
    ("smartarray.rebuild_priority", SMART_ARRAY, "Medium High"),
    ("smartarray.cache_ratio", SMART_ARRAY, "10"),
    ("smartarray.drive_write_cache", SMART_ARRAY, "Default"),
    ("smartarray.no_battery_write_cache", SMART_ARRAY, "Disabled"),
    ("smartarray.caching", LOGICAL_DRIVE, "Enabled"),
    ("adaptec.read_cache", ADAPTEC, "Enabled"),
    ("adaptec.write_cache", ADAPTEC, "Enabled (write-back) when protected by battery/ZMM"),
    ("megacli.write_policy", MEGACLI, "WriteThrough"),
    ("megacli.read_policy", MEGACLI, "ReadAheadNone"),
    ("megacli.io_policy", MEGACLI, "Cached"),
    ("megacli.disk_cache", MEGACLI, "Enabled"),
    ("raid.write_policy", VOLUME.format(cache="RWBD "), "WB"),
    ("raid.write_policy", VOLUME.format(cache="NRWTC"), "WT"),
    ("raid.write_policy", VOLUME.format(cache="RAWBD"), "AWB"),
    ("raid.read_policy", VOLUME.format(cache="NRWTC"), "NR"),
    ("raid.read_policy", VOLUME.format(cache="RAWBD"), "R"),
    ("raid.io_policy", VOLUME.format(cache="NRWTC"), "C"),
    ("raid.io_policy", VOLUME.format(cache="RWBD "), "D"),
    ("raid.disk_cache", PROPERTIES, "Disk's Default"),
    ("raid.rebuild_rate", RATE, "30"),
    ("nvme.write_cache", "get-feature:0x06 (Volatile Write Cache), Current value:0x00000001\n", "1"),
    ("nvme.write_cache", "get-feature:0x6 (Volatile Write Cache), Current value:00000000\n", "0"),
    ("nvme.power_state", "get-feature:0x02 (Power Management), Current value:0x00000004\n", "4"),
    ("sata.write_cache", "\n/dev/sda:\n write-caching =  1 (on)\n", "1"),
    ("sas.write_cache", "    /dev/sda: SEAGATE   ST300\nWCE           0  [cha: y, def:  1, sav:  0]\n", "0"),
]


@pytest.mark.parametrize(("name", "text", "expected"), PRINTED)
def test_a_value_is_found_in_what_the_program_prints(name: str, text: str, expected: str) -> None:
    command = KNOBS[name].command
    assert isinstance(command, CommandLines)
    assert extract(command, text) == expected
    assert not KNOBS[name].allowed or expected in map(str, KNOBS[name].allowed)


CONTROLLER = """{"Controllers": [{"Command Status": {"Controller": 0, "Status": "Success"}, "Response Data": {
"VD LIST": [{"DG/VD": "0/0", "TYPE": "RAID10", "State": "Dgrd", "Cache": "NRWTD"}],
"Cachevault_Info": [{"Model": "CVPM05", "State": "Optimal", "Temp": "32C", "Mode": "-", "MfgDate": "2017/11/28"}]}}]}"""
FUSION_IO = """fct0\tAttached
\tInternal temperature: 42.33 degC, max 50.20 degC
\tReserve space status: Healthy; Reserves: 100.00%, warn at 10.00%
\tRated PBW: 8.00 PB, 99.94% remaining
"""
QUEUES = """get-feature:0x07 (Number of Queues), Current value:0x00070003
	Number of IO Completion Queues Allocated (NCQA): 8
	Number of IO Submission Queues Allocated (NSQA): 4
"""
SMARTCTL = """{"smart_status": {"passed": true}, "temperature": {"current": 41}, "nvme_smart_health_information_log":
{"critical_warning": 0, "temperature": 41, "available_spare": 98, "available_spare_threshold": 10,
"percentage_used": 3, "media_errors": 0, "warning_temp_time": 12, "critical_comp_time": 0}}"""
STATES = [
    ("fusion.reserve", FUSION_IO, "Healthy", True),
    ("fusion.temperature", FUSION_IO, "42", True),
    ("fusion.written_left", FUSION_IO, "99", True),
    ("raid.fastpath", "MegaRAID FastPath    Unlimited      -\n", "Unlimited", True),
    ("raid.cache_protection", CONTROLLER, "Optimal", True),
    ("raid.volume_state", CONTROLLER, "Dgrd", False),
    ("raid.patrol_read", TASKS.format(task="PR", state="Active"), "Active", False),
    ("raid.consistency_check", TASKS.format(task="CC", state="Stopped"), "Stopped", True),
    ("drive.passed", SMARTCTL, "true", True),
    ("drive.temperature", SMARTCTL, "41", True),
    ("nvme.submission_queues", QUEUES, "4", True),
    ("nvme.completion_queues", QUEUES, "8", True),
    ("nvme.critical_warning", SMARTCTL, "0", True),
    ("nvme.spare", SMARTCTL, "98", True),
    ("nvme.used", SMARTCTL, "3", True),
    ("nvme.media_errors", SMARTCTL, "0", True),
    ("nvme.minutes_too_warm", SMARTCTL, "12", True),
]


@pytest.mark.parametrize(("name", "text", "expected", "counts"), STATES)
def test_a_state_is_found_in_what_the_program_prints(name: str, text: str, expected: str, *, counts: bool) -> None:
    check = HEALTH[name]
    assert extract(check.command, text) == expected
    assert (unsound(check, expected) is None) is counts


def test_reports_name_the_program_of_the_other_generation() -> None:
    old, new = check_command(KNOBS["megacli.write_policy"]), check_command(KNOBS["raid.write_policy"])
    assert old == "MegaCli64 -LDInfo -L0 -a0 -NoLog  # or: storcli64 /c0/v0 show"
    assert new == "storcli64 /c0/v0 show  # or: MegaCli64 -LDInfo -L0 -a0 -NoLog"
    both = check_command(KNOBS["raid.write_policy"], KNOBS["raid.disk_cache"])
    assert both.partition("  # or: ")[0] == "storcli64 /c0/v0 show && storcli64 /c0/v0 show all"
    assert both.count("MegaCli64") == 2


def test_rows_that_no_device_has_tried_say_so() -> None:
    assert {row.proved for row in (*KNOBS.values(), *HEALTH.values())} <= {"", "transcript"}
    controllers = ("raid.", "megacli.", "smartarray.", "adaptec.", "fusion.", "drive.")
    assert all(
        row.proved == "transcript" for row in (*KNOBS.values(), *HEALTH.values()) if row.name.startswith(controllers)
    )


def test_every_row_has_such_a_case() -> None:
    assert {name for name, _, _ in PRINTED} == KNOBS.keys()
    assert {name for name, *_ in STATES} == HEALTH.keys()
