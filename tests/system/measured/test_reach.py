"""The reach test on real devices and servers: what cannot act is reported before a run, and in its verdict."""

from pathlib import Path

import pytest
from command import RUN_ENDED
from served import measured, nothing_is_left, plan_on, trials

from paribus.model import TrialState

READS = """
name = "reads"
[target]
path = "{path}"
[factors]
"block.read_ahead_kb" = [128, 0]
[[workload]]
kind       = "fileio"
mode       = "seqrd"
total_size = "16MiB"
block_size = "4KiB"
cache      = "cold"
direct     = {direct}
threads    = [1]
[protocol]
trial   = "80ms"
settle  = "10ms"
rounds  = 2
margin  = "50%"
placebo = false
"""


def _verdicts(paribus) -> dict[str, str]:
    document = paribus("report", "--format", "json").json
    return {effect["factor"]: effect["verdict"] for effect in document["effects"] if effect["load"] is None}


@pytest.mark.parametrize("direct", [True, False])
def test_read_ahead_cannot_act_under_direct_reads_and_can_under_buffered_ones(
    paribus, filesystem, tmp_path: Path, direct: bool
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(READS.format(path=filesystem("ext4"), direct=str(direct).lower()))
    checked = paribus("check", str(plan))
    words = "block.read_ahead_kb cannot act under fileio: it needs buffered reads, and fileio.direct = true"
    assert (words in " ".join(checked.out.split())) is direct
    done = paribus("run", str(plan))
    assert done.code in RUN_ENDED, done.err
    reads = {
        order: values["device_reads_per_s"].mean
        for order, values in measured().items()
        if "device_reads_per_s" in values
    }
    assert any(reads.values()), "both loads read from the device, so that only the plan tells them apart"
    verdict = _verdicts(paribus).get("block.read_ahead_kb")
    assert (verdict == "no_effect_possible") is direct
    spared = [trial for trial in trials() if trial.state is TrialState.SPARED and trial.arm == "0"]
    assert not direct or spared
    text = " ".join(paribus("report").out.split())
    assert ("no effect possible here: block.read_ahead_kb needs buffered reads" in text) is direct


@pytest.mark.parametrize("log_bin", ["OFF", "ON"])
def test_sync_binlog_needs_the_binary_log(paribus, place, log_bin: str) -> None:
    factors, settings = '"mysql.sync_binlog" = [0, 1]', f'[database.settings]\nlog_bin = "{log_bin}"'
    done = paribus("run", plan_on(place, "mariadb", factors, database=settings))
    assert done.code in RUN_ENDED, done.err
    logged = [
        values["server_binlog_transactions_per_s"].high
        for values in measured().values()
        if "server_binlog_transactions_per_s" in values
    ]
    assert logged
    assert any(rate > 0 for rate in logged) is (log_bin == "ON")
    assert ("mysql.sync_binlog cannot act" in done.err) is (log_bin == "OFF")
    assert (_verdicts(paribus).get("mysql.sync_binlog") == "no_effect_possible") is (log_bin == "OFF")
    assert nothing_is_left(place)


def test_a_counter_of_zero_is_found_where_the_plan_excludes_nothing(paribus, place) -> None:
    """This load changes rows that the buffer pool holds: no page is read, whatever its read-ahead."""
    done = paribus("run", plan_on(place, "mariadb", '"mysql.innodb_read_ahead_threshold" = [56, 0]', trial='"1s"'))
    assert done.code in RUN_ENDED, done.err
    misses = [
        values["server_buffer_misses_per_s"].high
        for values in measured().values()
        if "server_buffer_misses_per_s" in values
    ]
    assert misses and not any(misses)
    assert _verdicts(paribus)["mysql.innodb_read_ahead_threshold"] == "no_effect_possible"
