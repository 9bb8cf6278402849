"""Rules are proposed for runs without factors: groups for what differs between their paths."""

import io
import tomllib
from collections.abc import Sequence
from pathlib import Path

import logs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from paribus.cli.texts.importing import show
from paribus.imports.proposal import UnplacedFile, proposed_rules
from paribus.imports.rules import Rules, place
from paribus.lab.store import importing
from paribus.parsers.log import LogRun


def _files(paths: Sequence[str], loads: Sequence[int | None] = (), workloads: Sequence[str] = ()) -> list[UnplacedFile]:
    n = len(paths)
    states = zip(paths, workloads or ["oltp"] * n, loads or [None] * n, strict=True)
    return [UnplacedFile(path, (workload,), (load,)) for path, workload, load in states]


def _rules(text: str) -> Rules:
    return Rules.model_validate(tomllib.loads(text))


def _patterns(files: Sequence[UnplacedFile]) -> list[str]:
    return [rule.path.pattern for rule in _rules(proposed_rules(files)).rule]


@pytest.mark.parametrize(
    ("paths", "patterns"),
    [
        (["logs/noop.log", "logs/cfq.log"], [r"logs/(?P<variant>cfq|noop)\.log$"]),
        (["noop1.log", "noop2.log", "cfq1.log"], [r"(?:^|/)(?P<variant>cfq|noop)(?P<repetition>\d+)\.log$"]),
        (["x/base.txt", "x/io-2000.txt"], [r"x/(?P<variant>base|io-2000)\.txt$"]),
        (["x/8GB/1.txt", "x/16GB/1.txt", "x/8GB/2.txt"], [r"x/(?P<size>16GB|8GB)/(?P<repetition>\d+)\.txt$"]),
        (
            ["x/my-8.0.36-threads-16.log", "x/my-8.4.0-threads-32.log", "x/my-8.4.0-threads-16.log"],
            [r"x/my-(?P<my>[\d.]+)-threads-(?P<load>\d+)\.log$"],
        ),
        (
            ["r/10.3.10/a_4th.txt", "r/8.4-beta/a_4th.txt", "r/8.4-beta/a_8th.txt"],
            [r"r/(?P<version>10\.3\.10|8\.4-beta)/a_(?P<load>\d+)th\.txt$"],
        ),
        (
            ["x/res_iops2000.txt", "x/res_iops3000.txt", "x/res_sz500.txt", "x/res_sz900.txt"],
            [r"x/res_iops(?P<iops>\d+)\.txt$", r"x/res_sz(?P<sz>\d+)\.txt$"],
        ),
        (["x/buf512M.log", "x/buf1G.log", "x/buf2G.log"], [r"x/buf(?P<buf>1G|2G|512M)\.log$"]),
        (["x/1_noop.log", "x/2_cfq.log"], [r"x/\d+_(?P<variant>cfq|noop)\.log$"]),
        (
            ["x/run1-8.0-a.log", "x/run2-8.4-a.log", "x/run1-8.0-b.log", "x/run2-8.4-b.log"],
            [r"x/run(?P<repetition>\d+)-(?P<variant>[\d.]+)-(?P<variant2>a|b)\.log$"],
        ),
        (
            ["x/a_run1.1.log", "x/a_run1.2.log", "x/b_run1.1.log"],
            [r"x/(?P<variant>a|b)_run(?P<run>[\d.]+)\.log$"],
        ),
        (["x/①_noop.log", "x/①_cfq.log"], [r"x/①_(?P<variant>cfq|noop)\.log$"]),
        (["rows10000000_a", "rows10000000_b", "rows20000000_a"], [r"(?:^|/)rows(?P<rows>\d+)_(?P<variant>a|b)$"]),
        (
            ["x/c5.large_10182021_0722_a.zip/t.log", "x/c5.2xlarge_10182021_1208_a.zip/t.log"],
            [r"x/c5\.(?P<variant>2xlarge|large)_[\d:T_.-]+_a\.zip/t\.log$"],
        ),
        (["x/a_1_nodes.log", "x/a_2_nodes.log", "x/b_1_nodes.log"], [r"x/(?P<variant>a|b)_(?P<nodes>\d+)_nodes\.log$"]),
        (["x/a-16t.log", "x/a-8t.log", "x/b-8t.log"], [r"x/(?P<variant>a|b)-(?P<load>\d+)t\.log$"]),
        (
            ["x/rows_1000000000_run1.log", "x/rows_1500000000_run1.log", "x/rows_1500000000_run2.log"],
            [r"x/rows_(?P<rows>\d+)_run(?P<repetition>\d+)\.log$"],
        ),
        (
            ["res/hdd/run1.log", "res/ssd/run1.log", "res/old/res/hdd/run1.log", "res/old/res/ssd/run1.log"],
            [r"^res/(?P<variant>hdd|ssd)/run1\.log$", r"^res/old/res/(?P<variant>hdd|ssd)/run1\.log$"],
        ),
        (
            ["x/rw-r1000-run1.log", "x/rw-r1000-run2.log", "x/rw-r2000-run1.log"],
            [r"x/rw-r(?P<r>\d+)-run(?P<repetition>\d+)\.log$"],
        ),
        (
            ["x/a_r1_run1.log", "x/a_r2_run1.log", "x/a_r2_run2.log"],
            [r"x/a_r(?P<repetition>\d+)_run(?P<run>\d+)\.log$"],
        ),
        (["x/oltp_r1.log", "x/oltp_r3.log"], [r"x/oltp_r(?P<r>\d+)\.log$"]),
        (["x/data_512G.log", "x/data_1T.log"], [r"x/data_(?P<data>1T|512G)\.log$"]),
        (
            ["x/1_nodes_2_shards.log", "x/3_nodes_2_shards.log", "x/3_nodes_4_shards.log"],
            [r"x/(?P<nodes>\d+)_nodes_(?P<shards>\d+)_shards\.log$"],
        ),
        (
            ["x/测试 8线程_1次.log", "x/测试 16线程_1次.log", "x/测试 16线程_2次.log"],
            [r"x/测试 (?P<load>\d+)线程_(?P<次>\d+)次\.log$"],
        ),
        (["x/a_load_500.txt", "x/a_load_600.txt"], [r"x/a_load_(?P<load_>\d+)\.txt$"]),
        (["x/my's-[30].txt", "x/my's-[40].txt"], [r"x/my.s-\[(?P<variant>\d+)\]\.txt$"]),
    ],
)
def test_parts_that_differ_become_groups(paths: Sequence[str], patterns: Sequence[str]) -> None:
    assert _patterns(_files(paths)) == patterns


