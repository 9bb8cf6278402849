"""The process of QEMU that runs a domain: what it uses for a disk, whatever libvirt says.

In: the definition of a running domain. Out: values by their paths in a definition, read from `/proc`. Sources: QEMU's
documentation of `-blockdev` (cache.direct, cache.no-flush, aio) and of the property `write-cache`; open(2) and proc(5).
"""

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

from paribus.hosts.guests import definition
from paribus.hosts.guests.process import process_of
from paribus.hosts.transport import Host

CACHE, INTERFACE = "devices/disk/driver/@cache", "devices/disk/driver/@io"
_MODES = {  # by O_DIRECT, the write cache that the guest sees, and whether flushes are left out
    (True, True, False): "none",
    (False, True, False): "writeback",
    (False, False, False): "writethrough",
    (True, False, False): "directsync",
    (False, True, True): "unsafe",
}
_O_DIRECT = {"aarch64": 0o200000, "armv7l": 0o200000, "ppc64le": 0o400000}
_O_DIRECT_ELSEWHERE = 0o40000
_GLOB = re.compile(r"([][*?\\])")
_MOST_LAYERS = 16

Options = Mapping[str, Any]


def in_force(host: Host, live: str, disk: str) -> dict[str, str]:
    """The settings that the process of a running domain shows of a disk. Raises HostError."""
    process = process_of(host, definition.value(live, "uuid", disk))
    if process is None:
        return {}
    pid, words = process
    device = _device(words, definition.value(live, "devices/disk/alias/@name", disk))
    node = _lowest_node(words, str(device.get("drive", "")))
    path = node.get("filename")
    is_direct = _is_direct(host, pid, str(path)) if path else None
    if is_direct is None:
        return {}
    has_write_cache = device.get("write-cache", "on") in ("on", True)
    leaves_out_flushes = node.get("cache", {}).get("no-flush", False) is True
    settings = {CACHE: _MODES.get((is_direct, has_write_cache, leaves_out_flushes), "of no mode")}
    if "aio" in node:
        settings[INTERFACE] = str(node["aio"])
    return settings


def _options(words: list[str], option: str) -> list[Options]:
    """The arguments of an option of QEMU, in either of its forms."""
    texts = [argument for word, argument in itertools.pairwise(words) if word == option]
    return [_parsed(text) if text.startswith("{") else _pairs(text) for text in texts]


def _parsed(text: str) -> Options:
    try:
        options = json.loads(text)
    except ValueError:  # an argument by hand, in a form of JSON that only QEMU reads
        return {}
    return options if isinstance(options, dict) else {}


def _pairs(text: str) -> Options:
    kind, *pairs = text.split(",")
    return {"driver": kind} | dict(pair.partition("=")[::2] for pair in pairs)


def _device(words: list[str], alias: str) -> Options:
    return next((device for device in _options(words, "-device") if device.get("id") == alias), {})


def _lowest_node(words: list[str], name: str) -> Options:
    """The node of a drive that opens the file or the device, below those of formats and filters."""
    nodes = {str(node.get("node-name")): node for node in _options(words, "-blockdev")}
    for _ in range(_MOST_LAYERS):
        node = nodes.get(name, {})
        if "file" not in node:
            return node
        name = str(node["file"])
    return {}


def _is_direct(host: Host, pid: str, path: str) -> bool | None:
    """Whether the process has the file open with O_DIRECT; None where it has not opened it."""
    pattern = _GLOB.sub(r"\\\1", host.resolve(path))
    listed = host.run(["find", f"/proc/{pid}/fd", "-lname", pattern, "-printf", "%f\\n"]).stdout.split()
    texts = [text for text in host.read_each([f"/proc/{pid}/fdinfo/{number}" for number in listed]) if text]
    flags = [int(match[1], 8) for text in texts if (match := re.search(r"^flags:\s*([0-7]+)$", text, re.MULTILINE))]
    if not flags:
        return None
    machine = host.run(["uname", "-m"]).stdout.strip()
    return any(flag & _O_DIRECT.get(machine, _O_DIRECT_ELSEWHERE) for flag in flags)
