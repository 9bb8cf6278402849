"""The definition of a domain in libvirt's XML: values in it, and the definition with other values.

In: XML and paths. Out: values as text, or XML. The forms of a path:

- `devices/disk/driver/@cache`: an attribute; `devices/disk` is the disk of a given name;
- `vcpu`: the text of an element;
- `memoryBacking/hugepages?`: whether an element is there;
- `cpu/topology/@sockets:cores:threads`: several attributes, as `1:2:2`;
- `cputune/vcpupin[vcpu=0]/@cpuset`: an attribute of elements that the attribute `vcpu` numbers from 0 on, as `2;3`.
"""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

from paribus.errors import BadReply, Missing

DEFAULT = "default"
"""The value of what is not in a definition: libvirt or QEMU decides."""
PRESENT, ABSENT = "on", "off"
_DISK = "devices/disk"
_JOINT, _BETWEEN = ":", ";"
_NUMBERED = re.compile(r"(.+)/(\w+)\[(\w+)=(\d+)\]/@(\w+)")
_MARK = "{https://paribus.dev/experiment}experiment"
_PREFIXES = {
    "paribus": "https://paribus.dev/experiment",
    "qemu": "http://libvirt.org/schemas/domain/qemu/1.0",
}


def value(definition: str, path: str, disk: str) -> str:
    """The value at a path. Raises Missing where the disk is not there, and BadReply for what is no XML."""
    root = parse(definition)
    if numbered := _NUMBERED.fullmatch(path):
        return _values_by_number(root, *numbered.groups())
    path, attribute, is_switch = _parts(path)
    element = _find(root, path, disk)
    if is_switch:
        return ABSENT if element is None else PRESENT
    if element is None:
        return DEFAULT
    texts = [element.get(name) for name in attribute.split(_JOINT)] if attribute else [element.text]
    return DEFAULT if None in texts else _JOINT.join(str(text).strip() for text in texts)


def disks(definition: str) -> list[str]:
    """The names of the disks, without drives for media. Raises as `value`."""
    found_disks = parse(definition).iterfind(_DISK)
    targets = [disk.find("target") for disk in found_disks if disk.get("device", "disk") == "disk"]
    return [target.get("dev", "") for target in targets if target is not None]


def images(definition: str) -> set[str]:
    """The files and block devices of the disks, with those that their images are based on. Raises as `value`."""
    sources = [source for disk in parse(definition).iterfind(_DISK) for source in disk.iter("source")]
    return {place for source in sources for key in ("file", "dev") if (place := source.get(key))}


def images_below(definition: str, disk: str) -> int:
    """The number of images that the image of a disk is based on. Raises as `value`."""
    return sum(1 for layer in _disk(parse(definition), disk).iter("backingStore") if layer.find("source") is not None)


def edited(definition: str, values: Mapping[str, str], disk: str, mark: str) -> str:
    """The definition with these values by path, and with a mark in its metadata. Raises as `value`."""
    root = parse(definition)
    for path, text in values.items():
        _set(root, path, text, disk)
    metadata = _made(root, "metadata")
    for old in metadata.findall(_MARK):
        metadata.remove(old)
    ElementTree.SubElement(metadata, _MARK).text = mark
    for prefix, uri in _PREFIXES.items():
        ElementTree.register_namespace(prefix, uri)
    return ElementTree.tostring(root, encoding="unicode")


def differing(before: str, after: str) -> list[str]:
    """The parts in which two definitions of a running domain differ, such as `currentMemory` or `devices/disk`.

    Channels are left out: libvirt notes there when an agent in the guest connects. Raises as `value`.
    """
    parts_before, parts_after = (_by_part(parse(text)) for text in (before, after))
    names = dict.fromkeys([*parts_before, *parts_after])
    return [name for name in names if parts_before.get(name) != parts_after.get(name)]


def _by_part(root: ElementTree.Element) -> dict[str, list[str]]:
    """The elements of a domain as XML, by their names; those of its devices by `devices/` and theirs."""
    parts: dict[str, list[str]] = {}
    children = [(child.tag, child) for child in root if child.tag != "devices"]
    children += [(f"devices/{device.tag}", device) for device in root.iterfind("devices/*") if device.tag != "channel"]
    for name, element in children:
        parts.setdefault(name, []).append(ElementTree.canonicalize(ElementTree.tostring(element)))
    return parts


