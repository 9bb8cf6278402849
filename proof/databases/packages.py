"""A real MySQL server beside Debian's MariaDB: fetched by apt into a folder of its own, and run where it lies.

Debian has MySQL in sid alone. apt is given folders of its own, so nothing of the system changes, and Debian's entry of
the machine's sources with its suite replaced. The server is run by the dynamic linker it came with.
"""

import os
import shlex
import subprocess
from pathlib import Path

PACKAGE = "mysql-server-core"
_CONF = """
Dir::State "{folder}/state";
Dir::State::status "/dev/null"; // nothing is installed, so that the libraries come too
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sid.list";
Dir::Etc::sourceparts "{folder}/none";
Dir::Etc::preferencesparts "{folder}/none";
"""


class NotToBeHad(Exception):
    """The package cannot be fetched, for this reason."""


def fetch(folder: Path) -> Path:
    """Fetch and unpack the server and all it needs into `folder`; what runs it. Raises NotToBeHad."""
    archive, keys = _source_of_debian()
    for name in ("state/lists/partial", "cache/archives/partial", "none", "root"):
        (folder / name).mkdir(parents=True)
    signed = f"[signed-by={keys}] " if keys else ""
    (folder / "sid.list").write_text(f"deb {signed}{archive} sid main\n")
    (folder / "apt.conf").write_text(_CONF.format(folder=folder))
    environment = os.environ | {"APT_CONFIG": str(folder / "apt.conf")}
    _run(["apt-get", "--quiet", "update"], environment)
    download = ["apt-get", "--quiet", "--yes", "--download-only", "--no-install-recommends", "install", PACKAGE]
    _run(download, environment)
    for package in sorted((folder / "cache/archives").glob("*.deb")):
        _run(["dpkg", "--extract", str(package), str(folder / "root")], environment)
    return _wrapped(folder / "root/usr")


def _source_of_debian() -> tuple[str, str]:
    """Return this machine's archive of Debian's packages, and the keys that sign it."""
    rows = _run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)|$(RELEASE)|$(SIGNED_BY)|", "Created-By: Packages"],
        dict(os.environ),
    )
    for row in rows.splitlines():
        archive, release, keys, _ = row.split("|", 3)
        if "-" not in release and archive.rstrip("/").endswith("/debian"):
            return archive, "" if keys.startswith("$") else keys
    raise NotToBeHad("apt has no source of Debian's packages (apt-get indextargets): this proof needs Debian")


def _wrapped(base: Path) -> Path:
    """A program beside the server that runs it with the libraries it came with; found beside `share`, so that the
    server gets its own messages and characters."""
    linkers = sorted(base.glob("lib*/**/ld-linux*.so.*"))
    server = base / "sbin/mysqld"
    if not linkers or not server.exists():
        raise NotToBeHad(f"{PACKAGE} has no {server} or no dynamic linker came with it")
    libraries = sorted({str(found.parent) for found in base.glob("lib/**/*.so*")})
    argv = shlex.join([str(linkers[0]), "--library-path", ":".join(libraries), str(server)])
    program = base / "sbin/mysqld-as-it-came"
    program.write_text(f'#!/bin/sh\nexec {argv} "$@"\n')
    program.chmod(0o755)
    return program


def _run(argv: list[str], environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotToBeHad(f"this machine has no {argv[0]}: this proof needs Debian") from error
    if done.returncode != 0:
        raise NotToBeHad(f"{shlex.join(argv)}: {(done.stderr or done.stdout).strip()[-800:]}")
    return done.stdout
