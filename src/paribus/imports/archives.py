"""Archives of logs: the files in a zip or a tar, which are never written to the disk.

In: the bytes of an archive. Out: the names and the bytes of its files; archives in archives are files.
"""

import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping

_SUFFIXES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
_OF_MACS = "__MACOSX"  # a folder of attributes
_UTF8 = 0x800  # flag of a name in a zip
_ENCRYPTED = 0x1
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, OSError, EOFError, ValueError, NotImplementedError)

Decoder = Callable[[bytes], str]


class DamagedArchive(Exception):
    """An archive, or a file in it, that cannot be read; the message states the reason."""


def is_archive(path: str) -> bool:
    """Return whether a path is named as an archive of files."""
    return path.lower().endswith(_SUFFIXES)


class Archive:
    """The files of a zip or a tar by name; hidden ones, links and folders are left out.

    `names` decodes names that are not stated to be UTF-8. Raises DamagedArchive.
    """

    def __init__(self, content: bytes, names: Decoder) -> None:
        self._content = content
        try:
            if content.startswith(b"PK"):
                self._zip: zipfile.ZipFile | None = zipfile.ZipFile(io.BytesIO(content))
                self._entries: Mapping[str, zipfile.ZipInfo | tuple[int, int]] = _files_of_zip(self._zip, names)
            else:
                self._zip, self._entries = None, _files_of_tar(content, names)
        except _DAMAGE as error:
            raise DamagedArchive(str(error)) from error

    @property
    def names(self) -> list[str]:
        """The names of the files, in the order of the archive."""
        return list(self._entries)

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return at most that many bytes of a file. Raises DamagedArchive."""
        entry = self._entries[name]
        if isinstance(entry, tuple):
            start, size = entry
            return self._content[start : start + min(size, most_bytes)]
        if entry.flag_bits & _ENCRYPTED:
            raise DamagedArchive("it is encrypted")
        assert self._zip is not None
        try:
            with self._zip.open(entry) as file:
                return file.read(most_bytes)
        except _DAMAGE as error:
            raise DamagedArchive(str(error)) from error


def _files_of_zip(archive: zipfile.ZipFile, names: Decoder) -> dict[str, zipfile.ZipInfo | tuple[int, int]]:
    files: dict[str, zipfile.ZipInfo | tuple[int, int]] = {}
    for entry in archive.infolist():
        name = entry.filename if entry.flag_bits & _UTF8 else names(entry.filename.encode("cp437", "replace"))
        if not entry.is_dir() and not stat.S_ISLNK(entry.external_attr >> 16) and _is_visible(name):
            files[name] = entry
    return files


def _files_of_tar(content: bytes, names: Decoder) -> dict[str, zipfile.ZipInfo | tuple[int, int]]:
    files: dict[str, zipfile.ZipInfo | tuple[int, int]] = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for entry in archive:
            name = names(entry.name.encode("utf-8", "surrogateescape"))
            if entry.isreg() and not entry.issparse() and _is_visible(name):
                files[name.removeprefix("./")] = (entry.offset_data, entry.size)
    return files


def _is_visible(name: str) -> bool:
    parts = [part for part in name.split("/") if part not in (".", "..")]
    return not any(part.startswith(".") or part == _OF_MACS for part in parts)
