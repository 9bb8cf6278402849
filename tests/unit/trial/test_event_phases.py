"""Phases of a trial with events, and the events themselves on arrays in memory."""

import math
import time
from collections.abc import Callable, Sequence

import pytest

from paribus.engine.protocol import Interval
from paribus.errors import HostError
from paribus.hosts.fake import FakeHost
from paribus.model import PlannedEvent, Stack
from paribus.trial.events.md_arrays import MdArrays
from paribus.trial.events.phases import OccurredEvent, TrialPhase, measurements, phases
from paribus.trial.events.session import TrialEvents
from paribus.trial.events.volume_members import VolumeMembers

FAILED, REPLACED = OccurredEvent("fail-member", 10.0), OccurredEvent("replace", 20.0, 26.0)
MD = "/sys/class/block/md127"
ARRAY = {
    "/sys/class/block/vda/dev": "252:0\n",
    "/sys/class/block/vdb/dev": "252:16\n",
    "/sys/class/block/vdb/stat": "1 0 8 1 10 0 100 1 0 1 2\n",
    f"{MD}/slaves/vda": "",
    f"{MD}/slaves/vdb": "",
    f"{MD}/md/degraded": "0\n",
    f"{MD}/md/sync_action": "idle\n",
    f"{MD}/md/mismatch_cnt": "8\n",
}


def interval(start_s: float, operations: int, max_s: float = 0.01) -> Interval:
    """A second of load."""
    return Interval(
        event="interval", window="1", start_s=start_s, duration_s=1.0, operations=operations, reads=operations,
        writes=0, fsyncs=0, read_bytes=0, written_bytes=0, errors={}, mean_s=None, p50_s=None, p95_s=None, p99_s=None,
        max_s=max_s, offered=None, backlog=None,
    )  # fmt: skip


def test_events_divide_a_trial() -> None:
    assert phases([FAILED, REPLACED], 30.0) == [
        TrialPhase("before", 0.0, 10.0),
        TrialPhase("degraded", 10.0, 20.0),
        TrialPhase("rebuilding", 20.0, 26.0),
        TrialPhase("rebuilt", 26.0, 30.0),
    ]
    assert [phase.name for phase in phases([OccurredEvent("check", 0.0)], 5.0)] == ["checking"]
    assert [phase.name for phase in phases([FAILED, OccurredEvent("replace", 20.0)], 30.0)][-1] == "rebuilding"


def test_each_phase_has_its_throughput_and_its_share() -> None:
    rates = [100] * 10 + [60] * 10 + [0] * 6 + [100] * 4
    intervals = [interval(1000.0 + second, rate, 2.0 if second == 10 else 0.01) for second, rate in enumerate(rates)]
    measured = {each.metric: each.mean for each in measurements([FAILED, REPLACED], intervals, 30.0)}
    assert measured["before_per_s"] == 100.0
    assert measured["degraded_per_s"] == 60.0
    assert measured["degraded_share"] == pytest.approx(0.6)
    assert measured["degraded_stall_s"] == 2.0
    assert measured["rebuilding_per_s"] == pytest.approx(1 / 6), "a phase without an operation has a logarithm"
    assert math.isfinite(math.log(measured["rebuilding_share"]))
    assert measured["rebuilt_share"] == 1.0
    assert measured["impaired_s"] == 16.0
    assert measured["rebuild_s"] == pytest.approx(6.0)
    assert (measured["event_1_s"], measured["event_2_s"]) == (10.0, 20.0)
    assert measurements([], intervals, 30.0) == () == measurements([FAILED], [], 30.0)


@pytest.mark.parametrize(
    ("after", "impaired_s"),
    [
        ([100] * 20, 1.0),  # nothing happened; one interval has a logarithm
        ([100] * 10 + [40] + [100] * 9, 1.0),  # a single second is no level
        ([60] * 10 + [97] * 10, 10.0),  # within 5 %
        ([99] * 10 + [60] * 5 + [100] * 5, 15.0),  # the last level that is below counts
        ([60] * 10 + [90] * 10, None),  # not within 5 %
    ],
)
def test_the_throughput_is_as_before_after_a_time(after: list[int], impaired_s: float | None) -> None:
    intervals = [interval(50.0 + second, rate) for second, rate in enumerate([100] * 10 + after)]
    measured = {each.metric: each.mean for each in measurements([FAILED], intervals, 30.0)}
    assert measured.get("impaired_s") == impaired_s


