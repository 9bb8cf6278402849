"""The pages of `paribus serve` in a real Chromium, while experiments go on in other processes.

Screenshots go to artefacts/serve/.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Running
from playwright.sync_api import Browser, Page, expect
from seen import Seen, overflow
from sqlalchemy.engine import Engine as Store
from watched import Serving, serving

from paribus.i18n import stored_message
from paribus.store.open import open_engine, store_url

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests" / "unit" / "web"))

import web_samples as samples  # noqa: E402  found by the line above

pytestmark = pytest.mark.browser
ARTEFACTS = ROOT / "artefacts" / "serve"

DISTURBED = stored_message(
    "other processes took {cpu:.2f} of {cores} cores: {who}",
    cpu=1.85,
    cores=2,
    who=["rustc (11365)", "rustc (11192)"],
)
PLAN = """
name = "followed"
[target]
path = "{path}"
[factors]
"fileio.direct" = [false, true]
[[workload]]
kind       = "fileio"
total_size = "1MiB"
block_size = "4KiB"
threads    = [1]
[protocol]
trial  = "200ms"
settle = "10ms"
rounds = 2
margin = "50%"
"""

TORN_WORDS = r"""() => {
  const torn = [], texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, range = document.createRange();
    range.selectNodeContents(text);
    if (/^\s*\p{Script=Han}{2,4}\s*$/u.test(text.data) && range.getClientRects().length > 1) torn.push(text.data);
  }
  return torn;
}"""


@pytest.fixture(autouse=True)
def artefacts() -> None:
    ARTEFACTS.mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve") / "paribus.db"


@pytest.fixture(scope="module")
def server(path: Path) -> Iterator[Serving]:
    """One server for all tests, each of which has a store of its own in the same place."""
    with serving("--port", "0", "--store", str(path)) as started:
        yield started


@pytest.fixture
def no_store(path: Path) -> None:
    for file in path.parent.glob("paribus.db*"):
        file.unlink()


@pytest.fixture
def store(path: Path, no_store: None) -> Iterator[Store]:
    """A store with one experiment that is over and one under way, with names that do not fit."""
    opened = open_engine(store_url(str(path)), create=True)
    done = samples.begin(opened, 16, "a-name-that-is-long_" + "and-goes-on" * 8, "20260101-000000-aaaa")
    for _ in range(16):
        samples.make(opened, done)
    samples.finish(opened, done)
    under_way = samples.begin(opened, 40, experiment="20260102-000000-bbbb")
    for _ in range(6):
        samples.make(opened, under_way)
    samples.make(opened, under_way, because=DISTURBED)
    for number in (1, 2, 3):
        samples.look(opened, under_way, number)
    samples.set_off(opened, under_way, 2)
    yield opened
    opened.dispose()


def enter(browser: Browser, server: Serving, width: int = 1280, scheme: Any = "light", **context: Any) -> Seen:
    """The list of experiments, by the URL that was printed."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, **context)
    seen = Seen(page)
    page.goto(server.url)
    page.wait_for_url(f"{origin(server)}/")
    return seen


def origin(server: Serving) -> str:
    return f"http://{server.host}:{server.port}"


def tab_to(page: Page, selector: str) -> None:
    """Go there by the keyboard alone; what has the focus on the way is seen to have it."""
    for _ in range(40):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            "(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth))(getComputedStyle(document.activeElement))"
        )
        assert outline or page.evaluate("document.activeElement === document.body"), "the focus is not to be seen"
        if page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"{selector} is not reached by the keyboard")


