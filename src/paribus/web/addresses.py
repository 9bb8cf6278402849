"""IP addresses."""

import ipaddress


def is_loopback(address: str) -> bool:
    """Whether an IP address is reached from this machine alone. Raises ValueError where it is none."""
    return ipaddress.ip_address(address).is_loopback
