"""The kinds of knobs: pure functions, commands out and values in. Each file registers one kind."""

from ceteris.knobs.kinds import every, group_limit, launch, module, mount_option, ratio_or_bytes, sysctl, sysfs

__all__ = ["every", "group_limit", "launch", "module", "mount_option", "ratio_or_bytes", "sysctl", "sysfs"]
