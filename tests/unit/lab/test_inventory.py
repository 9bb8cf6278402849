"""Lists of machines: TOML, and inventories of Ansible as its own program prints them."""

import json
import os
from pathlib import Path

import pytest

from paribus.errors import UsageError
from paribus.lab.fleet.inventory import FleetHost, read_inventory

# As ansible-inventory 2.19 prints `db[01:02] ansible_user=dba ansible_port=2222` with variables of the group.
_OF_DB = {"ansible_become": "true", "ansible_port": 2222, "ansible_user": "dba", "paribus_set": {"target.path": "/d"}}
INVENTORY = {
    "_meta": {
        "hostvars": {
            "c1": {"ansible_host": "fe80::1"},
            "db01": _OF_DB,
            "db02": _OF_DB,
            "here": {"ansible_connection": "local"},
        },
        "profile": "inventory_legacy",
    },
    "all": {"children": ["ungrouped", "servers"]},
    "servers": {"children": ["db", "cache"]},
    "cache": {"hosts": ["c1", "here"]},
    "db": {"hosts": ["db01", "db02"]},
}
OF_DB = {"target.path": "/d", "target.become": "true"}


def _of_one(**variables: object) -> str:
    """An inventory of one machine, w."""
    return json.dumps({"_meta": {"hostvars": {"w": variables}}, "all": {"hosts": ["w"]}})


