"""The kinds of knobs: pure functions, commands out and values in. Each file registers one kind."""

from ceteris.knobs.kinds import every, module, mount_option, ratio_or_bytes, sysctl, sysfs

__all__ = ["every", "module", "mount_option", "ratio_or_bytes", "sysctl", "sysfs"]
