"""Examination of a machine's fitness to measure on, and the document of `paribus doctor`."""

import time
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from paribus.engine.protocol import Census, Directory, Sample
from paribus.engine.run import Sampler, probe
from paribus.errors import EngineError
from paribus.hosts import fitness
from paribus.hosts.storage.alignment import alignment
from paribus.hosts.storage.layers import layers
from paribus.hosts.storage.mounts import mount_of
from paribus.hosts.transport import described
from paribus.knobs.journals import open_journals, undo_command
from paribus.lab.machine import guest_conditions, health
from paribus.lab.machine.connection import Report, discard, site
from paribus.lab.machine.inspection import folder_refusal
from paribus.model import Condition, Fitness
from paribus.trial.target_session import Site

_LOOK_S = 2.0
_SHORT_LOOK_S = 1.0
_PATIENCE_S = 30.0
_OWN = ("paribus-engine",)


class DoctorDocument(BaseModel):
    """The answer of `paribus doctor --json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: str
    host: str
    kernel: str
    path: str
    fit: bool
    conditions: list[Condition]


def examine(
    target: str, path: str, *, libvirt: str = "", become: bool = False, report: Report = discard
) -> DoctorDocument:
    """Connect to a machine and examine it, and its guests. Raises as `site` and `document`."""
    with site(target, become=become, report=report) as connected, described(target):
        return document(connected, path, libvirt)


def document(site: Site, path: str, libvirt: str = "") -> DoctorDocument:
    """Observe a machine and the guests of its libvirt for a few seconds; changes nothing.

    Raises EngineError and HostError.
    """
    probed = probe(site.host, site.engine, path)
    directory = probed.directory
    conditions = [
        *_own_conditions(site),
        *fitness.conditions(site.host, _idle_sample(site, directory, _LOOK_S)),
        *alignment(site.host, directory.major_minor, mount_of(site.host, directory.path)),
        *layers(site.host, directory.major_minor),
        *health.states(site, directory.major_minor),
    ]
    for name, refused, fix in (
        ("io_uring", probed.io_uring, 'use engine = "sync"'),
        ("O_DIRECT", probed.direct, "name a path on a disk"),
    ):
        works = Condition(name, Fitness.FIT, "works")
        conditions.append(Condition(name, Fitness.NOTE, refused, fix) if refused else works)
    if (refusal := folder_refusal(probed.directory)) is not None:
        conditions.append(Condition("path", Fitness.UNFIT, refusal.message, refusal.remedy))
    else:
        conditions.append(Condition("path", Fitness.FIT, "works"))
    if probed.uid != 0:
        fix = "run as root, or with become = true, to try knobs of the kernel"
        conditions.append(Condition("privilege", Fitness.NOTE, "this user may not set kernel knobs", fix))
    conditions += guest_conditions.conditions(site.host, libvirt)
    return DoctorDocument(
        target=site.host.name,
        host=probed.hostname,
        kernel=probed.kernel,
        path=probed.directory.path,
        fit=all(condition.fitness is not Fitness.UNFIT for condition in conditions),
        conditions=conditions,
    )


def unfit(site: Site, path: str) -> list[Condition]:
    """Return what would spoil measurements now, from a short look. Raises EngineError and HostError."""
    directory = probe(site.host, site.engine, path).directory
    conditions = fitness.conditions(site.host, _idle_sample(site, directory, _SHORT_LOOK_S))
    return [condition for condition in conditions if condition.fitness is Fitness.UNFIT]


def _own_conditions(site: Site) -> list[Condition]:
    """Whether an earlier experiment was cut off and left settings changed."""
    cut_off = [journal for journal in open_journals(site.host, site.engine) if journal.is_cut_off]
    fix = f"restore the machine: {undo_command(site.host.name)}"
    return [
        Condition(
            "settings", Fitness.UNFIT, f"experiment {journal.experiment} was cut off and left settings changed", fix
        )
        for journal in cut_off
    ] or [Condition("settings", Fitness.FIT, "no experiment has left anything changed")]


def _idle_sample(site: Site, directory: Directory, look_s: float) -> fitness.IdleSample:
    """Sample the machine before any load: shares of all processors, and space. Raises EngineError."""
    sampler = Sampler(site.host, site.engine, [], look_s)
    try:
        sampler.ask_census("open")
        sample: Sample | None = None
        census: Census | None = None
        deadline = time.monotonic() + _PATIENCE_S
        while sample is None or census is None:
            if time.monotonic() > deadline:
                raise EngineError(
                    "no-data",
                    f"the sampler sent no sample for {_PATIENCE_S:.0f} s",
                    "check that the target is not overloaded",
                )
            event = sampler.receive(1.0)
            if isinstance(event, Sample):
                sample = event
                sampler.ask_census("close")
            elif isinstance(event, Census) and event.label == "close":
                census = event
    finally:
        sampler.close()
    seconds = (census.duration_s or look_s) * sample.cores
    others = [process for process in census.processes if Path(process.command).name not in _OWN]
    return fitness.IdleSample(
        busy=sample.cpu.user + sample.cpu.system,
        stolen=sample.cpu.steal,
        busiest=tuple((process.command, process.cpu_s / seconds) for process in others),
        free_bytes=directory.free_bytes,
        total_bytes=directory.total_bytes,
    )