def test_two_failures_and_replacements_are_measured_once_each() -> None:
    history = [
        OccurredEvent("fail-member", 2.0),
        OccurredEvent("fail-member", 4.0),
        OccurredEvent("replace", 6.0, 8.0),
        OccurredEvent("replace", 6.0, 9.0),
    ]
    intervals = [
        interval(float(second), rate) for second, rate in enumerate([100] * 2 + [60] * 2 + [20] * 2 + [50] * 4)
    ]
    metrics = [each.metric for each in measurements(history, intervals, 10.0)]
    measured = {each.metric: each.mean for each in measurements(history, intervals, 10.0)}
    assert len(metrics) == len(set(metrics))
    assert measured["degraded_per_s"] == 40.0
    assert measured["rebuild_s"] == 3.0


class FakeLayouts:
    """A layout of one array of two disks, which remembers what was run on it."""

    point = "/mnt"
    physical_volumes = ()

    def __init__(self) -> None:
        self.stack = Stack(top="/dev/md127", disks=("/dev/vda", "/dev/vdb"), arrays=("/dev/md127",))
        self.ran: list[str] = []
        self.is_damaged = False
        self.refuses = " nothing"

    def damage(self) -> None:
        self.is_damaged = True

    def disk(self, name: str) -> str:
        return f"/dev/{name}"

    def run(self, *argv: str) -> None:
        if self.refuses in argv:
            raise HostError("it refuses")
        self.ran.append(" ".join(argv))

    def write(self, path: str, text: str) -> None:
        self.ran.append(f"{path} {text}")

    def take_offline(self, disk: str) -> None:
        self.ran.append(f"{disk} offline")

    def take_online(self, disk: str) -> None:
        self.ran.append(f"{disk} running")

    def disturb(self, disk: str, table: Callable[[str, int], str]) -> None:
        self.ran.append(f"{disk}: {table(disk, 1 << 20)}")


class FakeJob:
    """A program that runs until it is ended, or until `over`."""

    def __init__(self, number: int, argv: Sequence[str]) -> None:
        self.argv = argv
        self.pid = 100 + number
        self.over = self.stopped = False
        JOBS.append(self)

    def is_over(self) -> bool:
        return self.over

    def failure(self) -> str | None:
        return "dump ended with exit code 1: no space" if self.over and "bad" in self.argv else None

    def stop(self) -> None:
        self.stopped = True


JOBS: list[FakeJob] = []
OWN: list[Sequence[int]] = []
KILLS: list[float] = []


def _kill_server() -> None:
    began = time.monotonic()
    time.sleep(0.05)
    KILLS.append(time.monotonic() - began)


def events_of(*events: PlannedEvent) -> tuple[FakeHost, FakeLayouts, TrialEvents]:
    host, layouts = FakeHost(ARRAY), FakeLayouts()
    members = VolumeMembers(host, None, [], lambda: False)  # type: ignore[arg-type]
    return (
        host,
        layouts,
        TrialEvents(host, layouts, members, events, FakeJob, OWN.append, _kill_server, lambda _reason: None),  # type: ignore[arg-type]
    )


def test_a_disk_fails_and_a_blank_one_replaces_it() -> None:
    host, layouts, events = events_of(
        PlannedEvent(at_s=2.0, action="fail-member", disk="vdb"),
        PlannedEvent(at_s=4.0, action="replace", disk="vdb"),
    )
    events.pass_time(1.0)
    assert not layouts.ran and not layouts.is_damaged
    events.pass_time(2.0)
    assert layouts.is_damaged
    assert layouts.ran == ["mdadm /dev/md127 --fail /dev/vdb", "mdadm /dev/md127 --remove /dev/vdb"]
    [reason] = events.reasons()
    assert reason.startswith("replace did not happen before the trial ended: lengthen protocol.trial")
    host.files[f"{MD}/md/degraded"] = "1\n"
    events.pass_time(5.0)
    assert layouts.ran[2:] == ["wipefs --all --quiet /dev/vdb", "mdadm /dev/md127 --add /dev/vdb"]
    host.files[f"{MD}/md/sync_action"] = "recover\n"
    events.pass_time(6.0)
    host.files |= {f"{MD}/md/degraded": "0\n", f"{MD}/md/sync_action": "idle\n"}
    host.files["/sys/class/block/vdb/stat"] = "1 0 8 1 90 0 4196 1 0 1 2\n"
    events.pass_time(9.0)
    assert events.reasons() == []
    measured = {each.metric: each.mean for each in events.measurements([interval(0.5, 5), interval(8.5, 5)], 10.0)}
    assert measured["event_1_s"] == pytest.approx(2.0, abs=0.5)
    assert measured["rebuild_s"] == pytest.approx(4.0, abs=0.5)
    assert measured["rebuilt_bytes"] == 4096 * 512


