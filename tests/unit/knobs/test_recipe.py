"""Commands for several settings, and the machine on which each is typed."""

from paribus.knobs.catalog import load
from paribus.knobs.recipe import joined, located
from paribus.model import Knob

SWAPPINESS, OF_HYPERVISOR = load().get("vm.swappiness"), load().get("host.vm.swappiness")
CACHE = load().get("guest.disk.cache")


def _lines(*knobs_and_lines: tuple[Knob, str]) -> list[str]:
    return joined(knobs_and_lines).splitlines()


def test_commands_of_each_machine_are_one_line() -> None:
    assert _lines((SWAPPINESS, "a"), (OF_HYPERVISOR, "b"), (SWAPPINESS, "c"), (OF_HYPERVISOR, "d")) == [
        "a && c",
        "b && d  # on the hypervisor",
    ]


def test_a_command_with_a_remark_stands_alone() -> None:
    assert _lines((CACHE, "edit  # cache"), (CACHE, "edit  # queues")) == [
        "edit  # cache  # on the hypervisor",
        "edit  # queues  # on the hypervisor",
    ]


def test_a_missing_command_has_no_remark() -> None:
    assert located(OF_HYPERVISOR, "") == ""
