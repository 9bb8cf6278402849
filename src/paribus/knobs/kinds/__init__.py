"""The kinds of knobs: pure functions, commands out and values in. Each file registers one kind."""

from paribus.knobs.kinds import (
    group_limit,
    launch,
    module,
    mount_option,
    multi_file,
    pragma,
    ratio_or_bytes,
    sysctl,
    sysfs,
    variable,
)

__all__ = [
    "OF_THE_LOAD",
    "group_limit",
    "launch",
    "module",
    "mount_option",
    "multi_file",
    "pragma",
    "ratio_or_bytes",
    "sysctl",
    "sysfs",
    "variable",
]

# Not of the machine but of the process that makes the load: given with its job, and read back by itself.
OF_THE_LOAD = frozenset({launch.KIND, pragma.KIND})
