"""Applying settings so that they can be restored: journal, write, read back, and reset what the kernel moved.

Called by the trial's runner, once per application.
"""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter

from paribus.errors import HostError, Missing, ReadOnly, Unreachable
from paribus.hosts.facts import BOOT_ID_FILE
from paribus.hosts.transport import Host
from paribus.knobs.catalog import Catalogue, is_above_disks
from paribus.knobs.discovery import members, place, read
from paribus.knobs.journal import Journal
from paribus.knobs.kinds import NOT_APPLIED, knob_kinds
from paribus.model import LAYOUT, Action, Change, ChangeState, Knob, Location, NotTaken, Settings, Stack, Value

_NEAR = 0.1  # up to this relative difference a value was rounded; beyond it, clamped
_ROUNDED = 0.05  # a knob with `readback = "rounded"` may read back this far from what was written


@dataclass(frozen=True, slots=True)
class _TouchedKnob:
    """A knob that is in the journal: its addresses here, its value before the experiment, and the undo actions.

    `under`: the value of the knob that it exists under, where that was not the one before the experiment.
    `journalled_as`: whose undo covers it, the knob itself or the layout whose device it belongs to.
    """

    knob: Knob
    before: Value
    undo: tuple[Action, ...]
    under: Value | None
    journalled_as: str


