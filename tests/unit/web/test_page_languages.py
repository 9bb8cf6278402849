"""The pages in Chinese: who is answered in it, that no word is left in English, and that nothing else differs."""

import asyncio
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
import web_samples as samples
from asked import KNOWN, TOKEN, Answer, Site
from sqlalchemy.engine import Engine as Store

from paribus.i18n import Language, speaking, stored_message
from paribus.lab.results import reporting
from paribus.model import ExperimentState, Purpose, Verdict
from paribus.store import read, write
from paribus.store.open import open_engine, store_url

CHINESE = KNOWN | {"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}
ENGLISH = KNOWN | {"accept-language": "en-US,en;q=0.9,zh;q=0.8"}
SPOKEN = {"aria-label", "data-refused", "data-silent"}
NAMES = {
    *("scheduler", "first", "block", "mq", "deadline", "none", "mixed", "rustc", "no", "space", "left", "on", "device"),
    *("Which", "for", "this", "SSD", "UTC", "iowait", "GiB", "MiB", "ms", "min"),
    *("Paribus", "paribus", "serve", "status", "run", "PLAN", "store"),
}
FOREIGN = stored_message(
    "other processes took {cpu:.2f} of {cores} cores: {who}", cpu=1.85, cores=2, who="rustc (11365)"
)


class _Words(HTMLParser):
    """All that a page says: its text, and what it says to screen readers and keeps for later."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.said += [value or "" for name, value in attrs if name in SPOKEN]

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def english_left(page: str) -> set[str]:
    """The words of a page in Latin letters that are no names."""
    said = re.sub(r"\S*[/\d]\S*", "", " ".join(_Words(page).said))
    return set(re.findall(r"[A-Za-z]{2,}", said)) - NAMES


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Store:
    return open_engine(store_url(str(path)), create=True)


@pytest.fixture
def under_way(store: Store) -> str:
    """An experiment with all that a page can show of one."""
    experiment = samples.begin(store, 40, "first")
    write.add_note(store, experiment, FOREIGN)
    for _ in range(6):
        samples.make(store, experiment)
    samples.make(store, experiment, because=FOREIGN)
    samples.make(store, experiment, failure="no space left on device")
    samples.look(store, experiment, 1)
    samples.look(store, experiment, 2, Verdict.BETTER)
    samples.set_off(store, experiment, 3)
    return experiment


def get(path: Path, address: str, headers: dict[str, str] = CHINESE, language: Language | None = None) -> Answer:
    async def once() -> Answer:
        return await Site(path, language=language).ask(address, headers=headers)

    return asyncio.run(once())


def test_every_page_is_in_chinese_and_no_word_is_left(path: Path, store: Store, under_way: str) -> None:
    assert (get(path, "/").status, get(path, "/experiments/last").status) == (200, 200)
    for address in ("/", "/experiments/last", "/experiments/nothing-9", "/nothing", f"/?token={TOKEN}"):
        page = get(path, address).text
        assert '<html lang="zh-CN">' in page
        assert english_left(page) == set(), address
    text = get(path, "/experiments/last").text
    assert "已做 8 次试验（共 40 次），其中 2 次无效或失败" in text
    assert text.count("其他进程占用了 1.85 个核（共 2 个）：rustc (11365)") == 2
    assert "（8 个配对之后）：<strong" in text
    assert "更好" in text


@pytest.mark.parametrize("state", ExperimentState)
def test_an_experiment_in_any_state_has_no_word_in_english(path: Path, store: Store, state: ExperimentState) -> None:
    write.set_state(store, samples.begin(store, 4, "first"), state)
    for address in ("/", "/experiments/last"):
        page = get(path, address).text
        assert english_left(page) == set()
        assert f'class="state {state}"' in page  # by which it is coloured


@pytest.mark.parametrize("purpose", Purpose)
def test_a_trial_for_any_purpose_has_no_word_in_english(path: Path, store: Store, purpose: Purpose) -> None:
    experiment = samples.begin(store, 4, "first", purpose=purpose)
    samples.make(store, experiment)
    samples.set_off(store, experiment)
    assert english_left(get(path, "/experiments/last").text) == set()


def test_refusals_and_read_errors_are_in_chinese(path: Path) -> None:
    assert english_left(get(path, "/").text) == set()
    assert english_left(get(path, "/experiments/last").text) == set()
    assert get(path, "/", {"host": "localhost", "accept-language": "zh"}).text == (
        "请打开 paribus serve 启动时给出的网址。\n"
    )
    path.write_bytes(b"this is no store" * 1000)
    page = get(path, "/").text
    assert "已损坏" in page
    assert "无法读取结果库" in page
    open_engine(store_url(str(path.with_name("empty.db"))), create=True).dispose()
    page = get(path.with_name("empty.db"), "/experiments/last").text
    assert "结果库中没有实验" in page
    assert english_left(page) == set()


def test_languages_differ_only_in_words(path: Path, under_way: str) -> None:
    for address in ("/", "/experiments/last"):
        chinese, english = (get(path, address, headers).text for headers in (CHINESE, ENGLISH))
        assert _numbers(chinese) == _numbers(english)
        assert _marks(chinese) == _marks(english)


def _numbers(page: str) -> Counter[str]:
    """But for those that tell how much time went by."""
    said = [words for words in _Words(page).said if "约剩" not in words and "left if" not in words]
    return Counter(re.findall(r"\d+(?:[.,:]\d+)*", " ".join(said)))


def _marks(page: str) -> list[str]:
    """Every element with what of it is not said."""
    spoken = re.compile(rf' (?:lang|{"|".join(SPOKEN)})="[^"]*"')
    return [spoken.sub("", tag) for tag in re.findall(r"<[^>]+>", page)]


@pytest.mark.parametrize("headers", [CHINESE, ENGLISH, KNOWN])
@pytest.mark.parametrize("language", Language)
def test_a_language_that_was_chosen_is_every_readers(path: Path, headers: dict[str, str], language: Language) -> None:
    wanted = {Language.EN: '<html lang="en">', Language.ZH: '<html lang="zh-CN">'}[language]
    assert wanted in get(path, "/", headers, language).text


def test_a_stream_speaks_the_language_of_its_page(path: Path, store: Store, under_way: str) -> None:
    async def watch() -> None:
        site = Site(path)
        address = "/experiments/last/stream"
        async with (
            site.stream(f"{address}?lang=zh-CN", ENGLISH) as chinese,
            site.stream(f"{address}?lang=en", CHINESE) as english,
        ):
            assert "已做 8 次试验" in (await chinese.parts())["progress"]
            assert "8 of 40 trials done" in (await english.parts())["progress"]
            samples.finish(store, under_way)
            assert "阅读报告" in (await chinese.until("progress", "完成"))["progress"]
            assert "Read the report" in (await english.until("progress", "done"))["progress"]

    asyncio.run(watch())


def test_a_stream_tells_what_is_wrong_in_chinese(path: Path, store: Store) -> None:
    async def watch() -> None:
        async with Site(path).stream("/experiments/nothing/stream?lang=zh-CN") as stream:
            assert "结果库中没有实验" in (await stream.parts())["trouble"]

    asyncio.run(watch())


def test_answers_come_in_the_language_of_each_list(path: Path, store: Store) -> None:
    done = samples.begin(store, 16)
    for _ in range(16):
        samples.make(store, done)
    samples.finish(store, done)
    found = read.find(store, done)
    english = reporting.report_view(store, found).headline
    with speaking(Language.ZH):
        chinese = reporting.report_view(store, found).headline
    assert chinese != english

    async def watch() -> None:
        site = Site(path)
        async with site.stream("/stream?lang=zh-CN") as first, site.stream("/stream?lang=en") as second:
            await first.until("experiments", chinese)
            await second.until("experiments", english)

    asyncio.run(watch())


def test_a_report_is_kept_in_each_language(path: Path, store: Store, tmp_path: Path) -> None:
    experiment = samples.begin(store, 4)
    samples.make(store, experiment)
    made, view_of = samples.counted_views()

    async def in_turn() -> list[str]:
        site = Site(path, view_of)
        return [(await site.ask("/experiments/last/report", headers=h)).text for h in (CHINESE, ENGLISH) * 2]

    chinese, english, *again = asyncio.run(in_turn())
    with speaking(Language.ZH):
        seen = reporting.report_view(store, read.find(store, experiment))
        assert chinese == reporting.write_html(seen, tmp_path / "r.html").read_text(encoding="utf-8")
    assert '<html lang="zh-CN">' in chinese
    assert '<html lang="en">' in english
    assert again == [chinese, english]
    assert len(made) == 2
