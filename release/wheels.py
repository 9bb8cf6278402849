"""Builds a wheel for each architecture; each has the engines of all, so that its targets can be of any of them.

    python release/wheels.py FOLDER

The engines are linked statically with musl: they run on every Linux of their architecture. zig compiles the C parts and
links, for the architecture of this machine as for others.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURES = ("x86_64", "aarch64")
# The engine needs no C library. Python's own packages decide which systems they support.
PLATFORMS = "manylinux_2_17_{0}.musllinux_1_1_{0}"
ENGINE = "paribus-engine"
OTHERS = "paribus/engine/other_machines"


def run(*argv: str | Path) -> None:
    """Run a program in the repository; the programs of this Python's environment are found first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(argv, cwd=ROOT, env=os.environ | {"PATH": path}, check=True)


def unpacked(architecture: str, folder: Path) -> Path:
    """The content of a new wheel with its own engine, as a folder."""
    target = f"{architecture}-unknown-linux-musl"
    if shutil.which("rustup"):
        run("rustup", "--quiet", "target", "add", target)
    run("maturin", "build", "--quiet", "--release", "--zig", "--target", target, "--out", folder)
    [wheel] = folder.glob("*.whl")
    run(sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel)
    wheel.unlink()
    [content] = folder.iterdir()
    return content


def engine(content: Path) -> Path:
    """The engine in the content of a wheel."""
    [path] = content.glob(f"*.data/scripts/{ENGINE}")
    return path


def main() -> None:
    """Build all wheels into a folder, and print their paths and sizes."""
    dist = Path(sys.argv[1]).absolute()
    dist.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contents = {each: unpacked(each, folder / each) for each in ARCHITECTURES}
        engines = {each: engine(content).read_bytes() for each, content in contents.items()}
        for architecture, content in contents.items():
            others = content / OTHERS
            others.mkdir()
            for other in set(ARCHITECTURES) - {architecture}:
                (others / f"{ENGINE}-{other}").write_bytes(engines[other])
            packed = folder / f"{architecture}-packed"
            packed.mkdir()
            run(sys.executable, "-m", "wheel", "pack", "--dest-dir", packed, content)
            [wheel] = packed.iterdir()
            platforms = PLATFORMS.format(architecture)
            run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platforms, wheel)
            [wheel] = packed.iterdir()
            shutil.copy(wheel, dist)
            print(f"{dist / wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")


main()
