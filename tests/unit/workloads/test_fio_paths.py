"""Paths that fio would write to, from its options and job files."""

import pytest

from paribus.workloads import fio_paths
from paribus.workloads.tool_paths import PathRefused

FOLDER = "/data/files"


def _of_options(**options: object) -> list[str]:
    return [one.path for one in fio_paths.option_paths(options, FOLDER)]


def _of_job_file(**texts: str) -> list[str]:
    """The paths of job.fio among these files of /jobs."""
    files = {f"/jobs/{name}.fio": text for name, text in texts.items()}
    return [one.path for one in fio_paths.job_file_paths("/jobs/job.fio", FOLDER, files.__getitem__)]


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ({"rw": "read", "direct": 1}, ["/data/files/paribus.0.0"]),
        ({"filename": "a:b"}, ["/data/files/a", "/data/files/b"]),
        ({"filename": r"a\:b"}, ["/data/files/a:b"]),
        ({"filename": "/dev/x"}, ["/data/files//dev/x", "/dev/x"]),
        ({"directory": "/a:/b", "filename": "f"}, ["/a/f", "/b/f"]),
        ({"directory": " /etc"}, ["/etc/paribus.0.0"]),
        ({"directory": "below"}, ["/data/files/below/paribus.0.0"]),
        ({"directory": "/dev", "filename_format": "loop1"}, ["/dev/loop1"]),
        ({"filename_format": "$jobname.$jobnum.$filenum"}, ["/data/files/0.0.0"]),
        ({"write_iolog": "/etc/x"}, ["/data/files/paribus.0.0", "/etc/x"]),
        ({"write_bw_log": "x"}, ["/data/files/paribus.0.0", "/data/files/x"]),
        ({"aux-path": "/a"}, ["/data/files/paribus.0.0", "/a"]),
        ({"mem": "mmap:/a/b"}, ["/data/files/paribus.0.0", "/a/b"]),
        ({"some_option": "/a/b"}, ["/data/files/paribus.0.0", "/a/b"]),
        ({"bssplit": "4k/60:64k/40"}, ["/data/files/paribus.0.0"]),
    ],
)
def test_options_name_paths(options: dict[str, object], paths: list[str]) -> None:
    assert _of_options(**options) == paths


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"exec_prerun": "rm x"}, "would run a command"),
        ({"exec_post": "rm x"}, "reads it as exec_postrun"),
        ({"trigger-rem": "rm x"}, "reads it as trigger_remote"),
        ({"outp": "/etc/x"}, "reads it as output"),
        ({"read_iolog": "a"}, "a trace names the files"),
        ({"ioengine": "external:/a.so"}, "would load a library"),
        ({"filename": "${HOME}/x"}, "expands the variable"),
        ({"filename_format": "$jobname.${X}"}, "expands the variable"),
        ({"directory": "/etc;/../data/files"}, "as a comment"),
        ({"directory": "$jobname"}, "expands the variable"),
        ({"cgroup": "mine"}, "changes a control group"),
        ({"ioscheduler": "none"}, "use the knob block.scheduler"),
        ({"ioengine": "exec", "program": "rm"}, "would run a command"),
        ({"program": "rm"}, "would run a command"),
        ({"ioengine": "${ENGINE}"}, "would load a library"),
        ({"filename_format": "loop$filenum", "directory": "/dev"}, "another device"),
    ],
)
def test_options_with_unknown_paths_are_refused_by_name(options: dict[str, object], words: str) -> None:
    with pytest.raises(PathRefused, match=words) as refused:
        _of_options(**options)
    assert next(iter(options)).replace("-", "_") in str(refused.value)
    assert refused.value.todo


def test_a_job_has_what_the_global_sections_before_it_say() -> None:
    text = "[global]\ndirectory=/a\n[one]\nfilename=f\n; filename=g\n[global]\ndirectory=/b\n[two]\nfilename=g\n"
    assert _of_job_file(job=text) == ["/a/f", "/a/g", "/b/g"]


def test_the_files_of_the_global_section_and_of_a_job_add_up() -> None:
    assert _of_job_file(job="[global]\nfilename=f\n[one]\nfilename=g\n") == ["/data/files/f", "/data/files/g"]


def test_included_files_are_read_from_the_folder_of_the_one_that_includes_them() -> None:
    assert _of_job_file(job="[global]\ninclude more.fio\n[one]\nfilename=f\n", more="directory=/a") == ["/a/f"]
    with pytest.raises(PathRefused, match="include each other"):
        _of_job_file(job="include job.fio\n")
    with pytest.raises(PathRefused, match="expands the variable"):
        _of_job_file(job="include ${HOME}/x\n")


@pytest.mark.parametrize("line", ["include more.fio", "include=more.fio", " include\tmore.fio ; why"])
def test_includes_are_found_as_fio_finds_them(line: str) -> None:
    assert _of_job_file(job=f"[one]\n{line}\n", more="directory=/a") == ["/a/one.0.0"]


def test_sections_and_comments_are_read_as_fio_reads_them() -> None:
    assert _of_job_file(job="[global2]\ndirectory=/a\n[one]\nsize=1\n") == ["/a/one.0.0"]
    assert _of_job_file(job="[one]\ndirectory=/etc ; /../data/files\n") == ["/etc/one.0.0"]
    assert _of_job_file(job="[one]\ndirectory=/etc # /../data/files\n") == ["/etc/one.0.0"]


def test_lines_end_where_fio_ends_them() -> None:
    text = "[one]\ndescription=x\x0b[global]\ndirectory=/etc\n"
    assert _of_job_file(job=text) == ["/etc/one.0.0"]
    with pytest.raises(PathRefused, match="splits a line"):
        _of_job_file(job=f"[one]\ndescription={'x' * 4096}directory=/etc\n")


def test_the_name_of_a_job_is_that_of_its_files() -> None:
    assert _of_job_file(job="[../../etc/x]\nrw=write\n") == ["/data/files/../../etc/x.0.0"]
    assert _of_job_file(job="[one]\nname=../x\n") == ["/data/files/one.0.0", "/data/files/../x"]
