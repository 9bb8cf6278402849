"""The definition of a guest that libvirt is scripted for: restarts, refusals, values that come back."""

from collections.abc import Callable, Sequence

import pytest

from paribus.errors import Denied, HostError, Unreachable
from paribus.hosts.fake import FakeHost
from paribus.hosts.transport import Completed
from paribus.knobs.catalog import load
from paribus.knobs.discovery import place
from paribus.model import Action, ChangeState, DefineGuest, DomainPlace, Guest, Location, NotTaken, Settings, Value
from paribus.trial.guests.domain_session import DomainSession, GuestRestart

CACHE, PROCESSORS = "guest.disk.cache", "guest.vcpus"
ORIGINAL = (
    "<domain><name>db1</name><vcpu>2</vcpu><devices>"
    '<disk><driver cache="none" /><target dev="vda" /></disk></devices></domain>'
)
LOCATION = Location("/dev/sdb", domain=DomainPlace("qemu:///system", "db1", "vda"))
GUEST = Guest(name="db1", machine="local", uri="qemu:///system", disk="/dev/sdb", location=LOCATION)


class Libvirt(FakeHost):
    """A hypervisor, and the journal by which its guest is changed; `refused` are definitions by a part of them."""

    def __init__(self, refused: str = "", step: bool | None = None) -> None:
        super().__init__({})
        self.live = self.later = ORIGINAL
        self.is_on = True
        self.steps: list[str] = []
        self._refused, self._step = refused, step
        self.panic, self.is_stuck = "", False
        self.error: Callable[[str], HostError] = Denied

    def run(self, argv: Sequence[str], **_options: object) -> Completed:
        """Answer dumpxml and domstate."""
        if "domstate" in argv:
            return Completed(0, "running\n" if self.is_on else "shut off\n", "")
        return Completed(0, self.later if "--inactive" in argv else self.live, "")

    def intend(
        self, knob: str, address: str, _before: Value, _wanted: Value, undo: Sequence[Action], *, persistent: bool
    ) -> None:
        """Remember the undo."""
        assert (knob, address, persistent) == ("guest", "db1", True)
        [action] = undo
        assert isinstance(action, DefineGuest) and (action.definition, action.running) == (ORIGINAL, True)
        self.steps.append("journal")

    def make(self, _knob: str, action: Action) -> None:
        """Define the guest, shut it down or start it."""
        assert isinstance(action, DefineGuest)
        if self._refused and self._refused in action.definition and action.running is self._step:
            raise self.error("the guest db1: QEMU does not like it")
        self.later = action.definition
        self.steps.append({None: "define", False: "shut down", True: "start"}[action.running])
        if action.running:
            self.live = action.definition
        self.is_on = action.running is not False

    def come_back(self, ended: Callable[[], bool]) -> None:
        """Find the guest, unless it panics by its definition."""
        if self.panic and self.panic in self.live:
            self.is_on = self.is_stuck
            raise Unreachable("cannot reach ssh://db1")
        assert not ended()
        self.steps.append("come back")


def session(host: Libvirt, *keys: str) -> DomainSession:
    knobs = {key: place(host, load().get(key), LOCATION) for key in keys}
    restart = GuestRestart(lambda: host.steps.append("leave"), host.come_back)
    return DomainSession(host, GUEST, knobs, host, "0123", restart)  # type: ignore[arg-type]  # it only remembers


def applied(domain: DomainSession, settings: Settings) -> dict[str, tuple[Value, Value, ChangeState]]:
    changes = domain.apply(settings, list(settings))
    return {change.knob: (change.before, change.observed, change.state) for change in changes}


def test_all_settings_of_a_trial_take_one_restart() -> None:
    host = Libvirt()
    domain = session(host, CACHE, PROCESSORS)
    assert applied(domain, {CACHE: "writeback", PROCESSORS: 4}) == {
        CACHE: ("none", "writeback", ChangeState.VERIFIED),
        PROCESSORS: (2, 4, ChangeState.VERIFIED),
    }
    assert host.steps == ["leave", "journal", "define", "shut down", "start", "come back"]
    assert domain.was_changed and domain.verify() == ()
    assert "0123" in host.live and "0123" not in ORIGINAL  # the mark


def test_a_number_in_quotes_is_a_number() -> None:
    host = Libvirt()
    [change] = session(host, PROCESSORS).apply({PROCESSORS: "4"}, [PROCESSORS])
    assert (change.wanted, change.observed, change.state) == (4, 4, ChangeState.VERIFIED)


def test_each_trial_of_a_tested_setting_restarts_and_others_only_where_they_differ() -> None:
    host = Libvirt()
    domain = session(host, CACHE)
    domain.apply({CACHE: "none"}, [CACHE])
    assert host.steps.count("start") == 1
    domain.apply({CACHE: "none"}, ["vm.swappiness"])
    assert host.steps.count("start") == 1
    domain.apply({CACHE: "unsafe"}, [])
    assert host.steps.count("start") == 2
    assert host.steps.count("journal") == 1


@pytest.mark.parametrize("step", [None, True])
def test_a_guest_with_a_refused_definition_runs_as_found(step: bool | None) -> None:
    host = Libvirt(refused="unsafe", step=step)
    domain = session(host, CACHE)
    [change] = domain.apply({CACHE: "unsafe"}, [CACHE])
    assert (change.state, change.not_taken) == (ChangeState.MISMATCHED, NotTaken.REFUSED)
    assert (change.observed, change.refused) == ("none", "the guest db1: QEMU does not like it")
    assert host.live == host.later == ORIGINAL
    assert host.steps[-3:] == ["shut down", "start", "come back"]


def test_a_guest_that_panics_with_its_definition_runs_as_found() -> None:
    host = Libvirt()
    host.panic = "unsafe"
    [change] = session(host, CACHE).apply({CACHE: "unsafe"}, [CACHE])
    assert (change.observed, change.refused) == ("none", "the guest db1 ended before it could be reached")
    assert host.live == ORIGINAL and host.steps[-3:] == ["shut down", "start", "come back"]


def test_a_guest_that_hangs_ends_the_experiment() -> None:
    host = Libvirt()
    host.panic, host.is_stuck = "unsafe", True
    with pytest.raises(Unreachable):
        session(host, CACHE).apply({CACHE: "unsafe"}, [CACHE])
    assert host.steps[-1] == "start"


def test_a_lost_hypervisor_is_no_refusal() -> None:
    host = Libvirt(refused="unsafe", step=True)
    host.error = Unreachable
    with pytest.raises(Unreachable):
        session(host, CACHE).apply({CACHE: "unsafe"}, [CACHE])
    assert "come back" not in host.steps


def test_a_value_that_the_guest_did_not_start_with_is_not_taken() -> None:
    host = Libvirt()
    domain = session(host, CACHE)
    host.make = lambda _knob, _action: None  # type: ignore[method-assign]
    [change] = domain.apply({CACHE: "unsafe"}, [CACHE])
    assert (change.observed, change.not_taken) == ("none", NotTaken.IGNORED)


def test_a_definition_that_changes_during_a_trial_is_seen() -> None:
    host = Libvirt()
    domain = session(host, CACHE)
    domain.apply({CACHE: "writeback"}, [CACHE])
    host.live = ORIGINAL
    [change] = domain.verify()
    assert (change.wanted, change.observed, change.not_taken) == ("writeback", "none", NotTaken.RESET)
