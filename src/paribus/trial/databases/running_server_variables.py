"""Variables of a server in use by others: journalled, set and read back.

In: values by name. Out: the values then in force. Called while trials are run, and when a setting is applied for
good.
"""

from collections.abc import Mapping

from paribus.databases import LiveServer, ServerVariable
from paribus.errors import HostError, QueryRefused, Unreachable
from paribus.knobs.journal import Journal
from paribus.model import Change, ChangeState, PutStatements, Settings
from paribus.trial.databases.database_session import InForce, server_text


class JournalledVariables:
    """The variables of one server under one journal; they are restored when that is closed."""

    def __init__(self, live: LiveServer, journal: Journal, family: str) -> None:
        """No statement is sent yet."""
        self._live = live
        self._journal = journal
        self._family = family
        self._variables: Mapping[str, ServerVariable] = {}
        # By name, the value before and the action that restores it.
        self._touched: dict[str, tuple[str, PutStatements]] = {}
        self._intended: set[tuple[str, str]] = set()
        # A variable, its value, and another variable that this value moves.
        self._coupled: set[tuple[str, str, str]] = set()

    def set(self, name: str, requested: str, *, even_if_equal: bool) -> tuple[ServerVariable, str, str, str]:
        """Journal, set and read back one variable.

        Returns the variable, its value before, the observed value, and the reason of a refusal.
        """
        self._variables = self._variables or self._live.variables()
        variable = self._variables[name]
        self._touch(name)
        before, _ = self._touched[name]
        refused = ""
        if even_if_equal or not variable.is_same(requested, self._live.read(name)):
            refused = self._put(variable, requested)
        return variable, before, self._live.read(name), refused

    def _put(self, variable: ServerVariable, requested: str) -> str:
        """Have the keeper set a variable; the server's message where it refuses the value."""
        self._intend(variable, requested)
        try:
            moment = self._live.moment()
            setting = self._live.setting(variable, requested, self._touched[variable.name][1])
            self._journal.make(f"{self._family}.{variable.name}", setting)
            self._live.await_effect(variable, moment)
        except Unreachable:
            raise
        except (HostError, QueryRefused) as error:
            return error.message.partition("; by hand: ")[0]  # the value was tried; nothing is to be done by hand
        return ""

    def _touch(self, name: str) -> None:
        """Record the way back before anything is set.

        In the journal, a variable that is moved comes before the one that moves it.
        """
        if name in self._touched:
            return
        self._touched[name] = self._live.way_back(self._variables[name])
        for other in self._live.moved_by(name):
            if other not in self._touched:
                self._touched[other] = self._live.way_back(self._variables[other])
                self._intend(self._variables[other], self._touched[other][0])

    def hold_others(self, name: str, requested: Mapping[str, str]) -> list[Change]:
        """Reset the variables that `name` has moved.

        Where its value does not allow that, the change is `written`, with the observed value.
        """
        changes = []
        for other in self._live.moved_by(name):
            before = self._touched[other][0]
            observed = self._live.read(other)
            if other in requested or observed == before:
                continue
            current = self._live.read(name)
            if (name, current, other) not in self._coupled:
                self._put(self._variables[other], before)
                if self._live.read(name) != current:
                    self._put(self._variables[name], current)
                    self._coupled.add((name, current, other))
                observed = self._live.read(other)
            if observed != before:
                change = Change(
                    knob=f"{self._family}.{other}", address=other, before=before, wanted=before, observed=observed,
                    state=ChangeState.WRITTEN,
                )  # fmt: skip
                changes.append(change)
        return changes

    def _intend(self, variable: ServerVariable, requested: str) -> None:
        """Journal the way back, once for each value.

        After a restart of the server, only these values are known to be ours.
        """
        if (variable.name, requested) in self._intended:
            return
        before, back = self._touched[variable.name]
        back = self._live.meant_for(back, requested)
        key = f"{self._family}.{variable.name}"
        self._journal.intend(key, self._live.server.address, before, requested, [back], persistent=True)
        self._intended.add((variable.name, requested))


def set_for_good(live: LiveServer, journal: Journal, family: str, settings: Settings) -> tuple[Change, ...]:
    """Set variables for good, each read back, and what they moved. Raises DatabaseError, and as a journal."""
    variables, in_force = JournalledVariables(live, journal, family), InForce()
    texts = {name: server_text(value) for name, value in settings.items()}
    changes = []
    for name, text in texts.items():
        variable, before, observed, refused = variables.set(name, text, even_if_equal=False)
        changes.append(in_force.record(family, variable, text, observed, before=before, refused=refused))
    return (*changes, *(moved for name in texts for moved in variables.hold_others(name, texts)))
