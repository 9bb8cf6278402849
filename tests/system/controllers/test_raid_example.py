"""The example on a RAID controller, in a virtual machine whose disk is as slow as the double's policies make it."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED, run_paribus
from lab_sandbox import LabSandbox
from storcli import DOUBLE

EXAMPLE = Path(__file__).parents[3] / "examples" / "raid-controller.toml"
SCALED = {
    "target.path": "/mnt/raid",
    "workload.0.total_size": "32MiB",
    "workload.1.total_size": "32MiB",
    "workload.0.threads": "[4]",
    "workload.1.threads": "[4]",
    "protocol.margin": "20%",
    "protocol.rounds": "2",
    "protocol.method": "fixed",
    "protocol.trial": "1s",
    "protocol.settle": "200ms",
}
PREPARED = """
set -e
chmod +x /usr/local/bin/storcli64
modprobe dm_delay
disk=$(readlink -f /dev/disk/by-id/virtio-raid-1)
dmsetup create raid --table "0 $(blockdev --getsz $disk) delay $disk 0 1 $disk 0 1"
echo '{"device": "raid"}' >/usr/local/bin/storcli.json
mkfs.ext4 -q /dev/mapper/raid
mkdir /mnt/raid
mount /dev/mapper/raid /mnt/raid
"""


@pytest.fixture
def machine() -> Iterator[LabSandbox]:
    """A virtual machine with a volume of the double."""
    made = LabSandbox(f"raid{os.getpid()}", ["raid:256MiB"])
    try:
        _, _, body = DOUBLE.read_text(encoding="utf-8").partition("\n")
        program = f"#!/usr/bin/python3 -IS\n{body}"  # which starts in half of the time
        subprocess.run([*made.ssh, "cat >/usr/local/bin/storcli64"], input=program, text=True, check=True)
        made.run(PREPARED)
        yield made
    finally:
        made.remove()


def test_the_policies_of_a_controller_have_their_right_verdicts(machine: LabSandbox) -> None:
    sets = SCALED | {"target.host": machine.address}
    arguments = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    done = run_paribus("run", str(EXAMPLE), *arguments, patience_s=3600.0)
    assert done.code in RUN_ENDED, done.err
    effects = run_paribus("report", "last", "--format", "json").json["effects"]
    verdicts = {effect["factor"]: effect["verdict"] for effect in effects if effect["load"] is None}
    assert verdicts["raid.write_policy"] == "worse", done.out
    assert verdicts["raid.read_policy"] == "worse", done.out
    assert verdicts["raid.io_policy"] == "worse", done.out
    assert verdicts["raid.background_initialisation_rate"] in ("equivalent", "undecided"), done.out
    state = machine.run("cat /usr/local/bin/storcli.json")
    assert all(f'"{value}"' in state for value in ("wb", "ra", "direct", "30"))
