"""Plans and what is wrong with them."""

import pytest
from plan_samples import FILEIO, OFFERS, checked, facts, offer, parsed, simple

from paribus.errors import PlanError
from paribus.model import OpenLoop, Refusal, Workload

TEN_MISTAKES = """
nmae = "typing"
name = "ten"

[target]
device = "/dev/nothing"

[factors]
"block.sheduler"      = ["none", "bfq"]
"block.scheduler"     = ["noop", "none"]
"vm.dirty_ratio"      = [20, 40]
"vm.dirty_bytes"      = ["64MiB", "1GiB"]
"vm.swappiness"       = [60, 300]
"fileio.direct"       = [true, "yes"]

[[workload]]
kind       = "fileio"
block_size = "16KX"
threads    = [8, 0]

[protocol]
trial = "60q"
"""


def _problems(text: str, **changed: object) -> str:
    with pytest.raises(PlanError) as caught:
        checked(text, **changed)
    return str(caught.value)


def test_ten_mistakes_are_told_in_one_go() -> None:
    told = _problems(TEN_MISTAKES, device=None, device_refusal=Refusal("/dev/nothing is not a block device of local"))
    assert "10 problems" in told
    for line, word in [
        (2, "did you mean 'name'?"),
        (6, "/dev/nothing is not a block device"),
        (9, "did you mean 'block.scheduler'?"),
        (10, "its present name is 'none'; it offers none, mq-deadline, bfq"),
        (12, "vm.dirty is a factor already"),
        (13, "300 is above 200"),
        (14, "'yes'"),
        (18, "unknown unit 'KX'"),
        (19, "greater than or equal to 1"),
        (22, "unknown unit in '60q'"),
    ]:
        assert any(f"line {line}," in said and word in said for said in told.splitlines()), (line, word, told)
    numbers = [int(said.split()[1].rstrip(",")) for said in told.splitlines() if said.startswith("  line")]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('question = "no name"\n' + FILEIO, "name: is missing"),
        ('name = "n"', "workload: is missing"),
        ('name = "n"\nworkload = {kind = "fileio"}', "several; write [[workload]] with double brackets"),
        ('name = "n"\nworkload = "fileio"', "array of tables; write [[workload]] with double brackets"),
        (
            'name = "n"\nworkload = ["fileio"]',
            "workload[0]: should be a table; write [[workload]] with double brackets",
        ),
        ('name = "n"\ncombination = 1\n' + FILEIO, "array of tables; write [[combination]] with double brackets"),
        ('name = "n"\n' + FILEIO, "there is nothing to compare"),
        ('name = "n"\n[[workload]]\nkind = "filio"', "did you mean 'fileio'?"),
        ('name = "n"\n[[workload]]\nkind = "oltp"', "write one of oltp_point_select, oltp_read_only"),
        (
            simple('"vm.swappiness" = [60]'),
            'line 3, factors."vm.swappiness": has 1 level, and a comparison needs at least two',
        ),
        (simple('"vm.swappiness" = [60, 60, 1]'), "level 60 is listed twice"),
        (simple('"vm.swappiness" = []'), 'line 3, factors."vm.swappiness": has no level'),
        (simple('"vm.swappiness" = [60, [1]]'), "a level is a number, text, true or false"),
        (simple('"block.scheduler" = ["none", "kyber"]'), "/dev/sda does not offer 'kyber'"),
        (simple('"fileio.block_sise" = ["4KiB", "8KiB"]'), "did you mean 'fileio.block_size'?"),
        (simple('"fileio.mode" = ["rndrw", "rndwd"]'), "'rndwd'"),
        (simple('"oltp.tables" = [1, 2]'), "neither a knob nor a parameter"),
        (simple('"fileio.total_size" = ["1MiB", "2MiB"]'), "fileio.total_size is a factor too"),
        (simple('"vm.swappiness" = [60, 1]', rest='[hold]\n"vm.swappiness" = 1'), "vm.swappiness is a factor too"),
        (simple('"vm.swappiness" = [60, 1]', FILEIO + FILEIO), "two workloads have the name 'fileio'"),
        (simple('"vm.swappiness" = [60, 1]', FILEIO + 'name = "vm"'), "'vm' is a subsystem of knobs"),
        (
            simple('"vm.swappiness" = [60, 1]', rest='[factor_scope]\n"vm.swappiness" = ["x"]'),
            "not apply to the workload 'x'",
        ),
        (simple('"vm.swappiness" = [60, 1]', rest='[factor_scope]\n"vm.dirty" = ["fileio"]'), "is not a factor"),
        (
            simple(
                "", rest='[[combination]]\nname = "c"\nsettings = { "vm.dirty_ratio" = 1, "vm.dirty_bytes" = 4096 }'
            ),
            "set twice",
        ),
        (
            simple("", rest='[[combination]]\nname = "baseline"\nsettings = { "vm.swappiness" = 1 }'),
            "'baseline' is the name of another arm",
        ),
        (simple('"fileio.direct" = [false, true]', FILEIO + "block_size = 1000"), "multiple of 512"),
        (
            simple('"fileio.direct" = [false, true]\n"w.direct" = [true, false]', FILEIO + 'name = "w"'),
            "w.direct is fileio.direct too",
        ),
        (
            simple('"fileio.files" = [4, 8]\n"vm.swappiness" = [1, 2]', rest='[factor_scope]\n"vm.swappiness" = []'),
            "names no workload",
        ),
        (simple('"fileio.total_size" = ["1MiB", "900TiB"]', FILEIO.replace('total_size = "1MiB"', "")), "need 900 TiB"),
        (simple('"vm.swappiness" = [60, 1]', rest='[protocol]\nresponse = "tps"'), "'tps' is not one of"),
        (
            simple('"vm.swappiness" = [60, 1]', rest='[protocol]\nresponse = "throughput_p05_per_s"\ntrial = "10s"'),
            "throughput_p05_per_s needs 20 seconds or more of each",
        ),
        (
            simple('"vm.swappiness" = [60, 1]', rest='[protocol]\nresponse = "throughput_p05_per_s"\nsegment = "6s"'),
            "throughput_p05_per_s needs 20 seconds or more of each",
        ),
        (
            simple(
                '"vm.swappiness" = [60, 1]',
                '[[workload]]\nkind = "command"\nrun = ["x"]\nthroughput = "(?P<value>[0-9]+)"\n'
                'response = "throughput_p05_per_s"',
            ),
            "throughput_p05_per_s needs single seconds, which command does not report",
        ),
        (
            simple('"vm.swappiness" = [60, 1]', FILEIO + 'response = "fairness"'),
            "fairness is between threads, and a load level has one",
        ),
        (
            simple(
                '"vm.swappiness" = [60, 1]',
                FILEIO.replace("threads = [1, 4]", "rate = [100]") + 'response = "fairness"',
            ),
            "fairness needs a closed loop, and fileio has a rate",
        ),
        (
            simple(
                '"vm.swappiness" = [60, 1]',
                '[[workload]]\nkind = "command"\nrun = ["x"]\nthroughput = "(?P<value>[0-9]+)"\n'
                'response = ["longest_stall_s", "fairness"]',
            ),
            "longest_stall_s needs the load engine, and command is a program",
        ),
        (simple('"vm.swappiness" = [60, 1]', FILEIO + "rate = [100]"), "with rate, threads is one number"),
        (simple('"vm.swappiness" = [60, 1]', FILEIO + 'arrivals = "constant"'), "add for example rate = [1000]"),
        (simple('"vm.swappiness" = [60, 1]', FILEIO + "rate = [0]"), "greater than or equal to 1"),
    ],
)
def test_a_mistake_is_told_with_what_would_be_right(text: str, word: str) -> None:
    assert word in _problems(text)


