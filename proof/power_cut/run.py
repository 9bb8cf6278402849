"""Durability of the engine's acknowledged writes in power cuts, on a real kernel and file system.

Cuts the power of a virtual machine at random moments of a load on verified data, once for each way to make writes
durable. Boots it again, and the engine compares every block with what it had acknowledged. On a disk that
acknowledges flushes without doing them the same must end in lost blocks: that is the control.

    .venv/bin/python proof/power_cut/run.py [--seed N]
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path += [str(Path(__file__).parents[2] / "tests")]

from machine import EngineMachine, Event, engine_image

from guest.image import Image, command

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "engine/target/release/paribus-engine"

FILES, FILE_BYTES, BLOCK_BYTES = 4, 8 << 20, 4096
DISK_BYTES = 3 * FILES * FILE_BYTES

WAYS: dict[str, tuple[Event, Event]] = {
    "fsync": ({}, {"fsync_every": 40}),
    "fdatasync": ({}, {"fsync_every": 40, "fsync_call": "fdatasync"}),
    "O_DIRECT, fsync": ({"direct": True}, {"fsync_every": 40}),
    "O_DSYNC": ({"sync_writes": "dsync"}, {"fsync_every": 0}),
    "O_DIRECT, O_SYNC": ({"direct": True, "sync_writes": "sync"}, {"fsync_every": 0}),
}
LONGEST_S = 3.0  # from the first acknowledgement to the cut
COUNT_MASK = (1 << 40) - 1  # of a sequence; the bits above name the run


def job(phase: str, directory: Path, io: Event, access: Event) -> Event:
    """A job on the data, of eight lanes."""
    data = {"directory": str(directory), "files": FILES, "total_size_bytes": FILES * FILE_BYTES}
    access = {"mode": "rndwr", "block_size_bytes": BLOCK_BYTES, **access}
    return {
        "protocol": 2,
        "phase": phase,
        "workload": {
            "kind": "fileio",
            "data": {**data, "verified_block_bytes": BLOCK_BYTES},
            "io": io,
            "access": access,
        },
        "load": {"outstanding": 8},
        "measure_s": 60,
    }


def prepared_disk(folder: Path) -> Path:
    """The image of a disk with prepared data on ext4."""
    disk, data = folder / "prepared", folder / "data"
    data.mkdir()
    with subprocess.Popen([ENGINE, "run"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as engine:
        assert engine.stdin
        print(json.dumps(job("prepare", data, {}, {})), file=engine.stdin, flush=True)
        assert engine.wait() == 0, "the data could not be prepared"
    with disk.open("wb") as image:
        image.truncate(DISK_BYTES)
    command("mkfs.ext4", "-q", "-d", data, disk)
    return disk


def run_until_cut(image: Image, disk: Path, run: Event, wait_s: float, *, lies: bool) -> tuple[float, list[int]]:
    """Cuts the power `wait_s` after the first acknowledgement.

    Returns the seconds from the start of the load to the cut, and what was acknowledged last.
    """
    durable: list[int] = []
    start = cut = 0.0
    with EngineMachine(image, disk, run, lies=lies) as machine:
        for event in machine.events():
            if event["event"] == "error":
                raise RuntimeError(f"the load has failed: {event}")
            if event.get("name") == "ready":
                start = time.monotonic()
            if event["event"] == "durable":
                if not durable:
                    threading.Timer(wait_s, machine.cut).start()
                durable = event["sequences"]
        cut = time.monotonic()
    if not durable:
        raise RuntimeError("the load has ended and nothing was acknowledged")
    return cut - start, durable


def verify(image: Image, disk: Path, run: Event, durable: list[int]) -> Event:
    """Return the engine's verdict on the data after the machine was booted again."""
    with EngineMachine(image, disk, {**run, "phase": "verify", "durable": durable}) as machine:
        for event in machine.events():
            if event["event"] in ("verified", "error"):
                return event
    raise RuntimeError("the engine has said nothing of the data")


def main() -> None:
    """Print the table; exit code 1 when anything is lost, or when the loss on the lying disk is not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the moments; default: random")
    seed = parser.parse_args().seed
    moments = random.Random(seed)
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        sys.exit("the kernel to cut the power of is a Debian package: run this on Debian, or install apt and dpkg")
    os.environ["PATH"] += ":/usr/sbin:/sbin"  # where Debian keeps mkfs, and does not let users look
    image = engine_image(ROOT / "artefacts/guest", ROOT / "artefacts/power_cut", ENGINE)
    qemu, nbdkit = (command(name, "--version").splitlines()[0] for name in ("qemu-system-x86_64", "nbdkit"))
    print(f"{image.kernel_package}; {qemu}; {nbdkit}; seed {seed}\n")
    print("| disk | engine | durable by | cut after | writes acknowledged | of blocks | lost |")
    print("|---|---|---|---|---|---|---|")
    cases = [(engine, way, False) for way in WAYS for engine in ("sync", "io_uring")]
    cases += [("sync", "fsync", True), ("io_uring", "O_DSYNC", True)]
    wrong = 0
    with tempfile.TemporaryDirectory(dir=ROOT / "artefacts/power_cut") as name:
        prepared, disk = prepared_disk(Path(name)), Path(name) / "disk"
        for engine, way, lies in cases:
            shutil.copy(prepared, disk)
            io, access = WAYS[way]
            run = job("run", Path("/data"), {**io, "engine": engine}, access)
            after_s, durable = run_until_cut(image, disk, run, moments.uniform(0, LONGEST_S), lies=lies)
            found = verify(image, disk, run, durable)
            writes = sum(sequence & COUNT_MASK for sequence in durable)
            is_lost = found.get("class") == "data-corrupt"
            wrong += is_lost != lies or (found["event"] == "error") != is_lost
            print(
                f"| {'lies' if lies else 'honest'} | {engine} | {way} | {after_s:.1f} s | {writes}"
                f" | {found.get('acknowledged', '')} | {found.get('message', 'none')} |",
                flush=True,
            )
    if wrong:
        sys.exit(f"{wrong} of {len(cases)} cuts did not end as they must")


if __name__ == "__main__":
    main()
