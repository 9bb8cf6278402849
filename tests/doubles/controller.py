#!/usr/bin/env python3
"""A RAID controller's program for tests: it has a state, prints it, and refuses what it does not know.

    controller show            the state as JSON
    controller set KEY=VALUE   sets wrcache (wt, wb, awb), rdcache (ra, nora) or rate (0 to 100)

The state is in the file that CONTROLLER_STATE names, else beside this file; that of the battery may be in a file of its
own, `.battery`. A battery that is not optimal makes `wb` fall back to write-through at once, as controllers do.
"""

import json
import os
import sys
from pathlib import Path

STATE = Path(os.environ.get("CONTROLLER_STATE") or Path(__file__).with_suffix(".json"))
VALUES = {"wrcache": ("wt", "wb", "awb"), "rdcache": ("ra", "nora")}
BATTERY = "Optimal"


def main() -> int:
    """Print or set; the exit code is 1 where that is refused."""
    state = {"wrcache": "wt", "rdcache": "ra", "rate": 30, "battery": BATTERY}
    if STATE.exists():
        state |= json.loads(STATE.read_text())
    if (battery := STATE.with_suffix(".battery")).exists():
        state["battery"] = battery.read_text()
    match sys.argv[1:]:
        case ["show"]:
            policy = {"Write Cache": state["wrcache"].upper(), "Read Cache": state["rdcache"].upper()}
            print(json.dumps({"Controllers": [{"Policy": policy, "Rate": state["rate"], "Battery": state["battery"]}]}))
            print(f"Rebuild Rate : {state['rate']} %", file=sys.stderr)
        case ["rate"]:
            print(f"Adapter 0\n  Rebuild Rate : {state['rate']} %\nExit Code: 0x00")
        case ["set", setting]:
            key, _, value = setting.partition("=")
            if value not in VALUES.get(key, ()) and not (key == "rate" and value.isdecimal() and int(value) <= 100):
                print(f"syntax error, unexpected {setting}", file=sys.stderr)
                return 1
            if value == "wb" and state["battery"] != BATTERY:
                value = "wt"
            state[key] = int(value) if key == "rate" else value
            STATE.write_text(json.dumps(state))
        case _:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
