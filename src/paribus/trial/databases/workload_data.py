"""A workload's data on a server: made and read by the engine, or made by the user's tool.

In: a workload, a trial's settings, the server's address. Out: tables in the server, and a tool's files. Called by the
servers' sessions.
"""

from collections.abc import Callable

from paribus.databases import state_of
from paribus.engine.protocol import DatabaseServer, Job, SqlJob
from paribus.engine.sql import Sql
from paribus.hosts.transport import Host
from paribus.model import Settings, Workload
from paribus.trial.tools.tool_session import Tools
from paribus.workloads import jobs
from paribus.workloads.tools import tool_of

_LONG_S = 3600.0  # a table may be large

Progress = Callable[[int, int], None]  # bytes done and in total
Work = Callable[[Job, Progress], None]  # has the engine carry out a job on data


class WorkloadData:
    """The data of an experiment's workloads on servers of one kind; `tools` makes what the engine does not."""

    def __init__(self, host: Host, engine: str, kind: str, folder: str, work: Work, tools: Tools | None = None) -> None:
        self._host = host
        self._engine = engine
        self._kind = kind
        self._folder = folder
        self._work = work
        self._tools = tools

    def make(self, workload: Workload, settings: Settings, server: DatabaseServer, progress: Progress) -> None:
        """Make the tables in an empty database. Raises EngineError, HostError and Interrupted."""
        tool = tool_of(workload)
        if tool and self._tools:
            self._tools.make(tool, workload, settings)
        else:
            self._work(jobs.job(workload, settings, self._folder, "prepare", server=server), progress)

    def read(self, workload: Workload, settings: Settings, server: DatabaseServer) -> None:
        """Read all tables. Raises EngineError, QueryRefused and Interrupted."""
        if not tool_of(workload):
            job = jobs.job(workload, settings, self._folder, "warm", server=server)
            self._work(job, lambda _done, _total: None)
            return
        sql = Sql(self._host, self._engine, SqlJob(database=server.model_copy(update={"timeout_s": _LONG_S})))
        try:
            state_of(self._kind).read_tables(sql.query)
        finally:
            sql.close()

    def keep_files(self, workload: Workload, settings: Settings) -> None:
        """Copy the files of the workload's tool, for `restore_files`. Raises HostError."""
        if tool_of(workload) and self._tools:
            self._tools.keep_files(workload, settings)

    def restore_files(self, workload: Workload, settings: Settings) -> None:
        """Restore the files of the workload's tool. Raises HostError."""
        if tool_of(workload) and self._tools:
            self._tools.restore_files(workload, settings)
