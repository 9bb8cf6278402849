"""Queries to a running server: its variables, its counters, its state."""

from paribus.databases.server.kind import DatabaseKind, Program
from paribus.databases.server.removed_variables import explain
from paribus.databases.server.state import State
from paribus.databases.server.variable import ServerVariable, TakesEffect, number_of
from paribus.engine.protocol import Counting, DatabaseServer, Rows
from paribus.errors import QueryRefused
from paribus.registry import nearest

_LIVE = (TakesEffect.LIVE, TakesEffect.RELOAD, TakesEffect.SESSION)


class ServerClient:
    """A server that answers statements; a subclass says how it is reached."""

    _kind: DatabaseKind
    program: Program
    _variables: dict[str, ServerVariable]  # as it described them since it was started

    def query(self, text: str) -> Rows:
        """The result of one statement."""
        raise NotImplementedError

    def _administrator(self) -> DatabaseServer:
        """Its address, and the user that sends statements."""
        raise NotImplementedError

    @property
    def _name(self) -> str:
        return f"{self._kind.name} {self.program.version}"

    @property
    def state(self) -> State:
        """Its content and pending work, to be read by `query` and `inside`."""
        return self._kind.state

    def variables(self) -> dict[str, ServerVariable]:
        """All variables, as the running server describes them. Raises QueryRefused and ServerGone."""
        self._variables = self._kind.variables(self.query)
        return self._variables

    def read(self, name: str) -> str:
        """A variable's value, as the server shows it. Raises QueryRefused where there is none of that name."""
        return self._kind.read(self.query, name)

    def set_live(self, name: str, value: str) -> str:
        """Set a variable of the running server; its value afterwards, which may be rounded. Raises QueryRefused."""
        variables = self._variables or self.variables()
        request = f"{self._name}: {name} = {value}"
        if name not in variables:
            hint = explain(self._kind.name, self.program.version, name) or nearest(name, variables)
            raise QueryRefused("missing", "", "there is no such variable", request, hint)
        variable = variables[name]
        if variable.takes_effect not in _LIVE:
            raise QueryRefused(
                "refused",
                "",
                f"it takes effect: {variable.takes_effect}",
                request,
                "restart the server with this setting",
            )
        try:
            self._kind.set_live(self.query, variable, self._kind.spell(value))
        except QueryRefused as error:
            raise QueryRefused(error.kind, error.code, error.words, request, "choose another value") from error
        return self.read(name)

    def counting(self) -> Counting:
        """The statement for the running server's counters, and its connection. Raises ServerGone."""
        return Counting(
            database=self._administrator(), opening=self._kind.opening, statement=self._kind.counting(self.query)
        )

    def status(self) -> dict[str, float]:
        """The running server's counters by name. Raises ServerGone."""
        rows = self.query(self._kind.counting(self.query)).rows
        numbers = ((name, number_of(value or "")) for name, value in rows)
        return {name: number for name, number in numbers if name is not None and number is not None}
