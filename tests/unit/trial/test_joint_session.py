"""One load of several engines, scripted: shares, a common beginning by clocks that differ, and losses."""

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from window_samples import interval_of, result_of

from paribus.engine.protocol import VERSION, Interval, Job, Load, MysqlServer, OltpJob, Phase, Result
from paribus.errors import EngineError, Unreachable
from paribus.hosts.fake import FakeHost
from paribus.knobs.catalog import load
from paribus.model import LoadHost
from paribus.trial.load import joint_session
from paribus.trial.load.joint_session import JointSession, jobs_of
from paribus.trial.load.load_session import LoadStarted, SettlingShare
from paribus.trial.target_session import Site

SECOND_S = 1.0
Line = dict[str, Any]


class ScriptedEngine:
    """A process that answers as an engine does, by a clock that is `ahead_s` of this one.

    Its window begins `late_s` after the time that it was asked for; `lengths_s` are those of its intervals.
    """

    def __init__(self, ahead_s: float, late_s: float = 0.0, lengths_s: Sequence[float] = (1.0, 1.0)) -> None:
        self.ahead_s = ahead_s
        self.late_s = late_s
        self.lengths_s = lengths_s
        self.jobs: list[Job] = []
        self.opened_s: list[float] = []
        self.ended = False
        self.lost = False
        self.refused = False
        self.silent = False
        self.lines: deque[Line] = deque()

    def send(self, line: str) -> None:
        request = json.loads(line)
        if "clock" in request and self.silent:
            return
        if "clock" in request:
            answer = {"event": "clock", "label": request["clock"], "monotonic_s": time.monotonic() + self.ahead_s}
            self.lines += [interval_of([10**6], window=None).model_dump(), answer]
        elif "measure" in request:
            self._measure(**request["measure"])
        else:
            self.jobs.append(Job.model_validate(request))
            hello = {"event": "hello", "protocol": VERSION, "version": "0", "pid": 7, "capabilities": []}
            self.lines.append({**hello, "effective": request})
            self.lines.append(_phase("settling"))

    def _measure(self, window: str, settle_s: float, measure_s: float, at_s: float) -> None:
        start_s = at_s + self.late_s
        self.opened_s.append(start_s - self.ahead_s)
        self.lines.append(_phase("measuring") | {"window": window})
        if self.refused:
            self.lines.append({"event": "error", "class": "io-error", "message": "too many connections", "hint": "few"})
            return
        for length_s in self.lengths_s:
            interval = interval_of([10**6] * round(10 * length_s), start_s=start_s, duration_s=length_s, window=window)
            self.lines.append(interval.model_dump())
            start_s += length_s
        result = result_of([10**6] * 20, start_s=self.opened_s[-1] + self.ahead_s, duration_s=measure_s, window=window)
        self.lines.append(result.model_dump())

    def receive(self, _timeout_s: float) -> str | None:
        if self.lost:
            raise Unreachable("ssh://gen2 does not answer")
        if not self.lines and self.ended:
            raise EOFError
        return json.dumps(self.lines.popleft()) if self.lines else None

    def words(self) -> str:
        return ""

    def end_input(self) -> None:
        self.ended = True

    def close(self, timeout_s: float = 10.0) -> int:
        self.ended = True
        return 0


def _phase(name: str) -> Line:
    return {"event": "phase", "name": name, "window": None, "monotonic_s": 0.0, "unix_s": 0.0}


class _Host(FakeHost):
    def __init__(self, name: str, start: Callable[[], ScriptedEngine]) -> None:
        super().__init__({})
        self.name = name
        self._start = start

    def start(self, argv: Sequence[str], *, connects: bool = False) -> Any:
        return self._start()


def _job(outstanding: int = 5, measure_s: float | None = 2.0, rate_per_s: float | None = None) -> Job:
    server = MysqlServer(host="db", port=3306, user="u", database="d", credential={"file": "/first"})
    return Job(
        phase="run", workload=OltpJob(database=server, mix="read_write"), settle_s=0.0, measure_s=measure_s,
        load=Load(outstanding=outstanding, rate_per_s=rate_per_s),
    )  # fmt: skip


HOSTS = (LoadHost(address="ssh://gen1", credential={"file": "/first"}), LoadHost(address="ssh://gen2"))


def _session(*engines: ScriptedEngine, job: Job | None = None) -> JointSession:
    started = iter(engines)
    sites = [Site(_Host(host.address, lambda: next(started)), "engine", load()) for host in HOSTS]
    return JointSession(sites, HOSTS, job or _job(), ())


def _events(session: JointSession) -> list[Any]:
    return [event for event in session.events if event is not None]


def test_each_host_has_its_share_of_connections_rate_and_transactions() -> None:
    first, second = jobs_of(_job(5, rate_per_s=100.0), HOSTS)
    assert [part.load for part in (first, second)] == [
        Load(outstanding=3, rate_per_s=60.0, first_connection=0),
        Load(outstanding=2, rate_per_s=40.0, first_connection=3),
    ]
    credentials = [cast("OltpJob", part.workload).database for part in (first, second)]
    assert [cast("MysqlServer", each).credential for each in credentials] == [{"file": "/first"}, None]
    assert (first.measure_s, first.settle_s, first.histograms) == (None, 0.0, True)


