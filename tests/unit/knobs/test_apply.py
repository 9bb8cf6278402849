"""Applying on a host whose kernel is scripted: what moves, what clamps, what refuses, what vanishes."""

from collections.abc import Sequence

import pytest

from paribus.errors import Denied, HostError, JournalError, ReadOnly, Unreachable
from paribus.hosts.fake import FakeHost, Write
from paribus.knobs import kinds
from paribus.knobs.apply import Applier
from paribus.knobs.catalog import load
from paribus.model import Action, ChangeState, Location, NotTaken, Stack, Value, WriteFile

assert kinds
QUEUE = "/sys/block/sda/queue"
DEFAULTS = {"mq-deadline": {"read_expire": "500"}, "bfq": {"slice_idle": "8"}, "none": {}}


class Notes:
    """A journal that only remembers, and a keeper that writes to the scripted host."""

    def __init__(self, host: FakeHost) -> None:
        self.host = host
        self.lines: list[tuple[str, Value, Value]] = []
        self.full = False
        self.lost = ""

    def assert_kept(self) -> None:
        """Nobody has killed it."""

    def intend(
        self, knob: str, address: str, before: Value, requested: Value, undo: Sequence[Action], *, persistent: bool
    ) -> None:
        assert not persistent
        if self.full:
            raise JournalError("no space left")
        if knob == self.lost:
            raise Unreachable("the connection was lost")
        assert undo
        self.lines.append((knob, before, requested))

    def make(self, _knob: str, action: Action) -> None:
        assert isinstance(action, WriteFile)
        self.host.write(action.path, action.text)

    def restore(self) -> None:
        """Do nothing: no value was changed."""


def _switch(host: FakeHost, path: str, text: str) -> None:
    """Imitate Linux when the scheduler changes."""
    names = ["none", "mq-deadline", "bfq"]
    host.files[path] = " ".join(f"[{n}]" if n == text else n for n in names) + "\n"
    for name in [name for name in host.files if "/iosched/" in name]:
        del host.files[name]
    for name, value in DEFAULTS[text].items():
        host.files[f"{QUEUE}/iosched/{name}"] = value + "\n"
    host.files[f"{QUEUE}/nr_requests"] = "128\n" if text == "none" else "256\n"


def _set_requests(host: FakeHost, path: str, text: str) -> None:
    if "[none]" in host.files[f"{QUEUE}/scheduler"] and int(text) > 128:
        raise Denied(f"cannot write {path}: Invalid argument")
    host.files[path] = text + "\n"


def _set_limit(host: FakeHost, path: str, text: str) -> None:
    host.files[path] = "1000 (system)\n" if text == "system" else f"{text} (local)\n"


BOOT = {"/proc/sys/kernel/random/boot_id": "one"}


def _machine() -> FakeHost:
    host = FakeHost(
        BOOT
        | {
            f"{QUEUE}/scheduler": "none [mq-deadline] bfq\n",
            f"{QUEUE}/nr_requests": "200\n",
            f"{QUEUE}/wbt_lat_usec": "2000\n",
            f"{QUEUE}/rq_affinity": "1\n",
            f"{QUEUE}/iosched/read_expire": "700\n",
        }
    )
    host.on_write = {f"{QUEUE}/scheduler": _switch, f"{QUEUE}/nr_requests": _set_requests}
    return host


def _applier(host: FakeHost, journal: Notes) -> Applier:
    return Applier(host, load(), Location("/dev/sda"), journal)  # type: ignore[arg-type]  # it only remembers


def test_side_effects_of_a_setting_are_journalled_first_and_set_again() -> None:
    host = _machine()
    journal = Notes(host)
    applier = _applier(host, journal)
    applier.apply({"block.scheduler": "bfq"}, ["block.scheduler"])
    names = [line[0] for line in journal.lines]
    assert names.index("block.nr_requests") < names.index("block.scheduler")
    assert names.index("block.iosched.read_expire") < names.index("block.scheduler")
    assert host.files[f"{QUEUE}/nr_requests"] == "200\n"
    applier.apply({"block.scheduler": "mq-deadline"}, ["block.scheduler"])
    assert host.files[f"{QUEUE}/iosched/read_expire"] == "700\n"
    assert "block.iosched.slice_idle" not in names


