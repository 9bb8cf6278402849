"""Debian with Python and without a compiler, of this architecture or another, as a folder."""

import subprocess
from pathlib import Path

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""The name that Debian gives to each."""

PLAN = """
name = "installed"
[target]
path = "/root"
[factors]
"fileio.block_size" = ["4KiB", "16KiB"]
[[workload]]
kind       = "fileio"
total_size = "1MiB"
threads    = [1]
[protocol]
trial  = "200ms"
settle = "10ms"
rounds = 2
sub_trials = 1
margin = "50%"
method = "fixed"
seed   = 1
"""
# Programs of ARM are given to QEMU: the header of an ELF file and the bits of it that count.
_MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
_EMULATE = (
    "mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc; "
    f"printf %s ':qemu-aarch64:M::{_MAGIC}:{_MASK}:/usr/bin/qemu-aarch64-static:F' "
    "> /proc/sys/fs/binfmt_misc/register; "
)
_ENTER = (
    'set -eu; root=$1; packages=$2; shift 2; mount --bind "$root" "$root"; cd "$root"; '
    'for each in proc sys dev; do mount --rbind "/$each" "$each"; done; '
    'mkdir -p packages; mount --bind "$packages" packages; exec chroot . "$@"'
)


class BareRoot:
    """A root folder, made once; its programs run in a mount namespace of their own, which takes QEMU with it."""

    def __init__(self, folder: Path, architecture: str, packages: Path) -> None:
        """`packages` is shown to it as /packages."""
        self._folder = folder
        self._packages = packages
        self._prefix = "" if architecture == "x86_64" else _EMULATE
        options = [
            "--variant=minbase",
            f"--architectures={ARCHITECTURES[architecture]}",
            "--include=python3,python3-venv",
        ]
        self._in_namespace('exec mmdebstrap --quiet "$@"', *options, "bookworm", str(folder))

    def run(self, *argv: str) -> str:
        """The output of a program in the root, with the root's own environment; it must end well."""
        clean = ("env", "-i", "HOME=/root", "LANG=C.UTF-8", "PATH=/usr/bin:/usr/sbin:/opt/paribus/bin")
        return self._in_namespace(_ENTER, str(self._folder), str(self._packages), *clean, *argv)

    def write(self, path: str, text: str) -> None:
        """Write a file of the root."""
        (self._folder / path.lstrip("/")).write_text(text)

    def run_an_experiment(self) -> None:
        """Carry out a plan, and read the report with its charts."""
        self.write("/root/plan.toml", PLAN)
        assert "fileio.block_size" in self.run("paribus", "run", "/root/plan.toml")
        report = self.run("sh", "-c", "cat /var/lib/paribus/reports/*.html")
        assert report.count("<svg") > 1

    def has(self, *programs: str) -> set[str]:
        """The programs among these that the root has."""
        places = [self._folder / folder for folder in ("usr/bin", "usr/local/bin", "root/.cargo/bin")]
        return {program for program in programs if any((place / program).exists() for place in places)}

    def _in_namespace(self, script: str, *argv: str) -> str:
        command = ["unshare", "--mount", "bash", "-c", f"{self._prefix}{script}", "bash", *argv]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout
