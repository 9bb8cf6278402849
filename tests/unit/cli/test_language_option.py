"""In which language reports and comparisons of a whole experiment are told, and what is the same in all of them."""

import re
from collections import Counter
from pathlib import Path

import pytest
import scripted
from plan_samples import FILEIO, checked, simple
from typer.testing import CliRunner

from paribus.cli.main import app
from paribus.store.open import open_engine, store_url

CHINESE = re.compile(r"[\u4e00-\u9fff]")
NUMBER = re.compile(r"\d[\d.,]*")
PROTOCOL = '[protocol]\nbudget = "8h"\nrounds = 4\nmethod = "fixed"'
WIDE = {"COLUMNS": "200"}
LOCALE = {**WIDE, "LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh_CN.UTF-8", "LANGUAGE": ""}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two experiments: in both one level is 6 % better."""
    file = tmp_path_factory.mktemp("store") / "s.db"
    opened = open_engine(store_url(str(file)), create=True)
    for name in ("before", "after"):
        text = simple('"vm.swappiness" = [60, 1]', FILEIO, PROTOCOL).replace('"n"', f'"{name}"')
        plan = checked(text)
        scripted.carry_out(opened, plan, lambda trial: 0.06 * (trial.arm == "1"), wobble=0.01)
    opened.dispose()  # else the log is put into the file later, while a test looks whether that changes
    return file


def _told(store: Path, *arguments: str, environment: dict[str, str] | None = None) -> str:
    done = CliRunner().invoke(app, [*arguments, "--store", str(store)], env=environment, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_report_has_the_same_numbers_in_chinese(store: Path) -> None:
    english, chinese = (_told(store, "report", "--format", "markdown", "--lang", lang) for lang in ("en", "zh"))
    assert "## Verdicts" in english and not CHINESE.search(english)
    assert "## 结论" in chinese
    assert "**更好，超出界限**" in chinese
    numbers = [Counter(one.rstrip(".,") for one in NUMBER.findall(text)) for text in (english, chinese)]
    assert numbers[0] == numbers[1]


def test_messages_of_the_analysis_are_chinese(store: Path) -> None:
    shown = _told(store, "report", "--lang", "zh")
    assert "离群值" in shown
    assert "超出 ±2.0%" in shown
    assert not re.search(r"whoever runs later|lies beyond|trials of|correlate", shown)


def test_the_locale_chooses_for_stdout_and_not_for_files(store: Path, tmp_path: Path) -> None:
    assert CHINESE.search(_told(store, "report", environment=LOCALE))
    assert not CHINESE.search(_told(store, "report", "--lang", "en", environment=LOCALE))
    for verb in (("report",), ("compare", "before", "after")):
        for form in ("text", "markdown", "html"):
            file = tmp_path / f"{verb[0]}.{form}"
            _told(store, *verb, "--format", form, "-o", str(file), environment=LOCALE)
            assert not CHINESE.search(file.read_text(encoding="utf-8"))


def test_json_is_english_and_the_store_is_only_read(store: Path) -> None:
    before = store.read_bytes()
    english, chinese = (_told(store, "report", "--json", "--lang", lang) for lang in ("en", "zh"))
    assert english == chinese
    assert not CHINESE.search(_told(store, "compare", "before", "after", "--json", "--lang", "zh"))
    assert store.read_bytes() == before


def test_two_experiments_are_compared_in_chinese(store: Path) -> None:
    shown = _told(store, "compare", "before", "after", "--lang", "zh", environment=WIDE)
    assert re.search(r"吞吐量 .* ±2 % +等价", shown)
    assert re.search(r"1 代替 60 .* 相同\s", shown)
    assert "each experiment" not in shown
    assert _told(store, "compare", "before", "after", environment=LOCALE) == shown
    assert not CHINESE.search(_told(store, "compare", "before", "after"))


def test_a_comparison_has_the_same_numbers_in_every_form_and_language(store: Path, tmp_path: Path) -> None:
    markdown = [
        _told(store, "compare", "before", "after", "--format", "markdown", "--lang", lang) for lang in ("en", "zh")
    ]
    numbers = [Counter(one.rstrip(".,") for one in NUMBER.findall(text)) for text in markdown]
    assert numbers[0] == numbers[1]
    assert "## Change of the baseline" in markdown[0] and "## 基线的变化" in markdown[1]
    file = tmp_path / "both.html"
    _told(store, "compare", "before", "after", "--format", "html", "-o", str(file), "--lang", "zh")
    page = file.read_text(encoding="utf-8")
    assert '<html lang="zh-CN">' in page and "基线的变化" in page
    rows = [line for line in markdown[0].split("\n") if line.startswith("| ") and " %" in line]
    intervals = {found for row in rows for found in re.findall(r"\[[^\]]*\]", row.replace("\\", ""))}
    assert intervals and not [one for one in intervals if one not in page]


def test_a_language_that_is_not_there_is_refused(store: Path) -> None:
    assert CliRunner().invoke(app, ["report", "--lang", "fr", "--store", str(store)]).exit_code == 2