@pytest.mark.gate
def test_a_run_is_followed_by_the_keyboard_from_the_list_to_its_report(
    browser: Browser, server: Serving, no_store: None, path: Path, tmp_path: Path
) -> None:
    seen = enter(browser, server)
    page = seen.page
    expect(page.get_by_text("There is no store there yet")).to_be_visible()
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(path=tmp_path))
    running = Running("run", str(plan), "--store", str(path))
    try:
        running.wait_for("experiment ")
        expect(page.locator("ol a").first).to_have_text("followed")
        tab_to(page, "ol h2 a")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("followed")
        expect(page.locator("[data-part=made] tr").nth(1)).to_be_visible(timeout=20_000)
        page.evaluate("window.same = true")
        page.wait_for_function(
            "before => document.querySelector('progress').value > before",
            arg=page.evaluate("document.querySelector('progress').value"),
        )
        expect(page.locator(".funnel.preliminary g > line").first).to_be_attached(timeout=60_000)
        expect(page.locator("[data-part=looks]")).to_contain_text("preliminary: the first look is after 16 pairs")
        page.screenshot(path=ARTEFACTS / "running-run.png", full_page=True)
        expect(page.get_by_role("link", name="Read the report")).to_be_visible(timeout=90_000)
        assert page.evaluate("window.same"), "the page was loaded anew instead of kept up to date"
        expect(page.locator("[data-part=announced]")).to_contain_text("The experiment is done")
        tab_to(page, "#report")
        page.keyboard.press("Enter")
        page.wait_for_url("**/report", timeout=30_000)
        expect(page.get_by_role("heading", level=1)).to_have_text("followed")
        assert page.locator("figure svg").count() > 0
        page.locator("figure[data-chart]:visible").first.scroll_into_view_if_needed()  # a chart lives once it is near
        expect(page.locator("figure[data-live]").first).to_be_attached(timeout=30_000)
        page.goto(f"{origin(server)}/")
        assert str(page.locator("ol h2 a").get_attribute("href")).endswith("/report")
        expect(page.locator("ol p").first).not_to_contain_text("The answer is in the report", timeout=20_000)
    finally:
        running.end()
    assert seen.said == []
    assert [url for url in seen.asked if not url.startswith(f"{origin(server)}/")] == []
    page.close()


def test_every_page_fits_every_width_and_scheme(browser: Browser, server: Serving, store: Store) -> None:
    pages = {"list": "/", "running": "/experiments/last", "report": "/experiments/20260101/report"}
    for width, scheme, paper in (
        (390, "light", "rgb(255, 255, 255)"),
        (390, "dark", "rgb(22, 24, 27)"),
        (1280, "light", "rgb(255, 255, 255)"),
        (1280, "dark", "rgb(22, 24, 27)"),
    ):
        seen = enter(browser, server, width, scheme)
        for name, path in pages.items():
            seen.page.goto(f"{origin(server)}{path}")
            seen.page.screenshot(path=ARTEFACTS / f"{name}-{width}-{scheme}.png", full_page=True)
            assert overflow(seen.page) <= 0, (name, width)
            assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
        assert seen.said == []
        seen.page.goto(f"{origin(server)}/experiments/nothing")
        expect(seen.page.get_by_role("alert")).to_contain_text("there is no experiment 'nothing'")
        seen.page.screenshot(path=ARTEFACTS / f"unknown-{width}-{scheme}.png", full_page=True)
        assert overflow(seen.page) <= 0
        assert [url for url in seen.asked if not url.startswith(f"{origin(server)}/")] == []
        seen.page.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_keyboard_reaches_everything_in_order_and_keeps_its_place(
    browser: Browser, server: Serving, store: Store, width: int
) -> None:
    page = enter(browser, server, width).page
    page.goto(f"{origin(server)}/experiments/last")
    order = []
    for _ in range(12):
        page.keyboard.press("Tab")
        order.append(
            page.evaluate(
                "(e => e.id || e.getAttribute('aria-label') || e.className || e.tagName)(document.activeElement)"
            )
        )
    wanted = ["skip", "to-list", "here", "report", "SUMMARY", "Last trials", "The machine during the last trials"]
    assert order[: len(wanted)] == wanted
    page.evaluate("document.activeElement.blur()")
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1, landmark  # type: ignore[arg-type]
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"

    page.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="All looks")).to_be_visible()
    page.locator("#report").focus()
    expect(page.locator("[data-part=progress]")).to_contain_text("7 of 40")
    samples.make(store, "20260102-000000-bbbb")
    expect(page.locator("[data-part=progress]")).to_contain_text("8 of 40")
    expect(page.locator("[data-part=announced]")).to_have_text("20 % of the trials are done")
    assert page.evaluate("document.activeElement.id") == "report"
    assert page.locator("details").get_attribute("open") is not None
    page.close()


