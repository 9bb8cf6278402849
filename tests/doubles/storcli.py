#!/usr/bin/env python3
"""A MegaRAID controller's program for tests, which prints and takes what StorCLI's reference manual says.

    storcli64 /c0 show [J], show rebuildrate | bgirate | patrolread | cc | aso, set KEY=VALUE
    storcli64 /c0/v0 show, show all, show autobgi, set KEY=VALUE

The state is in `storcli.json` beside this file. A key `capacitor` other than Optimal makes WB behave and print as WT,
as controllers do. Where `device` names a device-mapper device of one linear or delay target, its delays follow the
policies: this is how fast the volume is. `mood` makes it hang, ask, refuse, or print another
form.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

STATE = Path(__file__).with_name("storcli.json")
DEFAULTS = {
    "wrcache": "wb", "rdcache": "ra", "iopolicy": "direct", "pdcache": "default", "autobgi": "on", "rebuildrate": "30",
    "bgirate": "30", "patrolread": "on", "cc": "conc", "capacitor": "Optimal", "device": "", "mood": "",
}  # fmt: skip
OF_VOLUME = {
    "wrcache": ("wt", "wb", "awb"),
    "rdcache": ("ra", "nora"),
    "iopolicy": ("direct", "cached"),
    "pdcache": ("on", "off", "default"),
    "autobgi": ("on", "off"),
}
OF_CONTROLLER = {"patrolread": ("on", "off"), "cc": ("off", "conc", "seq")}
RATES = {"rebuildrate": "Rebuildrate", "bgirate": "BGI Rate"}
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
        case ["aso"]:
            return "AdvSwOpt             Time Remaining Mode\nMegaRAID FastPath    Unlimited      -\n"
        case _:
            return f"VD LIST :\n=======\n\n{volume_line(state)}\n"


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


def main() -> int:
    """Print or set; other exit codes than 0 where that is refused."""
    state = DEFAULTS | (json.loads(STATE.read_text()) if STATE.exists() else {})
    match state["mood"]:
        case "hangs":
            time.sleep(3600)
        case "asks":
            print("Controller 0 has foreign configurations. Continue? [y/n]")
            if not sys.stdin.read(1):
                return refuse("no answer", "Aborted")
        case "another form":
            print("VD Cache\n== =====\n00 writeback\n")
            return 0
    match sys.argv[1:]:
        case ["/c0", "show", "J"]:
            drives = [{"DG/VD": "0/0", "TYPE": "RAID10", "State": "Optl"}]
            answer = {"VD LIST": drives, "Cachevault_Info": [{"Model": "CVPM05", "State": state["capacitor"]}]}
            print(json.dumps({"Controllers": [{"Command Status": {"Status": "Success"}, "Response Data": answer}]}))
            return 0
        case [("/c0" | "/c0/v0") as address, "show", *what]:
            show = show_volume if address == "/c0/v0" else show_controller
            print(HEAD.format(status="Success", text="None") + show(state, what), end="")
            return 0
        case [("/c0" | "/c0/v0") as address, "set", setting]:
            key, _, value = setting.partition("=")
            values = OF_VOLUME if address == "/c0/v0" else OF_CONTROLLER
            is_rate = address == "/c0" and key in RATES and value.isdecimal() and int(value) <= 100
            if value not in values.get(key, ()) and not is_rate:
                return refuse(f"syntax error, unexpected {value}", "Un-supported command")
            if state["mood"] == "refuses":
                return refuse("Controller is busy", "Set Virtual Drive properties failed")
            state[key] = value
            STATE.with_suffix(".part").write_text(json.dumps(state))
            STATE.with_suffix(".part").replace(STATE)
            if state["device"]:
                set_speed(state)
            print(HEAD.format(status="Success", text="None"), end="")
            return 0
        case _:
            return refuse("syntax error", "Un-supported command")


if __name__ == "__main__":
    sys.exit(main())
