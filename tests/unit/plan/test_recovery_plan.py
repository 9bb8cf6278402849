"""Plans that kill the private server."""

import pytest
from plan_samples import FILEIO, checked, simple

from paribus.errors import PlanError

FACTOR = '"vm.swappiness" = [60, 1]'


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("recovery = true\n", "no workload is on a server that could be killed"),
        ('recovery = "power-cut"\n', "a power cut needs a file system of its own, and this plan has no layout"),
        ('recovery = "powercut"\n', "'powercut' is not one of none, server, power-cut"),
        ("recovery = 1\n", "'1' is not one of none, server, power-cut"),
        ('response = "recovery_s"\n', "recovery_s is measured after a crash"),
    ],
)
def test_a_crash_needs_a_server_of_ours(rest: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        checked(simple(FACTOR, FILEIO, f"[protocol]\n{rest}"))