def parse(definition: str) -> ElementTree.Element:
    """The domain element. Raises BadReply for what is no XML."""
    try:
        return ElementTree.fromstring(definition)  # noqa: S314  bounded in size, and expat bounds entities
    except ElementTree.ParseError as error:
        raise BadReply(f"virsh describes a domain in a form that is not understood: {error}") from error


def _parts(path: str) -> tuple[str, str, bool]:
    """The element of a path, its attribute, and whether only the element's presence counts."""
    element, _, attribute = path.removesuffix("?").partition("/@")
    return element, attribute, path.endswith("?")


def _values_by_number(root: ElementTree.Element, above: str, tag: str, key: str, first: str, attribute: str) -> str:
    """The attributes in the order of the numbers; one for which there is no element is empty."""
    texts = {int(each.get(key, first)): each.get(attribute, "") for each in root.iterfind(f"{above}/{tag}")}
    return _BETWEEN.join(texts.get(number, "") for number in range(int(first), max(texts) + 1)) if texts else DEFAULT


def _set_by_number(
    root: ElementTree.Element, text: str, above: str, tag: str, key: str, first: str, attribute: str
) -> None:
    """Replace all elements; one whose text is empty is left out, and so is an element above that is empty then."""
    for element in root.findall(f"{above}/{tag}"):
        _made(root, above).remove(element)
    texts = [] if text == DEFAULT else text.split(_BETWEEN)
    for number, each in enumerate(texts, int(first)):
        if each:
            ElementTree.SubElement(_made(root, above), tag, {key: str(number), attribute: each})
    parent = root.find(above)
    if parent is not None and not len(parent):
        _remove(root, above, "", "")


def _set(root: ElementTree.Element, path: str, text: str, disk: str) -> None:
    if numbered := _NUMBERED.fullmatch(path):
        _set_by_number(root, text, *numbered.groups())
        return
    path, attribute, is_switch = _parts(path)
    if text == (ABSENT if is_switch else DEFAULT):
        _remove(root, path, attribute, disk)
        return
    element = _find(root, path, disk)
    if element is None:
        start, below = (_disk(root, disk), path[len(_DISK) + 1 :]) if path.startswith(_DISK) else (root, path)
        element = _made(start, below)
    if attribute:
        for name, part in zip(attribute.split(_JOINT), text.split(_JOINT), strict=True):
            element.set(name, part)
    elif not is_switch:
        element.text = text


def _remove(root: ElementTree.Element, path: str, attribute: str, disk: str) -> None:
    """Remove an attribute or an element, and the elements that are empty then."""
    element = _find(root, path, disk)
    if element is None:
        return
    if attribute:
        if _JOINT in attribute:
            element.attrib.clear()  # the others mean nothing without these
        element.attrib.pop(attribute, None)
        if len(element) or element.attrib or (element.text or "").strip():
            return
    parents = {child: parent for parent in root.iter() for child in parent}
    while element in parents:
        parents[element].remove(element)
        element = parents[element]
        if len(element) or element.attrib:
            return


def _find(root: ElementTree.Element, path: str, disk: str) -> ElementTree.Element | None:
    if not path.startswith(_DISK):
        return root.find(path)
    return _disk(root, disk).find(path[len(_DISK) + 1 :])


def _disk(root: ElementTree.Element, name: str) -> ElementTree.Element:
    for disk in root.iterfind(_DISK):
        target = disk.find("target")
        if target is not None and target.get("dev") == name:
            return disk
    raise Missing(f"the domain {root.findtext('name', '')} has no disk {name!r}", "set target.device")


def _made(start: ElementTree.Element, path: str) -> ElementTree.Element:
    """The element at a path, made with those above it where it is not there."""
    element = start
    for name in path.split("/"):
        child = element.find(name)
        element = ElementTree.SubElement(element, name) if child is None else child
    return element
