"""The definition of a domain in libvirt's XML: values in it, and the definition with other values.

In: XML and paths such as `devices/disk/driver/@cache` (an attribute), `vcpu` (the text of an element) and
`memoryBacking/hugepages?` (whether an element is there). Out: values as text, or XML. In a path, `devices/disk` is the
disk of a given name.
"""

from collections.abc import Mapping
from xml.etree import ElementTree

from paribus.errors import BadReply, Missing

DEFAULT = "default"
"""The value of what is not in a definition: libvirt or QEMU decides."""
PRESENT, ABSENT = "on", "off"
_DISK = "devices/disk"
_MARK = "{https://paribus.dev/experiment}experiment"
_PREFIXES = {
    "paribus": "https://paribus.dev/experiment",
    "qemu": "http://libvirt.org/schemas/domain/qemu/1.0",
}


def value(definition: str, path: str, disk: str) -> str:
    """The value at a path. Raises Missing where the disk is not there, and BadReply for what is no XML."""
    root = parse(definition)
    path, attribute, is_switch = _parts(path)
    element = _find(root, path, disk)
    if is_switch:
        return ABSENT if element is None else PRESENT
    text = None if element is None else element.get(attribute) if attribute else element.text
    return DEFAULT if text is None else text.strip()


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


def _set(root: ElementTree.Element, path: str, text: str, disk: str) -> None:
    path, attribute, is_switch = _parts(path)
    if text == (ABSENT if is_switch else DEFAULT):
        _remove(root, path, attribute, disk)
        return
    element = _find(root, path, disk)
    if element is None:
        start, below = (_disk(root, disk), path[len(_DISK) + 1 :]) if path.startswith(_DISK) else (root, path)
        element = _made(start, below)
    if attribute:
        element.set(attribute, text)
    elif not is_switch:
        element.text = text


def _remove(root: ElementTree.Element, path: str, attribute: str, disk: str) -> None:
    """Remove an attribute or an element, and the elements that are empty then."""
    element = _find(root, path, disk)
    if element is None:
        return
    if attribute:
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