def test_refusal_of_the_machine_names_its_knob() -> None:
    offers = OFFERS | {"vm.swappiness": offer("vm.swappiness", 60, (), "only root may set it", "run as root")}
    told = _problems(simple('"vm.swappiness" = [60, 1]\n"fileio.direct" = [false, true]'), offers=offers)
    assert "1 problem" in told
    assert '"vm.swappiness": only root may set it; run as root' in told


def test_a_read_only_path_and_too_little_space_are_told_before_starting() -> None:
    text = simple('"fileio.direct" = [false, true]')
    assert "Read-only file system" in _problems(text, path_refusal=Refusal("/data: Read-only file system"))
    assert "has 1 KiB free, the workloads need 1 MiB" in _problems(text, free_bytes=1024)


def test_a_level_the_machine_cannot_do_is_left_out_with_the_reason() -> None:
    plan = checked(simple('"fileio.engine" = ["sync", "null", "io_uring"]'), io_uring_refused="io_uring is forbidden")
    assert plan.factors[0].levels == ("sync", "null")
    assert plan.notes == ("fileio.engine = io_uring is left out: io_uring is forbidden",)


def test_a_factor_left_with_one_level_is_left_out() -> None:
    text = simple('"fileio.engine" = ["sync", "io_uring"]\n"fileio.direct" = [false, true]')
    plan = checked(text, io_uring_refused="io_uring is forbidden")
    assert [factor.key for factor in plan.factors] == ["fileio.direct"]
    assert "it has only one level" in plan.notes[1]


