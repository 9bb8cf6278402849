"""Paths to which fio writes according to its options and job files.

Input: options of a plan or the text of a job file. Output: each path with the option that names it, or PathRefused for
an option whose paths cannot be known. fio joins `directory` and `filename`, also an absolute one, and merges the
`filename` of [global] with that of a job. Called by the kind `fio`.
"""

import itertools
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from paribus.workloads.tool_paths import PathRefused, Read, WrittenPath

Options = list[tuple[str, str]]  # options in order

_COMMANDS = ("exec_prerun", "exec_postrun", "trigger", "trigger_remote", "program", "arguments")
_UNKNOWN = {
    "read_iolog": "a trace names the files and devices itself",
    "merge_blktrace_file": "a trace names the files and devices itself",
    "profile": "a profile names the files and devices itself",
    "remote_config": "its file is not read here",
    "client": "the load would be made elsewhere",
    "server": "a server takes jobs from others",
    "daemonize": "a daemon outlives the trial",
    "cgroup": "it changes a control group outside the journal; use the process.* and cgroup.* knobs",
    "ioscheduler": "it changes a setting outside the journal; use the knob block.scheduler",
    "output": "Paribus reads what fio prints",
}
_BELOW_DIRECTORY = ("filename", "filename_format")
_OWN_PATH = ("replay_redirect", "opendir", "lockfile", "write_iolog", "aux_path", "bandwidth_log", "inflate_log")
_LOGS = ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log")
_SENSITIVE = (*_COMMANDS, *_UNKNOWN, *_BELOW_DIRECTORY, *_OWN_PATH, *_LOGS, "directory", "ioengine", "mem", "iomem")
_NO_PATHS_DESPITE_SLASHES = (
    "description", "bssplit", "cmdprio_bssplit", "random_distribution", "percentile_list", "verify_pattern",
    "buffer_pattern",
)  # fmt: skip
_FULL_NAMES = ("direct",)  # though one of the above starts so
_NAME_VARIABLES = re.compile(r"\$(jobname|jobnum|filenum|clientuid)")
_COMMENT = re.compile("[;#]")
_LONGEST_LINE_BYTES = 4000
_MOST_INCLUDES = 16


def option_paths(command_options: Mapping[str, object], directory: str) -> Iterator[WrittenPath]:
    """Paths of options on a command line, where fio also accepts abbreviated names."""
    options = [(name.replace("-", "_"), str(value).strip()) for name, value in command_options.items()]
    for name, value in options:
        full_names = [full_name for full_name in _SENSITIVE if full_name.startswith(name) and full_name != name]
        if full_names and name not in (*_SENSITIVE, *_FULL_NAMES):
            raise PathRefused(name, value, f"fio reads it as {full_names[0]}", f"write the full name, {full_names[0]}")
    return _job_paths("paribus", options, directory)


def job_file_paths(path: str, directory: str, read: Read) -> Iterator[WrittenPath]:
    """Paths of all jobs of a job file and of the files that it includes."""
    common: Options = []
    jobs: list[tuple[str, Options]] = []
    current = common
    for line in _lines(path, read, 0):
        if line.startswith("["):
            name = line[1:].rpartition("]")[0]
            if name.startswith("global"):  # as fio compares it
                current = common
            else:
                current = list(common)
                jobs.append((name, current))
            continue
        name, _, value = line.partition("=")
        current.append((name.strip(), value.strip()))
    for name, options in jobs or [("paribus", common)]:
        yield from _job_paths(name, options, directory)


def _lines(path: str, read: Read, depth: int) -> Iterator[str]:
    """Lines with content, with the lines of included files in place."""
    if depth == _MOST_INCLUDES:
        raise PathRefused(
            "include", path, f"files include each other more than {_MOST_INCLUDES} times", "include fewer files"
        )
    for text in read(path).split("\n"):
        if len(text.encode()) > _LONGEST_LINE_BYTES:
            raise PathRefused("job", path, "fio splits a line of this length", "write shorter lines")
        line = _COMMENT.split(text, maxsplit=1)[0].strip()
        if line.startswith("include"):  # the next character may be any
            included_path = line[8:].strip()
            _refuse_unclear("include", included_path)
            yield from _lines(posixpath.join(posixpath.dirname(path), included_path), read, depth + 1)
        elif line:
            yield line


def _job_paths(job: str, options: Sequence[tuple[str, str]], default_directory: str) -> Iterator[WrittenPath]:
    for name, value in options:
        _refuse(name, value)
    directories = [(name, part) for name, value in options if name == "directory" for part in _parts(name, value)]
    directories = directories or [("directory", default_directory)]
    files = [(name, part) for name, value in options if name == "filename" for part in _parts(name, value)]
    files += [(name, value) for name, value in options if name == "filename_format"]
    files = files or [("name", f"{job}.0.0")]
    for (_, directory), (option, value) in itertools.product(directories, files):
        option_and_value = ("directory", directory) if option == "name" else (option, value)
        file = _NAME_VARIABLES.sub("0", value) if option == "filename_format" else value
        _refuse_unclear(option, file)
        paths = [_resolved(default_directory, f"{directory}/{file}"), *([file] if file.startswith("/") else [])]
        if file != value and any(posixpath.normpath(path).startswith("/dev/") for path in paths):
            raise PathRefused(*option_and_value, "each file would be another device", "name the devices with filename")
        yield from (WrittenPath(*option_and_value, path) for path in paths)
    for name, value in options:
        if name in _NO_PATHS_DESPITE_SLASHES or name in _BELOW_DIRECTORY or name == "directory":
            continue
        path = value.partition(":")[2] if name in ("mem", "iomem") else value
        if name in (*_OWN_PATH, *_LOGS) or "/" in path:
            _refuse_unclear(name, path)
            yield WrittenPath(name, value, _resolved(default_directory, path))


def _refuse(name: str, value: str) -> None:
    """Raise PathRefused for an option whose paths cannot be known."""
    if name in _COMMANDS:
        raise PathRefused(name, value, "fio would run a command", "remove it, or use a workload of kind command")
    if name in _UNKNOWN:
        raise PathRefused(name, value, _UNKNOWN[name], "remove it")
    if name == "ioengine" and value.startswith("exec"):
        raise PathRefused(name, value, "fio would run a command", "use a workload of kind command")
    if name == "ioengine" and ("/" in value or "$" in value or value.startswith("external")):
        raise PathRefused(name, value, "fio would load a library", "name an engine that is built into fio")


def _refuse_unclear(name: str, value: str) -> None:
    """Raise PathRefused for a path that fio would change."""
    if "$" in value:
        raise PathRefused(name, value, "fio expands the variable itself", "write the path without it")
    if _COMMENT.search(value):
        raise PathRefused(name, value, "fio reads text after ; or # as a comment", "write a path without them")


def _parts(name: str, value: str) -> list[str]:
    """The paths of a list separated by colons; `\\:` is a literal colon."""
    _refuse_unclear(name, value)
    return [part.replace("\\:", ":") for part in re.split(r"(?<!\\):", value)]


def _resolved(directory: str, path: str) -> str:
    """The path relative to the directory in which fio runs."""
    return posixpath.join(directory, path)