@pytest.mark.parametrize(
    "paths",
    [
        ["x/a.log"],
        ["x/run1/a.log", "x/run2/a.log"],
        ["x/2024-01-02_a.log", "x/2024-01-03_a.log"],
        ["x/20180101_1200/a.log", "x/20180102_1300/a.log"],
        ["a/x.log", "b/c/y.txt"],
    ],
)
def test_repetitions_and_dates_are_no_factors(paths: Sequence[str]) -> None:
    assert proposed_rules(_files(paths)) == ""


@pytest.mark.parametrize(
    "names", [("mysql80_{}.log", "maria118_{}.log"), ("innodb_sched_{}.log", "my-rocks_sched_{}.log")]
)
def test_rules_with_the_same_groups_get_the_other_words_as_a_level(names: tuple[str, str]) -> None:
    files = _files([f"x/{name.format(level)}" for name in names for level in ("cfq", "noop")])
    labels = [rule.labels for rule in _rules(proposed_rules(files)).rule]
    assert labels == [{"file": name.format("*")} for name in names]


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (
            [f"res/{old}{disk}/run{n}.log" for old in ("", "old/res/") for disk in ("hdd", "ssd") for n in (1, 2)],
            [{"file": "*/run*.log"}, {"file": "old/res/*/run*.log"}],
        ),
        (
            [f"x/2024-01-{day}/run{n}.log" for day in ("01-base", "02-new-cfg") for n in (1, 2)],
            [{"folder": "2024-01-01-base"}, {"folder": "2024-01-02-new-cfg"}],
        ),
    ],
)
def test_folders_that_rules_do_not_share_are_levels(paths: list[str], labels: list[dict[str, str]]) -> None:
    assert [rule.labels for rule in _rules(proposed_rules(_files(paths))).rule] == labels


