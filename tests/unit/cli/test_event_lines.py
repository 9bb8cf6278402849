"""Lines of `check` on events."""

from types import SimpleNamespace

from paribus.cli.texts.checking import _event_lines
from paribus.model import PHASES, PlannedEvent


def test_check_says_what_happens_in_every_trial_and_when() -> None:
    events = [
        PlannedEvent(at_s=10.0, action="fail-member", disk="ssd-2"),
        PlannedEvent(at_s=25.0, action="replace", disk="ssd-2"),
        PlannedEvent(at_s=90.0, action="check"),
        PlannedEvent(at_s=95.0, action="trim"),
        PlannedEvent(at_s=96.0, action="offline", disk="ssd-4", until_s=98.0),
        PlannedEvent(at_s=98.0, action="add", disk="ssd-4"),
        PlannedEvent(at_s=99.0, action="resync"),
        PlannedEvent(at_s=100.0, action="delay", disk="ssd-3", delay_s=0.02, until_s=110.0),
        PlannedEvent(at_s=115.0, action="error", disk="ssd-3"),
        PlannedEvent(at_s=120.0, action="run", argv=("pg_dump", "--file=/dev/null"), name="backup"),
        PlannedEvent(at_s=150.0, action="kill-server"),
    ]
    assert {event.action for event in events} == set(PHASES)
    lines = list(_event_lines(SimpleNamespace(events=events)))  # type: ignore[arg-type]
    assert lines[:3] == [
        "in every trial, for which the layout is built anew:",
        "  after 10 s ssd-2 fails, and is out of its array",
        "  after 25 s ssd-2, blank, takes the place of the one that failed",
    ]
    assert lines[5:] == [
        "  after 1 min 36 s the kernel refuses every operation on ssd-4, until 1 min 38 s",
        "  after 1 min 38 s ssd-4 comes back with its old content",
        "  after 1 min 39 s every array is read as a whole, and repaired where copies differ",
        "  after 1 min 40 s each operation on ssd-3 completes 20 ms later, until 1 min 50 s",
        "  after 1 min 55 s each operation on ssd-3 fails",
        "  after 2 min pg_dump --file=/dev/null runs beside the load, if event.backup is on",
        "  after 2 min 30 s the server is killed, and started again at once",
    ]
    scrub = PlannedEvent(at_s=0.0, action="run", argv=("scrub",))
    assert list(_event_lines(SimpleNamespace(events=[scrub]))) == [  # type: ignore[arg-type]
        "in every trial:",
        "  from the beginning scrub runs beside the load",
    ]
    assert not list(_event_lines(SimpleNamespace(events=[])))  # type: ignore[arg-type]
