"""Response time of `paribus serve` to its owner: alone, beside many streams, beside peers without the token.

The store has 300 experiments and is written to once a second, so that every stream gets events.

    .venv/bin/python bench/serve/run.py
"""

import contextlib
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("system", "unit/web")]

import hostile  # noqa: E402
import web_samples as samples  # noqa: E402
from watched import Serving, serving  # noqa: E402

from paribus.store.open import open_engine, store_url  # noqa: E402

PAGES = 50


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        os.environ["PARIBUS_STORE"] = str(path)
        store = open_engine(store_url(str(path)), create=True)
        for number in range(300):
            samples.begin(store, 2, f"experiment {number}", f"20260101-{number:06}-abcd")
        over = threading.Event()

        def write() -> None:
            number = 0
            while not over.wait(1.0):
                number += 1
                samples.begin(store, 2, f"another {number}", f"20260102-{number:06}-abcd")

        threading.Thread(target=write, daemon=True).start()
        print("| beside | pages | median | longest |\n|---|---:|---:|---:|")
        with serving("--port", "0") as server:
            report("nothing", server)
            for number in (50, 200):
                with streams(server, number):
                    report(f"{number} streams", server)
            with hostile.half_open(server, 1000):
                report("1,000 half-open connections", server)
        over.set()


@contextlib.contextmanager
def streams(server: Serving, number: int) -> Iterator[None]:
    """So many streams of the list, each of them read."""
    over = threading.Event()
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(hostile.open_stream(server)) for _ in range(number)]
        for stream in opened:
            stream.recv(2**16)
            stream.setblocking(False)

        def read() -> None:
            while not over.wait(0.05):
                for stream in opened:
                    with contextlib.suppress(BlockingIOError):
                        while stream.recv(2**20):
                            pass

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        yield
        over.set()
        reader.join()


def report(beside: str, server: Serving) -> None:
    """Ask for the list again and again, and print how long it took."""
    took = []
    for _ in range(PAGES):
        began = time.perf_counter()
        server.get("/")
        took.append(time.perf_counter() - began)
        time.sleep(0.1)
    print(f"| {beside} | {PAGES} | {statistics.median(took) * 1000:.0f} ms | {max(took) * 1000:.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
