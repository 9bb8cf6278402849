"""Inventories of Ansible: its own `ansible-inventory` reads every form of them; its JSON is read here."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paribus.errors import UsageError

_PROGRAM = "ansible-inventory"
_PATIENCE_S = 60.0
_BY_SSH = ("", "ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh", "ansible.builtin.paramiko_ssh")


@dataclass(frozen=True, slots=True)
class Inventory:
    """Variables of each machine, and the machines of each group, those of its groups included."""

    hosts: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]


def read(path: Path) -> Inventory:
    """Read JSON as `ansible-inventory --list` prints it, or any other inventory by that program. Raises UsageError."""
    text = _own_json(path) if path.suffix.lower() == ".json" else _listed(path)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", f"make it with: {_PROGRAM} -i INVENTORY --list") from error
    if not isinstance(document, dict) or "_meta" not in document:
        raise UsageError(f"{path} is no inventory of Ansible", f"make it with: {_PROGRAM} -i INVENTORY --list")
    variables = document["_meta"].get("hostvars", {})
    groups = {name: _members(document, name, set()) for name in document if name != "_meta"}
    names = list(dict.fromkeys([*groups.get("all", ()), *(name for group in groups.values() for name in group)]))
    return Inventory({name: variables.get(name, {}) for name in names}, groups)


def _own_json(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"cannot read {path}: {cause}", "name a file with machines") from error


def _listed(path: Path) -> str:
    """Return what `ansible-inventory` reads. Raises UsageError."""
    if not path.exists():
        raise UsageError(f"cannot read {path}: there is no such file", "name a file with machines")
    program = shutil.which(_PROGRAM)
    if program is None:
        todo = f"install ansible-core, name a TOML file, or write JSON elsewhere: {_PROGRAM} -i {path} --list"
        raise UsageError(f"{path} is read by {_PROGRAM}, which is not installed", todo)
    argv = [program, "-i", str(path), "--list"]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        cause = error.strerror if isinstance(error, OSError) else f"it did not end within {_PATIENCE_S:.0f} s"
        raise UsageError(f"{_PROGRAM} did not read {path}: {cause}", f"try: {_PROGRAM} -i {path} --list") from error
    if done.returncode != 0:
        words = " ".join(done.stderr.split())[-300:]
        raise UsageError(f"{_PROGRAM} did not read {path}: {words}", f"try: {_PROGRAM} -i {path} --list")
    return done.stdout


def _members(document: Mapping[str, Any], group: str, seen: set[str]) -> list[str]:
    """Return the machines of a group and of the groups in it, each once."""
    if group in seen or not isinstance(document.get(group), dict):
        return []
    seen.add(group)
    children = document[group].get("children", [])
    nested = [name for child in children for name in _members(document, child, seen)]
    return list(dict.fromkeys([*document[group].get("hosts", []), *nested]))


def acts_as_root(variables: Mapping[str, Any]) -> bool:
    """Return whether Ansible acts as another user on a machine, which is root by default."""
    return str(variables.get("ansible_become", "")).lower() in ("true", "yes", "on", "1")


def address(where: str, name: str, variables: Mapping[str, Any]) -> str:
    """Return the address of a machine. Raises UsageError where Ansible does not reach it over SSH."""
    connection = str(variables.get("ansible_connection", ""))
    if connection in ("local", "ansible.builtin.local"):
        return "local"
    if connection not in _BY_SSH:
        raise UsageError(f"{where} is reached by {connection}", "leave it out with --limit: only SSH is known")
    host, user, port = (variables.get(f"ansible_{part}", "") for part in ("host", "user", "port"))
    host = str(host or name)
    return f"ssh://{f'{user}@' if user else ''}{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}"