def _written(folder: Path, text: str, name: str = "hosts.toml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_toml_names_addresses_and_keys_of_one_machine(tmp_path: Path) -> None:
    text = """
    [hosts]
    db1 = "ssh://dba@db1"
    db2 = { address = "ssh://dba@db2:2222", set = { "target.device" = "/dev/sdb", protocol.rounds = 4 } }
    here = "local"
    """
    hosts = read_inventory(_written(tmp_path, text))
    own = {"target.device": "/dev/sdb", "protocol.rounds": "4"}
    assert hosts == [
        FleetHost("db1", "ssh://dba@db1"),
        FleetHost("db2", "ssh://dba@db2:2222", own),
        FleetHost("here", "local"),
    ]
    assert [host.name for host in read_inventory(tmp_path / "hosts.toml", ["here", "db1"])] == ["db1", "here"]


def test_an_inventory_of_ansible_has_users_ports_groups_and_root(tmp_path: Path) -> None:
    file = _written(tmp_path, json.dumps(INVENTORY), "hosts.json")
    assert read_inventory(file) == [
        FleetHost("db01", "ssh://dba@db01:2222", OF_DB),
        FleetHost("db02", "ssh://dba@db02:2222", OF_DB),
        FleetHost("c1", "ssh://[fe80::1]"),
        FleetHost("here", "local"),
    ]
    assert [host.name for host in read_inventory(file, ["cache", "db02"])] == ["db02", "c1", "here"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no table hosts"),
        ("[hosts]", "has no machine"),
        ("hosts = 1", "has no table hosts"),
        ("[host]\ndb1 = 'local'", "unknown key 'host'"),
        ("[hosts]\ndb1 = 'db1'", "db1: 'db1' is not a target"),
        ("[hosts]\ndb1 = 7", "db1 has no address"),
        ("[hosts]\ndb1 = {set = {}}", "db1 has no address"),
        ("[hosts]\ndb1 = {address = 'local', user = 'dba'}", "db1 has an unknown key 'user'"),
        ("[hosts]\ndb1 = {address = 'local', set = 3}", "db1: set is no table"),
        ("[hosts]\ndb1 = {address = 'local', set.target.host = 'x'}", "db1: target.host cannot be set for one machine"),
        ("[hosts]\ndb1 = {address = 'local', set.protocol.seed = 2026-01-01}", "override of protocol.seed is a date"),
        ("[hosts]\ndb1 = 'ssh://a@db'\ndb2 = 'ssh://b@db:22'", "db1 and db2 are both ssh://b@db:22"),
        ("[hosts]\n'' = 'local'", "'' is no name of a machine"),
        ("[hosts]\n'a,b' = 'local'", "'a,b' is no name of a machine"),
        ("[hosts]\n'\u202edb' = 'local'", "is no name of a machine"),
        ("[hosts]\ndb1 = ", "is not TOML"),
    ],
)
def test_lists_that_are_wrong_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_inventory(_written(tmp_path, text))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is no inventory of Ansible"),
        ('{"_meta": []}', "is no inventory of Ansible: _meta"),
        ('{"_meta": {"hostvars": {"a": ["x"]}}}', "is no inventory of Ansible: _meta.hostvars.a"),
        ('{"_meta": {}, "all": {"children": 5}}', "is no inventory of Ansible: all.children"),
        (_of_one(ansible_become=True, ansible_become_user="postgres"), "w is used as postgres"),
        (_of_one(paribus_set={"protocol.seed": None}), "w: the override of protocol.seed is a NoneType"),
        ('{"_meta": {"hostvars": {}}}', "has no machine"),
        (_of_one(ansible_connection="winrm"), "w is reached by"),
        (_of_one(ansible_host="{{ ip }}"), "w: .* not a target"),
    ],
)
def test_inventories_that_are_wrong_are_refused(tmp_path: Path, document: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_inventory(_written(tmp_path, document, "hosts.json"))


def test_every_machine_that_is_not_described_well_is_named(tmp_path: Path) -> None:
    text = '[hosts]\na = 3\nb = "ssh://db1"\nc = { address = "ssh://db2", sets = {} }\nd = "ssh://"\n'
    with pytest.raises(UsageError) as refused:
        read_inventory(_written(tmp_path, text))
    first, *lines = str(refused.value.message).splitlines()
    assert first == "3 machines are not described well:"
    assert [line.split(":")[1].split()[0] for line in lines] == ["a", "c", "d"]
    assert "unknown key 'sets': did you mean 'set'?" in lines[1]


def test_all_names_of_one_machine_are_named(tmp_path: Path) -> None:
    text = '[hosts]\na = "ssh://db1"\nb = "ssh://db1"\nc = "ssh://db1"\nd = "ssh://db2"\ne = "ssh://db2"\n'
    with pytest.raises(UsageError, match="a, b, c are all ssh://db1; d and e are both ssh://db2"):
        read_inventory(_written(tmp_path, text))


def test_older_variables_of_ansible_and_users_without_root_are_read(tmp_path: Path) -> None:
    text = _of_one(ansible_ssh_host="10.1.1.1", ansible_ssh_port=2222, ansible_become=False)
    [host] = read_inventory(_written(tmp_path, text, "hosts.json"))
    assert host == FleetHost("w", "ssh://10.1.1.1:2222", {"target.become": "false"})


def test_devices_and_pipes_are_no_lists(tmp_path: Path) -> None:
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("zero.toml", "pipe.json"):
        with pytest.raises(UsageError, match="it is no regular file"):
            read_inventory(tmp_path / name)


def test_groups_that_hold_each_other_are_read(tmp_path: Path) -> None:
    rings = {"_meta": {"hostvars": {}}, "a": {"children": ["b"], "hosts": ["x"]}, "b": {"children": ["a"]}}
    assert [host.name for host in read_inventory(_written(tmp_path, json.dumps(rings), "hosts.json"), ["b"])] == ["x"]


def test_unknown_machines_and_missing_files_and_programs_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="there is no machine 'db3'"):
        read_inventory(_written(tmp_path, "[hosts]\ndb1 = 'local'"), ["db3"])
    for name in ("none.toml", "none.json", "none.ini"):
        with pytest.raises(UsageError, match=f"cannot read .*{name}"):
            read_inventory(tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="is read by ansible-inventory, which is not installed"):
        read_inventory(_written(tmp_path, "db1", "hosts.ini"))


def test_an_inventory_is_read_by_the_program_of_ansible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, program = _written(tmp_path, "db[01:02]", "hosts.ini"), tmp_path / "ansible-inventory"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    printed = _written(tmp_path, json.dumps(INVENTORY), "printed.json")
    program.write_text(f'#!/bin/sh\n[ "$*" = "-i {file} --list" ] && cat {printed}\n')
    program.chmod(0o755)
    assert [host.name for host in read_inventory(file, ["db"])] == ["db01", "db02"]
    program.write_text("#!/bin/sh\necho ERROR: no such plugin >&2; exit 4\n")
    with pytest.raises(UsageError, match=r"did not read .*hosts.ini: ERROR: no such plugin"):
        read_inventory(file)
