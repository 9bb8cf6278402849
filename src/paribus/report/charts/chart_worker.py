"""Charts drawn as SVG, by processes of their own.

The library takes half a second to start, and blocks all other threads while it draws. So the processes start early,
while the report is still computed. They end when all charts are drawn, or with this process, however it ends.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from paribus.errors import DrawingFailed
from paribus.worker_process import WorkerFailed, WorkerProcess, serve, share

_MAX_WORKERS, _EACH = 2, 6  # each takes 150 MB, and is worth its start for so many charts

Spec = Mapping[str, Any]

_begun: SimpleQueue[WorkerProcess] = SimpleQueue()


def begin() -> None:
    """Start them, so that they are ready once there is something to draw."""
    with suppress(WorkerFailed):  # who draws says so
        for _ in range(min(_MAX_WORKERS, os.cpu_count() or 1)):
            _begun.put(WorkerProcess(__name__))


@contextmanager
def drawing(specs: Sequence[Spec], config: Spec) -> Iterator[list[Callable[[], str]]]:
    """The pictures of Vega-Lite specs, each to be waited for while this is entered. Both raise DrawingFailed."""
    workers = []
    with ExitStack() as cleanup:
        for _ in range(min(_MAX_WORKERS, os.cpu_count() or 1, -(-len(specs) // _EACH))):
            workers.append(_worker())
            cleanup.callback(workers[-1].end)
        yield [partial(_picture, future) for future in share(workers, [(spec, config) for spec in specs])]


def _worker() -> WorkerProcess:
    with suppress(Empty):
        return _begun.get_nowait()
    try:
        return WorkerProcess(__name__)
    except WorkerFailed as error:
        raise DrawingFailed(
            f"no process can be started that draws charts: {error}", "write the report again"
        ) from error


def _picture(future: Future[str]) -> str:
    try:
        return str(future.result())
    except WorkerFailed as error:
        raise DrawingFailed(f"the process that draws charts ended ({error})", "write the report again") from error


def _serve() -> None:
    os.nice(19)  # what is computed meanwhile comes first
    import vl_convert

    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "point"})  # the first one takes longest
    serve(lambda job: vl_convert.vegalite_to_svg(job[0], config=job[1]))


if __name__ == "__main__":
    _serve()