def test_settings_of_a_layout_are_those_of_the_device_that_was_built_last() -> None:
    name, path = "md.stripe_cache_size", "/sys/block/md{}/md/stripe_cache_size"
    host = FakeHost(BOOT | {path.format(126): "256\n", path.format(127): "256\n"})
    journal = Notes(host)
    applier = Applier(host, load(), Location("/dev/sda", is_layout=True), journal)  # type: ignore[arg-type]
    for number in (126, 127):
        applier.move_to(Stack(top=f"/dev/md{number}", disks=("/dev/sda",), arrays=(f"/dev/md{number}",)))
        [change] = applier.apply({name: 4096}, [name])
        assert (change.state, change.address) == (ChangeState.VERIFIED, path.format(number))
    assert journal.lines == []  # it goes with the array, whose undo is journalled
    assert applier.leftovers() == []


def test_a_write_that_fails_after_it_took_effect_is_verified_and_its_failure_kept() -> None:
    def set_and_fail(host: FakeHost, path: str, text: str) -> None:
        host.files[path] = f"{text}\n"
        raise HostError("it did not end within 60 s")

    host = _machine()
    host.on_write[f"{QUEUE}/rq_affinity"] = set_and_fail
    [change] = _applier(host, Notes(host)).apply({"block.rq_affinity": 2}, ["block.rq_affinity"])
    assert (change.state, change.refused) == (ChangeState.VERIFIED, "it did not end within 60 s")


def test_limit_of_an_array_is_its_own_or_that_of_all_arrays() -> None:
    paths = [f"/sys/block/md{number}/md/sync_speed_min" for number in (126, 127)]
    host = FakeHost(BOOT | {paths[0]: "1000 (system)\n", paths[1]: "2000 (local)\n"})
    host.on_write = dict.fromkeys(paths, _set_limit)
    journal, name = Notes(host), "md.sync_speed_min"
    place = Location("/dev/sda", arrays=("/dev/md126", "/dev/md127"))
    applier = Applier(host, load(), place, journal)  # type: ignore[arg-type]
    [change] = applier.apply({name: 5000}, [name])
    assert (change.state, change.observed) == (ChangeState.VERIFIED, 5000)
    [change] = applier.apply({name: "system"}, [name])
    assert (change.state, change.observed) == (ChangeState.VERIFIED, "system")
    assert journal.lines == [(name, "system|2000", 5000)]


def test_a_bystander_that_cannot_be_as_before_is_reported_and_no_mismatch() -> None:
    host = _machine()
    changes = {c.knob: c for c in _applier(host, Notes(host)).apply({"block.scheduler": "none"}, ["block.scheduler"])}
    assert changes["block.scheduler"].state is ChangeState.VERIFIED
    assert changes["block.nr_requests"].state is ChangeState.WRITTEN
    assert (changes["block.nr_requests"].wanted, changes["block.nr_requests"].observed) == (200, 128)


def test_another_factors_baseline_that_the_tested_level_forbids_is_no_mismatch() -> None:
    host = _machine()
    settings: dict[str, Value] = {"block.nr_requests": 200, "block.scheduler": "none"}
    changes = {c.knob: c for c in _applier(host, Notes(host)).apply(settings, ["block.scheduler"])}
    assert changes["block.nr_requests"].state is ChangeState.WRITTEN


def test_a_tested_value_that_another_tested_one_forbids_is_a_mismatch_in_every_trial_of_its_application() -> None:
    host = _machine()
    applier = _applier(host, Notes(host))
    settings: dict[str, Value] = {"block.nr_requests": 200, "block.scheduler": "none"}
    for tested in ([*settings], []):  # the first trial, and a later one
        changes = {change.knob: change for change in applier.apply(settings, tested)}
        assert changes["block.nr_requests"].state is ChangeState.MISMATCHED
    changes = {change.knob: change for change in applier.apply(settings, ["block.scheduler"])}
    assert changes["block.nr_requests"].state is ChangeState.WRITTEN


def test_a_tested_value_that_is_refused_is_a_mismatch_with_wanted_and_found() -> None:
    host = _machine()
    applier = _applier(host, Notes(host))
    applier.apply({"block.scheduler": "none"}, [])
    (change,) = [
        c for c in applier.apply({"block.nr_requests": 500}, ["block.nr_requests"]) if c.knob == "block.nr_requests"
    ]
    assert change.state is ChangeState.MISMATCHED
    assert (change.wanted, change.observed) == (500, 128)


def _refuse(error: type[HostError]) -> Write:
    def write(_host: FakeHost, path: str, _text: str) -> None:
        raise error(f"cannot write {path}")

    return write


def _become(text: str) -> Write:
    return lambda host, path, _text: host.files.__setitem__(path, text)


