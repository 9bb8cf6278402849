"""Space for data on servers and the cost of its copies: a part of the document of `paribus check`."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from paribus.model import DatabaseFacts, Facts, Plan, Trial
from paribus.plan import data as plan_data
from paribus.plan.schedule.copies import copies


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ServerData(_Document):
    """Size of the data of private servers, and the cost of the copies from which it is restored."""

    servers: int
    data_bytes: int
    copy_bytes: int = Field(description="space that copies need in addition; 0 where they share its blocks")
    copies: int
    copy_s: float = Field(description="estimated time of one copy, from a small one")
    filesystem: str
    reflink: bool = Field(description="whether the file system shares the blocks of a copy")


class OnServer(_Document):
    """Data in databases of a running server whose names begin with `prefix`, removed at the end."""

    server: str
    prefix: str
    rows: int
    size_bytes: int


def server_data(plan: Plan, facts: Facts, trials: Sequence[Trial]) -> ServerData | None:
    """Space and copies for these trials of a plan; None if no workload uses a private server."""
    server = facts.database or DatabaseFacts()
    data_copies = copies(plan, server, trials)
    if data_copies is None:
        return None
    return ServerData(
        servers=data_copies.servers,
        data_bytes=data_copies.data_bytes,
        copy_bytes=data_copies.copy_bytes,
        copies=data_copies.times,
        copy_s=data_copies.each_s(server),
        filesystem=facts.filesystem,
        reflink=server.reflink,
    )


def on_server(plan: Plan) -> OnServer | None:
    """The data that a running server will hold; None without such data."""
    server = plan.database.running if plan.database else None
    size_bytes = plan_data.size_bytes(plan).get(server.address) if server else None
    if server is None or not size_bytes:
        return None
    return OnServer(
        server=server.address, prefix=f"{server.prefix}_", rows=plan_data.rows_on_server(plan), size_bytes=size_bytes
    )
