"""Charts drawn as SVG, by processes of their own.

The library takes half a second to start and lets no other thread run while it draws. So the processes start early,
beside what is computed before there is something to draw, and end when all is drawn, or with us, however that is.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any

from ceteris.errors import DrawingFailed

_MOST, _EACH = 2, 6  # each takes 150 MB, and is worth its start for so many charts

Spec = Mapping[str, Any]


class _Artist:
    """A process that draws one chart after another."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # what is typed to end us, we decide upon
        )

    def draw(self, spec: Spec, config: Spec) -> str:
        """The picture. Raises DrawingFailed."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps([spec, config]).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            code = self._process.wait()
            raise DrawingFailed(f"the process that draws charts ended ({code})", "write the report again")
        return str(json.loads(answer))

    def end(self) -> None:
        """Let it go."""
        self._process.kill()
        self._process.communicate()


_begun: SimpleQueue[_Artist] = SimpleQueue()


def begin() -> None:
    """Start them, so that they are ready once there is something to draw."""
    for _ in range(min(_MOST, os.cpu_count() or 1)):
        _begun.put(_Artist())


def draw(specs: Sequence[Spec], config: Spec) -> list[str]:
    """The pictures of Vega-Lite specs. Raises DrawingFailed."""
    artists = [_one() for _ in range(min(_MOST, os.cpu_count() or 1, -(-len(specs) // _EACH)))]
    idle: SimpleQueue[_Artist] = SimpleQueue()
    for artist in artists:
        idle.put(artist)

    def picture(spec: Spec) -> str:
        mine = idle.get()
        try:
            return mine.draw(spec, config)
        finally:
            idle.put(mine)

    try:
        with ThreadPoolExecutor(_MOST) as threads:
            return list(threads.map(picture, specs))
    finally:
        for artist in artists:
            artist.end()


def _one() -> _Artist:
    try:
        return _begun.get_nowait()
    except Empty:
        return _Artist()


def _serve() -> None:
    os.nice(10)  # what is computed meanwhile comes first
    import vl_convert

    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "point"})  # the first one takes longest
    for line in sys.stdin.buffer:
        spec, config = json.loads(line)
        picture = vl_convert.vegalite_to_svg(spec, config=config)
        sys.stdout.buffer.write(json.dumps(str(picture)).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
