"""Putting queries to a database, for preparing and administering."""

import contextlib
import json
import time

from paribus.engine.protocol import Hello, Refused, Rows, Server, SqlJob
from paribus.engine.run import understand
from paribus.errors import EngineError, HostError, QueryRefused
from paribus.hosts.transport import Host, LineProcess

_SLACK_S = 30.0  # the engine itself gives up earlier
_FILE_S = 3600.0  # where there is no server whose answer could fail to come


class Sql:
    """One connection to a database."""

    def __init__(self, host: Host, binary: str, job: SqlJob, opening: str = "SELECT 1") -> None:
        """Connect, and put a first query. Raises EngineError or QueryRefused with the server's words."""
        self._process: LineProcess = host.start([binary, "sql"], connects=job.connects)
        self._patience_s = _SLACK_S + (job.database.timeout_s if isinstance(job.database, Server) else _FILE_S)
        try:
            with contextlib.suppress(HostError):  # it has ended already; what it said tells why
                self._process.send(job.model_dump_json())
            while not isinstance(self._next(), Hello):
                pass
            self.query(opening)
        except BaseException:
            self.close()
            raise

    def _next(self) -> object:
        deadline = time.monotonic() + self._patience_s
        while time.monotonic() < deadline:
            try:
                line = self._process.receive(1.0)
            except EOFError as error:
                words = self._process.words() or "no word"
                raise EngineError("engine-died", f"the SQL client ended: {words}") from error
            if line is not None:
                return understand(line)
        raise EngineError("no-data", f"the database did not answer for {self._patience_s:.0f} s")

    def query(self, text: str) -> Rows:
        """Return the result of one statement. Raises QueryRefused, and EngineError where the connection is lost."""
        try:
            self._process.send(json.dumps({"query": text}))
        except HostError as error:
            raise EngineError("connection-lost", error.message, error.todo) from error
        answer = self._next()
        if isinstance(answer, Refused):
            raise QueryRefused(answer.kind, answer.code, answer.message)
        if not isinstance(answer, Rows):
            raise EngineError("protocol-mismatch", f"the SQL client sent an unknown answer: {answer!r}")
        return answer

    def close(self) -> None:
        """End the connection."""
        self._process.close()