class Applier:
    """The settings of one target during one experiment."""

    def __init__(self, host: Host, catalogue: Catalogue, location: Location, journal: Journal) -> None:
        self._host = host
        self._catalogue = catalogue
        self._location = location
        self._journal = journal
        self._boot = host.read(BOOT_ID_FILE)
        self._touched: dict[str, _TouchedKnob] = {}
        self._in_force: dict[str, Value | None] = {}
        self._written: set[str] = set()
        self._first_outcomes: dict[tuple[str, Value, Value | None], NotTaken] = {}
        self._applied: dict[str, Value] = {}
        self._tested: frozenset[str] = frozenset()  # of the last settings, also in later trials of their application

    def apply(self, settings: Settings, tested: Collection[str]) -> tuple[Change, ...]:
        """Set every knob, those that move others first, and read each back.

        Knobs in `tested` are written even when equal, so that both arms have the same cost; others only where they
        differ. A knob that reads back different, or that the kernel refuses, is `mismatched`. A knob that another one
        moves is set again, to its setting or to its value before the experiment. Where the tested value does not allow
        that (nr_requests under another scheduler) the change is `written`, with the observed value.

        Raises JournalError before a change that could not be journalled.
        """
        self._journal.assert_kept()
        self._in_force.clear()
        if tested or settings != self._applied:
            self._applied, self._tested = dict(settings), frozenset(tested)
        changes: list[Change] = []
        for knob in self._in_order(settings):
            bystanders = self._touch(knob, settings[knob.name])
            touched = self._touched[knob.name]
            change = self._set(touched, settings[knob.name], even_if_equal=knob.name in tested)
            if knob.name not in self._tested and any(_moves(self._catalogue.get(name), knob.name) for name in settings):
                change = _as_side_effect(change)
            changes.append(change)
            self._in_force[knob.name] = change.observed
            for other in bystanders:
                if other.knob.name not in settings and self._is_here(other):
                    reset = _as_side_effect(self._set(other, other.before, even_if_equal=False))
                    changes.append(reset)
                    self._in_force[other.knob.name] = reset.observed
        return tuple(changes)

    def move_to(self, stack: Stack) -> None:
        """Use the devices of a layout that was just built; those of the former one are gone, with their settings."""
        self._location = dataclasses.replace(self._location, top=stack.top, arrays=stack.arrays)
        for name in [name for name in self._touched if is_above_disks(self._catalogue.get(name))]:
            del self._touched[name]
            self._in_force.pop(name, None)
            self._written.discard(name)

    def begin_anew(self, journal: Journal) -> None:
        """Use another journal, after everything was restored and the machine restarted."""
        self._journal = journal
        self._boot = self._host.read(BOOT_ID_FILE)
        self._touched.clear()
        self._in_force.clear()
        self._written.clear()
        self._applied.clear()

    def conditions(self, settings: Settings, subject: str) -> dict[str, tuple[Knob, Value]]:
        """The settings that processes of a subject, the load or the server, are started under; by name, placed."""
        conditions = {}
        for name, value in settings.items():
            knob = self._catalogue.get(name)
            if knob.subject != subject:
                continue
            if knob_kinds.get(knob.kind).holder == "process":
                conditions[name] = (knob, value)
            elif name in self._written:
                conditions[name] = (self._touched[name].knob, value)
        return conditions

    def _in_order(self, settings: Settings) -> list[Knob]:
        """The knobs of the settings, each after those that move it."""
        rows = {name: self._catalogue.get(name) for name in settings}
        knobs = {name: knob for name, knob in rows.items() if knob_kinds.get(knob.kind).holder not in NOT_APPLIED}
        movers = {name: [other.name for other in knobs.values() if _moves(other, name)] for name in knobs}
        return [knobs[name] for name in TopologicalSorter(movers).static_order()]

    def verify(self) -> tuple[Change, ...]:
        """The knobs of the last application that have changed since, as mismatched changes."""
        moved = []
        for name, in_force in self._in_force.items():
            touched = self._touched[name]
            observed = self._observe(touched)
            if observed != in_force:
                expected = touched.before if in_force is None else in_force
                outcome = NotTaken.MISSING if observed is None else NotTaken.RESET
                moved.append(_change(touched, expected, observed, ChangeState.MISMATCHED, outcome))
        return tuple(moved)

    def restore(self) -> bool:
        """Restore every touched knob, the last first; whether the journal's file existed to the end.

        Raises NotRestored and JournalError.
        """
        return self._journal.restore()

    def leftovers(self) -> list[str]:
        """Messages about touched knobs that are not restored; none after a reboot."""
        if self._host.read(BOOT_ID_FILE) != self._boot:
            return []
        remaining = [touched for touched in self._touched.values() if touched.journalled_as == touched.knob.name]
        observed = ((touched, self._observe(touched)) for touched in remaining if self._is_here(touched))
        return [f"{t.knob.name}: wanted {t.before}, found {value}" for t, value in observed if value != t.before]

    def _touch(self, knob: Knob, requested: Value | None) -> list[_TouchedKnob]:
        """Journal the knob at its first touch, and before it the knobs that it moves; returns those.

        Undo runs in reverse: the knob is restored first, then what it moved.
        """
        bystanders = [member for pattern in knob.resets for member in self._members_of(pattern)]
        for member in bystanders:
            if member.name not in self._touched and self._owner_moved(member) is None:
                try:
                    self._touch(member, None)
                except Unreachable:
                    raise
                except HostError:  # a knob that cannot be read does not exist here
                    continue
        if knob.name not in self._touched:
            self._journal_first(place(self._host, knob, self._location), requested)
        return [self._touched[member.name] for member in bystanders if member.name in self._touched]

    def _members_of(self, pattern: str) -> list[Knob]:
        """The knobs a `resets` entry stands for: those that exist now, and those that existed when first touched."""
        knobs = {knob.name: knob for knob in members(self._host, self._catalogue, pattern, self._location)}
        if pattern.endswith(".*"):
            start = pattern.removesuffix("*")
            knobs |= {n: t.knob for n, t in self._touched.items() if n.startswith(start)}
        return list(knobs.values())

    def _journal_first(self, knob: Knob, requested: Value | None) -> None:
        """Read the knob and journal its undo actions, before anything is written."""
        reading = read(self._host, knob)
        before = reading.value
        owner = self._owner_moved(knob)  # a knob that appeared with its owner's value disappears with it
        undo = owner.undo if owner else reading.undo or knob_kinds.get(knob.kind).writes(knob, before)
        goes = self._location.is_layout and is_above_disks(self._catalogue.get(knob.name))
        if not goes:
            wanted_value = before if requested is None else requested
            outlasts_boot = knob.command is not None and knob.command.survives_reboot
            self._journal.intend(knob.name, knob.addresses[0], before, wanted_value, undo, persistent=outlasts_boot)
        under, journalled_as = self._observe(owner) if owner else None, LAYOUT if goes else knob.name
        self._touched[knob.name] = _TouchedKnob(knob, before, undo, under, journalled_as)

    def _owner_moved(self, knob: Knob) -> _TouchedKnob | None:
        """The knob that this one exists under, where that has another value now than before the experiment."""
        owner = self._touched.get(knob.exists_under)
        return owner if owner and self._observe(owner) != owner.before else None

    def _is_here(self, touched: _TouchedKnob) -> bool:
        """Whether the knob that this one exists under has the value under which this one was found."""
        owner = self._touched.get(touched.knob.exists_under)
        under = owner.before if owner and touched.under is None else touched.under
        return owner is None or self._observe(owner) == under

    def _set(self, touched: _TouchedKnob, requested: Value, *, even_if_equal: bool) -> Change:
        """Write and read back."""
        kind = knob_kinds.get(touched.knob.kind)
        in_force = self._observe(touched)
        if not even_if_equal and in_force == requested:
            return _change(touched, requested, in_force, ChangeState.VERIFIED)
        error: HostError | None = None
        self._written.add(touched.knob.name)
        try:
            for action in kind.writes(touched.knob, requested):
                self._journal.make(touched.journalled_as, action)
        except Unreachable:
            raise
        except HostError as refusal:  # the value in force is read back, and reported
            error = refusal
        observed = self._observe(touched)
        reason = error.message if error else ""
        if is_same_value(touched.knob, requested, observed):
            change = _change(touched, requested, observed, ChangeState.VERIFIED)
            return dataclasses.replace(change, refused=reason)  # such as a program that did not end after it had set it
        # The outcome of the first time: later the value may be in force before it is written.
        latest_outcome = _outcome(requested, observed, in_force, error)
        outcome = self._first_outcomes.setdefault((touched.knob.name, requested, observed), latest_outcome)
        change = _change(touched, requested, observed, ChangeState.MISMATCHED, outcome)
        return dataclasses.replace(change, refused=reason)

    def _observe(self, touched: _TouchedKnob) -> Value | None:
        """The value in force, None where the knob is gone."""
        try:
            return read(self._host, touched.knob).value
        except Missing:
            return None


