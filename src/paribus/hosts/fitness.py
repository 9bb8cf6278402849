"""Fitness of a machine for measuring: causes of noisy, biased or impossible figures, and their remedies.

In: files of the host, and a short sample of its load. Out: conditions. Nothing here changes anything.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from paribus.errors import HostError
from paribus.hosts.facts import text_of
from paribus.hosts.transport import Host
from paribus.model import Condition, Fitness

_CPU = "/sys/devices/system/cpu"
_GOOD_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "xen")
_INTERFERING_DAEMONS = {
    "tuned": "it sets kernel knobs by its profile; stop it meanwhile: systemctl stop tuned",
    "irqbalance": "it moves interrupts while trials run; stop it meanwhile: systemctl stop irqbalance",
    "power-profiles-daemon": "it sets the governor; stop it meanwhile: systemctl stop power-profiles-daemon",
    "thermald": "it throttles processors by temperature; stop it meanwhile: systemctl stop thermald",
    "numad": "it moves memory between nodes; stop it meanwhile: systemctl stop numad",
}
_RAID_TOOLS = ("storcli64", "perccli64")  # of one family, with one syntax
_RAID_CLASS = "0x0104"
_BUSY = 0.05  # of all processors, by others, in a machine that should be idle
_STOLEN = 0.01
_ENOUGH_FREE = 0.10


@dataclass(frozen=True, slots=True)
class IdleSample:
    """A second or two of the sampler: shares of all processors, and the busiest processes, the busiest first."""

    busy: float
    stolen: float
    busiest: tuple[tuple[str, float], ...]
    free_bytes: int
    total_bytes: int


def conditions(host: Host, sample: IdleSample) -> list[Condition]:
    """Every condition, the most important first."""
    return [
        *_load(sample),
        *_virtual(host),
        *_governor(host),
        *_turbo(host),
        *_clock(host),
        *_swap(host),
        *_space(sample),
        *_temperature(host),
        *_interfering_daemons(host),
        *_raid(host),
    ]


def _load(sample: IdleSample) -> Iterator[Condition]:
    processes = ", ".join(f"{name} {share:.0%}" for name, share in sample.busiest[:3] if share >= 0.01)
    text = f"{sample.busy:.1%} of the processors are busy" + (f": {processes}" if processes else "")
    if sample.busy > _BUSY:
        yield Condition("other load", Fitness.UNFIT, text, "stop what need not run, or measure at another time")
    else:
        yield Condition("other load", Fitness.FIT, text)
    if sample.stolen > _STOLEN:
        text = f"{sample.stolen:.1%} of the processors' time is taken by other guests of the host (steal)"
        yield Condition("neighbours", Fitness.UNFIT, text, "measure when the host is quiet, or on a host of your own")
    else:
        yield Condition("neighbours", Fitness.FIT, "no time is taken by other guests of the host (steal)")


def _virtual(host: Host) -> Iterator[Condition]:
    flags = next((line for line in text_of(host, "/proc/cpuinfo").splitlines() if line.startswith("flags")), "")
    if "hypervisor" in flags.split():
        text = "it is a virtual machine: it shares disk and processors with guests that cannot be seen from here"
        yield Condition(
            "hardware", Fitness.NOTE, text, "expect wider intervals; the results may not hold on bare metal"
        )
    else:
        yield Condition("hardware", Fitness.FIT, "it is no virtual machine, as far as the processor reports")


def _governor(host: Host) -> Iterator[Condition]:
    policies = [name for name in host.names(f"{_CPU}/cpufreq") if name.startswith("policy")]
    governors = {text_of(host, f"{_CPU}/cpufreq/{name}/scaling_governor") for name in policies}
    if not policies:
        yield Condition("governor", Fitness.NOTE, "the processors' frequency cannot be seen or set from here")
    elif governors == {"performance"}:
        yield Condition("governor", Fitness.FIT, "performance on every processor")
    else:
        fix = 'add to the plan: [hold] "cpu.governor" = "performance"'
        yield Condition(
            "governor", Fitness.UNFIT, f"{', '.join(sorted(governors))}: the frequency follows the load", fix
        )


def _turbo(host: Host) -> Iterator[Condition]:
    for path, on, fix in (
        (f"{_CPU}/intel_pstate/no_turbo", "0", '"cpu.no_turbo" = 1'),
        (f"{_CPU}/cpufreq/boost", "1", '"cpu.boost" = 0'),
    ):
        value = text_of(host, path)
        if value == on:
            text = "turbo is on: speed depends on temperature and on what the other cores do"
            yield Condition("turbo", Fitness.NOTE, text, f"for steadier figures add to the plan: [hold] {fix}")
        elif value:
            yield Condition("turbo", Fitness.FIT, "turbo is off")


def _clock(host: Host) -> Iterator[Condition]:
    folder = "/sys/devices/system/clocksource/clocksource0"
    clock = text_of(host, f"{folder}/current_clocksource")
    if not clock or clock.startswith(_GOOD_CLOCKS):
        yield Condition("clock", Fitness.FIT, clock or "unknown")
        return
    better = [
        name for name in text_of(host, f"{folder}/available_clocksource").split() if name.startswith(_GOOD_CLOCKS)
    ]
    fix = f"echo {better[0]} > {folder}/current_clocksource" if better else "look in dmesg why tsc is not trusted"
    yield Condition("clock", Fitness.UNFIT, f"{clock}: reading the time is slow, and is done at every operation", fix)


def _swap(host: Host) -> Iterator[Condition]:
    sizes = dict(re.findall(r"^(\w+):\s+(\d+) kB$", text_of(host, "/proc/meminfo"), re.MULTILINE))
    used_kb = int(sizes.get("SwapTotal", 0)) - int(sizes.get("SwapFree", 0))
    if used_kb > 0:
        text = f"{used_kb / 1024:,.0f} MiB are swapped out, and may be read back at any moment"
        yield Condition("swap", Fitness.UNFIT, text, "where memory is free: swapoff -a && swapon -a")
    else:
        yield Condition("swap", Fitness.FIT, "nothing is swapped out")


def _space(sample: IdleSample) -> Iterator[Condition]:
    share = sample.free_bytes / max(sample.total_bytes, 1)
    text = f"{share:.0%} of the file system are free ({sample.free_bytes / 2**30:,.1f} GiB)"
    if share < _ENOUGH_FREE:
        fix = "free some: file systems and SSDs slow down when they are nearly full"
        yield Condition("space", Fitness.UNFIT, text, fix)
    else:
        yield Condition("space", Fitness.FIT, text)


def _temperature(host: Host) -> Iterator[Condition]:
    throttled = 0
    for name in host.names(_CPU):
        if re.fullmatch(r"cpu\d+", name):
            throttled += int(text_of(host, f"{_CPU}/{name}/thermal_throttle/core_throttle_count") or 0)
    celsius = hottest(host)
    if throttled:
        text = f"processors were slowed down for heat {throttled:,} times since the boot"
        yield Condition("heat", Fitness.UNFIT, text, "improve the cooling, or hold a lower frequency in every trial")
    elif celsius is not None:
        yield Condition("heat", Fitness.FIT, f"{celsius:.0f} °C at most, and never slowed down for it")
    else:
        yield Condition("heat", Fitness.NOTE, "temperatures cannot be seen from here")


def hottest(host: Host) -> float | None:
    """The highest temperature in °C that the kernel shows; None where it shows none."""
    texts = [
        text_of(host, f"/sys/class/thermal/{zone}/temp")
        for zone in host.names("/sys/class/thermal")
        if zone.startswith("thermal_zone")
    ]
    return max((int(text) / 1000 for text in texts if text.lstrip("-").isdecimal()), default=None)


def _interfering_daemons(host: Host) -> Iterator[Condition]:
    running = {text_of(host, f"/proc/{pid}/comm") for pid in host.names("/proc") if pid.isdecimal()}
    running_daemons = [
        name for name in _INTERFERING_DAEMONS if name[:15] in running
    ]  # the kernel keeps 15 characters of a name
    for name in running_daemons:
        yield Condition(name, Fitness.UNFIT, f"{name} runs", _INTERFERING_DAEMONS[name])
    if not running_daemons:
        yield Condition("meddlers", Fitness.FIT, f"none of {', '.join(_INTERFERING_DAEMONS)} runs")


def _raid(host: Host) -> Iterator[Condition]:
    devices = "/sys/bus/pci/devices"
    if not any(text_of(host, f"{devices}/{name}/class").startswith(_RAID_CLASS) for name in host.names(devices)):
        return
    for tool in _RAID_TOOLS:
        try:
            report = host.run([tool, "/call/bbu", "show"]).stdout
        except HostError:
            continue
        good = "Optimal" in report
        fix = "" if good else "with a weak battery the cache is written through: replace the battery first"
        yield Condition("RAID battery", Fitness.FIT if good else Fitness.UNFIT, _state_in(report), fix)
        return
    yield Condition(
        "RAID battery",
        Fitness.NOTE,
        "there is a RAID controller, and no tool here reports its battery",
        f"look whether its cache is written back or through with {', '.join(_RAID_TOOLS)}, ssacli or arcconf",
    )


def _state_in(report: str) -> str:
    """The line of a controller tool's report with the state of the battery."""
    states = ("Optimal", "Degraded", "Failed", "Learning", "Absent")
    lines = (line.strip() for line in report.splitlines())
    return next(
        (" ".join(line.split()) for line in lines if any(word in line for word in states)), "no battery is reported"
    )
