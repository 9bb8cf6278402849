"""Effects that rest on a contradicted figure, beside what they are with the implied one."""

from pathlib import Path

import pytest

from paribus.imports import pipeline
from paribus.lab.results import reporting
from paribus.lab.store import importing
from paribus.store.open import open_engine, store_url

TPS = {8: (1721.79, 1745.69), 16: (3070.81, 2999.36), 32: (5024.17, 5041.00), 64: (5769.79, 5800.62)}


def _report(folder: Path, misprint: float) -> tuple[float, list[str], list[str], list[str]]:
    """The estimate, tags and reasons of the whole effect, and the words of the contradictions."""
    lines = ["table,factor,level,workload,threads,metric,unit,value"]
    for threads, rates in TPS.items():
        for level, rate in zip(("none", "15%"), rates, strict=True):
            shown = misprint if (threads, level) == (16, "15%") else rate
            lines += [
                f"T1,over-provisioning,{level},OLTP,{threads},tps,1/s,{shown:.2f}",
                f"T1,over-provisioning,{level},OLTP,{threads},qps,1/s,{rate * 18:.2f}",
            ]
    (folder / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    store = open_engine(store_url(str(folder / "s.db")), create=True)
    request = importing.import_request([str(folder / "t.csv")], "", "", None, name="set", baseline="", file_format="")
    target = pipeline.set_named(store, request.name)
    _, experiment = pipeline.carry_out(request, store, target, "0", lambda _outcome: None)
    assert experiment is not None
    document = reporting.report_document(store, experiment)
    [effect] = [each for each in document.effects if each.load is None and each.response == "throughput_per_s"]
    wrong = [breach.words for breach in document.breaches if breach.grave]
    return effect.percent.estimate, list(effect.tags), list(effect.reasons), wrong


def test_effect_of_a_misprint_says_what_it_is_with_the_implied_figure(tmp_path: Path) -> None:
    percent, tags, reasons, wrong = _report(tmp_path, 9299.36)
    assert percent > 30
    assert len(wrong) == 1
    assert "doubtful" in tags
    assert reasons[-1].startswith("with the figure that the others imply in trial ")
    assert float(reasons[-1].rpartition(": ")[2].split()[0].replace("\u2212", "-")) == pytest.approx(0.0, abs=0.5)


def test_effect_of_consistent_figures_has_no_such_words(tmp_path: Path) -> None:
    percent, tags, reasons, wrong = _report(tmp_path, TPS[16][1])
    assert abs(percent) < 1
    assert not wrong
    assert "doubtful" not in tags
    assert not any("imply" in reason for reason in reasons)