def test_a_factor_that_resizes_an_operation_is_judged_by_bandwidth() -> None:
    plan = checked(simple('"fileio.block_size" = ["4KiB", "16KiB"]'))
    assert plan.workloads[0].response == "bytes_per_s"
    assert plan.factors[0].levels == (4096, 16384)
    assert plan.factors[0].labels == ("4KiB", "16KiB")
    assert sum("judged by bytes_per_s" in note for note in plan.notes) == 1


def test_current_is_the_value_as_found_and_kernel_names_are_the_knobs() -> None:
    plan = checked(simple('"vm.dirty_ratio" = ["current", 40]\n"block.scheduler" = ["current", "none"]'))
    assert [(factor.key, factor.levels) for factor in plan.factors] == [
        ("vm.dirty", ("20%", "40%")),
        ("block.scheduler", ("mq-deadline", "none")),
    ]


def test_writing_workloads_get_new_data_every_round() -> None:
    two = '[[workload]]\nkind = "fileio"\nname = "r"\nmode = "rndrd"\ntotal_size = "1MiB"\nfiles = 1\n' + FILEIO
    assert [w.data for w in checked(simple('"vm.swappiness" = [60, 1]', two)).workloads] == ["keep", "round"]


def test_overrides_change_the_plan_and_its_digest() -> None:
    text = simple('"fileio.direct" = [false, true]')
    plain = parsed(text)
    other = parsed(text, {"target.path": "/x", "protocol.rounds": "3", "workload.0.total_size": "2MiB"})
    assert other.table.target.path == "/x"
    assert other.table.protocol.rounds == 3
    assert other.table.workload[0].total_size == 2**21  # type: ignore[attr-defined]
    assert plain.digest != other.digest
    with pytest.raises(PlanError, match="is not a valid TOML key"):
        parsed(text, {"a b": "1"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name = ",
        "\x00",
        "[[[",
        'name = "a"\nname = "b"',
        "workload = 3",
        "factors = []",
        'name = "n"\n[factors]\nkind = "command"\nrun = ["x"]\nthroughput = "x"',
    ],
)
def test_nonsense_is_told(text: str) -> None:
    with pytest.raises(PlanError, match="nothing was touched"):
        checked(text)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ('[knob."a.b"]\n', ['knob."a.b".summary: is missing', 'knob."a.b".get: is missing']),
        ('[knob."a.b"]\nget = 1\nset = []\nsurplus = 3\n', ["should be a list (it is 1)", "known: get, json, pattern"]),
        ("[[event]]\n[[event]]\n", ["event[0].do: is missing", "event[1].do: is missing"]),
        ('[[event]]\nat = "x"\ndo = 3\nfoo = 1\n', ["'x' is not a number of seconds", "known: at, after, do"]),
        ("event = 3\n", ["write [[event]] with double brackets"]),
        ("[load]\n", ["load: write either host, or hosts for several"]),
        ("sandbox = 3\n", ["sandbox: should be a table"]),
    ],
)
def test_every_mistake_of_a_table_is_told_once(tables: str, said: list[str]) -> None:
    text = f'name = "n"\n{tables}{FILEIO}'
    problems = [str(problem) for problem in parsed(text).problems]
    for words in said:
        assert sum(words in problem for problem in problems) == 1, problems
    assert not any("unnamed" in problem for problem in problems), "what stands in for a missing value is not told"


