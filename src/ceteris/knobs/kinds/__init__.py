"""The kinds of knobs: pure functions, commands out and values in. Each file registers one kind."""

from ceteris.knobs.kinds import ratio_or_bytes, sysctl, sysfs

__all__ = ["ratio_or_bytes", "sysctl", "sysfs"]
