"""Runs `paribus`, and kills it with SIGKILL at the n-th moment of one sort, or leaves that to somebody else.

No charts are drawn: the machine is back by then, and they take longer than the experiment.

A moment is just before or just after a step: a journal line, a read or write of the machine, a store transaction,
the start of a process, or a line of the engine. With 0 for n nothing is killed, and the sort of each moment is
written to a file. `spare` kills the controller alone; `too` kills every process it started first.
"""

import functools
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from paribus.cli.main import main
from paribus.hosts.local import LocalHost, LocalProcess
from paribus.knobs.journal import Journal
from paribus.report.render import html
from paribus.store import write

MOMENTS = [
    (Journal, "__init__"),
    (Journal, "intend"),
    (Journal, "make"),
    (Journal, "restore"),
    (LocalHost, "read"),
    (LocalProcess, "__init__"),
    (LocalProcess, "send"),
    (LocalProcess, "receive"),
    (LocalProcess, "close"),
    (write, "begin"),
    (write, "set_state"),
    (write, "save_trial"),
    (write, "rerun"),
    (write, "add_looks"),
]


def _children() -> list[int]:
    return [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]


class Killer:
    def __init__(self, moments: str, sort: str, number: int, keeper: str) -> None:
        self.moments = Path(moments)
        self.sort = sort
        self.number = number
        self.keeper = keeper
        self.count = 0

    def moment(self, sort: str) -> None:
        if self.number == 0:
            with self.moments.open("a") as file:
                file.write(sort + "\n")
        self.count += sort == self.sort
        if self.count == self.number > 0:
            for pid in _children() if self.keeper == "too" else []:
                os.kill(pid, signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def watched(*arguments: Any, **named: Any) -> Any:
            self.moment(f"before {name}")
            result = call(*arguments, **named)
            self.moment(f"after {name}")
            return result

        return watched


def _watch(moments: str, sort: str, number: str, keeper: str) -> None:
    killer = Killer(moments, sort, int(number), keeper)
    for owner, name in MOMENTS:
        label = f"{getattr(owner, '__name__', owner).rpartition('.')[2]}.{name}"
        setattr(owner, name, killer.around(label, getattr(owner, name)))


def run(arguments: Sequence[str], victim: Sequence[str] = ()) -> None:
    """`paribus` with these arguments, in a process of its own. `victim`: file of moments, sort, n, keeper."""
    if victim:
        _watch(*victim)
    html.render = lambda _: ""  # type: ignore[assignment]
    sys.argv = ["paribus", *arguments]
    main()
