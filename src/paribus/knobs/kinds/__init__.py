"""The kinds of knobs: how each is located, read and written. Each file registers one kind."""

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
from paribus.knobs.kinds.kind import KnobKind, knob_kinds

__all__ = [
    "KnobKind",
    "group_limit",
    "knob_kinds",
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