@pytest.mark.parametrize(
    ("kernel", "observed", "became"),
    [
        (_become("128\n"), 128, NotTaken.IGNORED),
        (_become("992\n"), 992, NotTaken.ROUNDED),
        (_become("512\n"), 512, NotTaken.CLAMPED),
        (_refuse(Denied), 128, NotTaken.REFUSED),
        (_refuse(HostError), 128, NotTaken.REFUSED),
        (_refuse(ReadOnly), 128, NotTaken.READ_ONLY),
        (lambda host, path, _: host.files.pop(path), None, NotTaken.MISSING),
    ],
)
def test_a_value_that_is_not_taken_is_told_by_what_became_of_it(
    kernel: Write, observed: Value | None, became: NotTaken
) -> None:
    path = f"{QUEUE}/read_ahead_kb"
    host = FakeHost(BOOT | {path: "128\n"}, {path: kernel})
    applier = _applier(host, Notes(host))
    for _ in range(1 if became is NotTaken.MISSING else 2):
        (change,) = applier.apply({"block.read_ahead_kb": 1000}, ["block.read_ahead_kb"])
        assert (change.state, change.observed, change.not_taken) == (ChangeState.MISMATCHED, observed, became)


def test_a_lost_target_is_not_taken_for_a_refusal() -> None:
    host = _machine()
    host.on_write[f"{QUEUE}/rq_affinity"] = _refuse(Unreachable)
    with pytest.raises(Unreachable):
        _applier(host, Notes(host)).apply({"block.rq_affinity": 2}, ["block.rq_affinity"])


def test_a_target_lost_while_looking_at_a_bystander_stops_before_anything_is_set() -> None:
    host = _machine()
    journal = Notes(host)
    applier = _applier(host, journal)
    journal.lost = "block.nr_requests"
    with pytest.raises(Unreachable):
        applier.apply({"block.scheduler": "bfq"}, ["block.scheduler"])
    assert host.written == []


def test_changes_by_others_are_detected() -> None:
    host = _machine()
    applier = _applier(host, Notes(host))
    applier.apply({"block.rq_affinity": 2}, ["block.rq_affinity"])
    assert applier.verify() == ()
    host.files[f"{QUEUE}/rq_affinity"] = "0\n"
    (moved,) = applier.verify()
    assert (moved.knob, moved.wanted, moved.observed) == ("block.rq_affinity", 2, 0)
    assert moved.not_taken is NotTaken.RESET
    del host.files[f"{QUEUE}/rq_affinity"]
    assert applier.verify()[0].not_taken is NotTaken.MISSING


def test_failing_journal_prevents_all_writes() -> None:
    host = _machine()
    journal = Notes(host)
    journal.full = True
    with pytest.raises(JournalError):
        _applier(host, journal).apply({"block.rq_affinity": 2}, ["block.rq_affinity"])
    assert host.written == []


def test_only_tested_knobs_are_written_when_equal() -> None:
    host = _machine()
    applier = _applier(host, Notes(host))
    applier.apply({"block.rq_affinity": 1}, [])
    assert host.written == []
    applier.apply({"block.rq_affinity": 1}, ["block.rq_affinity"])
    assert host.written == [(f"{QUEUE}/rq_affinity", "1")]


def test_after_a_boot_nothing_is_left_over() -> None:
    host = _machine()
    applier = _applier(host, Notes(host))
    applier.apply({"block.rq_affinity": 2}, [])
    assert applier.leftovers() == ["block.rq_affinity: wanted 1, found 2"]
    host.files["/proc/sys/kernel/random/boot_id"] = "two"
    assert applier.leftovers() == []


def test_a_knob_is_journalled_once() -> None:
    host = _machine()
    journal = Notes(host)
    applier = _applier(host, journal)
    for value in (2, 1, 0):
        applier.apply({"block.rq_affinity": value}, ["block.rq_affinity"])
    assert journal.lines == [("block.rq_affinity", 1, 2)]


def test_a_member_that_came_with_its_owners_value_goes_with_it() -> None:
    host = _machine()
    journal = Notes(host)
    applier = _applier(host, journal)
    both: dict[str, Value] = {"block.scheduler": "bfq", "block.iosched.slice_idle": 16}
    applier.apply(both, list(both))
    assert host.files[f"{QUEUE}/iosched/slice_idle"] == "16\n"
    assert ("block.iosched.slice_idle", 8, 16) in journal.lines
    back = applier.apply({"block.scheduler": "mq-deadline"}, ["block.scheduler"])
    assert "block.iosched.slice_idle" not in {change.knob for change in back}
    assert host.files[f"{QUEUE}/iosched/read_expire"] == "700\n"
    assert applier.leftovers() == []
    applier.apply({"block.scheduler": "bfq"}, ["block.scheduler"])
    assert host.files[f"{QUEUE}/iosched/slice_idle"] == "8\n"
    assert [left.partition(":")[0] for left in applier.leftovers()] == ["block.scheduler"]
