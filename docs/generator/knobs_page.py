"""Page of the knobs in the catalogue."""

import itertools
from collections.abc import Iterator

from generator.advice_page import advice_link
from generator.markdown import code, literal, page, sentence
from generator.texts import introduction
from paribus.databases.server import variable_needs
from paribus.knobs.catalog import load
from paribus.knobs.discovery import kernels_of
from paribus.knobs.recipe import DANGERS
from paribus.lab.machine.knob_queries import VARIABLE_FAMILIES
from paribus.mechanisms import MECHANISMS
from paribus.model import Knob

_SUBSYSTEMS = {
    "block": "I/O of the disks under test: `target.device`, or all disks that `target.path` lies on. `block.top.NAME` "
    "is the same setting of the device on top of them, which the file system lies on.",
    "cgroup": "Limits of a control group that Paribus creates for the load or the private server, and removes.",
    "cpu": "Clock frequency of the processors.",
    "event": "Whether an event of the plan happens in a trial, such as a backup beside the load.",
    "guest": "The virtual machine that the target is, as libvirt defines it; plans name it as `target.guest`.",
    "irq": "Interrupts of the controller of the device under test.",
    "kernel": "Process scheduler and other settings below `/proc/sys/kernel`.",
    "sysctl": "Files below `/proc/sys` that have no entry of their own.",
    "sysfs": "Files below `/sys` that have no entry of their own.",
    "thp": "Transparent huge pages.",
    "layout": "What lies between `target.devices` and the files, built for each application.",
    "module": "Parameters of kernel modules that can be written while the module is loaded.",
    "modprobe": "Parameters of kernel modules that are given when the module is loaded.",
    "md": "Software RAID below `target.path` or of a layout. On a layout these are set anew after each build.",
    "mount": "Mount options of the file system below `target.path`.",
    "platform": "The machine that runs the workload: the guest under test, or its hypervisor.",
    "process": "Conditions that the load or the private server is started with.",
    "sqlite": "Pragmas of SQLite, for plans with `kind = \"sqlite\"` in `[database]`.",
    "vm": "Memory management of the kernel.",
}  # fmt: skip
_TAKES_EFFECT = {
    "live": "at once, also under load",
    "restart": "at the next start of the process or server; each application has a start of its own",
    "remount": "when the file system is mounted; Paribus unmounts it and mounts it again",
    "reboot": "when the guest is started; Paribus has it shut down and starts it again",
    "rebuild": "when it is built; the disks are wiped before and after, and the data is made anew",
    "trial": "in each trial by itself; nothing is written",
    "reload": "when the module is loaded; Paribus unloads it and loads it again",
}
_VALUES = {
    "integer": "a whole number",
    "choice": "a value that the machine offers",
    "text": "text",
    "word": "a word or a whole number",
    "size": 'a size, such as `"256MiB"`',
    "limit": '`"max"`, a number, or a size such as `"100MiB"`',
    "integer_or_system": '`"system"`, or a whole number',
    "cores": '`"max"`, or a number of processors such as 1.5',
    "layout": "a table of layers, such as `{ md = { level = 10 }, xfs = {} }`",
    "share_or_size": 'a share such as `"20%"`, or a size such as `"256MiB"`',
}


def render() -> str:
    """Returns the page."""
    knobs = sorted(load(), key=_subsystem)
    groups = [list(group) for _, group in itertools.groupby(knobs, _subsystem)]
    families = "\n".join(f"- `{name}`: {literal(members)}" for name, members in VARIABLE_FAMILIES.items())
    parts = [introduction("knobs"), *map(_group, groups), introduction("knobs-database"), families, _variables()]
    parts += [introduction("mechanisms"), _mechanisms()]
    return page("Knobs", *parts)


def _variables() -> str:
    rows = [(f"{family}.{name}", ", ".join(needs)) for family, name, needs in variable_needs.rows()]
    lines = [f"| {code(name)} | {needs} |" for name, needs in rows]
    return "\n".join(["Variables with a known mechanism:\n", "| variable | acts through |", "|---|---|", *lines])


def _mechanisms() -> str:
    lines = [
        f"| {mechanism.name} | {literal(mechanism.explanation)} | {_codes(mechanism.counters)} | "
        f"{'' if mechanism.leaves_state else 'yes'} |"
        for mechanism in MECHANISMS.values()
    ]
    return "\n".join(["| mechanism | meaning | counters | leaves nothing |", "|---|---|---|---|", *lines])


def _subsystem(knob: Knob) -> str:
    return knob.name.partition(".")[0]


def _group(knobs: list[Knob]) -> str:
    subsystem = _subsystem(knobs[0])
    return "\n\n".join([f"## {subsystem}", _SUBSYSTEMS[subsystem], *map(_entry, knobs)])


def _entry(knob: Knob) -> str:
    facts = "\n".join(f"- {title}: {text}" for title, text in _facts(knob) if text)
    details = literal(knob.documentation)  # which may begin with a value, so that its first letter stays
    return "\n\n".join([f"### {literal(knob.name)}", sentence(literal(knob.summary)), details, facts])


def _facts(knob: Knob) -> Iterator[tuple[str, str]]:
    yield "Values", _values(knob)
    yield "Takes effect", _TAKES_EFFECT[knob.takes_effect]
    yield "Resets", _codes(knob.resets)
    yield "Acts through", ", ".join(f"[{name}](#mechanisms)" for name in knob.needs)
    yield "Exists only under a value of", _codes([knob.exists_under] if knob.exists_under else [])
    yield "Risk", literal(DANGERS.get(knob.danger, knob.danger))
    yield "Kernels", kernels_of(knob).removeprefix("kernels ")
    yield "File systems", _file_systems(knob)
    yield "Needs a new mount on", _codes(knob.unmounts)
    yield "Only on one file system", ", ".join(f"`{value}` on {system}" for value, system in knob.only_on.items())
    yield "Removed from", "; ".join(f"{system}: {literal(reason)}" for system, reason in knob.gone.items())
    yield "Reads back rounded", "yes" if knob.readback == "rounded" else ""
    yield "Other names", _codes(knob.aliases)
    yield "Former values", ", ".join(f"`{old}` is `{new}`" for old, new in knob.renamed.items())
    modules = [f"`{value}` ({literal(module)})" for value, module in knob.modules.items()]
    yield "Values that the kernel loads a module for", ", ".join(modules)
    yield "Published advice", advice_link(knob.name)
    yield "Address", _codes((*knob.addresses, *knob.elsewhere))


def _values(knob: Knob) -> str:
    unit = f" ({knob.unit})" if knob.unit else ""
    if knob.allowed:
        return f"one of {_codes(knob.allowed)}{unit}"
    if knob.pattern:
        return f"text that matches {code(knob.pattern)}{unit}"
    if knob.type == "limit" and knob.unit == "operations/s":
        return f'`"max"` or a number{unit}'
    bounds = [
        f"{word} {bound:,}" for word, bound in (("from", knob.minimum), ("to", knob.maximum)) if bound is not None
    ]
    return " ".join(filter(None, [_VALUES[knob.type] + (unit if knob.type != "size" else ""), *bounds]))


def _file_systems(knob: Knob) -> str:
    return ", ".join(
        f"{'all' if system == '*' else system} (`{unshown}` where the kernel shows no value)"
        for system, unshown in knob.filesystems.items()
    )


def _codes(values: tuple[object, ...] | list[str]) -> str:
    return ", ".join(map(code, values))
