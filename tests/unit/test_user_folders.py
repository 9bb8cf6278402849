"""The user's folders."""

import os
from pathlib import Path

import pytest

from paribus.errors import UsageError
from paribus.user_folders import cache_folder, config_folder, data_folder

_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without $HOME and without an entry in the user database."""
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    for name in ("getuid", "geteuid"):
        monkeypatch.setattr(os, name, lambda: 64_999)


def test_a_user_without_a_home_has_no_folders(homeless: None) -> None:
    assert config_folder() is None
    assert cache_folder() is None
    with pytest.raises(UsageError, match="XDG_DATA_HOME"):
        data_folder()


def test_a_variable_stands_in_for_the_home(homeless: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in _VARIABLES[1:]:
        monkeypatch.setenv(variable, f"/srv/{variable}")
    assert config_folder() == Path("/srv/XDG_CONFIG_HOME/paribus")
    assert cache_folder() == Path("/srv/XDG_CACHE_HOME/paribus")
    assert data_folder() == Path("/srv/XDG_DATA_HOME/paribus")


def test_the_data_of_root_are_those_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert data_folder() == Path("/var/lib/paribus")
