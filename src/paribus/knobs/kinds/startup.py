"""What makes a value last beyond the next start of a machine, as lines that a person types; nobody else does.

The lines add to files that are nobody else's, in the order in which they are typed: what moves others stands first.
"""

import re
import shlex
from collections.abc import Iterable

from paribus.model import WriteFile

_QUEUE = re.compile(r"/sys/block/([^/]+)/(.+)")
_PARAMETER = re.compile(r"/sys/module/([^/]+)/parameters/([^/]+)")
_NUMBERED = re.compile(r"(?<=/policy)[0-9]+(?=/)")
_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"


def appended(path: str, *lines: str) -> str:
    """The shell line that adds lines to a file."""
    return f"printf '%s\\n' {shlex.join(lines)} >> {path}"


def sysctl(writes: Iterable[WriteFile]) -> str:
    """For files under /proc/sys."""
    lines = [f"{_sysctl_name(one.path)} = {one.text}" for one in writes]
    return appended("/etc/sysctl.d/90-paribus.conf", *lines)


def _sysctl_name(path: str) -> str:
    """`vm.swappiness`; with slashes where a part of it has a dot of its own."""
    name = path.removeprefix("/proc/sys/")
    return name if "." in name else name.replace("/", ".")


def kernel_file(path: str, text: str) -> str:
    """For a file under /sys: a rule of udev for a disk, an option of a module, else a line of systemd's tmpfiles."""
    if found := _QUEUE.fullmatch(path):
        disk, attribute = found.groups()
        rule = f'ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="{disk}", ATTR{{{attribute}}}="{text}"'
        note = 'where a disk may get another name, ENV{ID_SERIAL}=="…" (udevadm info) instead of KERNEL'
        return f"{appended('/etc/udev/rules.d/90-paribus.rules', rule)}  # {note}"
    if found := _PARAMETER.fullmatch(path):
        module, name = found.groups()
        return parameter(module, name, text)
    line = written_at_start([WriteFile(path, text)])
    if path == _HUGE_PAGES:
        line += f"  # or, from the first process on, transparent_hugepage={text} on the kernel's command line"
    return line


def parameter(module: str, name: str, value: str) -> str:
    """For a parameter of a kernel module."""
    line = appended("/etc/modprobe.d/90-paribus.conf", f"options {module} {name}={value}")
    initial = "then update-initramfs -u or dracut -f, where the initial RAM disk loads it"
    return f"{line}  # {initial}; built into the kernel: {module}.{name}={value} on its command line"


def written_at_start(writes: Iterable[WriteFile]) -> str:
    """For any file of the kernel; those of numbered processors' policies are one line."""
    found = (f"w {_NUMBERED.sub('*', one.path)} - - - - {one.text.replace('%', '%%')}" for one in writes)
    return appended("/etc/tmpfiles.d/90-paribus.conf", *dict.fromkeys(found))


def service(*lines: str) -> str:
    """For what a program is started with, by systemd."""
    return f"systemctl edit SERVICE  # below [Service]: {' '.join(lines)}; then: systemctl restart SERVICE"
