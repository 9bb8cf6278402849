"""Flushes in the guest under test: whether they reach the disk of its hypervisor, or end in the memory of that.

In: the end of a trial. Out: bytes that the guest flushed, and how many of them a power cut would lose. Called by the
runner.
"""

from typing import Self

from paribus.engine.durability import flush, page_cache
from paribus.errors import EngineError, HostError, Unreachable
from paribus.hosts.guests import domain as domains
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Guest, Measurement, Target
from paribus.trial.guests.image import extents_in
from paribus.trial.target_session import Site

_FILE = "flushed"


class FlushProbe:
    """A file of the guest that is written and flushed, and looked for in the page cache of the hypervisor."""

    def __init__(self, target: Site, above: Site, guest: Guest, device: str, folder: str) -> None:
        """`device`: the guest's disk under test; `folder`: one of the experiment on it. Raises HostError."""
        self._target = target
        self._above = above
        self._image = guest.disk
        disks = domains.read(above.host, guest.uri, guest.name).disks
        self._format = next((disk.format for disk in disks if disk.source == guest.disk), "raw")
        self._device = target.host.resolve(device)
        self._file = f"{folder}/{_FILE}"
        self._unknown = ""

    @classmethod
    def of(cls, site: Site, target: Target, folder: str) -> Self | None:
        """The probe of a target; None where it is no guest, or the guest's disk is unknown. Raises HostError."""
        guest, device = target.guest, target.location.device
        if site.hypervisor is None or guest is None or not guest.disk or device is None:
            return None
        return cls(site, site.hypervisor, guest, device, folder)

    def measure(self) -> tuple[Measurement, ...]:
        """Flush a MiB in the guest, and count what of it only the hypervisor's memory has; empty where unknown.

        Raises Unreachable.
        """
        try:
            flushed, unwritten = self._flush()
        except Unreachable:
            raise
        except (EngineError, HostError) as error:
            self._unknown = error.message
            return ()
        values = (("flushed_bytes", flushed), ("unwritten_bytes", unwritten))
        return tuple(Measurement.of_value(name, "B", float(value), "measure", "hypervisor") for name, value in values)

    def note(self) -> StoredMessage | None:
        """The reason why some trial does not tell where flushes end; None where each does."""
        if not self._unknown:
            return None
        text = N_("whether flushes of the guest reach the disk of its hypervisor is unknown: {why}")
        return stored_message(text, why=self._unknown)

    def _flush(self) -> tuple[int, int]:
        """The bytes flushed, and those of them that only memory has. Raises EngineError and HostError."""
        flushed = flush(self._target.host, self._target.engine, self._file)
        if flushed.disk is None or self._target.host.resolve(flushed.disk) != self._device:
            raise HostError(f"the place of {self._file} on {self._device} is unknown")
        extents = extents_in(self._above.host, self._image, self._format, flushed.extents)
        cached = page_cache(self._above.host, self._above.engine, self._image, extents)
        if cached.unwritten_bytes is None:
            raise HostError(f"{self._image}: {cached.unknown}")
        return flushed.bytes, cached.unwritten_bytes
