"""Configuration of the documentation site, built by `make docs`."""

import re
import tomllib
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from sphinx.application import Sphinx

_DOCS = Path(__file__).parent
_REPOSITORY = _DOCS.parent
_PROJECT = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = "Paribus"
version = release = _PROJECT["version"]
language = "en"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["generator"]

myst_heading_anchors = 4
smartquotes = False  # which would turn --option into a dash and a word

html_theme = "furo"
html_title = f"Paribus {release}"
html_copy_source = False
html_show_sourcelink = False

# Files at the top of the repository that the site has as pages.
_PAGES = {
    "README.md": "docs/index.md",
    "ARCHITECTURE.md": "docs/project/ARCHITECTURE.md",
    "CONTRIBUTING.md": "docs/project/CONTRIBUTING.md",
    "CHANGELOG.md": "docs/project/CHANGELOG.md",
}
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s:#]+)(?P<anchor>#[^()\s]*)?\)")


def site_links(text: str, folder: str, page_folder: str) -> str:
    """Returns the text of a file in `folder` with links that work from a page in `page_folder`.

    Links to files that are no pages become downloads, links to folders outside docs/ plain text. Links that lead
    nowhere stay, and the build reports them. Folders are relative to the repository.
    """

    def replace(match: re.Match[str]) -> str:
        path = normpath(f"{folder}/{match['target']}")
        page = _PAGES.get(path, path)
        if not (_REPOSITORY / page).exists():
            return match[0]
        target = relpath(page, page_folder) + (match["anchor"] or "")
        if page.startswith("docs/"):
            return f"[{match['text']}]({target})"
        if (_REPOSITORY / page).is_dir():
            return match["text"]
        return f"[{match['text']}](path:{relpath(page, page_folder)})"

    return _LINK.sub(replace, text)


def _existing(line: str) -> str:
    """Returns a line of index.md as far as its pages exist, and the index of a section in place of its glob."""
    section, star, _ = line.partition("*")
    if star and section.endswith("/") and (_DOCS / section / "index.md").exists():
        return f"{section}index\n"
    if star and section.islower():
        return line if any(path.suffix == ".md" for path in _DOCS.glob(line.strip())) else ""
    missing = [match["target"] for match in _LINK.finditer(line) if not (_DOCS / match["target"]).exists()]
    return "" if missing else line


def _read_page(_app: Sphinx, page: str, source: list[str]) -> None:
    """Adapts the links of a page, and drops from index.md what does not exist yet."""
    folder = str(PurePosixPath("docs", page).parent)
    source[0] = site_links(source[0], folder, folder)
    if page == "index":
        source[0] = "".join(map(_existing, source[0].splitlines(keepends=True)))


def _read_included(_app: Sphinx, path: Path, _page: str, source: list[str]) -> None:
    """Adapts the links of a file at the top of the repository for its page in docs/project/."""
    folder = str(PurePosixPath(normpath(PurePosixPath("docs", path))).parent)
    source[0] = site_links(source[0], folder, "docs/project")


def setup(app: Sphinx) -> None:
    """Registers the adapters of links."""
    app.connect("source-read", _read_page)
    app.connect("include-read", _read_included)
