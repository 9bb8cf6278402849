"""Flushes in the guest under test: whether they reach the disk of its hypervisor, or end in the page cache there.

In: the end of a trial. Out: bytes that the guest flushed, and how many of them a power cut would lose. Called by the
runner.
"""

from typing import Self

from paribus.engine.durability import flush, page_cache
from paribus.engine.protocol import PageCache
from paribus.errors import EngineError, HostError, Unreachable
from paribus.hosts.guests import domain as domains
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Measurement, Target
from paribus.trial.guests.image import extents_in
from paribus.trial.target_session import Site

_FILE = "flushed"
_ATTEMPTS = 3  # other writes of the guest can make the same pages dirty again, hardly so often


class FlushProbe:
    """A file of the guest that is written and flushed, and whose pages are counted on the hypervisor."""

    def __init__(self, target: Site, above: Site, plan_target: Target, folder: str) -> None:
        """`folder`: one of the experiment, on the guest's disk under test. Raises HostError."""
        self._target = target
        self._above = above
        self._file = f"{folder}/{_FILE}"
        guest, device = plan_target.guest, plan_target.location.device
        self._image = guest.disk if guest is not None and device is not None else ""
        self._unknown = "" if self._image else "the image behind the disk under test is not known"
        if guest is not None and device is not None and self._image:
            disks = domains.read(above.host, guest.uri, guest.name).disks
            self._format = next((disk.format for disk in disks if disk.source == guest.disk), "raw")
            self._device = target.host.resolve(device)

    @classmethod
    def of(cls, site: Site, target: Target, folder: str) -> Self | None:
        """The probe of a target; None where it is no guest. Raises HostError."""
        return cls(site, site.hypervisor, target, folder) if site.hypervisor and target.guest else None

    def measure(self) -> tuple[Measurement, ...]:
        """Flush a MiB in the guest, and count what of it only the hypervisor's memory has; empty where unknown.

        Raises Unreachable.
        """
        if not self._image:
            return ()
        try:
            pages = self._flush()
            for _ in range(_ATTEMPTS - 1):
                if not pages.unwritten_bytes:
                    break
                pages = self._flush()
        except Unreachable:
            raise
        except (EngineError, HostError) as error:
            self._unknown = error.message
            return ()
        values = (("flushed_bytes", pages.bytes), ("unwritten_bytes", pages.unwritten_bytes or 0))
        return tuple(Measurement.of_value(name, "B", float(value), "measure", "hypervisor") for name, value in values)

    def note(self) -> StoredMessage | None:
        """The reason why some trial does not tell where flushes end; None where each does."""
        if not self._unknown:
            return None
        text = N_("whether flushes of the guest reach the disk of its hypervisor is unknown: {why}")
        return stored_message(text, why=self._unknown)

    def _flush(self) -> PageCache:
        """The pages of the file after a flush. Raises EngineError, and HostError where they are unknown."""
        flushed = flush(self._target.host, self._target.engine, self._file)
        if flushed.disk is None or self._target.host.resolve(flushed.disk) != self._device:
            raise HostError(f"the place of {self._file} on {self._device} is unknown")
        extents = extents_in(self._above.host, self._image, self._format, flushed.extents)
        pages = page_cache(self._above.host, self._above.engine, self._image, extents)
        if pages.unwritten_bytes is None:
            raise HostError(f"{self._image}: {pages.unknown}")
        return pages
