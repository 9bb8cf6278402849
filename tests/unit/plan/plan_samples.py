"""A machine and plans to check."""

import dataclasses
from collections.abc import Mapping

from paribus import workloads
from paribus.knobs import kinds
from paribus.knobs.catalog import load
from paribus.model import Facts, Offer, Plan
from paribus.plan.check import check
from paribus.plan.form.parse import Parsed, parse

assert workloads and kinds

FILEIO = '[[workload]]\nkind = "fileio"\ntotal_size = "1MiB"\nthreads = [1, 4]\n'


def offer(name: str, current: object, allowed: tuple[object, ...] = (), refused: str = "", todo: str = "") -> Offer:
    return Offer(
        knob=dataclasses.replace(load().get(name), addresses=(f"/fake/{name}",)),
        current=current,  # type: ignore[arg-type]
        allowed=allowed,  # type: ignore[arg-type]
        refused=refused,
        todo=todo,
    )


OFFERS = {
    "block.scheduler": offer("block.scheduler", "mq-deadline", ("none", "mq-deadline", "bfq")),
    "block.rq_affinity": offer("block.rq_affinity", 1, (0, 1, 2)),
    "block.read_ahead_kb": offer("block.read_ahead_kb", 128),
    "vm.swappiness": offer("vm.swappiness", 60),
    "vm.dirty": offer("vm.dirty", "20%"),
}


def facts(**changed: object) -> Facts:
    fields: dict[str, object] = {
        "hostname": "db1",
        "kernel": "6.1.0",
        "boot_id": "b",
        "root": True,
        "cores": 2,
        "memory_bytes": 2**33,
        "path": "/data",
        "path_refusal": None,
        "free_bytes": 2**40,
        "filesystem": "ext4",
        "mount": "/",
        "path_device": "/dev/sda",
        "device": "/dev/sda",
        "device_refusal": None,
        "io_uring_refused": "",
        "direct_refused": "",
        "fingerprint": {},
        "offers": OFFERS,
    }
    return Facts(**(fields | changed))  # type: ignore[arg-type]


def parsed(text: str, overrides: Mapping[str, str] | None = None) -> Parsed:
    return parse("plan.toml", text, overrides or {})


def checked(text: str, **changed: object) -> Plan:
    return check(parsed(text), load(), facts(**changed))


def simple(factors: str, workload: str = FILEIO, rest: str = "") -> str:
    return f'name = "n"\n[factors]\n{factors}\n{workload}\n{rest}'
