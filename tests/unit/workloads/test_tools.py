"""The command lines of tools, and what may be asked of them."""

import dataclasses
from typing import Any

import pytest
from pydantic import SecretStr

from paribus.engine.protocol import DatabaseServer, MysqlServer, PostgresServer
from paribus.model import OpenLoop, Workload
from paribus.parsers.report import Second, ToolReport
from paribus.plan.form.parse import parse
from paribus.registry import data_of, parameters_of
from paribus.units import LoadLevel, LoadUnit
from paribus.workloads import server_login
from paribus.workloads.tools import RunRequest, ToolExecution, ToolKind, measurements, request_of, tool_of


def _workload(kind: str, **parameters: Any) -> Workload:
    return Workload(
        name="w", kind=kind, parameters=parameters, load_levels=(4,), response="throughput_per_s", data="keep",
        cache="warm",
    )  # fmt: skip


def _kind(workload: Workload) -> ToolKind:
    kind = tool_of(workload)
    assert kind is not None
    return kind


def _runs(workload: Workload, settle_s: float = 2.0, measure_s: float = 3.0) -> list[ToolExecution]:
    unit = LoadUnit.RATE_PER_S if workload.open_loop else LoadUnit.OUTSTANDING
    order = request_of(workload, "/data/w", LoadLevel(4, unit), settle_s, measure_s)
    return list(_kind(workload).runs(parameters_of(workload, {}), order))


def test_sysbench_runs_for_settle_trial_and_a_second() -> None:
    workload = _workload("sysbench", test="fileio", options={"file-num": 4, "validate": True}, prepare=True)
    (run,) = _runs(workload, settle_s=1.5)
    assert run.argv == [
        "sysbench", "fileio", "--file-num=4", "--validate=on", "--threads=4", "--time=6", "--report-interval=1", "run",
    ]  # fmt: skip
    assert (run.settle_s, run.measure_s) == (2, 3)
    order = request_of(workload, "/data/w")
    assert _kind(workload).prepare_command(parameters_of(workload, {}), order)[-1] == "prepare"
    assert _kind(workload).cleanup_command(parameters_of(workload, {}), order)[-1] == "cleanup"


def test_fio_settles_by_itself() -> None:
    (run,) = _runs(_workload("fio", options={"rw": "randread", "direct": True}), measure_s=0.25)
    assert run.argv[-3:] == ["--name=paribus", "--rw=randread", "--direct=1"]
    assert {"--runtime=250ms", "--ramp_time=2000ms", "--iodepth=4", "--directory=/data/w"} <= set(run.argv)
    (of_file,) = _runs(_workload("fio", job="/jobs/a.fio"))
    assert of_file.argv[-1] == "/jobs/a.fio"


def test_rates_are_told() -> None:
    loop = OpenLoop(arrivals="poisson", outstanding=32)
    fio, sysbench = (
        _runs(dataclasses.replace(workload, open_loop=loop))[0].argv
        for workload in (_workload("fio", options={"rw": "read"}), _workload("sysbench", test="cpu"))
    )
    assert {"--iodepth=32", "--rate_iops=4", "--rate_process=poisson"} <= set(fio)
    assert {"--threads=32", "--rate=4"} <= set(sysbench)


def test_a_command_is_run_once_to_settle_and_once_to_be_measured() -> None:
    told = ["load", "{threads}", "{seconds}", "{directory}/x", "{other}"]
    settling, last = _runs(_workload("command", run=told, throughput="(?P<value>.)"))
    assert (settling.argv[2], settling.measure_s) == ("2", 0)
    assert last.argv == ["load", "4", "3", "/data/w/x", "{other}"]
    settling, last = _runs(_workload("command", run=told, throughput="(?P<value>.)"), settle_s=0.5, measure_s=7.5)
    assert (settling.argv[2], settling.settle_s) == ("0.5", 0.5), "many tools take whole seconds alone"
    assert (last.argv[2], last.measure_s) == ("8", 8)
    by_itself = _workload("command", run=["load", "{settle}"], settle_in_command=True, throughput="(?P<value>.)")
    (run,) = _runs(by_itself)
    assert (run.argv, run.settle_s) == (["load", "2"], 2)


PRIVATE = MysqlServer(socket="/d/server-1/run/mysql.sock", user="root", database="w_1")
PRIVATE_POSTGRES = PostgresServer(socket="/d/run/.s.PGSQL.5432", user="postgres", database="w_1")


def _at(workload: Workload, server: DatabaseServer) -> RunRequest:
    return request_of(workload, "/data/w/files", LoadLevel(4, LoadUnit.OUTSTANDING), 2.0, 3.0, server)


