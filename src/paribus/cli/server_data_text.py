"""Data on servers and the cost of its copies, as lines of text."""

from paribus.lab.server_data import OnServer, ServerData
from paribus.units import show_duration, show_size


def lines(private: ServerData | None, others: OnServer | None) -> list[str]:
    """Both for a person."""
    return [*([_of_private(private)] if private else []), *([_of_others(others)] if others else [])]


def _of_others(there: OnServer) -> str:
    held = f"{there.rows} rows, about {show_size(there.size_bytes)}"
    return f"in {there.server}, databases {there.prefix}… are made ({held}) and dropped at the end"


def _of_private(data: ServerData) -> str:
    servers = "the private server takes" if data.servers == 1 else f"{data.servers} private servers take"
    takes = f"{servers} about {show_size(data.data_bytes)}"
    if not data.copies:
        return f"{takes}, and no copy is made: no workload changes its data, or all go on with it"
    each, total = show_duration(data.copy_s), show_duration(data.copies * data.copy_s)
    copied = f"copied {data.copies} times, about {each} each and {total} in all, beside the budget"
    if data.reflink:
        return f"{takes}, {copied}; {data.filesystem} shares the blocks of copies"
    needs = f"copies need about {show_size(data.copy_bytes)} more"
    whole = f"warning: {data.filesystem} copies every block, where XFS and btrfs share them (reflink)"
    return f"{takes}, {copied}; {needs}\n  {whole}"
