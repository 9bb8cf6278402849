"""Explanation of effects: counters that moved, what bounds an arm, how it scales; in every form."""

import dataclasses
import io
import math
from collections.abc import Sequence

import pytest
from report_samples import EXPERIMENT, typical
from rich.console import Console

from paribus.analysis.diagnostics.counter_contrast import BUSY
from paribus.databases.server import counters
from paribus.findings import Bounded, Contrast, Estimate, Law, Limit, Moved, Scaling
from paribus.model import Cell
from paribus.report.contents import blocks_at
from paribus.report.inputs import ReportInput
from paribus.report.render import html, markdown, text
from paribus.report.sections.counter_names import TITLES
from paribus.report.view.blocks import Place, WordTable
from paribus.report.view.view_models import ReportView
from paribus.trial import telemetry
from paribus.trial.guests import hypervisor_watch
from paribus.trial.load import load_host
from paribus.units import LoadLevel

ARMS = ["<a|b>", "none"]


def _moved(metric: str, unit: str, baseline: float, compared: float, *, per: bool = False, ratio: bool = True) -> Moved:
    estimate = math.log(compared / baseline) if ratio else compared - baseline
    spread = 0.05 if ratio else 0.01
    return Moved(
        metric=metric, unit=unit, per_operation=per, baseline=baseline, compared=compared, estimate=estimate,
        low=estimate - spread, high=estimate + spread, is_ratio=ratio, q=0.001,
    )  # fmt: skip


CONTRAST = Contrast(
    factor="f",
    workload="w",
    baseline=ARMS[0],
    arm=ARMS[1],
    moved=(
        _moved("device_written_bytes_per_s", "B/s", 8192, 16384, per=True),
        _moved("device_write_await_s", "s", 0.0002, 0.0003),
        _moved("device_utilisation", "", 0.4, 0.5, ratio=False),
        _moved("cpu_busy_share", "", 0.001, 0.0009, per=True),
        _moved("server_row_lock_waits_per_s", "1/s", 0.25, 0.5, per=True),
    ),
    examined=20,
    confidence=0.95,
    trials=(1, 2, 3, 4),
)
BOUNDS = [
    Bounded(factor="f", workload="w", arm=arm, load=LoadLevel(n), limit=limit, evidence="e")
    for arm, n, limit in (("none", 8, Limit.CPU), (ARMS[0], 8, Limit.NOTHING), (ARMS[0], 1, Limit.COMMITS))
]
LAW = Law(
    contention=Estimate(0.05, 0.04, 0.06), coherency=Estimate(1e-4, 0, 2e-4), peak_at=97.5, miss=0.02, miss_at=8,
    holds=True,
)  # fmt: skip
SCALING = Scaling(
    factor="f", workload="w", arm="none", peak_at=64, peak_per_s=Estimate(28_100, 27_900, 28_300), knee=None,
    drive_at=32, drive_share=0.985, highest=64, law=LAW, trials=(1, 3),
)  # fmt: skip


def _tables(*findings: object, arms: Sequence[str] = ARMS, cells: Sequence[Cell] = ()) -> list[WordTable]:
    blocks = blocks_at(Place.COMPARISON, ReportInput(experiment=EXPERIMENT, cells=cells, findings=findings, arms=arms))
    return [block for block in blocks if isinstance(block, WordTable)]


def test_counters_are_named_with_their_units_and_changes() -> None:
    (table,) = _tables(CONTRAST)
    assert table.rows[0] == (
        "bytes written to the device per operation", "8.00 KiB", "16.0 KiB", "+100 % [+90, +110]",
    )  # fmt: skip
    assert table.rows[1][:3] == ("wait of a write in the device", "200 µs", "300 µs")
    assert table.rows[2] == ("device busy", "40.0 %", "50.0 %", "+10.00 points [+9.00, +11.00]")
    assert table.rows[3][:3] == ("processor time per operation", "", "")
    assert table.rows[4][:3] == ("waits for row locks per operation", "0.250", "0.500")
    assert table.note.startswith("5 of 20 counters moved; at most 5% of these")


def test_unmoved_counters_give_a_note_and_no_rows() -> None:
    (table,) = _tables(dataclasses.replace(CONTRAST, moved=()))
    assert table.rows == ()
    assert table.note == "none of 20 counters moved beyond its noise"


