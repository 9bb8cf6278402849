"""Tokens: secrets that fit into a URL, and files that hold one."""

import os
from pathlib import Path

import pytest

from paribus.errors import UsageError
from paribus.web import tokens


def test_tokens_cannot_be_guessed() -> None:
    assert len({tokens.make() for _ in range(100)}) == 100
    assert len(tokens.make()) >= 43


def test_a_token_is_kept_in_a_file_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = tokens.of_file(path)
    assert tokens.of_file(path) == token
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    assert tokens.of_file(path) == token


@pytest.mark.parametrize("mode", [0o604, 0o620, 0o602])
def test_a_file_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    tokens.of_file(path)
    path.chmod(mode)
    with pytest.raises(UsageError, match="other users can read or write"):
        tokens.of_file(path)


@pytest.mark.parametrize("content", [b"", b"short\n", b"a b" * 20, b"\xff" * 40, b"x" * 2000])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(UsageError, match="token"):
        tokens.of_file(path)


def test_folders_links_and_pipes_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "link", tmp_path / "missing" / "token"):
        with pytest.raises(UsageError):
            tokens.of_file(path)