@pytest.mark.parametrize("width", [390, 820])
def test_reasons_of_invalid_trials_fit_their_cells(browser: Browser, server: Serving, store: Store, width: int) -> None:
    samples.make(store, "20260102-000000-bbbb", failure="the server said " + "nothing" * 12)
    page = enter(browser, server, width).page
    page.goto(f"{origin(server)}/experiments/last")
    table = page.locator(".made")
    assert table.locator(".why").count() == 2
    for cell in table.locator(":is(th, td):not(:empty)").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width, cell.inner_text()
        assert cell.evaluate("e => e.scrollWidth <= e.clientWidth"), cell.inner_text()
    page.close()


def test_intervals_narrow_before_the_eyes(browser: Browser, server: Serving, store: Store) -> None:
    page = enter(browser, server).page
    page.goto(f"{origin(server)}/experiments/last")
    lines = page.locator(".funnel g > line")
    expect(lines).to_have_count(3)
    samples.look(store, "20260102-000000-bbbb", 4)
    expect(lines).to_have_count(4)
    widths = [float(str(x.get_attribute("x2"))) - float(str(x.get_attribute("x1"))) for x in lines.all()]
    assert widths == sorted(widths, reverse=True)
    assert "at look 4" in str(page.get_by_role("img").get_attribute("aria-label"))
    page.close()


def test_pages_work_without_scripts(browser: Browser, server: Serving, store: Store) -> None:
    page = enter(browser, server, java_script_enabled=False).page
    page.get_by_role("link", name="scheduler", exact=True).click()
    expect(page.get_by_text("7 of 40 trials done")).to_be_visible()
    expect(page.get_by_text("rustc (11365)")).to_be_visible()
    samples.make(store, "20260102-000000-bbbb")
    expect(page.get_by_text("8 of 40 trials done")).to_be_visible(timeout=15_000)
    page.close()


def test_a_page_whose_server_has_ended_says_so(browser: Browser, path: Path, store: Store) -> None:
    with serving("--port", "0", "--store", str(path)) as server:
        page = enter(browser, server).page
        with page.expect_request("**/stream?lang=en"):
            page.goto(f"{origin(server)}/experiments/last")
        expect(page.get_by_role("alert")).to_be_empty()
        server.interrupt()  # its stream would have gone on for ever
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    page.close()


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_chinese_browsers_get_chinese_pages(browser: Browser, server: Serving, store: Store, width: int) -> None:
    seen = enter(browser, server, width, "dark" if width == 820 else "light", locale="zh-CN")
    page = seen.page
    pages = {"list": "/", "running": "/experiments/last", "report": "/experiments/20260101/report"}
    for name, address in pages.items():
        page.goto(f"{origin(server)}{address}")
        assert page.evaluate("document.documentElement.lang") == "zh-CN"
        said = page.locator("body").inner_text().replace(samples.plan().question, "")
        assert re.findall(r"(?:\b[a-z]+ ){2,}[a-z]+", said) == [], name
        assert overflow(page) <= 0, (name, width)
        page.screenshot(path=ARTEFACTS / f"{name}-zh-{width}.png", full_page=True)
    page.goto(f"{origin(server)}/experiments/last")
    expect(page.locator("[data-part=progress]")).to_contain_text("已做 7 次试验（共 40 次）")
    samples.make(store, "20260102-000000-bbbb")
    expect(page.locator("[data-part=progress]")).to_contain_text("已做 8 次试验（共 40 次）")
    expect(page.locator("[data-part=announced]")).to_have_text("已做 20 % 的试验")
    expect(page.get_by_text("其他进程占用了 1.85 个核（共 2 个）：rustc (11365)，rustc (11192)")).to_be_visible()
    page.locator("summary").click()
    assert page.evaluate(TORN_WORDS) == []
    assert seen.said == []
    page.close()


def test_without_the_token_the_browser_gets_nothing(browser: Browser, server: Serving, store: Store) -> None:
    page = browser.new_page()
    answer = page.goto(f"{origin(server)}/")
    assert answer is not None
    assert answer.status == 403
    page.goto(server.url)
    page.wait_for_url(f"{origin(server)}/")
    assert page.evaluate("document.cookie") == ""
    assert server.token not in page.content()
    page.close()
