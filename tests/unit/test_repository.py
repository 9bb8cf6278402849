"""What the repository promises of itself: short files, schemas of this code, paths that exist."""

import re
import subprocess
import warnings
from pathlib import Path

import pytest

from ceteris.cli.commands.schema import Document, text_of

ROOT = Path(__file__).parent.parent.parent
LONG, TOO_LONG = 300, 500


def _sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py", "*.rs", "*.toml", "*.html", "*.css"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in _sources()}
    long = sorted((n, str(path.relative_to(ROOT))) for path, n in lengths.items() if n > LONG)
    for number, path in long:
        print(f"over {LONG} lines: {path} ({number})")
    assert not [entry for entry in long if entry[0] > TOO_LONG]


@pytest.mark.parametrize("document", list(Document))
def test_schemas_are_of_this_code(document: Document) -> None:
    kept = (ROOT / "schema" / f"{document.value}.json").read_text(encoding="utf-8")
    assert kept == text_of(document), "run: make schema"


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"])
def test_paths_named_in_the_documents_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|engine|tests|examples|schema|bench|proof|ceteris\.data|\.ci)/[^`\s*<>{}]*)`", text)
    missing = [path for path in named if not (ROOT / path).exists()]
    assert named, f"{name} names no path"
    assert not missing


def test_warnings_are_errors_here() -> None:
    with pytest.raises(UserWarning):
        warnings.warn("any", UserWarning, stacklevel=1)