def test_the_address_of_a_server_is_filled_in() -> None:
    told = ["load", "{socket}", "{host}:{port}", "{user}", "{database}", "--file={password_file}", "{other}"]
    workload = _workload("command", run=told, prepare=told, throughput="(?P<value>.)")
    kind, parameters = _kind(workload), parameters_of(workload, {})
    by_mysql = kind.runs(parameters, _at(workload, PRIVATE))[-1].argv
    assert by_mysql[1:5] == ["/d/server-1/run/mysql.sock", "localhost:3306", "root", "w_1"]
    assert by_mysql[5:] == ["--file=/data/w/password", "{other}"]
    by_postgres = kind.prepare_command(parameters, _at(workload, PRIVATE_POSTGRES))
    assert by_postgres[1:5] == ["/d/run", "/d/run:5432", "postgres", "w_1"]
    by_network = PostgresServer(host="db1", port=6432, user="bench", database="w_1")
    assert kind.runs(parameters, _at(workload, by_network))[-1].argv[1:4] == ["", "db1:6432", "bench"]
    assert kind.runs(parameters, request_of(workload, "/d"))[-1].argv[1:] == told[1:]
    assert data_of(workload, {}).written


def test_sysbench_has_the_address_in_its_options_and_the_password_in_a_file() -> None:
    workload = _workload("sysbench", test="oltp_insert", prepare=True, options={"mysql-socket": "{socket}"})
    kind, parameters = _kind(workload), parameters_of(workload, {})
    (run,) = kind.runs(parameters, _at(workload, PRIVATE))
    assert "--mysql-socket=/d/server-1/run/mysql.sock" in run.argv
    assert not [word for word in run.argv if "config-file" in word]
    secret = MysqlServer(host="db1", user="u", database="w_1", credential={"env": "SECRET"})
    (run,) = kind.runs(parameters, _at(workload, secret))
    assert "--config-file=/data/w/password" in run.argv
    assert kind.login(secret, "/p").form == "sysbench"
    assert kind.cleanup_command(parameters, _at(workload, secret)) == []
    assert data_of(workload, {}).rows == 10_000


def test_the_variables_of_a_tool_name_the_password_file_and_never_the_password() -> None:
    server = PostgresServer(host="db1", user="u", database="d", password=SecretStr("hidden"), tls="required")
    assert server_login.environment(server, "/p") == {"PGPASSFILE": "/p", "PGSSLMODE": "require"}
    assert server_login.environment(PRIVATE, "/p") == {}
    login = _kind(_workload("command", run=["a"], throughput="(?P<value>.)")).login(PRIVATE, "/p")
    assert (login.form, login.variable) == ("option_file", "MYSQL_PWD")


def test_pgbench_is_started_on_the_plans_server() -> None:
    options = {"max-tries": 3, "failures-detailed": True, "exit-on-abort": False}
    workload = _workload(
        "pgbench", scale=2, protocol="prepared", options=options, initialize_options={"fillfactor": 90}
    )
    kind, parameters = _kind(workload), parameters_of(workload, {})
    address = ["--host=/d/run", "--port=5432", "--username=postgres", "w_1"]
    assert kind.prepare_command(parameters, _at(workload, PRIVATE_POSTGRES)) == [
        "pgbench", "--initialize", "--quiet", "--scale=2", "--fillfactor=90", *address,
    ]  # fmt: skip
    (run,) = kind.runs(parameters, _at(workload, PRIVATE_POSTGRES))
    assert kind.command_line(run.argv) == [
        "pgbench", "--builtin=tpcb-like", "--protocol=prepared", "--client=4", "--jobs=4", "--time=6", "--progress=1",
        "--no-vacuum", "--log", "--max-tries=3", "--failures-detailed", *address,
    ]  # fmt: skip
    assert run.argv[:2] == ["sh", "-c"] and run.argv[3:6] == ["sh", "2", "3"]
    assert (data_of(workload, {}).rows, data_of(workload, {}).written) == (200_000, True)
    reading = _workload("pgbench", builtin="select-only", percentiles=False)
    assert not data_of(reading, {}).written
    (plain,) = kind.runs(parameters_of(reading, {}), _at(reading, PRIVATE_POSTGRES))
    assert plain.argv[0] == "pgbench"


def test_hammerdb_is_told_by_a_script_without_a_password() -> None:
    options = {"partition": True, "storage_engine": "inno db"}
    workload = _workload("hammerdb", home="/opt/H", warehouses=2, build_users=4, options=options)
    kind, parameters = _kind(workload), parameters_of(workload, {})
    request = dataclasses.replace(_at(workload, PRIVATE), server_kind="mariadb", settle_s=30.0, measure_s=90.0)
    *_, home, script = kind.prepare_command(parameters, request)
    assert home == "/opt/H"
    assert script.splitlines() == [
        "dbset db maria",
        "dbset bm TPC-C",
        "diset connection maria_host localhost",
        "diset connection maria_socket /d/server-1/run/mysql.sock",
        "diset tpcc maria_user root",
        "diset tpcc maria_dbase w_1",
        "diset tpcc maria_pass null",
        "diset tpcc maria_count_ware 2",
        "diset tpcc maria_num_vu 2",
        "diset tpcc maria_partition true",
        "diset tpcc maria_storage_engine inno\\ db",
        "buildschema",
    ]
    (run,) = kind.runs(parameters, request)
    assert (run.settle_s, run.measure_s) == (60, 120)
    assert kind.command_line(run.argv) == ["/opt/H/hammerdbcli", "tcl", "auto", "script.tcl"]
    lines = run.argv[-1].splitlines()
    assert {"diset tpcc maria_rampup 1", "diset tpcc maria_duration 2", "diset tpcc maria_driver timed"} <= set(lines)
    assert lines[-5:] == ["loadscript", "vuset vu 4", "vucreate", "vurun", "vudestroy"]
    by_postgres = dataclasses.replace(request, server=PRIVATE_POSTGRES, server_kind="postgres")
    assert "diset connection pg_host /d/run" in kind.prepare_command(parameters, by_postgres)[-1].splitlines()


