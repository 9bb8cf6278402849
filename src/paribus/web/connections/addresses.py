"""IP addresses."""

import ipaddress


def is_loopback(address: str) -> bool:
    """Whether an IP address is reachable from this machine only. Raises ValueError for other text."""
    return ipaddress.ip_address(address).is_loopback
