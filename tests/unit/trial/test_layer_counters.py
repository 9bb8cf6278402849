"""Bytes written to a layout and to its disks, from the kernel's counters."""

import pytest

from paribus.hosts.fake import FakeHost
from paribus.model import Stack
from paribus.trial.layouts.layer_counters import LayerCounts, layer_counts, measurements

STACK = Stack(top="/dev/md127", disks=("/dev/sda", "/dev/sdb"), arrays=("/dev/md127",))


def _files(top: int, first: int, second: int) -> dict[str, str]:
    sectors = {"md127": top, "sda": first, "sdb": second}
    return {f"/sys/class/block/{name}/stat": f"  1 0 8 0 5 0 {number} 0 0 0 0\n" for name, number in sectors.items()}


def test_a_trial_has_the_difference_of_the_counters() -> None:
    before, after = (layer_counts(FakeHost(_files(*sectors)), STACK) for sectors in ((10, 20, 20), (14, 24, 25)))
    assert before == LayerCounts(10 * 512, 40 * 512)
    written = {each.metric: each.mean for each in measurements(before, after)}
    assert written == {"layout_top_written_bytes": 4 * 512, "layout_disks_written_bytes": 9 * 512}


@pytest.mark.parametrize("sectors", [(3, 30, 30), (30, 3, 3)])
def test_counters_of_other_devices_are_not_compared(sectors: tuple[int, int, int]) -> None:
    before, after = layer_counts(FakeHost(_files(10, 20, 20)), STACK), layer_counts(FakeHost(_files(*sectors)), STACK)
    assert measurements(before, after) == ()


def test_a_device_that_is_gone_has_no_counts() -> None:
    files = _files(1, 2, 3)
    del files["/sys/class/block/sdb/stat"]
    assert layer_counts(FakeHost(files), STACK) is None
    assert measurements(None, LayerCounts(1, 1)) == ()
