"""Structure of the pages for assistive technology: headings, landmarks, labels and live regions."""

import itertools
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
import web_samples as samples
from sqlalchemy.engine import Engine as Store

from paribus.store import write

Page = Callable[..., str]
ADDRESSES = ("/", "/experiments/last", "/experiments/nothing")
LANDMARKS = {"nav", "main", "section", "aside", "form"}


class Outline(HTMLParser):
    """Elements of a page with their attributes, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def of(self, *tags: str) -> list[dict[str, str]]:
        """Attributes of the elements with one of these tags."""
        return [attributes for tag, attributes in self.elements if tag in tags]


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


def test_headings_begin_at_one_and_skip_no_level(outline: Outline) -> None:
    levels = [int(tag[1]) for tag, _ in outline.elements if tag in {"h1", "h2", "h3", "h4"}]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_landmarks_have_unique_names(outline: Outline) -> None:
    assert len(outline.of("main")) == 1
    ids = {attributes["id"] for _, attributes in outline.elements if "id" in attributes}
    names = []
    for tag, attributes in outline.elements:
        if tag in LANDMARKS or attributes.get("role") == "region":
            name = attributes.get("aria-labelledby", attributes.get("aria-label", ""))
            assert name or tag == "main", tag
            assert "aria-labelledby" not in attributes or name in ids
            names.append(name)
    assert len(names) == len(set(names))


def test_ids_are_unique(outline: Outline) -> None:
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_pictures_bars_and_scrolled_tables_have_a_name(outline: Outline) -> None:
    for attributes in outline.of("svg", "progress"):
        assert attributes.get("aria-label") or attributes.get("aria-labelledby")
    for attributes in (a for a in outline.of("div") if "tabindex" in a):
        assert attributes["role"] in {"group", "region"}
        assert attributes["aria-label"]


def test_header_cells_have_a_scope_and_changes_are_announced(outline: Outline) -> None:
    assert all("scope" in attributes for attributes in outline.of("th"))
    assert [a["data-part"] for _, a in outline.elements if a.get("role") == "alert"] == ["trouble"]
    statuses = [a["data-part"] for _, a in outline.elements if a.get("role") == "status"]
    assert set(statuses) <= {"announced", "voided"}
    assert "announced" in statuses
