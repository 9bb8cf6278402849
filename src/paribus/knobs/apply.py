"""Setting knobs so that they can be put back: journal, write, read back; and what the kernel moves by itself.

Called by the trial's runner, once per application.
"""

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter

from paribus.errors import HostError, Missing, ReadOnly, Unreachable
from paribus.hosts.transport import Host
from paribus.knobs.catalog import Catalogue
from paribus.knobs.discovery import members, place, read
from paribus.knobs.journal import Journal
from paribus.knobs.kinds import OF_THE_LOAD, group_limit, launch
from paribus.model import Action, Change, ChangeState, Knob, Location, NotTaken, Settings, Value
from paribus.registry import knob_kinds

_BOOT = "/proc/sys/kernel/random/boot_id"
_NEAR = 0.1  # a value that is no further off was rounded; further, it met a bound
_ROUNDED = 0.05  # a knob with `readback = "rounded"` may read back this far from what was written


@dataclass(frozen=True, slots=True)
class _Touched:
    """A knob that is in the journal: placed here, its value before the experiment, and the way back.

    `under` is the value of the knob that it exists under, where that was not the one before the experiment.
    """

    knob: Knob
    before: Value
    undo: tuple[Action, ...]
    under: Value | None


class Applier:
    """The settings of one target during one experiment."""

    def __init__(self, host: Host, catalogue: Catalogue, location: Location, journal: Journal) -> None:
        self._host = host
        self._catalogue = catalogue
        self._location = location
        self._journal = journal
        self._boot = host.read(_BOOT)
        self._touched: dict[str, _Touched] = {}
        self._in_force: dict[str, Value | None] = {}
        self._written: set[str] = set()
        self._became: dict[tuple[str, Value, Value | None], NotTaken] = {}

    def apply(self, settings: Settings, tested: Collection[str]) -> tuple[Change, ...]:
        """Set every knob, those that move others first, and read each back.

        Knobs in `tested` are written even when equal, so that both arms pay the same; the others only where
        they differ. A knob that reads back different, or that the kernel refuses, is `mismatched`. What a knob
        moves is set again, to its setting or to its value before the experiment; where the tested value does
        not allow that (nr_requests under another scheduler) it is `written`, with what was found. Raises
        JournalError, before the change it could not keep.
        """
        self._journal.assert_kept()
        self._in_force.clear()
        found: list[Change] = []
        for knob in self._in_order(settings):
            bystanders = self._touch(knob, settings[knob.name])
            touched = self._touched[knob.name]
            change = self._set(touched, settings[knob.name], even_if_equal=knob.name in tested)
            if knob.name not in tested and any(_moves(self._catalogue.get(name), knob.name) for name in settings):
                change = _as_bystander(change)
            found.append(change)
            self._in_force[knob.name] = change.observed
            for other in bystanders:
                if other.knob.name not in settings and self._is_here(other):
                    again = _as_bystander(self._set(other, other.before, even_if_equal=False))
                    found.append(again)
                    self._in_force[other.knob.name] = again.observed
        return tuple(found)

    def conditions(self, settings: Settings) -> tuple[str, ...]:
        """The engine's options for a process that is to run under these settings."""
        found: dict[tuple[str, ...], None] = {}
        for name, value in settings.items():
            knob = self._catalogue.get(name)
            if knob.kind == launch.KIND:
                found[launch.arguments(knob, value)] = None
            elif knob.kind == group_limit.KIND and knob.name in self._written:
                found["--cgroup", group_limit.group_of(self._touched[name].knob)] = None
        return tuple(word for words in found for word in words)

    def _in_order(self, settings: Settings) -> list[Knob]:
        """The knobs of the settings, each after those that move it."""
        rows = {name: self._catalogue.get(name) for name in settings}
        knobs = {name: knob for name, knob in rows.items() if knob.kind not in OF_THE_LOAD}
        movers = {name: [other.name for other in knobs.values() if _moves(other, name)] for name in knobs}
        return [knobs[name] for name in TopologicalSorter(movers).static_order()]

    def verify(self) -> tuple[Change, ...]:
        """Read every knob of the last application again; those that moved since, as mismatched changes."""
        moved = []
        for name, in_force in self._in_force.items():
            touched = self._touched[name]
            observed = self._observe(touched)
            if observed != in_force:
                wanted = touched.before if in_force is None else in_force
                became = NotTaken.MISSING if observed is None else NotTaken.RESET
                moved.append(_change(touched, wanted, observed, ChangeState.MISMATCHED, became))
        return tuple(moved)

    def restore(self) -> bool:
        """Put back everything that was touched, the last first; whether the journal's file was there to the end.

        Raises NotRestored and JournalError.
        """
        return self._journal.restore()

    def leftovers(self) -> list[str]:
        """In words, what was touched and is not as before; of another boot, nothing is."""
        if self._host.read(_BOOT) != self._boot:
            return []
        found = ((touched, self._observe(touched)) for touched in self._touched.values() if self._is_here(touched))
        return [f"{t.knob.name}: wanted {t.before}, found {value}" for t, value in found if value != t.before]

    def _touch(self, knob: Knob, wanted: Value | None) -> list[_Touched]:
        """Journal the knob at its first touch, and before it what it moves: undone in reverse, the knob comes
        back first and then what it moved. Returns what it moves."""
        bystanders = [member for pattern in knob.resets for member in self._members_of(pattern)]
        for member in bystanders:
            if member.name not in self._touched and self._owner_moved(member) is None:
                try:
                    self._touch(member, None)
                except Unreachable:
                    raise
                except HostError:  # one that cannot be read is not there to be moved
                    continue
        if knob.name not in self._touched:
            self._journal_first(place(self._host, knob, self._location), wanted)
        return [self._touched[member.name] for member in bystanders if member.name in self._touched]

    def _members_of(self, pattern: str) -> list[Knob]:
        """What a `resets` entry stands for: what is there now, and what was there when first touched."""
        found = {knob.name: knob for knob in members(self._host, self._catalogue, pattern, self._location)}
        if pattern.endswith(".*"):
            start = pattern.removesuffix("*")
            found |= {n: t.knob for n, t in self._touched.items() if n.startswith(start)}
        return list(found.values())

    def _journal_first(self, knob: Knob, wanted: Value | None) -> None:
        """Read the knob and put the way back on disk, before anything is written."""
        reading = read(self._host, knob)
        before = reading.value
        owner = self._owner_moved(knob)  # one that came with its owner's value goes with it
        undo = owner.undo if owner else reading.undo or knob_kinds.get(knob.kind).writes(knob, before)
        self._journal.intend(knob.name, knob.addresses[0], before, before if wanted is None else wanted, undo)
        self._touched[knob.name] = _Touched(knob, before, undo, self._observe(owner) if owner else None)

    def _owner_moved(self, knob: Knob) -> _Touched | None:
        """What the knob exists under, where that has another value now than before the experiment."""
        owner = self._touched.get(knob.exists_under)
        return owner if owner and self._observe(owner) != owner.before else None

    def _is_here(self, touched: _Touched) -> bool:
        """Whether what the knob exists under has the value that it was found under."""
        owner = self._touched.get(touched.knob.exists_under)
        under = owner.before if owner and touched.under is None else touched.under
        return owner is None or self._observe(owner) == under

    def _set(self, touched: _Touched, wanted: Value, *, even_if_equal: bool) -> Change:
        """Write and read back."""
        kind = knob_kinds.get(touched.knob.kind)
        in_force = self._observe(touched)
        if not even_if_equal and in_force == wanted:
            return _change(touched, wanted, in_force, ChangeState.VERIFIED)
        error: HostError | None = None
        self._written.add(touched.knob.name)
        try:
            for action in kind.writes(touched.knob, wanted):
                self._journal.make(touched.knob.name, action)
        except Unreachable:
            raise
        except HostError as refusal:  # what is then in force is read back, and reported
            error = refusal
        observed = self._observe(touched)
        if _same(touched.knob, wanted, observed):
            return _change(touched, wanted, observed, ChangeState.VERIFIED)
        # What became of it the first time: later it may be in force already when it is written.
        now = _what_became(wanted, observed, in_force, error)
        became = self._became.setdefault((touched.knob.name, wanted, observed), now)
        change = _change(touched, wanted, observed, ChangeState.MISMATCHED, became)
        return dataclasses.replace(change, refused=error.message if error else "")

    def _observe(self, touched: _Touched) -> Value | None:
        """The value in force, None where the knob is gone."""
        try:
            return read(self._host, touched.knob).value
        except Missing:
            return None


