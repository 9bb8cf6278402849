"""The report in a real Chromium: it works, asks for nothing, fits every width, and is kept as a picture.

The samples are those of the unit tests. Screenshots go to artefacts/report/.
"""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from seen import Seen, overflow

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "unit" / "report"))

from chosen_samples import chosen  # noqa: E402  found by the line above
from report_samples import EXPERIMENT, RECIPES, Bench, hostile, many, typical  # noqa: E402  found by the line above

from paribus.model import Verdict  # noqa: E402
from paribus.report.render import html  # noqa: E402
from paribus.report.view.blocks import Place, WordTable  # noqa: E402
from paribus.report.view.view_models import ReportView  # noqa: E402

pytestmark = pytest.mark.browser

ARTEFACTS = ROOT / "artefacts" / "report"


def long() -> ReportView:
    """Names as imported sets have them, a plan of long lines, and a table of sentences."""
    experiment = replace(EXPERIMENT, plan_text="levels = [" + '"a level of a long name", ' * 20 + "]")
    bench = Bench(experiment).compare(
        "innodb_flush_log_at_trx_commit",
        "WriteBack with battery",
        {"WriteThrough without it": (math.log(1.36), 0.3, Verdict.UNDECIDED)},
        workload="sysbench 0.5 fileio rndrw",
    )
    claims = WordTable(
        title="Claims",
        note="each beside its numbers",
        head=("claim", "states", "standing", "why"),
        figures=(False,) * 4,
        rows=(("000-C03", "The gap is not large. " * 4, "contradicted", "more than single runs may differ by; " * 6),),
    )
    view = bench.view()
    return replace(view, blocks={**view.blocks, Place.OVERVIEW: (claims,)})


SAMPLES = {
    "typical": lambda: typical().view(RECIPES),
    "one": lambda: many(1).view(),
    "ten": lambda: many(10).view(),
    "forty": lambda: many(40).view(),
    "hostile": lambda: hostile().view(),
    "chosen": chosen,
    "long": long,
}
OUTSIDE = """selector => [...document.querySelectorAll(selector)].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && (box.left < 0 || box.right > document.documentElement.clientWidth);
}).map(e => e.className + ": " + e.textContent)"""


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("report")
    for name, sample in SAMPLES.items():
        (folder / f"{name}.html").write_text(html.render(sample()), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in SAMPLES}


def look(browser: Browser, path: Path, width: int = 1280, scheme: str = "light", **context: bool) -> Seen:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, **context)  # type: ignore[arg-type]
    seen = Seen(page)
    page.goto(path.as_uri())
    return seen


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")


def scroll_through(page: Page) -> None:
    unfold(page)
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
    expect(page.locator("figure[data-chart]:not([data-live])")).to_have_count(0, timeout=30_000)


@pytest.mark.parametrize("scheme", [pytest.param("light", marks=pytest.mark.gate), "dark"])
@pytest.mark.parametrize("width", [390, 820, 1280])
def test_the_report_works_at_every_width_and_scheme(
    browser: Browser, pages: dict[str, Path], width: int, scheme: str
) -> None:
    seen = look(browser, pages["typical"], width, scheme)
    scroll_through(seen.page)
    assert seen.page.locator("figure").count() == 20
    assert seen.page.locator("figure svg").count() == 20
    assert seen.page.locator(".timeline svg").count() == 4
    assert overflow(seen.page) <= 0
    assert seen.said == []
    assert seen.asked == [pages["typical"].as_uri()]
    seen.page.evaluate("scrollTo(0, 0)")
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    seen.page.screenshot(path=ARTEFACTS / f"typical-{width}-{scheme}.png", full_page=True)
    seen.page.close()


@pytest.mark.parametrize("name", ["one", "ten", "forty", "hostile"])
def test_few_and_many_factors_and_hostile_names_fit_a_phone(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    seen = look(browser, pages[name], 390)
    scroll_through(seen.page)
    assert overflow(seen.page) <= 0
    assert seen.said == []
    assert seen.asked == [pages[name].as_uri()]
    seen.page.close()


def test_the_page_follows_the_colour_scheme(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["one"], scheme="light")
    paper = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('figure svg text')).fill"
    light = seen.page.evaluate(f"[{paper}, {label}]")
    seen.page.emulate_media(color_scheme="dark")
    dark = seen.page.evaluate(f"[{paper}, {label}]")
    assert light[0] == "rgb(255, 255, 255)"
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    seen.page.close()


def test_charts_stand_in_the_page_without_scripts(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["typical"], java_script_enabled=False)
    assert seen.page.locator("figure svg").count() == 20
    seen.page.close()


def test_a_link_to_a_trial_opens_the_table_that_holds_it(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["typical"])
    assert not seen.page.locator("#trial-16").is_visible()
    for summary in ("Charts and tables", "Trials behind these numbers"):
        seen.page.locator("#factor-1 summary", has_text=summary).focus()
        seen.page.keyboard.press("Enter")
    seen.page.locator("#factor-1 .traces a", has_text="16").first.click()
    assert seen.page.locator("#trial-16").is_visible()
    seen.page.close()


def test_a_chart_tells_the_trials_behind_a_point(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["typical"])
    scroll_through(seen.page)
    seen.page.locator("#factor-1 figure").first.locator(".mark-symbol path").first.hover()
    seen.page.wait_for_selector("#hint.visible")
    assert "trials" in seen.page.locator("#hint").inner_text()
    seen.page.close()


def test_the_keyboard_reaches_what_scrolls(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["typical"], 390)
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.className") == "skip"
    assert seen.page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        ".every(e => e.tabIndex === 0 && e.getAttribute('aria-label'))"
    )
    assert seen.page.evaluate("document.documentElement.lang") == "en"
    assert "ssd-scheduler" in seen.page.title()
    seen.page.close()


