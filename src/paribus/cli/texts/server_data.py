"""Server data and the cost of its copies, as text."""

from paribus.lab.machine.server_data import OnServer, ServerData
from paribus.units import show_duration, show_size


def lines(private_data: ServerData | None, shared_data: OnServer | None) -> list[str]:
    """Lines on the data of private servers and in a running server."""
    return [
        *([_private_line(private_data)] if private_data else []),
        *([_shared_line(shared_data)] if shared_data else []),
    ]


def _shared_line(data: OnServer) -> str:
    contents = f"{data.rows} rows, about {show_size(data.size_bytes)}"
    return f"in {data.server}, databases {data.prefix}… are made ({contents}) and dropped at the end"


def _private_line(data: ServerData) -> str:
    servers = "the private server takes" if data.servers == 1 else f"{data.servers} private servers take"
    takes = f"{servers} about {show_size(data.data_bytes)}"
    if not data.copies:
        return f"{takes}, and no copy is made: no workload changes its data, or all keep the changes"
    each, total = show_duration(data.copy_s), show_duration(data.copies * data.copy_s)
    copied = f"copied {data.copies} times, about {each} each and {total} in all, outside the budget"
    if data.reflink:
        return f"{takes}, {copied}; {data.filesystem} shares the blocks of copies"
    needs = f"copies need about {show_size(data.copy_bytes)} more"
    warning = f"warning: {data.filesystem} copies every block, where XFS and btrfs share them (reflink)"
    return f"{takes}, {copied}; {needs}\n  {warning}"