def _moves(knob: Knob, name: str) -> bool:
    """Whether writing the knob moves the knob of that name."""
    return any(fnmatchcase(name, pattern) for pattern in knob.resets)


def _as_side_effect(change: Change) -> Change:
    """A mismatch of a moved knob, reported as `written`: it is no fault of the trial."""
    if change.state is not ChangeState.MISMATCHED:
        return change
    return dataclasses.replace(change, state=ChangeState.WRITTEN)


def is_same_value(knob: Knob, requested: Value, observed: Value | None) -> bool:
    """Whether the observed value is the requested one, as exactly as the knob reads back."""
    if observed is None:
        return False
    if knob.readback == "rounded" and isinstance(requested, int) and isinstance(observed, int):
        return abs(observed - requested) <= abs(requested) * _ROUNDED
    return knob_kinds.get(knob.kind).same(requested, observed)


def _outcome(requested: Value, observed: Value | None, before: Value | None, error: HostError | None) -> NotTaken:
    """Return the reason why a written value is not in force; `before` was in force until then."""
    if isinstance(error, Missing) or observed is None:
        return NotTaken.MISSING
    if isinstance(error, ReadOnly):
        return NotTaken.READ_ONLY
    if error is not None:
        return NotTaken.REFUSED
    if observed == before:
        return NotTaken.IGNORED
    if isinstance(requested, int) and isinstance(observed, int) and abs(observed - requested) <= abs(requested) * _NEAR:
        return NotTaken.ROUNDED
    return NotTaken.CLAMPED


def _change(
    touched: _TouchedKnob,
    requested: Value,
    observed: Value | None,
    state: ChangeState,
    not_taken: NotTaken | None = None,
) -> Change:
    return Change(
        knob=touched.knob.name,
        address=touched.knob.addresses[0],
        before=touched.before,
        wanted=requested,
        observed=observed,
        state=state,
        not_taken=not_taken,
    )