def test_each_way_to_call_a_tool_has_a_folder_of_its_own() -> None:
    one, other = (data_of(_workload("sysbench", test=test), {}).shape for test in ("cpu", "memory"))
    assert one != other


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('kind = "sysbench"', "test: is missing"),
        ('kind = "sysbench"\ntest = "my/load.lua"', "should match pattern"),
        ('kind = "sysbench"\ntest = "cpu"\noptions = { threads = 4 }', "the option threads is set by threads"),
        ('kind = "sysbench"\ntest = "cpu"\noptions = { mysql-password = "x" }', "config-file"),
        ('kind = "sysbench"\ntest = "cpu"\ncache = "cold"', "their cache cannot be cleared"),
        ('kind = "sysbench"\ntest = "cpu"\nprecondition = {}', "cannot be preconditioned"),
        ('kind = "sysbench"\ntest = "cpu"\nrate = [5]\narrivals = "constant"', "only poisson arrivals"),
        ('kind = "fio"', "give either job"),
        ('kind = "fio"\njob = "a.fio"', "should match pattern"),
        ('kind = "fio"\noptions = { rw = "read" }\nthreads = [4]', "psync keeps one operation outstanding"),
        ('kind = "fio"\noptions = { runtime = 3 }', "the option runtime is set by protocol.trial"),
        ('kind = "fio"\noptions = { filename = "/dev/sdb" }', "cannot guard a device"),
        ('kind = "command"\nrun = ["./a"]\nthroughput = "(?P<value>.)"', "a name on PATH or a full path"),
        ('kind = "command"\nrun = ["a"]\nthroughput = "[0-9]"', "has no group"),
        ('kind = "command"\nrun = ["a"]\nthreads = [1, 2]\nthroughput = "(?P<value>.)"', "add {threads} to run"),
        ('kind = "pgbench"\noptions = { host = "db1" }', "the option host is set by database.dsn"),
        ('kind = "hammerdb"\nhome = "h"', "should match pattern"),
        ('kind = "hammerdb"\nhome = "/h"\nrate = [5]', "HammerDB has no arrival rate"),
        ('kind = "hammerdb"\nhome = "/h"\noptions = { pass = "x" }', "the option pass is set by the private server"),
        ('kind = "hammerdb"\nhome = "/h"\noptions = { "a b" = 1 }', "is not the name of a setting"),
        ('kind = "pgbench"\npercentiles = false\nrate = [5]', "response_p95_s is judged, and needs percentiles"),
        ('kind = "pgbench"\nscript = "a.sql"', "should match pattern"),
        ('kind = "pgbench"\nrate = [5]\narrivals = "constant"', "only poisson arrivals"),
        ('kind = "pgbench"\nscript = "/a"\nbuiltin = "select-only"', "both name a transaction"),
        (
            'kind = "command"\nrun = ["a", "{socket}"]\ncleanup = ["b", "{socket}"]\nthroughput = "(?P<value>.)"',
            "cleanup uses {socket}",
        ),
        ('kind = "command"\nrun = ["a", "{rate}"]\nthroughput = "(?P<value>.)"', "run uses {rate}"),
    ],
)
def test_impossible_tool_options_are_plan_errors(table: str, problem: str) -> None:
    found = parse("plan.toml", f'name = "n"\n[[workload]]\n{table}', {}).problems
    assert problem in str(found[0]), [str(one) for one in found]


def test_report_of_a_tool_becomes_measurements() -> None:
    seconds = tuple(Second(at_s=n, operations_per_s=9.0 + n, responses_s={"p95": n / 1000}) for n in (1, 2))
    report = ToolReport(
        operations_per_s=10.5, bytes_per_s=100.0, responses_s={"p95": 0.0015, "mean": 0.001}, seconds=seconds
    )
    found = {one.metric: one for one in measurements(report, 2.0)}
    assert set(found) == {"throughput_per_s", "bytes_per_s", "response_p95_s", "response_mean_s"}
    assert found["throughput_per_s"].points == (10.0, 11.0)
    assert (found["throughput_per_s"].total, found["throughput_per_s"].step_s) == (21.0, 1.0)
    assert found["response_mean_s"].points == ()
