"""The pages: what they show of a store, how they follow it, and what they say where it cannot be read."""

import asyncio
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
import web_samples as samples
from asked import Answer, Site
from sqlalchemy.engine import Engine as Store

from paribus.lab.results import reporting
from paribus.model import Experiment, ExperimentState, Verdict
from paribus.report.experiment_view import ReportView
from paribus.store import read, schema, write
from paribus.store.open import open_engine, store_url
from paribus.web import pace


def get(path: Path, address: str) -> Answer:
    async def once() -> Answer:
        return await Site(path).ask(address)

    return asyncio.run(once())


def test_a_store_that_is_not_there_yet_is_no_fault(tmp_path: Path) -> None:
    answer = get(tmp_path / "no.db", "/")
    assert answer.status == 200
    assert "There is no store there yet" in answer.text
    assert not (tmp_path / "no.db").exists()
    assert get(tmp_path / "no.db", "/experiments/last").status == 503


def test_an_empty_store_says_so(path: Path, store: Store) -> None:
    assert "holds no experiment" in get(path, "/").text
    unknown = get(path, "/experiments/last")
    assert unknown.status == 404
    assert "run a plan first" in unknown.text


def test_the_list_has_every_experiment_with_where_it_is(path: Path, store: Store) -> None:
    first = samples.begin(store, 4, "first", "20260101-000000-aaaa")
    second = samples.begin(store, 6, "second", "20260102-000000-bbbb")
    for _ in range(4):
        samples.make(store, first)
    samples.finish(store, first)
    samples.make(store, second, because="other processes took 1.85 of 2 cores")
    text = get(path, "/").text
    assert text.index("second") < text.index("first")  # the newest comes first
    assert "4 of 4 trials" in text
    assert "1 of 6 trials, 1 invalid or failed" in text
    assert f'href="/experiments/{first}/report"' in text
    assert f'href="/experiments/{second}"' in text


def test_silent_experiments_are_marked_in_the_list(path: Path, store: Store) -> None:
    lost = samples.begin(store, 4, "lost", "20260101-000000-aaaa")
    going = samples.begin(store, 4, "going", "20260102-000000-bbbb")
    made = samples.make(store, lost)
    long_ago = time.time() - 3600
    write.save_trial(store, replace(made, started=long_ago, applied=long_ago, ended=long_ago + 10))
    samples.make(store, going)
    with store.begin() as connection:
        connection.execute(sa.update(schema.experiment).values(started=long_ago))
    text = get(path, "/").text
    assert text.count("Nothing was written since") == 1
    assert text.index("going") < text.index("lost</a>") < text.index("Nothing was written since")
    assert "going is running" in text
    assert "lost is running" not in text
    assert read.signs(store, ExperimentState.RUNNING)[lost] == pace.last_activity(read.trials(store, lost))
    assert "Nothing was written since" in get(path, f"/experiments/{lost}").text


def test_the_answer_of_what_is_done_comes_when_it_is_worked_out(path: Path, store: Store) -> None:
    done = samples.begin(store, 16)
    for _ in range(16):
        samples.make(store, done)
    samples.finish(store, done)
    expected = reporting.report_view(store, read.find(store, done)).headline

    async def watch() -> None:
        async with Site(path).stream("/stream") as stream:
            assert "The answer is in the report" in (await stream.parts())["experiments"]
            await stream.until("experiments", expected)

    asyncio.run(watch())


def test_answers_are_not_worked_out_while_something_is_measured(path: Path, store: Store) -> None:
    done = samples.begin(store, 2, "done", "20260101-000000-aaaa")
    samples.finish(store, done)
    samples.set_off(store, samples.begin(store, 4, "running", "20260102-000000-bbbb"))
    asked: list[Experiment] = []

    def view_of(store: Store, of: Experiment) -> ReportView:
        asked.append(of)
        return reporting.report_view(store, of)

    async def twice() -> str:
        site = Site(path, view_of)
        await site.ask("/")
        await asyncio.sleep(0.5)
        return (await site.ask("/")).text

    assert "appears here while nothing is being measured" in asyncio.run(twice())
    assert asked == []