def _moves(knob: Knob, name: str) -> bool:
    """Whether writing the knob moves the one of that name."""
    return any(fnmatchcase(name, pattern) for pattern in knob.resets)


def _as_bystander(change: Change) -> Change:
    """What was moved and cannot be as before is reported, and is no fault of the trial."""
    if change.state is not ChangeState.MISMATCHED:
        return change
    return dataclasses.replace(change, state=ChangeState.WRITTEN)


def _same(knob: Knob, wanted: Value, found: Value | None) -> bool:
    """Whether the value found is the one wanted, as exactly as the knob reads back."""
    if found is None:
        return False
    if knob.readback == "rounded" and isinstance(wanted, int) and isinstance(found, int):
        return abs(found - wanted) <= abs(wanted) * _ROUNDED
    return knob_kinds.get(knob.kind).same(wanted, found)


def _what_became(wanted: Value, observed: Value | None, before: Value | None, error: HostError | None) -> NotTaken:
    """Of a value that was written and is not in force; `before` was in force until then."""
    if isinstance(error, Missing) or observed is None:
        return NotTaken.MISSING
    if isinstance(error, ReadOnly):
        return NotTaken.READ_ONLY
    if error is not None:
        return NotTaken.REFUSED
    if observed == before:
        return NotTaken.IGNORED
    if isinstance(wanted, int) and isinstance(observed, int) and abs(observed - wanted) <= abs(wanted) * _NEAR:
        return NotTaken.ROUNDED
    return NotTaken.CLAMPED


def _change(
    touched: _Touched, wanted: Value, observed: Value | None, state: ChangeState, not_taken: NotTaken | None = None
) -> Change:
    return Change(
        knob=touched.knob.name,
        address=touched.knob.addresses[0],
        before=touched.before,
        wanted=wanted,
        observed=observed,
        state=state,
        not_taken=not_taken,
    )
