"""Builds a Debian package for each architecture from the wheels, with all libraries at their locked versions.

    python release/deb.py FOLDER PYTHON_VERSION…

The package is an environment of the system's Python below /usr/lib/paribus, for one version such as 3.11. So it needs
neither a package index nor the distribution's own libraries of Python.
"""

import gzip
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
HOME = Path("usr/lib/paribus")
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/paribus",
    "zsh": "usr/share/zsh/vendor-completions/_paribus",
    "fish": "usr/share/fish/vendor_completions.d/paribus.fish",
}
SCRIPT = "from typer.completion import get_completion_script as script; import sys; "
PRINT = "print(script(prog_name='paribus', complete_var='_PARIBUS_COMPLETE', shell=sys.argv[1]))"
AFTER_INSTALLATION = f"""\
#!/bin/sh
set -e
case "$1" in
    configure | abort-*) /{HOME}/bin/python3 -m compileall -q -j 0 /{HOME}/lib ;;
esac
"""
BEFORE_REMOVAL = f"""\
#!/bin/sh
set -e
find /{HOME}/lib -name __pycache__ -type d -prune -exec rm -rf {{}} +
"""


def install(wheel: Path, architecture: str, python: str, home: Path) -> Path:
    """Install the wheel and its libraries into an environment, and return the folder of the libraries."""
    libraries = home / f"lib/python{python}/site-packages"
    uv = [
        Path(sys.executable).with_name("uv"),
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        f"--target={libraries}",
        "--only-binary=:all:",
    ]
    uv += [f"--python-version={python}", f"--python-platform={architecture}-manylinux_2_28"]
    subprocess.run([*uv, "--require-hashes", f"--requirement={ROOT / 'release/libraries.txt'}"], check=True)
    shutil.rmtree(libraries / "bin")  # programs of the libraries, with this machine's path of Python
    subprocess.run([*uv, wheel], check=True)
    (libraries / "bin").rename(home / "bin")
    (home / "bin/python3").symlink_to("/usr/bin/python3")
    (home / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {python}\n")
    for folder in [*libraries.rglob("tests"), *libraries.rglob("__pycache__")]:
        shutil.rmtree(folder, ignore_errors=True)
    for trace in (".lock", "*.dist-info/uv_cache.json", "*.dist-info/direct_url.json"):
        for path in libraries.glob(trace):
            path.unlink()
    return libraries


def completions(libraries: Path) -> Iterator[tuple[str, str]]:
    """The path and the text of the completion of each shell."""
    for shell, path in COMPLETIONS.items():
        command = [sys.executable, "-c", SCRIPT + PRINT, shell]
        environment = os.environ | {"PYTHONPATH": str(libraries), "PYTHONDONTWRITEBYTECODE": "1"}
        yield path, subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file, compressed where its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())
    path.chmod(mode)


def control(version: str, architecture: str, python: str, size: int) -> str:
    """The description of the package; `size` in bytes."""
    major, minor = python.split(".")
    fields = {
        "Package": "paribus",
        "Version": version,
        "Architecture": architecture,
        "Maintainer": "The developers of Paribus <paribus@localhost>",
        "Section": "database",
        "Priority": "optional",
        "Installed-Size": str(size // 1024),
        "Depends": f"python3 (>= {python}~), python3 (<< {major}.{int(minor) + 1}~), libc6 (>= 2.28)",
        "Recommends": "openssh-client, smartmontools",
        "Suggests": "fio, sysbench",
        "Description": "performance laboratory for database servers and storage\n"
        + textwrap.indent(textwrap.fill(PROJECT["description"], 78), " "),
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def build(wheel: Path, architecture: str, python: str, root: Path, dist: Path) -> Path:
    """Build the package of one architecture; `root` is an empty folder."""
    version = f"{PROJECT['version']}+py{python}"
    libraries = install(wheel, architecture, python, root / HOME)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/paribus").symlink_to("../lib/paribus/bin/paribus")
    for path, text in completions(libraries):
        write(root / path, text)
    write(root / "usr/share/man/man1/paribus.1.gz", (ROOT / "docs/reference/paribus.1").read_text())
    write(root / "usr/share/doc/paribus/changelog.gz", (ROOT / "CHANGELOG.md").read_text())
    licence = f"The licences of the libraries are in /{HOME}/lib, in the folders *.dist-info.\n\n"
    write(root / "usr/share/doc/paribus/copyright", licence + (ROOT / "LICENSE").read_text())
    subprocess.run(["chmod", "-R", "u=rwX,go=rX", root], check=True)
    size = sum(path.lstat().st_size for path in root.rglob("*"))
    write(root / "DEBIAN/control", control(version, ARCHITECTURES[architecture], python, size))
    write(root / "DEBIAN/postinst", AFTER_INSTALLATION, 0o755)
    write(root / "DEBIAN/prerm", BEFORE_REMOVAL, 0o755)
    package = dist / f"paribus_{version}_{ARCHITECTURES[architecture]}.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", root, package], check=True, capture_output=True
    )
    print(f"{package}: {package.stat().st_size / 1e6:.0f} MB, installed {size / 1e6:.0f} MB, for Python {python}")
    return package


def main() -> None:
    """Build the packages of the wheels in a folder, and print their paths and sizes."""
    dist = Path(sys.argv[1]).absolute()
    for python, architecture in itertools.product(sys.argv[2:], ARCHITECTURES):
        [wheel] = dist.glob(f"paribus-{PROJECT['version']}-*_{architecture}.whl")
        with tempfile.TemporaryDirectory() as name:
            build(wheel, architecture, python, Path(name, "root"), dist)


main()
