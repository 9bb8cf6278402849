"""List of the machines of a fleet: a TOML file, or an inventory of Ansible."""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paribus.errors import UsageError
from paribus.hosts.address import machine_name, machine_of
from paribus.hosts.address import parse as parse_address
from paribus.lab.arguments import override_texts
from paribus.lab.fleet import ansible
from paribus.lab.machine.connection import LOCAL
from paribus.registry import nearest

_EXAMPLE = 'write for example: hosts.db1 = "ssh://dba@db1"'
_KEYS = {"address", "set"}


@dataclass(frozen=True, slots=True)
class FleetHost:
    """A machine of a fleet: its name, its address, and the plan keys that it has its own values of."""

    name: str
    address: str
    overrides: Mapping[str, str] = field(default_factory=dict)

    def becomes_root(self, *, by_default: bool) -> bool:
        """Whether root is reached by sudo there."""
        of_entry = self.overrides.get("target.become")
        return self.address != LOCAL and (by_default if of_entry is None else of_entry == "true")


def read_inventory(path: Path, names: Sequence[str] = ()) -> list[FleetHost]:
    """Return the machines of a file, in its order.

    Args:
        path: A TOML file with a table `hosts`; anything else is an inventory of Ansible, read by `ansible-inventory`
            unless it is JSON.
        names: Machines, or groups of an inventory, to choose. Default: all.

    Raises:
        UsageError: The file cannot be read, a machine is not described well or named twice, or a name is unknown.
    """
    if path.suffix.lower() == ".toml":
        hosts = _of_toml(path)
        groups: Mapping[str, Sequence[str]] = {}
    else:
        hosts, groups = _of_ansible(path)
    chosen = _choose(hosts, groups, names)
    if not chosen:
        raise UsageError(f"{path} has no machine", _EXAMPLE)
    _refuse_twins(chosen)
    return chosen


def _of_toml(path: Path) -> list[FleetHost]:
    try:
        document = tomllib.loads(ansible.text_of(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}", "correct that line") from error
    table = document.pop("hosts", None)
    if document:
        name = next(iter(document))
        raise UsageError(f"{path}: unknown key {name!r}", nearest(name, ["hosts"]) or _EXAMPLE)
    if not isinstance(table, dict):
        raise UsageError(f"{path} has no table hosts", _EXAMPLE)
    return _described(path, table, lambda where, name: _host(where, name, table[name]))


def _described(path: Path, names: Iterable[str], describe: Callable[[str, str], FleetHost]) -> list[FleetHost]:
    """Return the machine of each name. Raises UsageError with every one that is not described well."""
    hosts: list[FleetHost] = []
    errors: list[UsageError] = []
    for name in names:
        try:
            hosts.append(describe(f"{path}: {name}", name))
        except UsageError as error:
            errors.append(error)
    if len(errors) > 1:
        lines = "".join(f"\n  {error.message}: {error.todo}" for error in errors)
        raise UsageError(f"{len(errors)} machines are not described well:{lines}", "correct these entries")
    if errors:
        raise errors[0]
    return hosts


def _host(where: str, name: str, entry: Any) -> FleetHost:
    """Return a machine of TOML: its address, or a table with it. Raises UsageError."""
    table = {"address": entry} if isinstance(entry, str) else entry
    if isinstance(table, dict) and (unknown := next(iter(sorted(table.keys() - _KEYS)), None)):
        todo = 'plan keys of one machine stand in set: set = { "target.device" = "/dev/sdb" }'
        raise UsageError(f"{where} has an unknown key {unknown!r}", nearest(unknown, sorted(_KEYS)) or todo)
    if not isinstance(table, dict) or not isinstance(table.get("address"), str):
        raise UsageError(f"{where} has no address", 'write for example: db1 = "ssh://dba@db1"')
    return _checked(where, FleetHost(name, table["address"], _overrides(where, table.get("set", {}))))


def _overrides(where: str, table: Any) -> dict[str, str]:
    """Return plan keys with their values as text. Raises UsageError."""
    if not isinstance(table, dict):
        raise UsageError(f"{where}: set is no table", 'write for example: set = { "target.device" = "/dev/sdb" }')
    flat = dict(_flattened(table))
    if reserved := next((key for key in ("name", "target.host") if key in flat), None):
        raise UsageError(f"{where}: {reserved} cannot be set for one machine", "leave it out: each machine has its own")
    try:
        return override_texts(flat)
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", error.todo) from error


def _flattened(table: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, Any]]:
    """Yield the values of nested tables with dotted keys: `target.device = …` and `"target.device" = …` are one."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _checked(where: str, host: FleetHost) -> FleetHost:
    if not host.name.strip() or not host.name.isprintable() or "," in host.name:
        raise UsageError(
            f"{where.removesuffix(host.name)}{host.name!r} is no name of a machine",
            "write one that can be printed, without a comma",
        )
    if host.address != LOCAL:
        try:
            parse_address(host.address)
        except UsageError as error:
            raise UsageError(f"{where}: {error.message}", error.todo) from error
    return host


def _of_ansible(path: Path) -> tuple[list[FleetHost], Mapping[str, Sequence[str]]]:
    inventory = ansible.read(path)

    def describe(where: str, name: str) -> FleetHost:
        variables = inventory.hosts[name]
        overrides = _overrides(where, variables.get("paribus_set", {}))
        become = ansible.becomes_root(where, variables)
        if become is not None:
            overrides.setdefault("target.become", str(become).lower())
        return _checked(where, FleetHost(name, ansible.address(where, name, variables), overrides))

    return _described(path, inventory.hosts, describe), inventory.groups


def _choose(hosts: Sequence[FleetHost], groups: Mapping[str, Sequence[str]], names: Sequence[str]) -> list[FleetHost]:
    """Return the machines of these names and groups, all of them without names. Raises UsageError."""
    if not names:
        return list(hosts)
    machine_names = {host.name for host in hosts}
    chosen: set[str] = set()
    for name in names:
        if name not in machine_names and name not in groups:
            hint = nearest(name, [*machine_names, *groups]) or f"known: {', '.join(sorted(machine_names)[:10])}"
            raise UsageError(f"there is no machine {name!r}", hint)
        chosen.update(groups.get(name, ()), {name} & machine_names)
    return [host for host in hosts if host.name in chosen]


def _refuse_twins(hosts: Sequence[FleetHost]) -> None:
    """Raise UsageError where addresses have several names."""
    named: dict[str, list[FleetHost]] = defaultdict(list)
    for host in hosts:
        named[machine_of(host.address)].append(host)
    twins = [
        f"{', '.join(host.name for host in same)} are all {machine_name(same[-1].address)}"
        if len(same) > 2
        else f"{same[0].name} and {same[1].name} are both {machine_name(same[-1].address)}"
        for same in named.values()
        if len(same) > 1
    ]
    if twins:
        raise UsageError("; ".join(twins), "name each machine once: two of its experiments would disturb each other")