def test_facts_are_only_read() -> None:
    assert facts() == facts()


def _open(more: str = "", rest: str = "") -> Workload:
    table = FILEIO.replace("threads = [1, 4]", f"rate = [2000, 500]\n{more}")
    return checked(simple('"vm.swappiness" = [60, 1]', table, rest)).workloads[0]


def test_a_rate_makes_an_open_loop_and_threads_its_cap() -> None:
    found = _open()
    assert [str(level) for level in found.levels] == ["500/s", "2,000/s"]
    assert found.open_loop == OpenLoop(arrivals="poisson", outstanding=64)
    assert _open('threads = [8]\narrivals = "constant"').open_loop == OpenLoop(arrivals="constant", outstanding=8)


def test_an_open_loop_is_judged_by_response_time_unless_the_plan_says_otherwise() -> None:
    assert _open().response == "response_p95_s"
    assert _open('response = "response_p99_s"').response == "response_p99_s"
    assert _open(rest='[protocol]\nresponse = "throughput_per_s"').response == "throughput_per_s"
    assert checked(simple('"vm.swappiness" = [60, 1]')).workloads[0].response == "throughput_per_s"


def test_one_level_twice_compares_equals() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 60]'))
    (factor,) = plan.factors
    assert (factor.levels, factor.labels) == ((60, 60), ("60", "60 again"))
    assert "any difference is noise" in " ".join(plan.notes)


def test_one_number_of_threads_is_a_list_of_it() -> None:
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO.replace("[1, 4]", "4")))
    assert plan.workloads[0].load_levels == (4,)


def test_keys_of_a_workload_whose_kind_is_unknown_are_no_further_problem() -> None:
    text = simple('"vm.swappiness" = [60, 1]', '[[workload]]\nkind = "oltp"\ntable_size = 5\nthreads = "x"\n')
    first, second = parsed(text).problems
    assert first.message.startswith("'oltp' is only the beginning of a name")
    assert "workload[0].threads" in second.location


def test_a_number_of_threads_does_for_a_command() -> None:
    command = '[[workload]]\nkind = "command"\nrun = ["a"]\nthreads = 1\nthroughput = "(?P<value>.)"\n'
    assert not parsed(simple('"vm.swappiness" = [60, 1]', command)).problems


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("target", "becom = true"),
        ("protocol", 'budgett = "10m"'),
        ("database", 'baseurl = "x"'),
        ("load", "weight = 1"),
    ],
)
def test_a_wrong_kind_of_another_table_hides_nothing(table: str, key: str) -> None:
    text = simple('"vm.swappiness" = [60, 1]', FILEIO, f'[{table}]\nkind = "vm"\n{key}\n')
    locations = [problem.location.rpartition(" ")[2] for problem in parsed(text).problems]
    assert {f"{table}.kind", f"{table}.{key.partition(' ')[0]}"} <= set(locations)
