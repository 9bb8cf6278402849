"""Capacity and write amplification of layouts."""

from trial_samples import measured, trial

from paribus.analysis.layouts import layout_uses
from paribus.model import Factor

RAID_5, RAW = "md level=5 / xfs", "xfs"
FACTOR = Factor(key="layout", levels=(RAW, RAID_5), labels=("disk", "RAID 5"), scope=())


def _metrics(written: float, on_disks: float, reads: float = 0.0) -> dict:
    values = {
        "bytes_per_s": written * (1 + reads),
        "reads_per_s": reads * 10,
        "writes_per_s": 10.0,
        "throughput_per_s": reads * 10 + 10.0,
        "device_reads_per_s": 20.0,
        "device_writes_per_s": 20.0,
        "device_written_bytes_per_s": on_disks,
        "layout_usable_bytes": 2e9,
    }
    return {metric: measured(value, metric) for metric, value in values.items()}


def test_writes_are_counted_on_all_disks_for_each_byte_of_the_load() -> None:
    trials = [
        trial(1, settings={"layout": RAW}),
        trial(2, settings={"layout": RAID_5}),
        trial(3, settings={"layout": RAID_5}),
    ]
    summaries = {1: _metrics(100.0, 100.0), 2: _metrics(100.0, 190.0, reads=1.0), 3: _metrics(300.0, 610.0)}
    plain, raid = layout_uses(trials, summaries, [FACTOR])
    assert (plain.level, raid.level) == ("disk", "RAID 5")
    assert raid.layers == ("md level=5", "xfs")
    assert plain.written_per_byte == 1.0
    assert raid.written_per_byte == 2.0
    assert raid.usable_bytes == 2e9
    assert (plain.operations_per_operation, raid.operations_per_operation) == (4.0, 80 / 30)
    assert raid.trials == (2, 3)
    assert (plain.share_of_best, raid.share_of_best) == (10 / 15, 1.0)


def test_each_combination_is_normalised_to_the_best_of_them() -> None:
    trials = [
        trial(1, "baseline", factor="combination", baseline=True, settings={"layout": RAW}),
        trial(2, "9: noop", factor="combination", settings={"layout": RAW, "block.scheduler": "none"}),
        trial(3, "5: RAID 5", factor="combination", settings={"layout": RAID_5}),
        trial(4, "baseline again", factor="placebo 1", settings={"layout": RAW}),
    ]
    summaries = {number: {"throughput_per_s": measured(10.0 * number)} for number in (1, 2, 3, 4)}
    uses = {use.level: use for use in layout_uses(trials, summaries, [])}
    assert {level: use.trials for level, use in uses.items()} == {
        "baseline": (1, 4), "9: noop": (2,), "5: RAID 5": (3,)
    }  # fmt: skip
    assert {level: use.share_of_best for level, use in uses.items()} == {
        "baseline": 25 / 30, "9: noop": 20 / 30, "5: RAID 5": 1.0
    }  # fmt: skip
    assert uses["5: RAID 5"].layers == ("md level=5", "xfs")


def test_bytes_on_the_disks_are_compared_with_those_of_the_layout_where_the_load_counts_none() -> None:
    amounts = {1: (100.0, 100.0), 2: (100.0, 190.0), 3: (300.0, 610.0)}
    summaries = {
        number: {
            "layout_top_written_bytes": measured(top, "layout_top_written_bytes"),
            "layout_disks_written_bytes": measured(disks, "layout_disks_written_bytes"),
        }
        for number, (top, disks) in amounts.items()
    }
    trials = [trial(number, settings={"layout": RAW if number == 1 else RAID_5}) for number in amounts]
    plain, raid = layout_uses(trials, summaries, [FACTOR])
    assert (plain.written_per_byte, raid.written_per_byte) == (1.0, 2.0)


def test_a_load_that_does_not_count_its_bytes_has_no_amplification() -> None:
    summaries = {1: {"device_written_bytes_per_s": measured(9.0, "device_written_bytes_per_s")}}
    [use] = layout_uses([trial(1, settings={"layout": RAW})], summaries, [FACTOR])
    assert use.written_per_byte is None
    assert use.usable_bytes is None
    assert use.operations_per_operation is None
    assert use.share_of_best is None
    assert layout_uses([trial(1)], {1: {}}, [FACTOR]) == ()
