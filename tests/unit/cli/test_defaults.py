"""Defaults of options from configuration files."""

from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from paribus.cli import defaults, main
from paribus.cli.defaults import default_map
from paribus.cli.main import app
from paribus.errors import UsageError


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The file of the system and that of the user; neither exists."""
    monkeypatch.setattr(defaults, "_SYSTEM", tmp_path / "etc")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("PARIBUS_STORE", raising=False)
    paths = (tmp_path / "etc" / "defaults.toml", tmp_path / "config" / "paribus" / "defaults.toml")
    for path in paths:
        path.parent.mkdir(parents=True)
        path.parent.chmod(0o700)
    return paths


def _map() -> dict[str, object]:
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    return default_map(command)


def test_without_files_there_are_no_defaults(files: tuple[Path, Path]) -> None:
    assert _map() == {}


def test_a_key_at_the_top_is_for_each_verb_with_that_option(files: tuple[Path, Path]) -> None:
    files[1].write_text('store = "/srv/s.db"\nlang = "zh"\n')
    filled = _map()
    assert filled["run"] == {"store": "/srv/s.db"}
    assert filled["report"] == {"store": "/srv/s.db", "lang": "zh"}
    assert "doctor" not in filled


def test_the_users_file_overrides_that_of_the_system(files: tuple[Path, Path]) -> None:
    files[0].write_text('store = "/srv/s.db"\n[run]\nwait = true\nlog = "/var/log/p.log"\n')
    files[1].write_text("[run]\nwait = false\n")
    assert _map()["run"] == {"store": "/srv/s.db", "wait": False, "log_file": "/var/log/p.log"}


def test_the_environment_overrides_a_file(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    files[1].write_text('store = "/srv/s.db"\n')
    monkeypatch.setenv("PARIBUS_STORE", "/own.db")
    assert _map() == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('stor = "x"', "stor is no option that can have a default\n  did you mean 'store'"),
        ("yes = true", "yes is no option that can have a default"),
        ("[delete]\nyes = true", "yes is no option of paribus delete that can have a default"),
        ("[rum]\nwait = true", "[rum] is no verb of paribus\n  did you mean 'run'"),
        ("[run]\nwait = 'x'", "wait of paribus run is true or false, not 'x'"),
        ("[run]\nlog = true", "log of paribus run is a text or a number, not True"),
        ("[run]\nset = 'a=b'", "set of paribus run is a list, not 'a=b'"),
        ("[run]\nlog = { a = 1 }", "log of paribus run is a text or a number"),
        ("x = [", "is not TOML"),
        ("\udcff", "is not TOML"),
    ],
)
def test_a_file_with_a_mistake_is_refused_with_its_name(files: tuple[Path, Path], text: str, words: str) -> None:
    files[1].write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError) as refused:
        _map()
    assert str(refused.value).startswith(str(files[1]))
    assert words in str(refused.value)


def test_a_file_that_others_may_change_is_not_read(files: tuple[Path, Path]) -> None:
    files[1].write_text("[run]\nwait = true\n")
    files[1].chmod(0o666)
    with pytest.raises(UsageError, match="its defaults are not used"):
        _map()


def test_a_wrong_file_stops_no_verb_that_restores(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files[1].write_text("x = [")
    command = typer.main.get_command(app)
    assert isinstance(command, TyperGroup)
    monkeypatch.setattr("sys.argv", ["paribus", "undo"])
    assert main._defaults(command) == {}
    assert "is not TOML" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["paribus", "run", "plan.toml"])
    with pytest.raises(UsageError):
        main._defaults(command)
