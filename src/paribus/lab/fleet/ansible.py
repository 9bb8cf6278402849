"""Inventories of Ansible: its own `ansible-inventory` reads every form of them; its JSON is read here."""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from paribus.errors import UsageError
from paribus.files import read_text

_PROGRAM = "ansible-inventory"
_PATIENCE_S = 60.0
_MAX_BYTES = 64 << 20
_BY_SSH = ("", "ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh", "ansible.builtin.paramiko_ssh")


@dataclass(frozen=True, slots=True)
class Inventory:
    """Variables of each machine, and the machines of each group, those of its groups included."""

    hosts: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]


class _Group(BaseModel):
    hosts: list[str] = []
    children: list[str] = []


class _Variables(BaseModel):
    hostvars: dict[str, dict[str, Any]] = {}


class _Document(BaseModel):
    """Output of `ansible-inventory --list`: groups by name, and the variables of machines."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, _Group]

    variables: _Variables = Field(alias="_meta")


def read(path: Path) -> Inventory:
    """Read JSON as `ansible-inventory --list` prints it, or any other inventory by that program. Raises UsageError."""
    text = text_of(path) if path.suffix.lower() == ".json" else _listed(path)
    remedy = f"make it with: {_PROGRAM} -i INVENTORY --list"
    try:
        document = _Document.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise UsageError(f"{path} is no inventory of Ansible: {place}: {first['msg']}", remedy) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", remedy) from error
    groups = document.__pydantic_extra__
    members = {name: _members(groups, name, set()) for name in groups}
    names = dict.fromkeys([*members.get("all", ()), *(name for group in members.values() for name in group)])
    return Inventory({name: document.variables.hostvars.get(name, {}) for name in names}, members)


def text_of(path: Path) -> str:
    """Return the text of a file with machines. Raises UsageError."""
    try:
        return read_text(path, _MAX_BYTES)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", "name a file with machines") from error


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


def _members(groups: Mapping[str, _Group], name: str, seen: set[str]) -> list[str]:
    """Return the machines of a group and of the groups in it, each once."""
    if name in seen or name not in groups:
        return []
    seen.add(name)
    nested = [machine for child in groups[name].children for machine in _members(groups, child, seen)]
    return list(dict.fromkeys([*groups[name].hosts, *nested]))


def becomes_root(where: str, variables: Mapping[str, Any]) -> bool | None:
    """Return whether Ansible acts as root on a machine, None where the inventory does not say.

    Raises UsageError where it acts as another user.
    """
    if "ansible_become" not in variables:
        return None
    becomes = str(variables["ansible_become"]).lower() in ("true", "yes", "on", "1")
    user = str(variables.get("ansible_become_user", "root"))
    if becomes and user != "root":
        raise UsageError(f"{where} is used as {user}", "set ansible_become_user to root, or ansible_become to false")
    return becomes


def address(where: str, name: str, variables: Mapping[str, Any]) -> str:
    """Return the address of a machine. Raises UsageError where Ansible does not reach it over SSH."""
    connection = str(variables.get("ansible_connection", ""))
    if connection in ("local", "ansible.builtin.local"):
        return "local"
    if connection not in _BY_SSH:
        raise UsageError(f"{where} is reached by {connection}", "leave it out with --limit: only SSH is known")
    host, user, port = (
        variables.get(f"ansible_{part}", variables.get(f"ansible_ssh_{part}", "")) for part in ("host", "user", "port")
    )
    host = str(host or name)
    return f"ssh://{f'{user}@' if user else ''}{f'[{host}]' if ':' in host else host}{f':{port}' if port else ''}"
