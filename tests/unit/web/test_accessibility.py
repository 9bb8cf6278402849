"""Structure of the pages for assistive technology: headings, landmarks, labels and live regions."""

from collections.abc import Callable

import pytest
import web_samples as samples
from outline import Outline, assert_orderly
from sqlalchemy.engine import Engine as Store

from paribus.store import write

Page = Callable[..., str]
ADDRESSES = ("/", "/experiments/last", "/experiments/nothing")


@pytest.fixture(params=ADDRESSES)
def outline(request: pytest.FixtureRequest, store: Store, page: Page) -> Outline:
    """The outline of each page of a store with a running and a finished experiment."""
    done = samples.begin(store, 4, "done", "20260101-000000-aaaa")
    samples.finish(store, done)
    running = samples.begin(store, 40, "running", "20260102-000000-bbbb")
    for number in range(6):
        samples.make(store, running, because="other processes took 1.85 of 2 cores" if number % 2 else "")
    samples.look(store, running, 1)
    write.add_note(store, running, "a note")
    samples.set_off(store, running)
    return Outline(page(request.param))


def test_headings_landmarks_and_ids_are_in_order(outline: Outline) -> None:
    assert_orderly(outline)


def test_pictures_bars_and_scrolled_tables_have_a_name(outline: Outline) -> None:
    for attributes in outline.of("svg", "progress"):
        assert attributes.get("aria-label") or attributes.get("aria-labelledby")
    for attributes in (a for a in outline.of("div") if "tabindex" in a):
        assert attributes["role"] in {"group", "region"}
        assert attributes["aria-label"]


def test_changes_are_announced(outline: Outline) -> None:
    assert [a["data-part"] for _, a in outline.elements if a.get("role") == "alert"] == ["trouble"]
    statuses = [a["data-part"] for _, a in outline.elements if a.get("role") == "status"]
    assert set(statuses) <= {"announced", "voided"}
    assert "announced" in statuses
