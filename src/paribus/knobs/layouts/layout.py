"""A layout as a plan writes it, and as one line of text: `md level=10 chunk=64KiB / xfs / mount noatime`.

In: a table of the plan, or the text. Out: a `Layout`. The text is the value of the setting `layout`, in the store too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from paribus.knobs.layouts.bcache import Bcache
from paribus.knobs.layouts.block_layers import Crypt, Md, Partition
from paribus.knobs.layouts.file_systems import Btrfs, Ext4, FileSystem, Xfs
from paribus.knobs.layouts.layer import Layer
from paribus.knobs.layouts.lvm_layers import CacheLayer, Lvm
from paribus.knobs.layouts.volume import LayoutError
from paribus.knobs.layouts.zfs import Zfs
from paribus.registry import nearest

LAYERS: dict[str, type[Layer]] = {
    layer.kind: layer for layer in (Partition, Md, Crypt, Lvm, CacheLayer, Bcache, Xfs, Ext4, Btrfs, Zfs)
}
RAW, DISKS, MOUNT, NAME = "raw", "disks", "mount", "name"
_SEPARATOR = " / "
_Part = tuple[str, Any]  # a kind of layer, or `disks` or `mount`, with what is written of it
_WORD = re.compile(r"[A-Za-z0-9_.,:%^+/@=-]+")


@dataclass(frozen=True, slots=True)
class Layout:
    """Layers, the lowest first, and the options that the file system is mounted with; no layer: the disk itself.

    `disks` are those that it takes, all where there are none.
    """

    text: str
    layers: tuple[Layer, ...]
    mount_options: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()

    @property
    def file_system(self) -> FileSystem | None:
        """The topmost layer, where it is a file system."""
        last = self.layers[-1] if self.layers else None
        return last if isinstance(last, FileSystem) else None

    @property
    def programs(self) -> dict[str, str]:
        """The programs that make it and take it apart, each with its package."""
        removing = {"wipefs": "util-linux", "udevadm": "udev"}
        return removing | {program: package for layer in self.layers for program, package in layer.programs.items()}

    @property
    def modules(self) -> dict[str, str]:
        """The kernel modules that it needs, with the packages of those that do not come with the kernel."""
        return {module: package for layer in self.layers for module, package in layer.modules.items()}


def parse_layout(written: object) -> Layout:
    """The layout of a level, a table or its text. Raises LayoutError."""
    if isinstance(written, str):
        return _layout(list(_parts(written)))
    if not isinstance(written, Mapping):
        form = 'write for example { md = { level = 10 }, xfs = {} }, or "raw"'
        raise LayoutError(f"{written!r} is no layout: {form}")
    return _layout(_parts_of(written))


def label_of_layout(written: Mapping[str, Any]) -> str:
    """Return the label of a level in reports: its name, else its text."""
    name = written.get(NAME)
    return name if isinstance(name, str) else _text(_parts_of(written))


def _parts_of(written: Mapping[str, Any]) -> list[_Part]:
    """The layers of a table, with their options; a list of tables is so many layers of one kind."""
    parts: list[_Part] = []
    for kind, options in written.items():
        if kind == NAME:
            continue
        is_several = kind not in (DISKS, MOUNT) and isinstance(options, list)
        parts += [(kind, each) for each in options] if is_several else [(kind, options)]
    return parts


def _parts(text: str) -> Iterator[_Part]:
    """The layers of a text, with their options."""
    for part in text.split(_SEPARATOR):
        kind, *words = part.split()
        if kind in (DISKS, MOUNT):
            yield kind, words[0].split(",") if words else []
            continue
        options = dict(word.partition("=")[::2] for word in words)
        yield kind, options


def _layout(parts: list[_Part]) -> Layout:
    kinds = [kind for kind, _ in parts]
    layers = [_layer(kind, options) for kind, options in parts if kind not in (DISKS, MOUNT, RAW)]
    disks = _words(parts, DISKS, 'names of target.devices, such as ["/dev/disk/by-id/…"]')
    mount = _words(parts, MOUNT, 'options, such as ["noatime"]')
    layout = Layout(_text(parts), tuple(layers), mount, disks)
    below = [layer for layer in layers if isinstance(layer, FileSystem)]
    if below and (below[-1] is not layers[-1] or len(below) > 1):
        raise LayoutError(f"{below[0].kind} is a file system: write it last, and only one")
    if RAW in kinds and layout.file_system:
        raise LayoutError("a layout with a file system is not raw: remove one of them")
    if mount and not layout.file_system:
        raise LayoutError("only a file system has mount options")
    if MOUNT in kinds[:-1]:
        raise LayoutError("write mount last")
    if DISKS in kinds[1:]:
        raise LayoutError("write disks first")
    return layout


def _words(parts: list[_Part], key: str, form: str) -> tuple[str, ...]:
    """The words of `disks` or `mount`. Raises LayoutError."""
    words: Any = next((value for kind, value in parts if kind == key), [])
    if not isinstance(words, list) or not all(isinstance(word, str) and _WORD.fullmatch(word) for word in words):
        raise LayoutError(f"{key} is a list of {form}")
    return tuple(words)


def _layer(kind: str, options: object) -> Layer:
    if kind not in LAYERS:
        hint = nearest(kind, LAYERS) or f"there are {DISKS}, {', '.join(LAYERS)} and {MOUNT}"
        raise LayoutError(f"{kind!r} is no layer: {hint}")
    if not isinstance(options, Mapping):
        raise LayoutError(f"{kind} = {options!r} is no table of options: write {kind} = {{}}")
    try:
        return LAYERS[kind].model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([kind, *(str(part) for part in first["loc"][:1])])
        raise LayoutError(f"{place}: {first['msg'].removeprefix('Value error, ')}") from error


def _text(parts: list[_Part]) -> str:
    """The text of a level. Raises LayoutError."""
    texts = []
    for kind, options in parts:
        if kind == RAW:
            continue
        if kind in (DISKS, MOUNT):
            words: list[str] = [",".join(map(str, options))] if options else []
        else:
            written = options if isinstance(options, Mapping) else {}
            words = [_option(key, value) for key, value in written.items()]
        texts.append(" ".join([kind, *words]))
    return _SEPARATOR.join(texts) or RAW


def _option(key: str, value: object) -> str:
    """`key=value`. Raises LayoutError."""
    word = str(value).lower() if isinstance(value, bool) else str(value)
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else word
    if not _WORD.fullmatch(text):
        raise LayoutError(f"{key} = {text!r} has characters that no option has")
    return f"{key}={text}"
