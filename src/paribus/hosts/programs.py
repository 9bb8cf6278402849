"""Paths of the programs of a machine."""

from paribus.errors import HostError
from paribus.hosts.transport import Host


def full_path(host: Host, program: str) -> str:
    """The full path of a program as this user finds it; the name itself where it is not found.

    The keeper of a journal looks in the administrator's directories only, and works on when this user's are gone.
    """
    if "/" in program:
        return program
    try:
        found_at = host.run(["sh", "-c", 'command -v "$1"', "sh", program]).stdout.strip()
    except HostError:
        return program
    return found_at if found_at.startswith("/") else program