def test_many_counters_are_cut_and_counted() -> None:
    (table,) = _tables(dataclasses.replace(CONTRAST, moved=CONTRAST.moved * 3))
    assert len(table.rows) == 10
    assert "15 of 20 counters moved; 5 moved less" in table.note


def test_bounds_are_a_row_for_each_load_level_with_the_baseline_first() -> None:
    (table,) = _tables(*BOUNDS)
    assert table.head == ("load level", *ARMS)
    assert table.rows == (("1", "commits (e)", "–"), ("8", "no resource is saturated (e)", "processors (e)"))


def test_scaling_says_at_which_level_to_drive_and_where_the_law_fails() -> None:
    (table,) = _tables(SCALING)
    assert table.rows[0] == (
        "none", "28,100 ± 200/s at 64", "beyond", "32 (98% of the peak)", "5 % [4, 6]",
        "0.01 % [0, 0.02]", "holds, deviates +2.0 % at 8, maximum at 98",
    )  # fmt: skip
    bent = dataclasses.replace(LAW, holds=False, miss=-0.2, peak_at=None)
    (table,) = _tables(
        dataclasses.replace(SCALING, law=bent, knee=Estimate(20.0, 15.0, 25.0)), dataclasses.replace(SCALING, law=None)
    )
    (highest,) = _tables(dataclasses.replace(SCALING, drive_at=64))
    assert highest.rows[0][3] == "64 or more: the highest tried"
    assert table.rows[0][2] == "20 [15, 25]"
    assert table.rows[0][-1] == "does not hold: deviates −20.0 % at 8"
    assert table.rows[1][-1] == "needs 4 load levels in 2 rounds"


def test_many_arms_are_each_over_the_best_of_their_load_level() -> None:
    cells = [
        Cell(
            factor="combination", arm=arm, workload="w", load=LoadLevel(8), metric="throughput_per_s", mean=mean,
            low=mean * 0.99, high=mean * 1.01, trials=(),
        )
        for arm, mean in (("a", 90.0), ("b", 100.0))
    ]  # fmt: skip
    (table,) = _tables(cells=cells, arms=["a", "b", "c"])
    assert table.rows == (("8", "0.900 ± 0.013", "1", "–"),)
    assert _tables(cells=cells, arms=["a", "b"]) == []


def _explained() -> ReportView:
    view = typical().view()
    first = dataclasses.replace(view.sections[0], blocks=tuple(_tables(CONTRAST, *BOUNDS, SCALING)))
    return dataclasses.replace(view, sections=(first, *view.sections[1:]))


def test_every_form_shows_it_and_no_name_becomes_markup() -> None:
    buffer = io.StringIO()
    text.render(_explained(), Console(file=buffer, width=100))
    shown = {"text": buffer.getvalue(), "markdown": markdown.render(_explained()), "html": html.render(_explained())}
    for form, said in shown.items():
        flat = " ".join(said.split())
        for words in ("Bottlenecks", "How it scales", "per operation", "beyond"):
            assert words in flat, (form, words)
    assert "<a|b>" not in shown["html"]
    assert "&lt;a|b&gt;" in shown["html"]
    assert "\\<a\\|b\\>" in shown["markdown"]


def test_every_counter_has_a_title() -> None:
    machine = [name for name, *_ in (*telemetry._OF_THE_MACHINE, *telemetry._OF_A_DEVICE)]
    servers = [one.name for family in counters._METRICS.values() for one in family]
    hypervisor = [*(f"hypervisor_{name}" for name in load_host._STORED), *hypervisor_watch._OF_THREADS]
    assert set(TITLES) == {*machine, *servers, *hypervisor, "server_cpu_cores", counters._HIT_SHARE, BUSY}


@pytest.mark.parametrize(
    ("shares", "said"),
    [((0.05, 0.04, 0.06), "5 % [4, 6]"), ((8.7e-16, 0, 2e-4), "0 % [0, 0.02]"), ((9.5, 4, 12), "950 % [400, 1,200]")],
)
def test_shares_are_told_without_powers_of_ten(shares: tuple[float, float, float], said: str) -> None:
    scaling = dataclasses.replace(SCALING, law=dataclasses.replace(LAW, coherency=Estimate(*shares)))
    (table,) = (one for one in _tables(scaling) if one.rows)
    assert said in table.rows[0]
