"""Output of the programs of drives, network cards and processors, in the form of their manuals, with its values."""

RING = """Ring parameters for eth0:
Pre-set maximums:
RX:\t\t4096
TX:\t\t4096
Current hardware settings:
RX:\t\t512
TX:\t\t256
"""
CHANNELS = """Channel parameters for eth0:
Pre-set maximums:
RX:\t\tn/a
TX:\t\tn/a
Other:\t\t1
Combined:\t63
Current hardware settings:
RX:\t\tn/a
TX:\t\tn/a
Other:\t\t1
Combined:\t6
"""
APST = """get-feature:0x0c (Autonomous Power State Transition), Current value:0x0000000{value}
       0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f
0000: 18 64 00 00 00 00 00 00 18 64 00 00 00 00 00 00 "................"
"""
FUSION_IO = """Adapter: Dual Adapter

fct0    Attached
    Internal temperature: 42.33 degC, max 50.20 degC
    Reserve space status: Healthy; Reserves: 100.00%, warn at 10.00%
    Rated PBW: 8.00 PB, 99.94% remaining

fct1    Attached
    Internal temperature: 44.10 degC, max 51.60 degC
    Reserve space status: {state}; Reserves: 8.00%, warn at 10.00%
    Rated PBW: 8.00 PB, 97.10% remaining
"""
FUSION_IO_2 = """fct0    Attached as 'fioa' (block device)
    Internal temperature: 47.7 degC, max 48.2 degC
    Media status: Reduced-write; Reserves: 4.00%, warn at 10.00%
    Thresholds: write-reduced: 96.00%, read-only: 94.00%
"""
FUSION_IO_JSON = """{"version": "3.2.16", "adapter": [{"adapter_type": "Dual Adapter", "iomemory": [
{"reserve_space_pct": "100.00", "reserve_status": "healthy", "temp_internal_deg_c": "42.33", "has_pcie_errors": "0",
"rated_writes_remaining_percent": "99.94", "controller_throttle_start_deg_c": "78"}]}]}"""
QUEUES = """get-feature:0x07 (Number of Queues), Current value:0x00070003
    Number of IO Completion Queues Allocated (NCQA): 8
    Number of IO Submission Queues Allocated (NSQA): 4
"""
SMARTCTL = """{"smart_status": {"passed": true}, "temperature": {"current": 41}, "nvme_smart_health_information_log":
{"critical_warning": 0, "temperature": 41, "available_spare": 98, "available_spare_threshold": 10,
"percentage_used": 3, "media_errors": 0, "warning_temp_time": 12, "critical_comp_time": 0}}"""
SMART_LOG = """{"critical_warning": 0, "temperature": 330, "thm_temp1_trans_count": 2, "thm_temp2_trans_count": 1,
"thm_temp1_total_time": 60, "thm_temp2_total_time": 15}"""
SATA = """
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       8
197 Current_Pending_Sector  0x0022   100   100   000    Old_age   Always       -       3
"""
SATA_STATISTICS = """
Page  Offset Size        Value Flags Description
0x07  =====  =               =  ===  == Solid State Device Statistics (rev 1) ==
0x07  0x008  1              14  N--  Percentage Used Endurance Indicator
"""
SAS = """{"smart_status": {"passed": true}, "temperature": {"current": 33}, "scsi_grown_defect_list": 2,
"scsi_percentage_used_endurance_indicator": 6}"""
PRINTED = [
    ("network.rx_ring", RING, "512"),
    ("network.tx_ring", RING, "256"),
    ("network.tx_ring", RING.replace("RX:\t\t512", "RX:\t\t512\nRX Mini:\t0\nRX Jumbo:\t0"), "256"),
    ("network.channels", CHANNELS, "6"),
    ("network.adaptive_rx", "Coalesce parameters for eth0:\nAdaptive RX: on  TX: off\nrx-usecs: 3\n", "on"),
    ("network.receive_offload", "rx-checksumming: on\ngeneric-receive-offload: off\n", "off"),
    ("network.rx_usecs", "Coalesce parameters for eth0:\nrx-usecs: 3\nrx-frames: 0\n", "3"),
    ("processor.performance_bias", "analyzing CPU 0:\nperf-bias: 6\n", "6"),
    ("nvme.write_cache", "get-feature:0x06 (Volatile Write Cache), Current value:0x00000001\n", "1"),
    ("nvme.write_cache", "get-feature:0x6 (Volatile Write Cache), Current value:00000000\n", "0"),
    ("nvme.power_state", "get-feature:0x02 (Power Management), Current value:0x00000004\n", "4"),
    ("sata.write_cache", "\n/dev/sda:\n write-caching =  1 (on)\n", "1"),
    ("sas.write_cache", "    /dev/sda: SEAGATE   ST300\nWCE           0  [cha: y, def:  1, sav:  0]\n", "0"),
    ("nvme.apst", APST.format(value=1), "1"),
    ("nvme.apst", APST.format(value=0), "0"),
]
STATES = [
    ("drive.passed", SMARTCTL, "true", True),
    ("drive.temperature", SMARTCTL, "41", True),
    ("nvme.submission_queues", QUEUES, "4", True),
    ("nvme.completion_queues", QUEUES, "8", True),
    ("nvme.critical_warning", SMARTCTL, "0", True),
    ("nvme.spare", SMARTCTL, "98", True),
    ("nvme.used", SMARTCTL, "3", True),
    ("nvme.media_errors", SMARTCTL, "0", True),
    ("nvme.minutes_too_warm", SMARTCTL, "12", True),
    ("fusion.media", FUSION_IO.format(state="Healthy"), "Healthy", True),
    ("fusion.media", FUSION_IO.format(state="Warning"), "Healthy, Warning", False),
    ("fusion.media", FUSION_IO_2, "Reduced-write", False),
    ("fusion.write_slow_below", FUSION_IO_2, "96.00", True),
    ("fusion.reserve", FUSION_IO_JSON, "100.00", True),
    ("fusion.temperature", FUSION_IO, "42.33", True),
    ("fusion.written_left", FUSION_IO, "99.94", True),
    ("fusion.pcie_errors", FUSION_IO_JSON, "0", True),
    ("nvme.throttled_seconds", SMART_LOG, "15", True),
    ("sata.reallocated_sectors", SATA, "8", True),
    ("sata.pending_sectors", SATA, "3", True),
    ("sata.used", SATA_STATISTICS, "14", True),
    ("sas.grown_defects", SAS, "2", True),
    ("sas.used", SAS, "6", True),
]
