"""The variables of a server that others use: set and read back, with the way back in a journal before each is.

In: values by name. Out: what is then in force. Called while trials are made, and where a setting is left for good.
"""

from collections.abc import Mapping

from paribus.databases import Live, Variable
from paribus.errors import HostError, QueryRefused, Unreachable
from paribus.knobs.journal import Journal
from paribus.model import Change, ChangeState, PutStatements, Settings
from paribus.trial.database_session import InForce, text_of


class Variables:
    """Those of one server under one journal; they are as before when that is closed."""

    def __init__(self, live: Live, journal: Journal, family: str) -> None:
        """Nothing is asked yet."""
        self._live = live
        self._journal = journal
        self._family = family
        self._known: Mapping[str, Variable] = {}
        self._touched: dict[str, tuple[str, PutStatements]] = {}  # by name, the value before and the way back to it
        self._intended: set[tuple[str, str]] = set()
        self._bound: set[tuple[str, str, str]] = set()  # a variable, its value, and what cannot be as before with it

    def set(self, name: str, wanted: str, *, even_if_equal: bool) -> tuple[Variable, str, str, str]:
        """Journal, set and read back: the variable, its value before, what is found, and why it was refused."""
        self._known = self._known or self._live.variables()
        variable = self._known[name]
        self._touch(name)
        before, _ = self._touched[name]
        refused = ""
        if even_if_equal or not variable.is_same(wanted, self._live.read(name)):
            refused = self._put(variable, wanted)
        return variable, before, self._live.read(name), refused

    def _put(self, variable: Variable, wanted: str) -> str:
        """Have the keeper set a variable; the server's words where it does not take the value."""
        self._intend(variable, wanted)
        try:
            moment = self._live.moment()
            setting = self._live.setting(variable, wanted, self._touched[variable.name][1])
            self._journal.make(f"{self._family}.{variable.name}", setting)
            self._live.await_effect(variable, moment)
        except Unreachable:
            raise
        except (HostError, QueryRefused) as error:
            return error.message.partition("; by hand: ")[0]  # it was tried, and there is nothing to do by hand
        return ""

    def _touch(self, name: str) -> None:
        """Know the way back before anything is set; in the journal what moves by itself comes before what moves it."""
        if name in self._touched:
            return
        self._touched[name] = self._live.way_back(self._known[name])
        for other in self._live.moved_by(name):
            if other not in self._touched:
                self._touched[other] = self._live.way_back(self._known[other])
                self._intend(self._known[other], self._touched[other][0])

    def hold_others(self, name: str, wanted: Mapping[str, str]) -> list[Change]:
        """Set again what a variable has moved; where its value does not allow that, it is `written`, as found."""
        changes = []
        for other in self._live.moved_by(name):
            before = self._touched[other][0]
            found = self._live.read(other)
            if other in wanted or found == before:
                continue
            held = self._live.read(name)
            if (name, held, other) not in self._bound:
                self._put(self._known[other], before)
                if self._live.read(name) != held:
                    self._put(self._known[name], held)
                    self._bound.add((name, held, other))
                found = self._live.read(other)
            if found != before:
                change = Change(
                    knob=f"{self._family}.{other}", address=other, before=before, wanted=before, observed=found,
                    state=ChangeState.WRITTEN,
                )  # fmt: skip
                changes.append(change)
        return changes

    def _intend(self, variable: Variable, wanted: str) -> None:
        """Put on disk how to come back, for each value once: after a restart of the server only these are ours."""
        if (variable.name, wanted) in self._intended:
            return
        before, back = self._touched[variable.name]
        back = self._live.meant_for(back, wanted)
        key = f"{self._family}.{variable.name}"
        self._journal.intend(key, self._live.server.address, before, wanted, [back], persistent=True)
        self._intended.add((variable.name, wanted))


def leave_set(live: Live, journal: Journal, family: str, wanted: Settings) -> tuple[Change, ...]:
    """Set variables for good, each read back; with what they moved. Raises DatabaseError and what a journal raises."""
    there, in_force = Variables(live, journal, family), InForce()
    texts = {name: text_of(value) for name, value in wanted.items()}
    changes = []
    for name, text in texts.items():
        variable, before, found, refused = there.set(name, text, even_if_equal=False)
        changes.append(in_force.taken(family, variable, text, found, before=before, refused=refused))
    return (*changes, *(moved for name in texts for moved in there.hold_others(name, texts)))
