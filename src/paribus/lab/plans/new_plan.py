"""New plans for this machine: answers to three questions as the text of a plan, and its file."""

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from paribus.databases.server.kind import installed_kinds
from paribus.errors import UsageError
from paribus.files import make_folder, write_whole
from paribus.hosts.local import LocalHost
from paribus.lab.plans.examples import example_files, shell_path
from paribus.lab.plans.short_plan import ShortPlan, parsed_short_plan, printed

FILES = "files"  # a load without a database
SERVERS = ("mariadb", "mysql", "percona", "postgres")
_OWN_TOOL = "own-tool"  # the example with a load by command
_EXAMPLE_PATH = re.compile(r'^path(\s*)= "\."', re.MULTILINE)
_BLOCK_DEVICES = Path("/sys/dev/block")
_DISK_LOAD = {"workload.0.total_size": "1GiB", "workload.0.mode": "rndrw"}


class Subject(StrEnum):
    """Subject of a new plan."""

    FILES = "files"
    MACHINE = "machine"
    DATABASE = "database"
    SQLITE = "sqlite"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Answers to the questions of `paribus init`; `database` is `files` for a load without a database."""

    subject: Subject
    database: str
    folder: str


def installed_servers() -> list[str]:
    """Return the kinds of database servers that are installed on this machine."""
    return list(installed_kinds(LocalHost(), SERVERS))


def default_folder(database: str) -> str:
    """Return a folder in which a load can make its data; a server's user must be able to pass it."""
    return "/var/tmp" if database in SERVERS else "."  # noqa: S108  data lies in a folder of its own below


def new_plan(answers: Answers, file: Path) -> dict[Path, str]:
    """Return the files of a plan for these answers. Raises UsageError and PlanError."""
    folder = answers.folder
    with contextlib.suppress(RuntimeError):  # there is no such user
        folder = str(Path(folder).expanduser())
    if answers.subject is Subject.TOOL:
        return {path: _with_folder(text, folder) for path, text in example_files(_OWN_TOOL, file).items()}
    name = shell_path(file)
    short_plan = ShortPlan(
        settings=[_setting(answers, folder)],
        workload="fileio" if answers.database == FILES else "oltp_read_write",
        database="" if answers.database == FILES else answers.database,
        threads="1,8",
        path=folder,
        margin="5%",
        budget="2h",
    )
    comments = {
        "": f"Made by paribus init. Edit it, then: paribus check {name}, and paribus run {name}",
        "name": "names the results: paribus report NAME",
        "factors": "each setting with its levels; the first is the baseline. All settings: paribus knobs list",
        "workload.kind": "all kinds and their keys: docs/reference/plan.md",
        "workload.total_size": "of the files; more than the memory if caches should not matter",
        "protocol.budget": "most machine time; comparisons that are decided end earlier",
        "workload.mode": "random reads and writes; seqrd, seqwr, rndrd and rndwr are others",
    }
    overrides = _DISK_LOAD if answers.database == FILES else {}
    return {file: printed(parsed_short_plan(short_plan, overrides, comments, name="init"))}


def refuse_existing(paths: Iterable[Path], *, force: bool) -> None:
    """Raise UsageError where one of these files exists, unless `force`."""
    existing = [path for path in paths if path.exists() or path.is_symlink()]
    if existing and not force:
        raise UsageError(f"{existing[0]} exists", "name another file, or add --force to replace it")


def write_plan(files: Mapping[Path, str], *, force: bool) -> None:
    """Write the files of a plan. Raises UsageError where one exists, unless `force`, or cannot be written."""
    refuse_existing(files, force=force)
    for path, text in files.items():
        try:
            make_folder(path.parent)
            write_whole(path, text)
        except OSError as error:
            raise UsageError(f"cannot write the plan {path}: {error.strerror}", "name another file") from error


def _with_folder(text: str, folder: str) -> str:
    """Return an example whose data is below this folder."""
    quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
    if not folder.isprintable():
        raise UsageError(f"the folder {folder!r} cannot be printed", "name another folder")
    return _EXAMPLE_PATH.sub(lambda match: f'path{match[1]}= "{quoted}"', text, count=1)


def _setting(answers: Answers, folder: str) -> str:
    """Return the setting of a plan with its levels."""
    match answers.subject:
        case Subject.MACHINE:
            return _disk_setting(folder)
        case Subject.DATABASE if answers.database == "postgres":
            return "postgres.synchronous_commit=on,off"
        case Subject.DATABASE:
            return "mysql.innodb_flush_log_at_trx_commit=1,2"
        case Subject.SQLITE:
            return "sqlite.journal_mode=delete,wal"
        case _:
            return "fileio.direct=false,true"


def _disk_setting(folder: str) -> str:
    """Return the I/O schedulers of the disk under a folder, the present one first; else the limit of dirty memory."""
    schedulers: list[str] = []
    with contextlib.suppress(OSError):
        number = Path(folder).stat().st_dev
        disk = (_BLOCK_DEVICES / f"{os.major(number)}:{os.minor(number)}").resolve()
        disk = disk.parent if (disk / "partition").exists() else disk
        schedulers = (disk / "queue" / "scheduler").read_text().split()
    present_first = sorted(schedulers, key=lambda name: not name.startswith("["))
    if len(present_first) > 1:
        return f"block.scheduler={','.join(name.strip('[]') for name in present_first[:3])}"
    return "vm.dirty_ratio=20,5"