def test_a_server_is_away_until_it_answers_again() -> None:
    _, layouts, events = events_of(PlannedEvent(at_s=1.0, action="kill-server"))
    events.pass_time(0.0)
    assert not KILLS
    events.pass_time(1.0)
    assert (len(KILLS), layouts.is_damaged, OWN[-1]) == (1, False, [])
    assert events.reasons() == []
    intervals = [interval(0.0, 10), interval(1.001, 0), interval(2.0, 8)]
    measured = {each.metric: each.mean for each in events.measurements(intervals, 3.0)}
    assert KILLS[0] <= measured["outage_s"] < 1.0
    assert measured["restarted_share"] == pytest.approx(0.4)


def test_a_disk_is_offline_and_comes_back_with_its_content() -> None:
    host, layouts, events = events_of(
        PlannedEvent(at_s=1.0, action="offline", disk="vdb", until_s=2.0),
        PlannedEvent(at_s=2.0, action="add", disk="vdb"),
        PlannedEvent(at_s=9.0, action="resync"),
    )
    events.pass_time(1.0)
    events.pass_time(2.0)
    assert layouts.ran == [
        "/dev/vdb offline",
        "/dev/vdb running",
        "mdadm /dev/md127 --fail /dev/vdb",
        "mdadm /dev/md127 --remove /dev/vdb",
        "mdadm /dev/md127 --re-add /dev/vdb",
    ]
    host.files[f"{MD}/md/degraded"] = "0\n"
    events.pass_time(3.0)
    events.pass_time(9.0)
    assert layouts.ran[5:] == [f"{MD}/md/sync_action repair"]
    measured = {each.metric: each.mean for each in events.measurements([interval(0.5, 5), interval(8.5, 5)], 10.0)}
    assert measured["rebuild_s"] == pytest.approx(1.0, abs=0.5)


def test_a_former_member_that_md_refuses_is_taken_as_a_blank_one() -> None:
    _, layouts, events = events_of(
        PlannedEvent(at_s=1.0, action="fail-member", disk="vdb"), PlannedEvent(at_s=2.0, action="add", disk="vdb")
    )
    layouts.refuses = "--re-add"
    events.pass_time(2.0)
    assert layouts.ran[2:] == ["wipefs --all --quiet /dev/vdb", "mdadm /dev/md127 --add /dev/vdb"]


def test_a_check_ends_by_itself_and_counts_what_differs() -> None:
    host, layouts, events = events_of(PlannedEvent(at_s=0.0, action="check"), PlannedEvent(at_s=0.0, action="trim"))
    events.pass_time(0.5)
    assert layouts.ran == [f"{MD}/md/sync_action check", "fstrim /mnt"]
    host.files[f"{MD}/md/sync_action"] = "check\n"
    events.pass_time(1.0)
    assert "check_s" not in {each.metric for each in events.measurements([interval(0.0, 5)], 2.0)}
    host.files[f"{MD}/md/sync_action"] = "idle\n"
    events.pass_time(2.0)
    measured = {each.metric: each.mean for each in events.measurements([interval(0.0, 5)], 2.0)}
    assert measured["mismatched_sectors"] == 8.0
    assert {"check_s", "trim_s"} <= measured.keys()


