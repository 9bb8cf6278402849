"""The machine of this proof: it boots, runs one job of the engine, and tells its events until its power is cut.

In: the engine's binary, a disk, a job. Out: events of the engine in the guest. The engine speaks over the second serial
port. Called by `run.py`.
"""

import json
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from guest.image import Contents, Image
from guest.machine import PATIENCE_S, Machine

Event = dict[str, Any]


def engine_image(packages: Path, folder: Path, engine: Path) -> Image:
    """Return an image that boots into the engine; the kernel's packages are kept in `packages`."""
    return Image(packages, folder, Contents(Path(__file__).with_name("init"), {"/bin/paribus-engine": engine}))


class EngineMachine(Machine):
    """A booted machine that runs one job of the engine; leaving its `with` block cuts its power."""

    def __init__(self, image: Image, disk: Path, job: Event, *, lies: bool = False) -> None:
        super().__init__(image, disk, "-serial", "stdio", lies=lies)
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._next_line(until="ready")
        print(json.dumps(job), file=self.qemu.stdin, flush=True)

    def _read(self) -> None:
        assert self.qemu.stdout
        for line in self.qemu.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _next_line(self, until: str = "") -> str | None:
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE_S)
            except queue.Empty:
                raise TimeoutError(f"the guest is silent:\n{self.said()}") from None
            if until and line is None:
                raise RuntimeError(f"the guest ended before it was {until}:\n{self.said()}")
            if until in (line or ""):
                return line

    def events(self) -> Iterator[Event]:
        """Yield the engine's events, until it ends or the power is cut; ignores a line that was cut short."""
        while (line := self._next_line()) is not None:
            if line.endswith("\n"):
                yield json.loads(line)
