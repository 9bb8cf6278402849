"""The same view as HTML, Markdown, terminal text and JSON."""

import io
import json
import re
from pathlib import Path

import jsonschema
import pytest
from outline import Outline, assert_orderly
from report_samples import RECIPES, Bench, hostile, many, typical
from rich.console import Console

from paribus.findings import Drift, DriftPoint
from paribus.report.charts import charts
from paribus.report.render import html, markdown, text
from paribus.report.render.document import ReportDocument, document

GOLDEN = Path(__file__).parents[2] / "golden" / "report"


@pytest.mark.parametrize(
    ("name", "bench"), [("typical", typical()), ("hostile", hostile()), ("empty", Bench()), ("ten", many(10))]
)
def test_markdown_is_as_it_was_agreed(name: str, bench: Bench) -> None:
    view = bench.view(RECIPES)
    pictures = {key: f"{key}.svg" for section in view.sections for key in charts.of_section(section)}
    assert markdown.render(view, pictures) == (GOLDEN / f"{name}.md").read_text(encoding="utf-8")


def test_markdown_keeps_hostile_names_inside_their_cells() -> None:
    shown = markdown.render(hostile().view())
    outside = re.sub(r"^(`{3,})toml\n.*?^\1$", "", shown, flags=re.DOTALL | re.MULTILINE)
    assert not re.search(r"(?<!\\)<", outside)
    heads = [line for line in outside.split("\n") if line.startswith("| factor |")]
    row = outside.split(heads[0])[1].split("\n")[2]
    assert len(re.findall(r"(?<!\\)\|", row)) == len(re.findall(r"\|", heads[0]))


def test_pictures_are_files_that_need_no_page(tmp_path: Path) -> None:
    names = charts.write_pictures(many(1).view(), tmp_path / "pictures")
    charts_of_factor = ("effect-1", "p95", "pairs-1", "path", "throughput")
    assert sorted(names) == [f"factor-1-{name}" for name in charts_of_factor]
    for name in names.values():
        drawn = (tmp_path / "pictures" / name).read_text(encoding="utf-8")
        assert drawn.startswith("<svg")
        assert "var(--" not in drawn
        assert f'<rect width="100%" height="100%" fill="{charts.LIGHT["paper"]}"/>' in drawn
        assert re.match('<svg role="img" aria-label="[^"]+" ', drawn)


def test_the_machines_drift_is_drawn_beside_its_factor(tmp_path: Path) -> None:
    bench = many(1)
    trial = bench.trials[0]
    points = tuple(
        DriftPoint(hours=n / 4, log_ratio=0.02 * n, first="0" if n % 2 else "1", trials=(n, n + 1)) for n in range(12)
    )
    course = tuple(point.log_ratio for point in points)
    drift = Drift(
        factor=trial.factor, workload=trial.workload, response="throughput_per_s", points=points, course=course
    )
    shown = bench.view(drifts=[drift])
    names = charts.write_pictures(shown, tmp_path)
    drawn = (tmp_path / names["factor-1-drift"]).read_text(encoding="utf-8")
    assert "hours since the beginning" in drawn
    assert "0 first" in drawn and "1 first" in drawn
    assert "throughput over time" in markdown.render(shown, names)
    assert 'data-chart="factor-1-drift"' in html.render(shown)


def printed(bench: Bench, width: int = 80, *, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system="256" if terminal else None)
    text.render(bench.view(RECIPES), console)
    return out.getvalue()


@pytest.mark.parametrize("bench", [typical(), many(10), hostile(), Bench()])
def test_a_terminal_of_eighty_columns_is_enough(bench: Bench) -> None:
    lines = printed(bench).split("\n")
    assert max(len(line) for line in lines if not line.startswith("  set ")) <= 80
    assert "…" not in "".join(lines)


def test_a_terminal_shows_what_the_other_reports_show() -> None:
    shown = " ".join(printed(typical()).split())
    for answer in typical().view().answers:
        assert answer.sentence in shown
    assert "set echo none > /sys/block/nvme0n1/queue/scheduler" in shown


