"""Files of this machine that other users might swap for a link: written whole, and only where nobody else can.

The engine has the same rule for the folders of data on a target (`engine/src/folder`).
"""

import contextlib
import grp
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_MOST_LINKS = 40
_ROOT = 0
_PROTECTED_LINKS = Path("/proc/sys/fs/protected_symlinks")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file to write, which takes the place of `path` when it is whole. Raises OSError.

    A link that leads elsewhere is followed where its owner is trusted, and never for writing.
    """
    place = _followed(path)
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:80]}.", dir=place.parent)
    beside = Path(name)
    try:
        os.fchmod(handle, stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o666 & ~_umask())
        os.close(handle)
        yield beside
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader finds all of it or what was there before. Raises OSError.

    A device or a pipe takes what comes, where it is ours or root's, and a reader waits at it.
    """
    place = _followed(path)
    if place.exists() and not place.is_file():
        if why := distrust_entry(place):
            raise PermissionError(0, why)
        follow = 0 if place.is_symlink() else os.O_NOFOLLOW  # a descriptor of ours in /proc
        handle = os.open(place, os.O_WRONLY | follow | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(handle, True)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")


def _followed(path: Path) -> Path:
    """Where a path leads; a descriptor in /proc that has no path is one itself.

    Raises PermissionError for a link that another user made.
    """
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return path
        owner = path.lstat().st_uid
        if not _is_trusted(owner):
            raise PermissionError(0, f"it is a link that {_user_name(owner)} made")
        target = path.parent / path.readlink()
        if path.is_relative_to("/proc") and not target.exists():
            return path
        path = target
    raise OSError(0, "too many links")


def _umask() -> int:
    """What newly made files may not have; asking changes it for a moment."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def distrust(path: Path) -> str:
    """Why other users can change what is in a folder, or replace one on the way to it; empty where they cannot.

    Root is trusted, this user is, and under sudo the user who asked for it. A folder on the way may be one in which
    all users have entries, as /tmp, where the sticky bit keeps each from those of the others; so may be the folder
    itself, where the kernel follows no links of others in it. Raises OSError where it is not there.
    """
    way = [Path("/")]
    rest = list(path.absolute().parts[1:])
    links = 0
    while rest:
        name = rest.pop(0)
        if name == "..":
            way = way[:-1] or way
            continue
        here = way[-1] / name
        found = here.lstat()
        if why := _distrust(here, found):
            return f"{here} {why}"
        if not stat.S_ISLNK(found.st_mode):
            way.append(here)
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(0, "too many links")
        target = here.readlink()
        if target.is_absolute():
            way = way[:1]
        rest[:0] = target.parts[1:] if target.is_absolute() else target.parts
    if way[-1].stat().st_mode & stat.S_IWOTH and not _links_are_protected():
        return f"{way[-1]} can be written by all users"
    return ""


def distrust_entry(path: Path) -> str:
    """Why an entry of a folder is not ours; empty where it is, or there is none. Raises OSError."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return ""
    return "" if _is_trusted(found.st_uid) else f"{path} belongs to {_user_name(found.st_uid)}"


def _distrust(path: Path, found: os.stat_result) -> str:
    if not _is_trusted(found.st_uid):
        return f"belongs to {_user_name(found.st_uid)}"
    if stat.S_ISLNK(found.st_mode) or (found.st_uid == _ROOT and found.st_mode & stat.S_ISVTX):
        return ""
    if found.st_mode & stat.S_IWOTH:
        return "can be written by all users"
    if found.st_mode & stat.S_IWGRP and (not _is_private(found) or _has_list(path)):
        return "can be written by its group"
    return ""


def _is_trusted(user: int) -> bool:
    own = os.geteuid()
    return user in (_ROOT, own) or (own == _ROOT and os.environ.get("SUDO_UID") == str(user))


def _user_name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _is_private(found: os.stat_result) -> bool:
    """Whether the owner alone is in the group, as on systems where each user has a group of the same name."""
    try:
        group = grp.getgrgid(found.st_gid)
    except KeyError:
        return False
    owner = _user_name(found.st_uid)
    return group.gr_name == owner and all(name == owner for name in group.gr_mem)


def _has_list(path: Path) -> bool:
    """Whether it has an access control list, whose mask is shown where the group's rights would be."""
    try:
        return bool(os.getxattr(path, "system.posix_acl_access"))
    except OSError:
        return False


def _links_are_protected() -> bool:
    try:
        return _PROTECTED_LINKS.read_text().strip() == "1"
    except OSError:
        return False
