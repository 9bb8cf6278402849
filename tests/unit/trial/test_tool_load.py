"""A trial's load by a tool, with a program and a sampler that are not there."""

from collections.abc import Sequence
from typing import Any, cast

import pytest

from paribus.engine.protocol import Census, Ended
from paribus.engine.run import Sampler
from paribus.errors import EngineError, Interrupted
from paribus.model import Workload
from paribus.trial import machine
from paribus.trial.load.monitor import LoadMonitor
from paribus.trial.tools import tool_load
from paribus.trial.tools.tool_load import ToolLoad
from paribus.trial.tools.tool_session import ToolProcess, Tools
from paribus.trial.validity import OtherLoad
from paribus.units import LoadLevel
from paribus.workloads.tools import request_of, tool_of


class _Sampler:
    """Answers each census at once."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.owned: list[int] = []

    def ask_census(self, label: str) -> None:
        self.labels.append(label)

    def add_own_processes(self, pids: Sequence[int]) -> None:
        self.owned += pids

    def receive(self, timeout_s: float) -> Census | None:
        number = len(self.labels)
        label = self.labels.pop(0)
        return Census(
            event="census", label=label, monotonic_s=100.0 - number, duration_s=1.0, own_cpu_s=0.0, own_user_s=0.0,
            processes=[],
        )  # fmt: skip


class _Tools:
    """Programs that print `output` and end after some looks."""

    def __init__(self, output: str, exit_code: int = 0, ends_after: int = 100) -> None:
        self.output = output
        self.exit_code = exit_code
        self.ends_after = ends_after
        self.calls: list[list[str]] = []

    def start(self, workload: Workload, settings: object, argv: list[str], conditions: Sequence[str]) -> ToolProcess:
        self.calls.append(argv)
        return _Program(self)


class _Program(ToolProcess):
    def __init__(self, tools: _Tools) -> None:
        self._tools = tools
        self._name = tools.calls[-1][0]
        self._looks = 0
        self.pid = 7
        self.stopped = False

    def ended(self, timeout_s: float) -> Ended | None:
        tool_load.time.sleep(timeout_s)  # type: ignore[attr-defined]
        self._looks += 1
        if self._looks < self._tools.ends_after:
            return None
        return Ended(event="ended", exit_code=self._tools.exit_code, signal=None, last_words=["it", "broke"])

    def text(self) -> str:
        return self._tools.output

    def stop(self) -> None:
        self.stopped = True


class _Clock:
    """Time that passes only where somebody sleeps."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_load, "time", _Clock())


_COMMAND = {"run": ["load", "{seconds}"], "throughput": "rate (?P<value>[0-9]+)"}


def _load(
    tools: _Tools, *, stopped: bool = False, kind_name: str = "command", parameters: dict[str, Any] = _COMMAND
) -> tuple[ToolLoad, _Sampler]:
    workload = Workload(
        name="mine", kind=kind_name, load_levels=(1,), response="throughput_per_s", data="keep", cache="warm",
        parameters=parameters,
    )  # fmt: skip
    kind, sampler = tool_of(workload), _Sampler()
    assert kind is not None
    watch = LoadMonitor(cast("Sampler", sampler), OtherLoad(set()), "5", ())
    order = request_of(workload, "/d", LoadLevel(1), 1.0, 2.0)
    load = ToolLoad(
        cast("Tools", tools), kind, workload, {}, order, (), watch, lambda: stopped, lambda _pid: (), lambda _s: None
    )
    return load, sampler


def test_the_window_is_watched_and_its_figures_are_taken() -> None:
    tools = _Tools("rate 250", ends_after=41)
    load, sampler = _load(tools)
    assert list(load.events()) == [machine.Measuring(), machine.LoadEnded(())]
    assert tools.calls == [["load", "1"], ["load", "2"]]
    assert sampler.owned == [7, 7]
    measured = {measurement.metric: measurement.mean for measurement in load.measurements}
    assert measured == {"throughput_per_s": 250, "other_cpu_share": 0}


def test_a_tool_that_ends_early_is_no_measurement() -> None:
    load, _ = _load(_Tools("rate 250", ends_after=4))
    (_, ended) = load.events()
    assert isinstance(ended, machine.LoadEnded)
    assert "mine ended after 0.25 s instead of 2 s" in ended.invalid_because


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (_Tools("rate 1", exit_code=3), "load ended with exit code 3: it / broke"),
        (_Tools("nothing", ends_after=41), "the output of mine has nothing that matches"),
        (_Tools("rate 0", ends_after=41), "completed no operation"),
        (_Tools("rate 1", ends_after=10_000), "did not end within 60 s"),
    ],
)
def test_a_tool_that_fails_is_told(tools: _Tools, message: str) -> None:
    load, _ = _load(tools)
    with pytest.raises(EngineError, match=message):
        list(load.events())


def test_operations_that_all_failed_are_told() -> None:
    result = "Vuser 1:TEST RESULT : System achieved 12 PostgreSQL TPM at 0 NOPM\n"
    failures = "Vuser 2:New Order Procedure Error set RAISEERROR for Details\n" * 120
    timing = "Vuser 1:Timing test period of 1 in minutes\n"
    tools = _Tools(timing + failures + result, ends_after=2_450)
    load, _ = _load(tools, kind_name="hammerdb", parameters={"home": "/opt/HammerDB"})
    with pytest.raises(EngineError, match="completed no operation, and 2 failed each second"):
        list(load.events())


def test_being_stopped_ends_it() -> None:
    load, _ = _load(_Tools("rate 1"), stopped=True)
    with pytest.raises(Interrupted):
        list(load.events())
    load.stop()
    assert cast("_Program", load._process).stopped