def test_a_terminal_is_coloured_only_where_an_effect_is_decided() -> None:
    shown = printed(typical(), terminal=True)
    coloured = re.findall(r"\x1b\[1;38;5;\d+m([^\x1b]*)", shown)
    assert any("better" in part for part in coloured)
    assert not any("undecided" in part or "equivalent" in part for part in coloured)


def test_a_name_cannot_steer_the_terminal_or_the_markup() -> None:
    bench = Bench().compare("vm.\x1b[31mred[/]", "0", {"1": typical_effect()})
    assert "\x1b" not in printed(bench)
    assert "[31mred[/]" in printed(bench)


def typical_effect() -> tuple:  # type: ignore[type-arg]
    from paribus.model import Verdict

    return 0.05, 0.02, Verdict.BETTER


def test_html_needs_nothing_from_outside() -> None:
    page = html.render(typical().view(RECIPES))
    assert not re.search(r"""<(?:link|img|iframe|object|embed|base)\b|\bsrc\s*=|@import|url\(""", _page_only(page))
    assert "default-src 'none'" in page
    assert len(page) < 5_000_000


def _page_only(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_html_holds_every_answer_once_escaped() -> None:
    page = _page_only(html.render(hostile().view()))
    assert "<b>x</b>" not in page
    assert "alert(1)</script>" not in page
    assert "&lt;/script&gt;&lt;b&gt;x&lt;/b&gt;" in page


def test_every_still_chart_is_described_to_screen_readers() -> None:
    page = _page_only(html.render(hostile().view()))
    figures = re.findall(r"<figure data-chart[^>]*>(<svg [^>]*>)", page)
    assert figures
    assert all('role="img" aria-label="' in figure for figure in figures)


@pytest.mark.parametrize("bench", [typical(), hostile(), Bench(), many(10)])
def test_html_is_orderly_for_assistive_technology(bench: Bench) -> None:
    assert_orderly(Outline(_page_only(html.render(bench.view()))))


def test_html_scripts_are_the_program_s_own() -> None:
    page = html.render(hostile().view())
    assert page.count("<script") == page.count("</script>") == 4
    data = re.search(r'<script type="application/json" id="specs">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert "<" not in data[1]
    drawn = ("effect-1", "pairs-1", "throughput", "p95", "path")
    assert json.loads(data[1]).keys() == {f"factor-1-{name}" for name in drawn}


def test_html_has_an_anchor_for_every_trial_and_no_link_into_nothing() -> None:
    page = _page_only(html.render(typical().view()))
    ids = set(re.findall(r'\bid="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert {f"trial-{t.order}" for t in typical().trials} <= ids
    assert links <= ids


def test_html_of_forty_factors_stays_small() -> None:
    page = html.render(many(40).view())
    assert len(page) < 5_000_000
    assert page.count("<article") == 40


def test_an_experiment_without_charts_carries_no_chart_library() -> None:
    assert len(html.render(Bench().view())) < 100_000


def test_the_document_holds_every_effect_and_fits_its_schema() -> None:
    bench = typical()
    made = document(bench.input())
    written = json.loads(made.model_dump_json())
    jsonschema.validate(written, ReportDocument.model_json_schema(mode="serialization"))
    assert len(written["effects"]) == len(bench.effects)
    assert written["trials"] == {"done": 55, "invalid": 1, "failed": 2, "superseded": 2}
    first = written["effects"][0]
    assert first["percent"]["low"] == pytest.approx(3.87, abs=0.01)
    assert first["verdict"] == "better"
    assert first["trials"]
    assert ReportDocument.model_validate_json(made.model_dump_json()) == made


def test_the_document_has_no_number_that_json_lacks() -> None:
    from dataclasses import replace

    bench = many(1)
    bench.effects = [replace(e, low=float("-inf"), high=900.0) for e in bench.effects]
    written = document(bench.input()).model_dump_json()
    first = json.loads(written, parse_constant=pytest.fail)["effects"][0]
    assert first["log_ratio"]["low"] is None
    assert first["percent"]["high"] is None
