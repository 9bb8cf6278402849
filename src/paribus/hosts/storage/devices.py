"""A block device as inspected: its permanent names, its users, and its contents. Nothing here writes.

In: the output of lsblk, wipefs, /proc/swaps and sysfs. Out: BlockDevice. Called before a plan is checked, and again
right before a load destroys the contents of a device.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paribus.errors import HostError
from paribus.hosts.transport import Host, described
from paribus.model import BlockDevice

_BY_ID = "/dev/disk/by-id"
SECTOR_BYTES = 512  # of the kernel, whatever the device has
_SECTORS_WRITTEN = 6  # of /sys/class/block/NAME/stat
Tree = Mapping[str, Any]  # a device as lsblk shows it, with the devices built on it as children


Identity = Mapping[str, Any]  # of a device, as the engine reports it


def block_device(host: Host, engine: str, path: str, expected: Identity | None = None) -> BlockDevice:
    """Inspect a device with the host's `engine`; the reason why it could not be inspected is part of the answer.

    `expected`: its identity at an earlier inspection, to compare.
    """
    try:
        resolved = host.resolve(path)
        folder = f"/sys/class/block/{resolved.removeprefix('/dev/').replace('/', '!')}"
        if not host.names(folder):
            devices_here = ", ".join(f"/dev/{name}" for name in host.names("/sys/block"))
            return BlockDevice(
                path=path, refused=f"{path} is no block device of this machine; there are: {devices_here}"
            )
        if host.run(["test", "-r", resolved]).exit_code != 0:
            return BlockDevice(path=path, refused=f"{path} cannot be read by this user")
        before = _users(host, engine, resolved, expected)
        links = {name: host.resolve(f"{_BY_ID}/{name}") for name in host.names(_BY_ID)}
        backing = host.read(f"{folder}/loop/backing_file") if "loop" in host.names(folder) else ""
        with described(host.name):
            device = from_tools(
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
                users=(after := _users(host, engine, resolved, before["identity"])),
            )
            difference = after["difference"]
        if difference:
            return BlockDevice(path=path, refused=f"{path} changed while it was looked at: {difference}")
        return dataclasses.replace(device, identity=after["identity"], difference=before["difference"] or "")
    except (HostError, ValueError) as error:
        return BlockDevice(path=path, refused=f"{path} cannot be looked at: {error}")


def size_bytes(host: Host, path: str) -> int:
    """The size of a block device. Raises HostError."""
    name = host.resolve(path).removeprefix("/dev/").replace("/", "!")
    return int(host.read(f"/sys/class/block/{name}/size")) * SECTOR_BYTES


def _users(host: Host, engine: str, path: str, expected: Identity | None) -> Tree:
    """The processes that have the device open, and its identity. Raises HostError."""
    options = ["--expected", json.dumps(dict(expected))] if expected else []
    answer: Tree = json.loads(_output(host, engine, "users", *options, path))
    return answer


def _output(host: Host, *argv: str) -> str:
    """The output of a program. Raises HostError where it fails: an unknown state does not count as free."""
    completed = host.run(argv)
    if completed.exit_code != 0:
        raise HostError(f"{argv[0]} failed: {completed.stderr.strip() or f'exit code {completed.exit_code}'}")
    return completed.stdout


def from_tools(
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
    """A device from the output of the tools.

    `links`: by name under /dev/disk/by-id, the device it leads to. `loops`: every loop device. `users`: the processes
    that have it open.
    """
    all_nodes = [node for tree in lsblk["blockdevices"] for node in _nodes(tree)]
    node_of_device = next((node for node in all_nodes if node["path"] == path), None)
    if node_of_device is None:
        return BlockDevice(path=path, refused=f"{path} is not among the devices that lsblk lists")
    ids = [link for link, target in (links or {}).items() if target == path]
    for key in ("serial", "wwn"):
        same = {
            node["path"]
            for node in all_nodes
            if node.get(key) == node_of_device.get(key) and node.get("type") != "part"
        }
        if node_of_device.get(key) and same == {path}:  # a serial that two disks share identifies neither
            ids.append(node_of_device[key])
    if backing.startswith("/"):
        ids.append(backing)
    claims = [claim for node in _nodes(node_of_device) for claim in _claims(node, node_of_device, swaps)]
    own_names = {node["kname"] for node in _nodes(node_of_device)}
    claims += [f"is held by /dev/{holder}" for holder in holders if holder not in own_names]
    claims += [*_loop_claims(path, loops), *_user_claims(users or {})]
    signatures = [signature["type"] for signature in wipefs.get("signatures", [])] + [
        node_of_device.get("fstype"),
        node_of_device.get("pttype"),
    ]
    return BlockDevice(
        path=path,
        size_bytes=int(node_of_device["size"]),
        ids=tuple(dict.fromkeys(ids)),
        claims=tuple(dict.fromkeys(claims)),
        signatures=tuple(dict.fromkeys(kind for kind in signatures if kind)),
        read_only=node_of_device.get("ro") in (True, 1, "1"),
        has_scsi_state="scsi" in (node_of_device.get("subsystems") or "scsi"),
    )


def _loop_claims(path: str, loops: Sequence[Tree]) -> Iterator[str]:
    """Claims of other devices on the same bytes by way of loop devices.

    They appear neither as mounts nor as holders.
    """
    own_loop = next((loop for loop in loops if loop["name"] == path), None)
    for loop in loops:
        if loop["name"] != path and loop["back-file"] == path:
            yield f"is what {loop['name']} is made of"
        elif own_loop and loop is not own_loop and _file_of(loop) == _file_of(own_loop):
            yield f"shares its backing file with {loop['name']}"
    if own_loop and own_loop["back-file"].startswith("/dev/"):
        yield f"is made of {own_loop['back-file']}, another device"


def _file_of(loop: Tree) -> tuple[Any, Any]:
    return loop["back-maj:min"], loop["back-ino"]


def _user_claims(users: Tree) -> Iterator[str]:
    """Processes that have it open right now."""
    if users.get("exclusive"):
        yield f"cannot be had alone ({users['exclusive']})"
    for user in users.get("processes", []):
        yield f"is open in {user['command']} (process {user['pid']})"


def _nodes(tree: Tree) -> Iterator[Tree]:
    """A device and all devices built on it."""
    yield tree
    for child in tree.get("children", []):
        yield from _nodes(child)


def _claims(node: Tree, device: Tree, swaps: str) -> Iterator[str]:
    """Claims on the device by one node: itself, a partition, or a device built on it."""
    prefix = "" if node is device else f"is under {node['path']}, which "
    points = [*node.get("mountpoints", []), node.get("mountpoint")]
    for point in dict.fromkeys(point for point in points if point and point != "[SWAP]"):
        yield f"{prefix}is mounted at {point}"
    if "[SWAP]" in points or any(line.split()[:1] == [node["path"]] for line in swaps.splitlines()):
        yield f"{prefix}is swap"
    if node is not device:
        yield f"has the partition {node['path']}" if node.get("type") == "part" else f"is held by {node['path']}"


def written_bytes(host: Host, device: str) -> int:
    """Bytes written to a device since it exists (Linux: Documentation/block/stat.rst). Raises HostError."""
    name = host.resolve(device).removeprefix("/dev/").replace("/", "!")
    return written_in(host.read(f"/sys/class/block/{name}/stat"))


def written_in(stat: str) -> int:
    """Bytes written, of the text of a device's `stat`. Raises IndexError and ValueError."""
    return int(stat.split()[_SECTORS_WRITTEN]) * SECTOR_BYTES
