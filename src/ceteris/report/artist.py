"""Charts drawn as SVG, by processes of their own.

The library takes half a second to start and lets no other thread run while it draws. So the processes start early,
beside what is computed before there is something to draw, and end when all is drawn, or with us, however that is.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

from ceteris.aside import Aside, Ended, serve
from ceteris.errors import DrawingFailed

_MOST, _EACH = 2, 6  # each takes 150 MB, and is worth its start for so many charts

Spec = Mapping[str, Any]

_begun: SimpleQueue[Aside] = SimpleQueue()


def begin() -> None:
    """Start them, so that they are ready once there is something to draw."""
    for _ in range(min(_MOST, os.cpu_count() or 1)):
        _begun.put(Aside(__name__))


@contextmanager
def drawing(specs: Sequence[Spec], config: Spec) -> Iterator[list[Future[str]]]:
    """The pictures of Vega-Lite specs, on their way while this is entered. Each may raise DrawingFailed."""
    artists = [_one() for _ in range(min(_MOST, os.cpu_count() or 1, -(-len(specs) // _EACH)))]
    idle: SimpleQueue[Aside] = SimpleQueue()
    for artist in artists:
        idle.put(artist)

    def picture(spec: Spec) -> str:
        mine = idle.get()
        try:
            return str(mine.ask((spec, config)))
        except Ended as error:
            raise DrawingFailed(f"the process that draws charts ended ({error})", "write the report again") from error
        finally:
            idle.put(mine)

    threads = ThreadPoolExecutor(_MOST)
    try:
        yield [threads.submit(picture, spec) for spec in specs]
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for artist in artists:
            artist.end()


def _one() -> Aside:
    try:
        return _begun.get_nowait()
    except Empty:
        return Aside(__name__)


def _serve() -> None:
    os.nice(19)  # what is computed meanwhile comes first
    import vl_convert

    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "point"})  # the first one takes longest
    serve(lambda asked: vl_convert.vegalite_to_svg(asked[0], config=asked[1]))


if __name__ == "__main__":
    _serve()