def test_a_disk_is_slow_for_a_while() -> None:
    _, layouts, events = events_of(PlannedEvent(at_s=1.0, action="delay", disk="vdb", until_s=3.0, delay_s=0.02))
    events.pass_time(1.0)
    assert layouts.is_damaged
    events.pass_time(2.0)
    assert layouts.ran == ["/dev/vdb: 0 2048 delay /dev/vdb 0 20"]
    events.pass_time(3.0)
    assert layouts.ran[1:] == ["/dev/vdb: 0 2048 linear /dev/vdb 0"]
    measured = {each.metric: each.mean for each in events.measurements([interval(0.5 + n, 5) for n in range(4)], 4.0)}
    assert {"slow_per_s", "slow_share", "recovered_share"} <= measured.keys()


def test_a_disk_that_fails_every_operation_is_replaced() -> None:
    _, layouts, events = events_of(
        PlannedEvent(at_s=1.0, action="error", disk="vdb", until_s=2.0),
        PlannedEvent(at_s=2.0, action="replace", disk="vdb"),
    )
    events.pass_time(1.0)
    events.pass_time(2.0)
    assert layouts.ran == [
        "/dev/vdb: 0 2048 flakey /dev/vdb 0 0 1",
        "/dev/vdb: 0 2048 linear /dev/vdb 0",
        "mdadm /dev/md127 --fail /dev/vdb",
        "mdadm /dev/md127 --remove /dev/vdb",
        "wipefs --all --quiet /dev/vdb",
        "mdadm /dev/md127 --add /dev/vdb",
    ]


def test_a_program_runs_beside_the_load_until_its_end() -> None:
    JOBS.clear()
    _, layouts, events = events_of(PlannedEvent(at_s=1.0, action="run", argv=("dump", "bad")))
    events.pass_time(1.0)
    assert not layouts.is_damaged
    [job] = JOBS
    assert job.argv == ("dump", "bad")
    events.pass_time(2.0)
    assert events.lasting
    job.over = True
    events.pass_time(3.0)
    assert not events.lasting
    assert events.reasons() == ["dump ended with exit code 1: no space"]
    measured = {each.metric: each.mean for each in events.measurements([interval(0.5 + n, 5) for n in range(4)], 4.0)}
    assert measured["job_s"] == pytest.approx(2.0, abs=0.5)
    assert {"beside_job_share", "after_job_share"} <= measured.keys()


def test_a_program_is_ended_at_its_time_and_with_the_trial() -> None:
    JOBS.clear()
    _, _, events = events_of(
        PlannedEvent(at_s=0.0, action="run", argv=("scrub",), until_s=2.0), PlannedEvent(at_s=0.0, action="run")
    )
    events.pass_time(0.5)
    scrub, other = JOBS
    events.pass_time(2.0)
    assert (scrub.stopped, other.stopped) == (True, False)
    assert OWN[-1] == [101, 102]
    events.close()
    assert other.stopped
    assert events.reasons() == []
    measured = {each.metric for each in events.measurements([interval(0.5 + n, 5) for n in range(4)], 4.0)}
    assert "job_s" not in measured, "it did not end by itself"


def test_an_event_with_a_name_happens_where_the_setting_says_so() -> None:
    always, named = PlannedEvent(at_s=0.0, action="trim"), PlannedEvent(at_s=0.0, action="run", name="backup")
    assert always.happens({"event.backup": "OFF"})
    assert named.happens({})
    assert [named.happens({"event.backup": level}) for level in ("ON", "OFF")] == [True, False]


def test_a_disk_fails_in_the_lowest_array_that_has_it() -> None:
    above = {"/sys/class/block/md126/slaves/md127": "", "/sys/class/block/md127/dev": "9:127\n"}
    layouts = FakeLayouts()
    layouts.stack = Stack(top="/dev/md126", disks=("/dev/vda", "/dev/vdb"), arrays=("/dev/md126", "/dev/md127"))
    MdArrays(FakeHost(ARRAY | above), layouts).fail("/dev/vdb")  # type: ignore[arg-type]
    assert layouts.ran[0] == "mdadm /dev/md127 --fail /dev/vdb"


def test_a_disk_in_no_array_cannot_fail() -> None:
    with pytest.raises(HostError, match="/dev/vdx is in no array of this layout"):
        MdArrays(FakeHost(ARRAY), FakeLayouts()).fail("/dev/vdx")  # type: ignore[arg-type]
