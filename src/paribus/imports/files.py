"""Which files are imported, and what they say: walked, opened, put into text, and rid of passwords."""

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from paribus.errors import UsageError
from paribus.parsers.redact import redact
from paribus.units import show_size

MOST_BYTES = 256 * 2**20
_MOST_HIGH = 0.8  # of a text's bytes are beyond ASCII


def _gzip(stream: BinaryIO) -> io.BufferedIOBase:
    return gzip.GzipFile(fileobj=stream)


_PACKED: dict[bytes, Callable[[BinaryIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": _gzip,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class Named:
    """A file to import; `walked`: found in a folder, so that it is nobody's mistake if it is no log."""

    path: str
    walked: bool


class Unreadable(Exception):
    """A file that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file's bytes as found, by hash and size, and its text without passwords; `content` is that in bytes."""

    sha256: str
    size_bytes: int
    text: str
    content: bytes


def _natural(path: Path) -> list[tuple[int, int | str]]:
    """What sorts `t8` before `t16`."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", str(path)) if part]


def listed(names: Sequence[str]) -> list[Named]:
    """Every file that was named, and those in folders that were, in natural order; hidden ones are left out.

    Raises UsageError for what is not there.
    """
    found: dict[str, Named] = {}
    for name in names:
        path = Path(name)
        try:
            walked = path.is_dir()
            inside = sorted(_inside(path), key=_natural) if walked else [path]
            if not walked and not path.exists():
                raise UsageError(f"there is no file {name}", "name log files, tables, or folders of them")
        except (OSError, ValueError) as error:
            raise UsageError(f"{name!r} cannot be read: {error}", "name log files, tables, or folders") from error
        for one in inside:
            found.setdefault(str(one), Named(str(one), walked))
    if not found:
        raise UsageError(f"there is no file in {', '.join(names)}", "name log files, tables, or folders of them")
    return list(found.values())


def _inside(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            yield path


def open_file(path: str) -> OpenedFile:
    """Read a file, unpacked where it is gzip, bzip2 or xz. Raises Unreadable."""
    try:
        found = Path(path).read_bytes() if Path(path).stat().st_size <= MOST_BYTES else None
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from error
    if found is None:
        raise Unreadable(f"is larger than {show_size(MOST_BYTES)}: import a part of it")
    digest = hashlib.sha256(found).hexdigest()
    text = redact(as_text(_unpacked(found)))
    return OpenedFile(digest, len(found), text, text.encode("utf-8", "surrogateescape"))


def _unpacked(found: bytes) -> bytes:
    opener = next((one for mark, one in _PACKED.items() if found.startswith(mark)), None)
    if opener is None:
        return found
    stream = opener(io.BytesIO(found))
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := stream.read1(2**20):  # `read` would lose what came before a break
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                raise Unreadable(f"is larger than {show_size(MOST_BYTES)} when unpacked: import a part of it")
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        if not pieces:
            raise Unreadable(f"cannot be unpacked: {error}") from error
    return b"".join(pieces)  # of an archive that was cut off, what there is


def legible(content: bytes) -> str:
    """Bytes as a reader has them: UTF-8, else as Windows writes in China or in the West; marks for what is neither."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        high = [len(run) for run in re.findall(rb"[\x80-\xff]+", content)]
    if b"\0" in content or sum(high) > len(content) * _MOST_HIGH:
        return content.decode("utf-8", "replace")
    chinese = all(n % 2 == 0 for n in high) and sum(high) >= 4 * len(high)  # words of two letters or more
    return content.decode("gb18030" if chinese else "cp1252", "replace")


def as_text(found: bytes) -> str:
    """Bytes as text; what is no UTF-8 becomes marks that no reader understands, and that lose nothing."""
    coding = next((name for mark, name in _MARKS.items() if found.startswith(mark)), "utf-8")
    if coding == "utf-16":
        return found.decode(coding, "replace")
    return found.decode(coding, "surrogateescape")