def test_a_running_experiment_shows_trials_reasons_looks_and_the_machine(path: Path, store: Store) -> None:
    experiment = samples.begin(store)
    for _ in range(6):
        samples.make(store, experiment)
    samples.make(store, experiment, because="other processes took 1.85 of 2 cores: rustc (11365)")
    samples.make(store, experiment, failure="no space left on device")
    samples.look(store, experiment, 1)
    samples.look(store, experiment, 2)
    samples.set_off(store, experiment, 3)
    text = get(path, "/experiments/last").text
    assert "8 of 40 trials done, 2 of them invalid or failed" in text
    assert "the load is running: settling or measuring" in text
    assert "rustc (11365)" in text
    assert "no space left on device" in text
    assert "+7.9 %" in text
    assert "not decided" in text
    assert "after 8 pairs" in text
    assert "device, utilisation, %" in text
    assert "memory available, GiB<" in text
    assert "left if every trial is needed" in text


def test_names_and_reasons_are_escaped(path: Path, store: Store) -> None:
    evil = '<script>alert("x")</script>'
    experiment = samples.begin(store, 4, evil)
    samples.make(store, experiment, because=evil)
    for address in ("/", "/experiments/last"):
        assert "<script>alert" not in get(path, address).text
        assert "&lt;script&gt;alert" in get(path, address).text


def test_the_stream_says_what_the_store_says(path: Path, store: Store) -> None:
    experiment = samples.begin(store, 8)

    async def watch() -> None:
        async with Site(path).stream("/experiments/last/stream") as stream:
            assert "planned" in (await stream.parts())["progress"]
            samples.make(store, experiment)
            seen = await stream.until("progress", "1 of 8 trials done")
            assert "block.scheduler" in seen["made"]
            assert "looks" not in seen  # nothing was looked at, so nothing is sent
            samples.look(store, experiment, 1, Verdict.BETTER)
            seen = await stream.until("looks", ">better<")
            assert seen["announced"] == "10 % of the trials are done; block.scheduler = none better"
            samples.finish(store, experiment)
            assert "Read the report" in (await stream.until("progress", "done"))["progress"]

    asyncio.run(watch())


def test_a_screen_reader_is_told_of_steps_and_not_of_each_trial(path: Path, store: Store) -> None:
    experiment = samples.begin(store, 40)

    async def said() -> list[str]:
        site, found = Site(path), []
        for _ in range(8):
            samples.make(store, experiment)
            text = (await site.ask("/experiments/last")).text
            found.append(text.partition('data-part="announced">')[2].partition("<")[0])
        return found

    assert len(set(asyncio.run(said()))) == 3  # 0, 10 and 20 %


def test_a_stream_sends_nothing_while_the_store_stays_as_it_is(path: Path, store: Store) -> None:
    samples.finish(store, samples.begin(store, 2))

    async def watch() -> None:
        async with Site(path).stream("/experiments/last/stream") as stream:
            await stream.parts()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(stream.parts(), 2.5)

    asyncio.run(watch())


def test_a_store_that_comes_while_it_is_watched_is_seen(path: Path) -> None:
    async def watch() -> None:
        async with Site(path).stream("/stream") as stream:
            assert "There is no store there yet" in (await stream.parts())["experiments"]
            samples.begin(open_engine(store_url(str(path)), create=True))
            await stream.until("experiments", "scheduler")

    asyncio.run(watch())


def test_streams_end_at_once_with_the_server(path: Path, store: Store) -> None:
    async def watch() -> None:
        site = Site(path)
        async with site.stream("/stream") as stream:
            await stream.parts()
            site.shutdown.announce()
            await stream.end()

    asyncio.run(watch())


