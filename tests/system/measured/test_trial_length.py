"""Trials that are too short for a setting to act become longer, on a real machine."""

import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from command import RUN_ENDED
from served import measured, trials

from paribus.model import Purpose

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("as_root")]

WRITES = """
name = "writes"
[target]
path = "{path}"
[factors]
"vm.dirty" = ["2GiB", "1GiB"]
[[workload]]
kind         = "fileio"
mode         = "seqrewr"
total_size   = "512MiB"
files        = 1
threads      = [1]
fsync_every  = 0
fsync_at_end = false
[protocol]
settle  = "10ms"
margin  = "50%"
placebo = false
"""
# The usual trial of a minute is too long for a test.
SHORT_TRIALS = """
from paribus.plan.form.file import PlanTable, ProtocolTable
ProtocolTable.model_fields["trial"].default = 0.05
ProtocolTable.model_rebuild(force=True)
PlanTable.model_rebuild(force=True)
from paribus.cli.main import main
main()
"""


def test_trials_become_long_enough_to_reach_a_limit_of_dirty_memory(paribus, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(WRITES.format(path=tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", SHORT_TRIALS, "run", str(plan)], capture_output=True, text=True, check=False
    )
    assert done.returncode in RUN_ENDED, done.stderr
    need = "under fileio a trial must write at least 512 MiB to show an effect of vm.dirty"
    words = " ".join(done.stderr.split())
    assert f"{need}; trials become that long if the budget holds them" in words
    assert re.search(f"each trial lasts .* instead of 50 ms: {need}", words)
    lengths = {
        purpose: [t.ended - t.applied for t in trials() if t.purpose is purpose and t.ended and t.applied]
        for purpose in (Purpose.NOISE_FLOOR, Purpose.COMPARE)
    }
    assert min(lengths[Purpose.COMPARE]) >= 1 > statistics.median(lengths[Purpose.NOISE_FLOOR])
    assert any("memory_dirtied_bytes_per_s" in values for values in measured().values())
    (effect,) = [effect for effect in paribus("report", "--format", "json").json["effects"] if effect["load"] is None]
    assert effect["verdict"] != "no_effect_possible"