def test_files_without_a_rule_are_counted() -> None:
    text = proposed_rules(_files(["x/a_1.log", "x/b_1.log", "x/summary-of-all.txt"]))
    assert text.endswith("\n\n# files without a rule: 1\n")


def test_printed_rules_import_the_files_with_factors(tmp_path: Path) -> None:
    for scheduler, tps in {"noop": 100.0, "cfq": 90.0}.items():
        (tmp_path / f"{scheduler}_run1.log").write_text(logs.sysbench(tps))
    out, rules = io.StringIO(), tmp_path / "rules.toml"
    show(_imported(tmp_path, None), Console(file=out, width=60))
    text = out.getvalue()
    assert "import with --map rules.toml --name set" in text
    rules.write_text("".join(line for line in text.splitlines(keepends=True) if line.startswith(("[[rule", "path"))))
    document = _imported(tmp_path, rules)
    assert document.factors == {"variant": ["cfq", "noop"]}
    assert document.proposed_rules == ""


def _imported(folder: Path, rules: Path | None) -> importing.ImportDocument:
    files = [str(path) for path in sorted(folder.glob("*.log"))]
    request = importing.import_request(files, "", "", rules, name="set", baseline="", file_format="")
    return importing.import_files(request, None, dry_run=True)


def test_a_load_that_the_runs_state_is_not_replaced() -> None:
    paths = ["x/noop_client1.log", "x/noop_client2.log", "x/cfq_client1.log"]
    assert _patterns(_files(paths, loads=[64] * 3)) == [r"x/(?P<variant>cfq|noop)_client(?P<client>\d+)\.log$"]


def test_parts_that_repeat_what_the_runs_state_are_no_factors() -> None:
    paths = ["x/noop_8.log", "x/noop_16.log", "x/cfq_8.log", "x/cfq_16.log"]
    assert _patterns(_files(paths, loads=[8, 16, 8, 16])) == [r"x/(?P<variant>cfq|noop)_\d+\.log$"]
    paths = ["x/ro.log", "x/rw.log"]
    assert proposed_rules(_files(paths, workloads=["oltp_read_only", "oltp_read_write"])) == ""


def test_files_of_one_form_in_several_folders_get_the_folder_as_a_level() -> None:
    files = _files([f"set/{folder}io_{n}.txt" for folder in ("", "innodb/") for n in (2000, 3000)])
    rules = _rules(proposed_rules(files)).rule
    run = LogRun(tool="sysbench", workload="oltp", load=8, lines=(1, 9))
    placed = [place(run, file.path, rules, {}).labels for file in files]
    assert placed == [{"folder": folder, "io": io} for folder in ("set", "innodb") for io in ("2000", "3000")]


_NAMES = st.text(st.sampled_from("ab1290.-_ '{}[]()|\\^$é调①\x7f"), min_size=1, max_size=12).filter(
    lambda name: name[-1] != "."
)


@given(st.lists(st.lists(_NAMES, min_size=1, max_size=3).map("/".join), min_size=2, max_size=8, unique=True))
def test_rules_of_any_names_can_be_read_and_match_two_files_each(paths: Sequence[str]) -> None:
    for rule in _rules(proposed_rules(_files(paths))).rule:
        assert sum(rule.path.search(path) is not None for path in paths) > 1
