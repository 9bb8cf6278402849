#!/usr/bin/env python3
"""A MegaRAID controller's program for tests, which prints and takes what StorCLI's reference manual says.

    storcli64 /c0 show [J], show KEY, set KEY=VALUE
    storcli64 /c0/v0 show [all], set KEY=VALUE
    storcli64 /c0/vall show bgi, /c0/eall/sall show all, /c0/{bbu,cv} show status

The state is in `storcli.json` beside this file. A key `capacitor` other than Optimal makes WB behave and print as WT,
as controllers do. Where `device` names a device-mapper device of one linear or delay target, its delays follow the
policies: this is how fast the volume is. `mood` makes it hang, ask, refuse, or print another form; `when_set` does so
only where something is set. `learning`, `rebuild`, `bgi` and `media_errors` are states of the battery and the drives.
`drive` is the state of the last drive, which `/c0/e252/s3` shows and changes. It is rebuilt at the time `rebuilt`,
`rebuild_s` after that began.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

STATE = Path(__file__).with_name("storcli.json")
DEFAULTS = {
    "wrcache": "wb", "rdcache": "ra", "iopolicy": "direct", "pdcache": "default", "autobgi": "on", "rebuildrate": "30",
    "bgirate": "30", "patrolread": "on", "prrate": "30", "cc": "conc", "ccrate": "30", "autorebuild": "on",
    "capacitor": "Optimal", "learning": "No", "rebuild": "no", "bgi": "no", "media_errors": "0",
    "drive": "Onln", "rebuilt": "0", "rebuild_s": "0.5",
    "device": "", "mood": "", "when_set": "",
}  # fmt: skip
OF_VOLUME = {
    "wrcache": ("wt", "wb", "awb"),
    "rdcache": ("ra", "nora"),
    "iopolicy": ("direct", "cached"),
    "pdcache": ("on", "off", "default"),
    "autobgi": ("on", "off"),
}
OF_CONTROLLER = {"patrolread": ("on", "off"), "cc": ("off", "conc", "seq"), "autorebuild": ("on", "off")}
RATES = {"rebuildrate": "Rebuildrate", "bgirate": "BGI Rate", "prrate": "Patrol Read Rate", "ccrate": "CC Rate"}
READ_MS = {"ra": 4, "nora": 24}  # the kernel counts a delay in ticks of 4 ms
CACHED_MS = 20
WRITE_MS = {"wb": 4, "awb": 4, "wt": 24}
HEAD = "CLI Version = 007.1316.0000.0000 Mar 12, 2020\nController = 0\nStatus = {status}\nDescription = {text}\n\n"


def policy_in_force(state: dict[str, str]) -> str:
    """The write policy that the controller follows."""
    is_unsafe = state["wrcache"] == "wb" and state["capacitor"] != "Optimal"
    return "wt" if is_unsafe else state["wrcache"]


def volume_line(state: dict[str, str]) -> str:
    """The first volume in the list of virtual drives."""
    cache = f"{'R' if state['rdcache'] == 'ra' else 'NR'}{policy_in_force(state).upper()}"
    cache += "D" if state["iopolicy"] == "direct" else "C"
    return f"0/0   RAID10 Optl  RW     Yes     {cache:6}-   ON  558.375 GB"


def show_volume(state: dict[str, str], what: list[str]) -> str:
    """Return the output of `/c0/v0 show …` below its head."""
    if what == ["autobgi"]:
        return f"VD Operation Status :\n\nVD Operation Status\n 0 AutoBGI   {state['autobgi'].title()}\n"
    heading = "DG/VD TYPE   State Access Consist Cache Cac sCC       Size Name"
    lines = f"Virtual Drives :\n==============\n\n{heading}\n{volume_line(state)}\n"
    if what == ["all"]:
        disk_cache = {"on": "Enabled", "off": "Disabled", "default": "Disk's Default"}[state["pdcache"]]
        lines += f"\nVD0 Properties :\n==============\nStrip Size = 64 KB\nDisk Cache Policy = {disk_cache}\n"
    return lines


def show_controller(state: dict[str, str], what: list[str]) -> str:
    """Return the output of `/c0 show …` below its head."""
    rule = "-" * 24
    table = f"Controller Properties :\n=====================\n\n{rule}\nCtrl_Prop  Value\n{rule}\n"
    match what:
        case [rate] if rate in RATES:
            return f"{table}{RATES[rate]} {state[rate]}%\n"
        case ["patrolread"]:
            mode = "Auto" if state["patrolread"] == "on" else "Disable"
            return f"{table}PR Mode                  {mode}\nPR Current State         Stopped\n"
        case ["cc"]:
            mode = {"off": "Disabled", "conc": "Concurrent", "seq": "Sequential"}[state["cc"]]
            return f"{table}CC Operation Mode        {mode}\nCC Current State         Stopped\n"
        case ["autorebuild"]:
            return f"{table}Auto Rebuild {state['autorebuild'].upper()}\n"
        case ["aso"]:
            return "AdvSwOpt             Time Remaining Mode\nMegaRAID FastPath    Unlimited      -\n"
        case _:
            return f"VD LIST :\n=======\n\n{volume_line(state)}\n"


def last_drive(state: dict[str, str]) -> str:
    """Return the state of the last drive now."""
    if state["rebuild"] == "yes":
        return "Rbld"
    return "Onln" if state["drive"] == "Rbld" and time.time() >= float(state["rebuilt"]) else state["drive"]


def as_json(state: dict[str, str]) -> dict[str, object]:
    """Return the document that `/c0 show J` prints."""
    states = ["Onln", "Onln", "Onln", last_drive(state)]
    answer = {
        "VD LIST": [{"DG/VD": "0/0", "TYPE": "RAID10", "State": "Optl" if states[-1] == "Onln" else "Dgrd"}],
        "PD LIST": [{"EID:Slt": f"252:{slot}", "DID": slot + 4, "State": each} for slot, each in enumerate(states)],
        "Cachevault_Info": [{"Model": "CVPM05", "State": state["capacitor"]}],
    }
    return {"Controllers": [{"Command Status": {"Status": "Success"}, "Response Data": answer}]}


def initialisation(state: dict[str, str]) -> str:
    """Return the output of `/c0/vall show bgi` below its head."""
    status = "12        In progress     2 Hours" if state["bgi"] == "yes" else "-         Not in progress -"
    return f"VD Operation Progress% Status          Estimated Time Left\n 0 BGI       {status}\n"


def drive(state: dict[str, str], slot: int) -> str:
    """Return what `/c0/eall/sall show all` prints of a drive; errors are those of the last one."""
    errors = state["media_errors"] if slot == 3 else "0"
    return (
        f"Drive /c0/e252/s{slot} State :\n=======================\nShield Counter = 0\nMedia Error Count = {errors}\n"
        "Other Error Count = 0\nPredictive Failure Count = 0\nS.M.A.R.T alert flagged by drive = No\n\n"
    )


def battery(state: dict[str, str]) -> str:
    """Return the output of `/c0/bbu show status` below its head."""
    health = "Optimal" if state["learning"] == "No" else "Learning"
    return (
        f"BBU_Info :\n========\n\nProperty      Value\nType          BBU\nBattery State {health}\n\n"
        f"BBU_Firmware_Status :\n===================\n\nLearn Cycle Requested        No\n"
        f"Learn Cycle Active           {state['learning']}\nBattery Replacement required No\n\n"
        "GasGaugeStatus :\n==============\n\nRelative State of Charge 97%\n"
    )


def set_speed(state: dict[str, str]) -> None:
    """Give the volume the delays of its policies."""
    name = state["device"]
    cached_ms = CACHED_MS if state["iopolicy"] == "cached" else 0
    delays = READ_MS[state["rdcache"]] + cached_ms, WRITE_MS[policy_in_force(state)] + cached_ms
    table = subprocess.run(["dmsetup", "table", name], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    start, sectors, _, below, offset = table[:5]
    read, write = (f"{below} {offset} {delay}" for delay in delays)
    for arguments in (["load", name, "--table", f"{start} {sectors} delay {read} {write}"], ["resume", name]):
        subprocess.run(["dmsetup", *arguments], check=True)


def refuse(words: str, text: str) -> int:
    """Say that it is not so, and the exit code of that."""
    print(HEAD.format(status="Failure", text=text), end="")
    print(words, file=sys.stderr)
    return 255


def output(state: dict[str, str], arguments: list[str]) -> str:
    """Return the output of a command that shows something; empty for another."""
    head = HEAD.format(status="Success", text="None")
    match arguments:
        case ["/c0", "show", "J"]:
            return json.dumps(as_json(state)) + "\n"
        case ["/c0/vall", "show", "bgi"]:
            return head + initialisation(state)
        case ["/c0/eall/sall", "show", "all"]:
            return head + "".join(drive(state, slot) for slot in range(4))
        case ["/c0/e252/s3", "show"]:
            heading = "EID:Slt DID State DG       Size Intf Med SED PI SeSz Model            Sp Type"
            line = f"252:3     7 {last_drive(state):5} 0  278.875 GB SAS  HDD N   N  512B ST300MM0006      U  -"
            return f"{head}Drive Information :\n=================\n\n{heading}\n{line}\n"
        case ["/c0/bbu", "show", "status"]:
            return head + battery(state)
        case ["/c0/cv", "show", "status"]:
            info = f"Cachevault_Info :\n\nType          CVPM05\nState         {state['capacitor']}\n\n"
            return f"{head}{info}GasGaugeStatus :\n\nPack Energy             294 J\nCapacitance             108 %\n"
        case ["/c0/v0", "show", *what]:
            return head + show_volume(state, what)
        case ["/c0", "show", *what]:
            return head + show_controller(state, what)
        case _:
            return ""


def change_drive(state: dict[str, str], words: list[str], mood: str) -> int:
    """Take the last drive offline, or begin to rebuild it, and return the exit code."""
    before = last_drive(state)
    match words:
        case ["set", "offline"] if before == "Onln" and mood != "refuses":
            state["drive"] = "Offln"
        case ["start", "rebuild"] if before == "Offln":
            state |= {"drive": "Rbld", "rebuilt": str(time.time() + float(state["rebuild_s"]))}
        case _:
            return refuse("Operation not allowed", f"Drive is {before}")
    keep(state)
    print(HEAD.format(status="Success", text="None"), end="")
    return 0


def keep(state: dict[str, str]) -> None:
    """Write the state."""
    STATE.with_suffix(".part").write_text(json.dumps(state))
    STATE.with_suffix(".part").replace(STATE)


def change(state: dict[str, str], address: str, setting: str, mood: str) -> int:
    """Set a value, and return the exit code."""
    key, _, value = setting.partition("=")
    values = OF_VOLUME if address == "/c0/v0" else OF_CONTROLLER
    is_rate = address == "/c0" and key in RATES and value.isdecimal() and int(value) <= 100
    if value not in values.get(key, ()) and not is_rate:
        return refuse(f"syntax error, unexpected {value}", "Un-supported command")
    if mood == "refuses":
        return refuse("Controller is busy", "Set Virtual Drive properties failed")
    state[key] = value
    keep(state)
    if state["device"]:
        set_speed(state)
    print(HEAD.format(status="Success", text="None"), end="")
    return 0


def main() -> int:
    """Print or set; other exit codes than 0 where that is refused."""
    state = DEFAULTS | (json.loads(STATE.read_text()) if STATE.exists() else {})
    mood = state["mood"] or (state["when_set"] if "set" in sys.argv else "")
    match mood:
        case "hangs":
            time.sleep(3600)
        case "asks":
            print("Controller 0 has foreign configurations. Continue? [y/n]")
            if not sys.stdin.read(1):
                return refuse("no answer", "Aborted")
        case "another form":
            print("VD Cache\n== =====\n00 writeback\n")
            return 0
    if sys.argv[2:3] == ["set"] and sys.argv[1] in ("/c0", "/c0/v0") and len(sys.argv) == 4:
        return change(state, sys.argv[1], sys.argv[3], mood)
    if sys.argv[1:2] == ["/c0/e252/s3"] and sys.argv[2:] != ["show"]:
        return change_drive(state, sys.argv[2:], mood)
    text = output(state, sys.argv[1:])
    if not text:
        return refuse("syntax error", "Un-supported command")
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
