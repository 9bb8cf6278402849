"""Atomic writes of files on this machine, safe against links and folders of other users; bounded reads.

The engine applies the same rule to data folders on a target (`engine/src/folder`).
"""

import contextlib
import grp
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from paribus.units import show_size

_MOST_LINKS = 40
_ROOT = 0
_PROTECTED_LINKS = Path("/proc/sys/fs/protected_symlinks")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` when the context ends without an error. Raises OSError.

    A link is followed if its owner is trusted, and never opened for writing.
    """
    target_path = _followed(path)
    handle, name = tempfile.mkstemp(prefix=f".{target_path.name[:80]}.", dir=target_path.parent)
    temporary = Path(name)
    try:
        os.fchmod(handle, stat.S_IMODE(target_path.stat().st_mode) if target_path.exists() else 0o666 & ~_umask())
        os.close(handle)
        yield temporary
        temporary.replace(target_path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_text(path: Path, most_bytes: int) -> str:
    """Return the text of a regular file of UTF-8, up to a size. Raises OSError, whose `strerror` is the cause."""
    # A pipe that nobody writes to must not be waited for, and a device has no end.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is no regular file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(0, f"it is larger than {show_size(most_bytes)}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OSError(0, "it is not UTF-8 text") from error


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: a reader finds the whole new text or the old one. Raises OSError.

    A device or a pipe is written directly if it belongs to this user or root.
    """
    target_path = _followed(path)
    if target_path.exists() and not target_path.is_file():
        if reason := distrust_entry(target_path):
            raise PermissionError(0, reason)
        link_flag = 0 if target_path.is_symlink() else os.O_NOFOLLOW  # a descriptor of ours in /proc
        handle = os.open(target_path, os.O_WRONLY | link_flag | os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(handle, True)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def make_folder(folder: Path) -> None:
    """Create a folder and those above it, where they are missing.

    Raises PermissionError where another user could replace one of them.
    """
    existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    _refuse_replaceable(existing)
    folder.mkdir(parents=True, exist_ok=True)
    _refuse_replaceable(folder)  # a link may have taken its name meanwhile


def _refuse_replaceable(folder: Path) -> None:
    """Raise PermissionError if another user could replace the folder, or entries of this user in it."""
    if reason := replaceable(folder):
        raise PermissionError(0, reason)


def _followed(path: Path) -> Path:
    """The path after following links; a descriptor in /proc without a path is returned as it is.

    Raises PermissionError for a link that another user made, and a folder that another user could replace.
    """
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            _refuse_replaceable(path.parent)
            return path
        owner = path.lstat().st_uid
        if not _is_trusted(owner):
            raise PermissionError(0, f"it is a link that {user_name(owner)} made")
        target = path.parent / path.readlink()
        if path.is_relative_to("/proc") and not target.exists():
            return path
        path = target
    raise OSError(0, "too many links")


def _umask() -> int:
    """The umask of the process; reading it changes it for a moment."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def distrust(path: Path) -> str:
    """Reason why other users can change the contents of a folder, or replace a folder on its path; empty if none.

    Trusted are root, this user, and under sudo the user who called it. A folder on the path may be writable by all
    users, as /tmp, if its sticky bit protects the entries of each. So may the folder itself, if the kernel protects
    links in it. Raises OSError if it does not exist.
    """
    folder, reason = _walk(path)
    if not reason and folder.stat().st_mode & stat.S_IWOTH and not _links_are_protected():
        return f"{folder} can be written by all users"
    return reason


def replaceable(path: Path) -> str:
    """Reason why other users can replace a folder or entries of this user in it; empty if none. Raises OSError."""
    return _walk(path)[1]


def _walk(path: Path) -> tuple[Path, str]:
    """The folder at the end of a path, and the reason why other users can replace a folder on it; empty if none."""
    folders = [Path("/")]
    remaining = list(path.absolute().parts[1:])
    links = 0
    while remaining:
        name = remaining.pop(0)
        if name == "..":
            folders = folders[:-1] or folders
            continue
        entry = folders[-1] / name
        status = entry.lstat()
        if reason := _distrust(entry, status):
            return entry, f"{entry} {reason}"
        if not stat.S_ISLNK(status.st_mode):
            folders.append(entry)
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(0, "too many links")
        target = entry.readlink()
        if target.is_absolute():
            folders = folders[:1]
        remaining[:0] = target.parts[1:] if target.is_absolute() else target.parts
    return folders[-1], ""


def distrust_entry(path: Path) -> str:
    """Reason why an entry of a folder is not trusted; empty if it is, or does not exist. Raises OSError."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return ""
    return "" if _is_trusted(status.st_uid) else f"{path} belongs to {user_name(status.st_uid)}"


def _distrust(path: Path, status: os.stat_result) -> str:
    if not _is_trusted(status.st_uid):
        return f"belongs to {user_name(status.st_uid)}"
    if stat.S_ISLNK(status.st_mode) or (status.st_uid == _ROOT and status.st_mode & stat.S_ISVTX):
        return ""
    if status.st_mode & stat.S_IWOTH:
        return "can be written by all users"
    if status.st_mode & stat.S_IWGRP and (not _is_private(status) or _has_list(path)):
        return "can be written by its group"
    return ""


def _is_trusted(user: int) -> bool:
    effective_user = os.geteuid()
    return user in (_ROOT, effective_user) or (effective_user == _ROOT and os.environ.get("SUDO_UID") == str(user))


def user_name(user: int) -> str:
    """The name of a user, or "user 1234" where the machine has no name for this number, as in a container."""
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _is_private(status: os.stat_result) -> bool:
    """Whether the group has no member but the owner, as on systems with a private group for each user."""
    try:
        group = grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    owner = user_name(status.st_uid)
    return group.gr_name == owner and all(name == owner for name in group.gr_mem)


def _has_list(path: Path) -> bool:
    """Whether it has an access control list, whose mask then stands in place of the group's rights."""
    try:
        return bool(os.getxattr(path, "system.posix_acl_access"))
    except OSError:
        return False


def _links_are_protected() -> bool:
    try:
        return _PROTECTED_LINKS.read_text().strip() == "1"
    except OSError:
        return False