def test_windows_open_at_one_time_by_clocks_that_differ_by_hours() -> None:
    engines = ScriptedEngine(3600.0), ScriptedEngine(-80.0)
    session = _session(*engines)
    events = _events(session)
    assert abs(engines[0].opened_s[0] - engines[1].opened_s[0]) < 0.005
    assert [event.machine for event in events if isinstance(event, LoadStarted)] == [0, 1]
    assert sum(isinstance(event, Phase) and event.name == "measuring" for event in events) == 1
    assert [event.operations for event in events if isinstance(event, Interval)] == [20, 20]
    [result] = [event for event in events if isinstance(event, Result)]
    assert (result.operations, result.throughput_per_s) == (40, 20.0)
    assert [window.job.load.outstanding for window in session.windows()] == [3, 2]
    assert session.problems() == []
    assert {each.metric for each in session.measurements()} == {"load_skew_s", "load_clock_error_s"}
    assert all(engine.ended for engine in engines)


def test_a_host_that_begins_late_makes_the_window_unusable() -> None:
    session = _session(ScriptedEngine(0.0), ScriptedEngine(0.0, late_s=0.5))
    _events(session)
    [problem] = session.problems()
    assert problem.startswith("the windows of the load hosts began 500 ms")
    assert problem.endswith("apart, and 20 ms is allowed")


def test_intervals_are_merged_where_all_engines_have_an_end() -> None:
    session = _session(ScriptedEngine(0.0, lengths_s=(1.0, 1.0, 1.0)), ScriptedEngine(9.0, lengths_s=(2.0, 1.0)))
    intervals = [event for event in _events(session) if isinstance(event, Interval)]
    assert [(each.duration_s, each.operations) for each in intervals] == [(2.0, 40), (1.0, 20)]


def test_the_rest_of_a_window_is_an_interval_too() -> None:
    """An engine's last interval may be short, and end near a whole one."""
    session = _session(ScriptedEngine(0.0, lengths_s=(1.0, 1.0, 0.1)), ScriptedEngine(9.0, lengths_s=(1.0, 1.0, 0.1)))
    intervals = [event for event in _events(session) if isinstance(event, Interval)]
    assert [(each.duration_s, each.operations) for each in intervals] == [(1.0, 20), (1.0, 20), (0.1, 2)]


def test_intervals_before_the_window_are_those_of_each_engine() -> None:
    events = _events(_session(ScriptedEngine(0.0), ScriptedEngine(0.0)))
    assert sum(isinstance(event, SettlingShare) for event in events) >= 2


def test_an_engine_that_tells_no_clock_is_named_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    second = ScriptedEngine(0.0)
    second.silent = True
    session = _session(ScriptedEngine(0.0), second)
    monkeypatch.setattr(joint_session, "_CLOCK_PATIENCE_S", 0.3)
    with pytest.raises(EngineError, match="on the load host ssh://gen2: the engine did not tell its clock"):
        _events(session)


def test_a_load_that_continues_has_a_window_for_each_trial() -> None:
    engines = ScriptedEngine(5.0), ScriptedEngine(6.0)
    session = _session(*engines, job=_job(measure_s=None))
    for number in (1, 2):
        session.measure(str(number), 0.0, 2.0)
        result = next(event for event in session.events if isinstance(event, Result))
        assert (result.window, result.operations) == (str(number), 40)
        assert session.problems() == []
    assert session.is_load_of(_job(measure_s=None).model_copy(update={"seed": 9}), ())
    assert not session.is_load_of(_job(measure_s=None), ("--cpus", "0"))
    assert not any(engine.ended for engine in engines)
    session.stop()
    assert all(engine.ended for engine in engines)


def test_an_error_of_an_engine_names_its_host() -> None:
    second = ScriptedEngine(0.0)
    second.refused = True
    session = _session(ScriptedEngine(0.0), second)
    with pytest.raises(EngineError, match="on the load host ssh://gen2: too many connections") as error:
        _events(session)
    assert (error.value.failure, error.value.todo) == ("io-error", "few")


def test_a_lost_host_ends_the_load_of_the_others() -> None:
    first, second = ScriptedEngine(0.0), ScriptedEngine(0.0)
    session = _session(first, second)
    next(event for event in session.events if isinstance(event, LoadStarted))
    second.lost = True
    with pytest.raises(Unreachable, match="ssh://gen2"):
        _events(session)
    session.stop()
    assert first.ended


def test_engines_are_ended_where_another_cannot_be_started() -> None:
    first = ScriptedEngine(0.0)

    def refuse() -> ScriptedEngine:
        raise Unreachable("ssh://gen2 does not answer")

    sites = [Site(_Host("1", lambda: first), "e", load()), Site(_Host("2", refuse), "e", load())]
    with pytest.raises(Unreachable):
        JointSession(sites, HOSTS, _job(), ())
    assert first.ended
