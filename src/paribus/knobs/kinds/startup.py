"""Lines that a person types to keep a value in force after the next start of the machine.

They append to files of Paribus's own, in the order in which they are typed: a knob that moves others comes first.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from paribus.model import WriteFile

_PRINT, _FORMAT = "printf", r"%s\n"
_FEWEST_WORDS = 5  # of such a line: with one line and the file
_QUEUE = re.compile(r"/sys/block/([^/]+)/(.+)")
_PARAMETER = re.compile(r"/sys/module/([^/]+)/parameters/([^/]+)")
_NUMBERED = re.compile(r"(?<=/policy)[0-9]+(?=/)")
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"


def appended(path: str, *lines: str) -> str:
    """The shell line that adds lines to a file."""
    return f"{_PRINT} '{_FORMAT}' {shlex.join(lines)} >> {path}"


def appended_lines(command: str) -> list[tuple[str, str]]:
    """The files and the lines that shell lines of `appended`, joined by &&, add to them; none for other text."""
    words, lines = shlex.split(command, comments=True) if command.startswith(_PRINT) else [], []
    for part in _split(words, "&&"):
        if part[:2] != [_PRINT, _FORMAT] or len(part) < _FEWEST_WORDS or part[-2] != ">>":
            return []
        lines += [(part[-1], line) for line in part[2:-2]]
    return lines


def _split(words: Sequence[str], separator: str) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == separator:
            yield part
            part = []
        else:
            part.append(word)
    if part:
        yield part


def sysctl(writes: Iterable[WriteFile]) -> str:
    """The line for files under /proc/sys."""
    lines = [f"{_sysctl_name(write.path)} = {write.text}" for write in writes]
    return appended("/etc/sysctl.d/90-paribus.conf", *lines)


def _sysctl_name(path: str) -> str:
    """`vm.swappiness`; with slashes where a part of the name contains a dot."""
    name = path.removeprefix("/proc/sys/")
    return name if "." in name else name.replace("/", ".")


def kernel_file(path: str, text: str) -> str:
    """The line for a file under /sys: a rule of udev for a disk, an option of a module, else a tmpfiles line."""
    if match := _QUEUE.fullmatch(path):
        disk, attribute = match.groups()
        rule = f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="{disk}", ATTR{{{attribute}}}="{text}"'
        note = 'where a disk may get another name, ENV{ID_SERIAL}=="…" (udevadm info) instead of KERNEL'
        return f"{appended('/etc/udev/rules.d/90-paribus.rules', rule)}  # {note}"
    if match := _PARAMETER.fullmatch(path):
        module, name = match.groups()
        return parameter(module, name, text)
    line = written_at_start([WriteFile(path, text)])
    if path == _HUGE_PAGES:
        line += f"  # or, from the first process on, transparent_hugepage={text} on the kernel's command line"
    return line


def parameter(module: str, name: str, value: str) -> str:
    """The line for a parameter of a kernel module."""
    line = appended("/etc/modprobe.d/90-paribus.conf", f"options {module} {name}={value}")
    initial = "then update-initramfs -u or dracut -f, where the initial RAM disk loads it"
    return f"{line}  # {initial}; built into the kernel: {module}.{name}={value} on its command line"


def written_at_start(writes: Iterable[WriteFile]) -> str:
    """The line for any files of the kernel; those of numbered processors' policies are one line."""
    lines = (f"w {_NUMBERED.sub('*', write.path)} - - - - {write.text.replace('%', '%%')}" for write in writes)
    return appended("/etc/tmpfiles.d/90-paribus.conf", *dict.fromkeys(lines))


def service(*lines: str) -> str:
    """The line for settings with which systemd starts a program."""
    return f"systemctl edit SERVICE  # below [Service]: {' '.join(lines)}; then: systemctl restart SERVICE"
