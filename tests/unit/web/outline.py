"""Outline of an HTML page, as assistive technology sees it."""

import itertools
from html.parser import HTMLParser

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

    @property
    def heading_levels(self) -> list[int]:
        """Levels of the headings, in order."""
        return [int(tag[1]) for tag, _ in self.elements if tag in {"h1", "h2", "h3", "h4"}]

    @property
    def landmarks(self) -> list[str]:
        """Names of the landmarks; the main one needs none."""
        ids = {attributes["id"] for _, attributes in self.elements if "id" in attributes}
        names = []
        for tag, attributes in self.elements:
            if tag in LANDMARKS or attributes.get("role") == "region":
                name = attributes.get("aria-labelledby", attributes.get("aria-label", ""))
                assert name or tag == "main", tag
                assert "aria-labelledby" not in attributes or name in ids
                names.append(name)
        return names


def assert_orderly(outline: Outline) -> None:
    """Assert that headings begin at one and skip no level, that landmarks and ids are unique, and that headers name."""
    levels = outline.heading_levels
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(outline.of("main")) == 1
    assert len(outline.landmarks) == len(set(outline.landmarks))
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all("scope" in attributes for attributes in outline.of("th"))
