"""Promises of the repository about itself: short files, schemas of this code, paths that exist."""

import re
import subprocess
import warnings
from pathlib import Path

import pytest

from paribus.cli.commands.schema import Document, text_of

ROOT = Path(__file__).parent.parent.parent
LONG, TOO_LONG = 300, 500


def _files(*patterns: str) -> list[Path]:
    """Files of the repository, tracked or new, without ignored ones."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_files_are_short() -> None:
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for path in _files("*.py", "*.rs", "*.toml", "*.html", "*.css")
    }
    long = sorted((n, str(path.relative_to(ROOT))) for path, n in lengths.items() if n > LONG)
    for number, path in long:
        print(f"over {LONG} lines: {path} ({number})")
    assert not [entry for entry in long if entry[0] > TOO_LONG]


@pytest.mark.parametrize("document", list(Document))
def test_schemas_are_of_this_code(document: Document) -> None:
    kept = (ROOT / "schema" / f"{document.value}.json").read_text(encoding="utf-8")
    assert kept == text_of(document), "run: make schema"


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "README.zh-CN.md"])
def test_paths_named_in_the_documents_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(
        r"`((?:src|engine|tests|examples|schema|bench|proof|release|paribus\.data|\.ci)/[^`\s*<>{}]*)`", text
    )
    missing = [path for path in named if not (ROOT / path).exists()]
    assert named, f"{name} names no path"
    assert not missing


def test_warnings_are_errors_here() -> None:
    with pytest.raises(UserWarning):
        warnings.warn("any", UserWarning, stacklevel=1)


def test_former_name_is_gone() -> None:
    """Another program has the product's former name, so advice such as `pip install` must never mention it."""
    former = b"cete" + b"ris"
    files = _files()
    named = [path for path in files if former in str(path.relative_to(ROOT)).lower().encode()]
    named += [path for path in files if former in path.read_bytes().lower()]
    assert len(files) > 1000
    assert not named
