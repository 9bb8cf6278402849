"""A block device as found: what names it for good, who has it, and what is on it. Nothing here writes.

In: what lsblk, wipefs, /proc/swaps and sysfs say. Out: BlockDevice. Called by the command line before a plan is
checked, and again right before a load destroys what is on a device.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paribus.errors import HostError
from paribus.hosts.transport import Host, described
from paribus.model import BlockDevice

_BY_ID = "/dev/disk/by-id"
Tree = Mapping[str, Any]  # a device as lsblk has it, with what stands on it as children


Identity = Mapping[str, Any]  # of a device, as the engine reports it


def block_device(host: Host, engine: str, path: str, expected: Identity | None = None) -> BlockDevice:
    """Look at a device, with the host's `engine`; why it could not be looked at is part of the answer.

    `expected`: its identity at an earlier look, to compare.
    """
    try:
        resolved = host.resolve(path)
        folder = f"/sys/class/block/{resolved.removeprefix('/dev/').replace('/', '!')}"
        if not host.names(folder):
            here = ", ".join(f"/dev/{name}" for name in host.names("/sys/block"))
            return BlockDevice(path=path, refused=f"{path} is no block device of this machine; there are: {here}")
        if host.run(["test", "-r", resolved]).exit_code != 0:
            return BlockDevice(path=path, refused=f"{path} cannot be read by this user")
        first = _users(host, engine, resolved, expected)
        links = {name: host.resolve(f"{_BY_ID}/{name}") for name in host.names(_BY_ID)}
        backing = host.read(f"{folder}/loop/backing_file") if "loop" in host.names(folder) else ""
        with described(host.name):
            found = as_found(
                resolved,
                json.loads(_output(host, "lsblk", "--json", "--bytes", "--output-all")),
                json.loads(_output(host, "wipefs", "--json", resolved) or "{}"),
                swaps=host.read("/proc/swaps"),
                holders=tuple(host.names(f"{folder}/holders")),
                links=links,
                backing=backing.strip(),
                loops=json.loads(_output(host, "losetup", "--json", "--list", "--output-all") or "{}").get(
                    "loopdevices", []
                ),
                users=(last := _users(host, engine, resolved, first["identity"])),
            )
            difference = last["difference"]
        if difference:
            return BlockDevice(path=path, refused=f"{path} changed while it was looked at: {difference}")
        return dataclasses.replace(found, identity=last["identity"], difference=first["difference"] or "")
    except (HostError, ValueError) as error:
        return BlockDevice(path=path, refused=f"{path} cannot be looked at: {error}")


def _users(host: Host, engine: str, path: str, expected: Identity | None) -> Tree:
    """Who has the device open, and its identity. Raises HostError."""
    options = ["--expected", json.dumps(dict(expected))] if expected else []
    found: Tree = json.loads(_output(host, engine, "users", *options, path))
    return found


def _output(host: Host, *argv: str) -> str:
    """What a program prints. Raises HostError where it fails: what is not known is not free."""
    done = host.run(argv)
    if done.exit_code != 0:
        raise HostError(f"{argv[0]} failed: {done.stderr.strip() or f'exit code {done.exit_code}'}")
    return done.stdout


def as_found(
    path: str,
    lsblk: Mapping[str, Any],
    wipefs: Mapping[str, Any],
    *,
    swaps: str = "",
    holders: tuple[str, ...] = (),
    links: Mapping[str, str] | None = None,
    backing: str = "",
    loops: Sequence[Tree] = (),
    users: Tree | None = None,
) -> BlockDevice:
    """A device from what the tools printed.

    `links`: by name under /dev/disk/by-id, the device it leads to. `loops`: every loop device. `users`: who has it
    open.
    """
    everything = [node for tree in lsblk["blockdevices"] for node in _nodes(tree)]
    own = next((node for node in everything if node["path"] == path), None)
    if own is None:
        return BlockDevice(path=path, refused=f"{path} is not among the devices that lsblk lists")
    ids = [link for link, target in (links or {}).items() if target == path]
    for key in ("serial", "wwn"):
        same = {node["path"] for node in everything if node.get(key) == own.get(key) and node.get("type") != "part"}
        if own.get(key) and same == {path}:  # what two disks call themselves names neither
            ids.append(own[key])
    if backing.startswith("/"):
        ids.append(backing)
    claims = [claim for node in _nodes(own) for claim in _claims(node, own, swaps)]
    known = {node["kname"] for node in _nodes(own)}
    claims += [f"is held by /dev/{holder}" for holder in holders if holder not in known]
    claims += [*_loop_claims(path, loops), *_user_claims(users or {})]
    kinds = [one["type"] for one in wipefs.get("signatures", [])] + [own.get("fstype"), own.get("pttype")]
    return BlockDevice(
        path=path,
        size_bytes=int(own["size"]),
        ids=tuple(dict.fromkeys(ids)),
        claims=tuple(dict.fromkeys(claims)),
        signatures=tuple(dict.fromkeys(kind for kind in kinds if kind)),
        read_only=own.get("ro") in (True, 1, "1"),
    )


def _loop_claims(path: str, loops: Sequence[Tree]) -> Iterator[str]:
    """What of other devices lies in the same bytes: by way of loop devices nobody is mounted, and nobody holds."""
    own = next((loop for loop in loops if loop["name"] == path), None)
    for loop in loops:
        if loop["name"] != path and loop["back-file"] == path:
            yield f"is what {loop['name']} is made of"
        elif own and loop is not own and _file_of(loop) == _file_of(own):
            yield f"shares its backing file with {loop['name']}"
    if own and own["back-file"].startswith("/dev/"):
        yield f"is made of {own['back-file']}, another device"


def _file_of(loop: Tree) -> tuple[Any, Any]:
    return loop["back-maj:min"], loop["back-ino"]


def _user_claims(users: Tree) -> Iterator[str]:
    """Who has it open right now."""
    if users.get("exclusive"):
        yield f"cannot be had alone ({users['exclusive']})"
    for user in users.get("processes", []):
        yield f"is open in {user['command']} (process {user['pid']})"


def _nodes(tree: Tree) -> Iterator[Tree]:
    """A device and all that stands on it."""
    yield tree
    for child in tree.get("children", []):
        yield from _nodes(child)


def _claims(node: Tree, own: Tree, swaps: str) -> Iterator[str]:
    """Who has the device by way of this node: itself, a partition, or what is built of them."""
    whose = "" if node is own else f"is under {node['path']}, which "
    points = [*node.get("mountpoints", []), node.get("mountpoint")]
    for point in dict.fromkeys(point for point in points if point and point != "[SWAP]"):
        yield f"{whose}is mounted at {point}"
    if "[SWAP]" in points or any(line.split()[:1] == [node["path"]] for line in swaps.splitlines()):
        yield f"{whose}is swap"
    if node is not own:
        yield f"has the partition {node['path']}" if node.get("type") == "part" else f"is held by {node['path']}"
