"""The target while trials run: its journal, samplers, devices, servers and tools."""

import dataclasses

from paribus.engine.run import Sampler
from paribus.knobs.apply import Applier
from paribus.knobs.conditions import Conditions
from paribus.trial.databases.database_session import DatabaseSession
from paribus.trial.devices import Devices
from paribus.trial.events.volume_members import VolumeMembers
from paribus.trial.guests.flush_probe import FlushProbe
from paribus.trial.guests.hypervisor_session import HypervisorSession
from paribus.trial.guests.hypervisor_watch import HypervisorWatch
from paribus.trial.layouts.session import LayoutSession
from paribus.trial.load.load_host import LoadHostSession
from paribus.trial.tools.tool_session import Tools


@dataclasses.dataclass(frozen=True, slots=True)
class OpenTarget:
    """Sessions on the target, and on the machines beside it where there are such.

    `load_hosts` make the load, unless the target does. The target is a guest of the hypervisor: `watch` samples that,
    and `hypervisor` has its settings where trials make any. `flushes` looks where the guest's flushes end.
    """

    applier: Applier
    conditions: Conditions
    sampler: Sampler
    devices: Devices
    tools: Tools
    servers: DatabaseSession | None
    load_hosts: tuple[LoadHostSession, ...]
    layouts: LayoutSession | None
    members: VolumeMembers
    hypervisor: HypervisorSession | None
    watch: HypervisorWatch | None
    flushes: FlushProbe | None
