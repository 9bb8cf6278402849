"""Mount options of the file systems of layouts, and the kernels that have them.

In: a file system, an option as it is written, a kernel release. Out: why the kernel would not take it, or why it would
do nothing. The data is in mount_options.toml.
"""

import re
import tomllib
from functools import cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from paribus.model import Refusal
from paribus.registry import nearest

_ALL, _PLAIN = "all", "plain"


class OptionRange(BaseModel):
    """Kernels that have an option; empty: every kernel, or none has dropped it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    since: str = ""
    until: str = ""
    ignored: str = ""
    instead: str = ""


@cache
def options_of(file_system: str) -> dict[str, OptionRange]:
    """Every option of a file system by name, or by name and value where only that value has a range."""
    text = resources.files(__package__).joinpath("mount_options.toml").read_text(encoding="utf-8")
    options: dict[str, OptionRange] = {}
    for name in (_ALL, file_system):
        table = tomllib.loads(text)[name]
        options |= dict.fromkeys(table.pop(_PLAIN), OptionRange())
        options |= {option: OptionRange.model_validate(kernels) for option, kernels in table.items()}
    return options


def refusal(file_system: str, option: str, kernel: str) -> Refusal | None:
    """Return why a kernel (`6.1.0-56-amd64`) refuses or ignores an option; None if it acts.

    An option that no table has is left to the kernel, unless it is nearly that of one.
    """
    options = options_of(file_system)
    name = option.partition("=")[0]
    if name not in options and option not in options:
        hint = nearest(name, options)
        return Refusal(f"{file_system} has no mount option {name!r}", hint) if hint else None
    kernels = options.get(option.partition(":")[0]) or options.get(name, OptionRange())
    is_replaced = kernels.instead and not kernels.instead.startswith("nothing")
    instead = f"use {kernels.instead}" if is_replaced else kernels.instead
    if kernels.since and _release(kernel) < _release(kernels.since):
        return Refusal(f"{file_system} has {option} from kernel {kernels.since} on, and this is {kernel}", instead)
    if kernels.until and _release(kernel) >= _release(kernels.until):
        return Refusal(f"{file_system} has no {option} since kernel {kernels.until}", instead)
    if kernels.ignored and _release(kernel) >= _release(kernels.ignored):
        return Refusal(f"{file_system} ignores {option} from kernel {kernels.ignored} on", instead)
    return None


def _release(kernel: str) -> tuple[int, int]:
    """The first two numbers of a release."""
    numbers = re.match(r"(\d+)\.(\d+)", kernel)
    return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
