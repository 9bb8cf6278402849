"""Output of the programs of RAID controllers, in the form of their manuals, with its values."""

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
   Cache Status: OK
   Battery/Capacitor Count: 1
   Battery/Capacitor Status: Recharging
"""
LOGICAL_DRIVE = """
      Logical Drive: 1
         Size: 279.4 GB
         Status: Interim Recovery Mode
         Caching:  Enabled
"""
ADAPTEC = """
Logical Device number 0
   Status of Logical Device                 : Optimal
   Read-cache setting                       : Enabled
   Read-cache status                        : On
   Write-cache setting                      : Enabled (write-back) when protected by battery/ZMM
   Write-cache status                       : On
"""
MEGACLI = """
Adapter 0 -- Virtual Drive Information:
Virtual Drive: 0 (Target Id: 0)
State               : Optimal
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
CONTROLLER = """{"Controllers": [{"Command Status": {"Controller": 0, "Status": "Success"}, "Response Data": {
"VD LIST": [{"DG/VD": "0/0", "TYPE": "RAID10", "State": "Dgrd", "Cache": "NRWTD"}],
"PD LIST": [{"EID:Slt": "252:0", "DID": 4, "State": "Onln", "DG": 0},
{"EID:Slt": "252:1", "DID": 5, "State": "Rbld", "DG": 0},
{"EID:Slt": "252:2", "DID": 6, "State": "Onln", "DG": 0}],
"Cachevault_Info": [{"Model": "CVPM05", "State": "Optimal", "Temp": "32C", "Mode": "-", "MfgDate": "2017/11/28"}]}}]}"""
SMART_ARRAY_DRIVES = """
   physicaldrive 1I:1:1 (port 1I:box 1:bay 1, 300 GB): OK
   physicaldrive 1I:1:2 (port 1I:box 1:bay 2, 300 GB): Predictive Failure
"""
ADAPTEC_CONTROLLER = """
   Controller Status                        : Optimal
   --------------------------------------------------------
   Controller Cache Backup Unit Information
   --------------------------------------------------------
    Overall Backup Unit Status              : Not Ready
         Supercap Status                    : Charging
"""
ADAPTEC_DRIVES = """
      Device #0
         State                              : Online
         S.M.A.R.T.                         : No
         S.M.A.R.T. warnings                : 0
      Device #1
         State                              : Online
         S.M.A.R.T.                         : No
         S.M.A.R.T. warnings                : 2
"""
MEGACLI_RATE = """
Adapter 0: {name} Rate = 30%

Exit Code: 0x00
"""
MEGACLI_PATROL_READ = """
Adapter 0: Patrol Read Information:

Patrol Read Mode: Auto
Patrol Read Execution Delay: 168 hours
Number of iterations completed: 12
Current State: Active
"""
MEGACLI_CONSISTENCY = """
Adapter #0

Operation Mode: Concurrent
Execution Delay: 168
Current State: Stopped
"""
MEGACLI_BATTERY = """
BBU status for Adapter: 0

BatteryType: BBU
Voltage: 3901 mV
Battery State: Optimal
BBU Firmware Status:

  Charging Status              : Discharging
  Learn Cycle Requested                   : No
  Learn Cycle Active                      : Yes

BBU GasGauge Status: 0x0128
Relative State of Charge: 61 %
"""
MEGACLI_DRIVES = """
Enclosure Device ID: 252
Slot Number: 0
Media Error Count: 3
Other Error Count: 0
Predictive Failure Count: 0
Firmware state: Online, Spun Up

Enclosure Device ID: 252
Slot Number: 1
Media Error Count: 4
Other Error Count: 0
Predictive Failure Count: 1
Firmware state: {state}
"""
DRIVES = """
Drive /c0/e252/s0 State :
=======================
Shield Counter = 0
Media Error Count = 1
Other Error Count = 5
Predictive Failure Count = 0
S.M.A.R.T alert flagged by drive = No

Drive /c0/e252/s1 State :
=======================
Shield Counter = 0
Media Error Count = 2
Other Error Count = 0
Predictive Failure Count = 4
S.M.A.R.T alert flagged by drive = Yes

Drive /c0/e252/s2 State :
=======================
Shield Counter = N/A
Media Error Count = N/A
Predictive Failure Count = N/A
S.M.A.R.T alert flagged by drive = N/A
"""
BATTERY = """
BBU_Info :
========
Property      Value
Type          BBU
Battery State Optimal

BBU_Firmware_Status :
===================
Learn Cycle Requested        No
Learn Cycle Active           Yes
Battery Replacement required No

GasGaugeStatus :
==============
Relative State of Charge 97%
"""
BGI = """
VD Operation Status :
===================
VD Operation Progress% Status          Estimated Time Left
 0 BGI       -         Not in progress -
 1 BGI       12        In progress     2 Hours
"""
PRINTED = [
    ("raid.background_initialisation", "VD Operation Status\n 0 AutoBGI   On\n", "On"),
    ("raid.background_initialisation_rate", RATE.replace("Rebuildrate", "BGI Rate"), "30"),
    ("raid.patrol_read_mode", TASKS.format(task="PR", state="Stopped"), "Auto"),
    ("raid.consistency_check_mode", "CC Operation Mode        Concurrent\n", "Concurrent"),
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
    ("raid.automatic_rebuild", RATE.replace("Rebuildrate 30%", "Auto Rebuild ON"), "ON"),
    ("raid.patrol_read_rate", RATE.replace("Rebuildrate", "Patrol Read Rate"), "30"),
    ("raid.consistency_check_rate", RATE.replace("Rebuildrate", "CC Rate"), "30"),
    ("megacli.bad_battery", MEGACLI, "No Write Cache if Bad BBU"),
    ("megacli.rebuild_rate", MEGACLI_RATE.format(name="Rebuild"), "30"),
    ("megacli.background_initialisation_rate", MEGACLI_RATE.format(name="BGI"), "30"),
    ("megacli.patrol_read_rate", MEGACLI_RATE.format(name="Patrol Read"), "30"),
    ("megacli.consistency_check_rate", MEGACLI_RATE.format(name="Check Consistency"), "30"),
    ("megacli.automatic_rebuild", "\nAdapter 0: AutoRebuild is Enabled.\n", "Enabled"),
    ("megacli.background_initialisation", "\nBackground Initialization on VD #0 is Disabled.\n", "Disabled"),
    ("megacli.patrol_read_mode", MEGACLI_PATROL_READ, "Auto"),
    ("megacli.consistency_check_mode", MEGACLI_CONSISTENCY, "Concurrent"),
]
STATES = [
    ("raid.fastpath", "MegaRAID FastPath    Unlimited      -\n", "Unlimited", True),
    ("raid.cache_protection", CONTROLLER, "Optimal", True),
    ("raid.volume_state", CONTROLLER, "Dgrd", False),
    ("raid.capacitor_charge", "Pack Energy             252 J\nCapacitance             111 %\n", "111", True),
    ("raid.patrol_read", TASKS.format(task="PR", state="Active"), "Active", False),
    ("raid.consistency_check", TASKS.format(task="CC", state="Stopped"), "Stopped", True),
    ("raid.drives", CONTROLLER, "Onln, Rbld", False),
    ("raid.initialisation", BGI, "In progress, Not in progress", False),
    ("raid.media_errors", DRIVES, "3", True),
    ("raid.predictive_failures", DRIVES, "4", True),
    ("raid.smart_alert", DRIVES, "No, Yes", False),
    ("raid.battery", BATTERY, "Optimal", True),
    ("raid.battery_learning", BATTERY, "Yes", False),
    ("raid.battery_charge", BATTERY, "97", True),
    ("raid.battery_replacement", BATTERY, "No", True),
    ("megacli.battery", MEGACLI_BATTERY, "Optimal", True),
    ("megacli.battery_learning", MEGACLI_BATTERY, "Yes", False),
    ("megacli.battery_charge", MEGACLI_BATTERY, "61", True),
    ("megacli.volume_state", MEGACLI, "Optimal", True),
    ("megacli.drives", MEGACLI_DRIVES.format(state="Rebuild"), "Online, Rebuild", False),
    ("megacli.drives", MEGACLI_DRIVES.format(state="Hotspare, Spun down"), "Hotspare, Online", True),
    ("megacli.media_errors", MEGACLI_DRIVES, "7", True),
    ("megacli.predictive_failures", MEGACLI_DRIVES, "1", True),
    ("megacli.patrol_read", MEGACLI_PATROL_READ, "Active", False),
    ("megacli.consistency_check", MEGACLI_CONSISTENCY, "Stopped", True),
    ("smartarray.battery", SMART_ARRAY, "Recharging", False),
    ("smartarray.cache_status", SMART_ARRAY, "OK", True),
    ("smartarray.volume_state", LOGICAL_DRIVE, "Interim Recovery Mode", False),
    ("smartarray.drives", SMART_ARRAY_DRIVES, "OK, Predictive Failure", False),
    ("adaptec.backup_unit", ADAPTEC_CONTROLLER, "Not Ready", False),
    ("adaptec.volume_state", ADAPTEC, "Optimal", True),
    ("adaptec.smart_warnings", ADAPTEC_DRIVES, "2", True),
]
OF_DRIVE = """
Drive Information :
=================

----------------------------------------------------------------------------------
EID:Slt DID State DG       Size Intf Med SED PI SeSz Model            Sp Type
----------------------------------------------------------------------------------
252:3     7 {state}  0 278.875 GB SAS  HDD N   N  512B ST300MM0006      U  -
----------------------------------------------------------------------------------
"""
OLD_DRIVE = """
Enclosure Device ID: 252
Slot Number: 3
Media Error Count: 0
Firmware state: {state}
Device Firmware Level: 0003
"""
DRIVE_STATES = [
    ("raid.drive_252_3", OF_DRIVE.format(state="Onln"), "Onln"),
    ("raid.drive_252_3", OF_DRIVE.format(state="Offln"), "Offln"),
    ("raid.drive_252_3", OF_DRIVE.format(state="Rbld"), "Rbld"),
    ("megacli.drive_252_3", OLD_DRIVE.format(state="Online, Spun Up"), "Online"),
    ("megacli.drive_252_3", OLD_DRIVE.format(state="Offline"), "Offline"),
    ("megacli.drive_252_3", OLD_DRIVE.format(state="Rebuild"), "Rebuild"),
]