@pytest.mark.parametrize(
    ("figure", "chooser", "chosen"),
    [("factor-1-distribution", 0, "8"), ("trial-course", 0, "2"), ("trial-course", 1, "device busy, %")],
)
def test_chart_contents_are_chosen_by_keyboard(
    browser: Browser, pages: dict[str, Path], figure: str, chooser: int, chosen: str
) -> None:
    seen = look(browser, pages["chosen"])
    scroll_through(seen.page)
    chart = seen.page.locator(f"figure[data-chart={figure}]")
    line = chart.locator(".mark-line path").first
    before = line.get_attribute("d")
    choice = chart.locator(".vega-bind select").nth(chooser)
    choice.focus()
    seen.page.keyboard.type(chosen)
    expect(choice).to_have_value(chosen)
    expect(line).not_to_have_attribute("d", str(before))
    assert seen.said == []
    assert seen.asked == [pages["chosen"].as_uri()]
    seen.page.close()


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_figures_of_all_levels_are_seen_without_scrolling(browser: Browser, pages: dict[str, Path], width: int) -> None:
    seen = look(browser, pages["typical"], width)
    unfold(seen.page)
    boxes = seen.page.locator(".scroll:has(> .levels)")
    assert boxes.count() == 4
    assert all(box.evaluate("e => e.scrollWidth <= e.clientWidth") for box in boxes.all())
    assert seen.page.evaluate(OUTSIDE, ".levels :is(th, td)") == []
    seen.page.close()


@pytest.mark.parametrize("name", ["typical", "long", "hostile"])
def test_a_verdict_keeps_all_its_columns_at_every_width(browser: Browser, pages: dict[str, Path], name: str) -> None:
    seen = look(browser, pages[name])
    unfold(seen.page)
    for width in (390, 660, 820, 940, 1080, 1100, 1400):
        seen.page.set_viewport_size({"width": width, "height": 900})
        for label in ("margin", "pairs"):
            assert seen.page.locator(f".verdicts [data-label={label}]").first.is_visible()
        assert seen.page.evaluate(OUTSIDE, ".verdicts :is(th, td)") == [], width
    seen.page.close()


def test_columns_of_verdicts_stay_below_each_other_on_a_tablet(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["typical"], 820)
    unfold(seen.page)
    for label in ("margin", "pairs"):
        cells = seen.page.locator(f".verdicts [data-label={label}]").all()
        assert len(cells) == 5
        assert len({cell.evaluate("e => e.getBoundingClientRect().right") for cell in cells}) == 1
    head = seen.page.locator(".verdicts thead th").last
    assert head.evaluate("e => e.getBoundingClientRect().right") == cells[0].evaluate(
        "e => e.getBoundingClientRect().right"
    )
    seen.page.close()


@pytest.mark.parametrize("name", ["typical", "long", "hostile", "forty"])
def test_a_report_begins_with_a_decision_and_all_effects(browser: Browser, pages: dict[str, Path], name: str) -> None:
    seen = look(browser, pages[name])
    rows = seen.page.locator(".forest tbody tr:not(.axis)").count()
    assert rows >= seen.page.locator(".forest .dot").count() > 0
    for width in (390, 820, 1400):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.page.locator(".recommendation").is_visible()
        assert seen.page.evaluate(OUTSIDE, ".forest tbody :is(th, td)") == [], width
        assert seen.page.evaluate("""[...document.querySelectorAll('.forest .track')].every((track) => {
            const box = track.getBoundingClientRect();
            return box.width > 200 && [...track.querySelectorAll('.bar, .dot')].every((mark) => {
                const inner = mark.getBoundingClientRect();
                return inner.left >= box.left - 6 && inner.right <= box.right + 6;
            });
        })"""), width
    seen.page.close()


def test_sentences_in_tables_are_whole_on_a_phone(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["long"], 390)
    cells = seen.page.locator("#field td")
    assert cells.count() == 3
    assert seen.page.evaluate(OUTSIDE, "#field td") == []
    assert min(cell.evaluate("e => e.clientWidth") for cell in (cells.first, cells.last)) > 300
    assert cells.first.evaluate("e => getComputedStyle(e, '::before').content").strip('"') == "states "
    seen.page.close()


def test_lines_of_text_end_where_they_can_still_be_read(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["long"], 1400)
    widths = seen.page.evaluate("[...document.querySelectorAll('main :is(p, li)')].map(e => e.clientWidth)")
    assert 0 < max(widths) <= 54 * 16
    seen.page.close()


def test_paper_cuts_neither_plans_nor_tables(browser: Browser, pages: dict[str, Path]) -> None:
    for name in ("typical", "long"):
        seen = look(browser, pages[name], 718)  # A4 within margins of 10 mm
        seen.page.emulate_media(media="print")
        assert overflow(seen.page) <= 0
        assert seen.page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('pre'))") <= 0
        assert seen.page.evaluate(OUTSIDE, "table :is(th, td)") == []
        assert seen.page.evaluate("getComputedStyle(document.querySelector('.levels')).breakInside") == "avoid"
        seen.page.close()


def test_the_focus_on_a_link_at_the_edge_of_a_table_is_whole(browser: Browser, pages: dict[str, Path]) -> None:
    seen = look(browser, pages["typical"])
    link = seen.page.locator(".verdicts a").first
    link.focus()
    room, needed = link.evaluate(
        """e => {
            const drawn = getComputedStyle(e), box = e.closest(".scroll").getBoundingClientRect();
            return [e.getBoundingClientRect().left - box.left,
                    parseFloat(drawn.outlineWidth) + parseFloat(drawn.outlineOffset)];
        }"""
    )
    assert 0 < needed <= room
    seen.page.close()
