"""The scripts of a page are bundled once, and taken only from where nobody else could have put them."""

from pathlib import Path

import pytest

from paribus.report.charts import chart_library


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(chart_library, "_bundled", lambda: "bundled")
    return tmp_path / "paribus"


def _kept(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


def test_they_are_kept(cache: Path) -> None:
    assert chart_library.vega_embed() == "bundled"
    _kept(cache).write_text("kept")
    assert chart_library.vega_embed() == "kept"


def test_library_writable_by_others_is_recreated(cache: Path) -> None:
    chart_library.vega_embed()
    _kept(cache).write_text("theirs")
    _kept(cache).chmod(0o666)
    assert chart_library.vega_embed() == "bundled"
    assert (_kept(cache).read_text(), _kept(cache).stat().st_mode & 0o777) == ("bundled", 0o600)


@pytest.mark.parametrize("where", ["/proc/none", "/dev/null"])
def test_a_page_needs_no_cache(cache: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", where)
    assert chart_library.vega_embed() == "bundled"
