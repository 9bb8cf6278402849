"""What a running server is asked: its variables, its counters, its state."""

from paribus.databases.server.kind import Kind, Program, Server
from paribus.databases.server.removed_variables import explain
from paribus.databases.server.state import State
from paribus.databases.server.variable import TakesEffect, Variable, number_of
from paribus.engine.protocol import Counting, Rows
from paribus.errors import QueryRefused
from paribus.registry import nearest

_LIVE = (TakesEffect.LIVE, TakesEffect.RELOAD, TakesEffect.SESSION)


class Asked:
    """A server that answers; who keeps it running says how it is reached."""

    _kind: Kind
    program: Program
    _known: dict[str, Variable]  # what it said of its variables since it was started

    def query(self, text: str) -> Rows:
        """What one statement returns."""
        raise NotImplementedError

    def _administrator(self) -> Server:
        """Where it is, and by whom it is asked."""
        raise NotImplementedError

    @property
    def _name(self) -> str:
        return f"{self._kind.name} {self.program.version}"

    @property
    def state(self) -> State:
        """What it holds and still has to do, to be asked by `query` and `inside`."""
        return self._kind.state

    def variables(self) -> dict[str, Variable]:
        """All variables, as the running server describes them. Raises QueryRefused and ServerGone."""
        self._known = self._kind.variables(self.query)
        return self._known

    def read(self, name: str) -> str:
        """A variable's value, as the server shows it. Raises QueryRefused where there is none of that name."""
        return self._kind.read(self.query, name)

    def set_live(self, name: str, value: str) -> str:
        """Set a variable of the running server; its value then, which may be rounded. Raises QueryRefused."""
        known = self._known or self.variables()
        asked = f"{self._name}: {name} = {value}"
        if name not in known:
            hint = explain(self._kind.name, self.program.version, name) or nearest(name, known)
            raise QueryRefused("missing", "", "there is no such variable", asked, hint)
        variable = known[name]
        if variable.takes_effect not in _LIVE:
            raise QueryRefused("refused", "", f"it takes effect: {variable.takes_effect}", asked, "restart with it")
        try:
            self._kind.set_live(self.query, variable, self._kind.spell(value))
        except QueryRefused as error:
            raise QueryRefused(error.kind, error.code, error.words, asked, "choose another value") from error
        return self.read(name)

    def counting(self) -> Counting:
        """How the counters of the running server are read. Raises ServerGone."""
        return Counting(
            database=self._administrator(), opening=self._kind.opening, statement=self._kind.counting(self.query)
        )

    def status(self) -> dict[str, float]:
        """The running server's counters by name. Raises ServerGone."""
        rows = self.query(self._kind.counting(self.query)).rows
        found = ((name, number_of(value or "")) for name, value in rows)
        return {name: number for name, number in found if name is not None and number is not None}