def test_a_stream_ends_whole_though_an_event_is_being_made(path: Path, store: Store) -> None:
    samples.finish(store, samples.begin(store, 2))
    begun = threading.Event()

    def slow(*_: object) -> ReportView:
        begun.set()
        time.sleep(2)
        raise AssertionError("nobody waits for it")

    async def watch() -> None:
        site = Site(path, slow)
        async with site.stream("/stream") as stream:
            assert await asyncio.to_thread(begun.wait, 10)
            site.shutdown.announce()
            await stream.end()

    asyncio.run(watch())


def test_shutdown_does_not_wait_for_reports() -> None:
    async def wait() -> float:
        site = Site(Path("/nothing"))
        asyncio.get_running_loop().call_later(0.1, site.shutdown.announce)
        began = time.monotonic()
        with pytest.raises(Exception, match="the server ends"):
            await site.shutdown.run(lambda: time.sleep(3))
        return time.monotonic() - began

    assert asyncio.run(wait()) < 2


def test_a_report_is_the_very_page_of_the_command_with_its_policy(path: Path, store: Store, tmp_path: Path) -> None:
    experiment = samples.begin(store, 16)
    for _ in range(16):
        samples.make(store, experiment)
    samples.finish(store, experiment)
    written = reporting.write_html(reporting.report_view(store, read.find(store, experiment)), tmp_path / "r.html")
    answer = get(path, "/experiments/last/report")
    assert answer.text == written.read_text(encoding="utf-8")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy
    assert policy.endswith("frame-ancestors 'none'")


def test_a_report_is_made_once_for_each_state(path: Path, store: Store) -> None:
    experiment = samples.begin(store, 4)
    samples.make(store, experiment)
    made, view_of = samples.counted_views()

    async def thrice() -> list[str]:
        site, found = Site(path, view_of), []
        for more in (False, False, True):
            if more:
                samples.make(store, experiment)
            found.append((await site.ask("/experiments/last/report")).text)
        return found

    first, again, after = asyncio.run(thrice())
    assert len(made) == 2
    assert first == again
    assert after != first


def test_a_locked_store_is_told_and_seen_again_when_it_is_free(path: Path, store: Store) -> None:
    samples.begin(store)
    store.dispose()
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")

    async def watch() -> None:
        site = Site(path)
        locked = await site.ask("/")
        assert locked.status == 503
        assert "locked by another program" in locked.text
        async with site.stream("/stream") as stream:
            assert "locked by another program" in (await stream.parts())["trouble"]
            holder.execute("COMMIT")
            holder.close()
            assert (await stream.until("experiments", "scheduler"))["trouble"] == ""

    asyncio.run(watch())


@pytest.mark.parametrize(("version", "words"), [("9999", "newer Paribus"), ("0001", "older Paribus")])
def test_a_store_of_another_release_is_told_and_left_as_it_is(
    path: Path, store: Store, version: str, words: str
) -> None:
    store.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (version,))
    connection.close()
    answer = get(path, "/")
    assert answer.status == 503
    assert words in answer.text


def test_a_damaged_store_is_told(path: Path) -> None:
    path.write_bytes(b"this is no store" * 1000)
    answer = get(path, "/")
    assert answer.status == 503
    assert "is damaged" in answer.text


def test_looking_leaves_the_store_as_it_is(path: Path, store: Store) -> None:
    samples.make(store, samples.begin(store, 4))
    store.dispose()
    before = path.read_bytes()
    for address in ("/", "/experiments/last", "/experiments/last/report"):
        assert get(path, address).status == 200
    assert path.read_bytes() == before
    log = path.with_name(f"{path.name}-wal")
    assert log.read_bytes() == b""  # who only reads makes SQLite's log, and must not remove it
    open_engine(store_url(str(path)), create=False).dispose()
    assert not log.exists()


def test_an_address_that_is_not_there_says_so(path: Path) -> None:
    answer = get(path, "/nothing")
    assert answer.status == 404
    assert "No such page" in answer.text
