"""A plan's load host: which loads it can make, and what is refused because nothing is changed there."""

import dataclasses

import plan_samples
import pytest
from plan_samples import checked, parsed

from paribus.errors import PlanError
from paribus.i18n import stored_message
from paribus.model import DatabaseFacts, Facts, LoadHost, LoadHostFacts, Plan, shared_out
from paribus.plan import dsn
from paribus.plan.checks.load_host import load_hosts_of, separate_load

DSN = "mysql://bench@db1/"
LOAD = '[load]\nhost = "ssh://gen"\n'
OLTP = '[[workload]]\nkind = "oltp_read_write"\ntable_size = 1000\nthreads = [1, 4]\n'
FACTORS = '[factors]\n"vm.swappiness" = [10, 60]\n'
SWITCHED = plan_samples.OFFERS | {
    name: plan_samples.offer(name, current)
    for name, current in {"process.load.cpus": "default", "cgroup.load.cpu_quota": "max"}.items()
}


def _text(load: str = LOAD, database: str = f'dsn = "{DSN}"', factors: str = FACTORS, workload: str = OLTP) -> str:
    return f'name = "n"\n{load}[database]\nkind = "mariadb"\n{database}\n{factors}{workload}'


def _checked(text: str, facts: tuple[LoadHostFacts, ...] = (), *, is_remote: bool = False) -> Plan:
    server = dataclasses.replace(dsn.parse(DSN), prefix="paribus")
    database = DatabaseFacts(name="mariadb 10.11.6", running=server, is_remote=is_remote)
    return checked(text, offers=SWITCHED, database=database, load_hosts=facts or (LoadHostFacts(),))


def _refused(text: str, **more: object) -> str:
    with pytest.raises(PlanError) as error:
        _checked(text, **more)  # type: ignore[arg-type]
    return str(error.value)


def test_settings_of_the_target_and_conditions_of_the_load_are_taken() -> None:
    factors = f'{FACTORS}"process.load.cpus" = ["default", "0"]\n'
    plan = _checked(_text(factors=factors), (LoadHostFacts(credential={"file": "/root/secret"}),))
    assert plan.load_hosts == (LoadHost(address="ssh://gen", credential={"file": "/root/secret"}),)
    assert [factor.key for factor in plan.factors] == ["vm.swappiness", "process.load.cpus"]


@pytest.mark.parametrize(
    ("load", "target", "separate"),
    [
        ('host = "ssh://gen"', "", True),
        ('host = "local"', 'host = "ssh://db1"', True),
        ('host = "local"', "", False),
        ('host = "ssh://db1/"', 'host = "ssh://db1"', False),
        ('host = "ssh://db1"\nbecome = true', 'host = "ssh://db1"', True),
        ('hosts = ["local"]', "", False),
        ('hosts = ["local", "ssh://gen"]', "", True),
    ],
)
def test_a_load_host_is_another_machine_than_the_target(load: str, target: str, separate: bool) -> None:
    table = parsed(_text(f"[target]\n{target}\n[load]\n{load}\n")).table
    assert (separate_load(table) is not None) is separate
    facts: Facts = plan_samples.facts()
    assert bool(load_hosts_of(table, facts)) is separate


def test_without_a_running_server_there_is_nothing_to_load() -> None:
    assert "a load host makes the load on a running server, and the plan names none" in _refused(_text(database=""))
    files = f'name = "n"\n{LOAD}{FACTORS}{plan_samples.FILEIO}'
    with pytest.raises(PlanError) as refused:
        checked(files, load_hosts=(LoadHostFacts(),))
    assert "load.host: a load host makes the load on a running server" in str(refused.value)
    assert "fileio is made on the target, where its files are, and not by ssh://gen" in str(refused.value)


@pytest.mark.parametrize("kind", ["fileio", "iomatrix", "fio", "sysbench", "command"])
def test_loads_on_files_and_of_tools_stay_on_the_target(kind: str) -> None:
    more = {
        "iomatrix": 'device = "/dev/sda"',
        "fio": 'options = { rw = "randread", bs = "4k", size = "1m" }',
        "sysbench": 'test = "cpu"',
        "command": 'run = ["true"]\nthroughput = "(?P<value>[0-9]+)"',
    }
    told = _refused(_text(workload=f'{OLTP}[[workload]]\nkind = "{kind}"\n{more.get(kind, "")}\n'))
    assert f"{kind} is made on the target, where its files are, and not by ssh://gen" in told
    assert "remove this workload, or remove [load]" in told


def test_the_target_must_be_the_servers_host() -> None:
    told = _refused(_text(factors='[factors]\n"oltp_read_write.prepared" = [true, false]\n'), is_remote=True)
    assert "the server mysql://db1:3306 does not run on db1, which is the target" in told
    assert "with [load], set target.host to the server's host" in told


def test_a_control_group_of_the_load_is_refused() -> None:
    told = _refused(_text(factors=f'{FACTORS}"cgroup.load.cpu_quota" = ["max", 1]\n'))
    assert "cgroup.load.cpu_quota needs a control group on ssh://gen, and nothing is changed on a load host" in told
    assert "process.load.cpus limits the processors of the load" in told


def test_findings_of_the_inspection_are_reported_with_its_notes() -> None:
    wrong = (("ssh://gen cannot reach it", "open the firewall"),)
    assert "load.host: ssh://gen cannot reach it; open the firewall" in _refused(
        _text(), facts=(LoadHostFacts(wrong=wrong),)
    )
    assert "one machine" in " ".join(_checked(_text(), (LoadHostFacts(notes=(stored_message("one machine"),)),)).notes)


SEVERAL = '[load]\nhosts = ["ssh://gen1", "ssh://gen2"]\n'


def test_several_load_hosts_have_credentials_of_their_own() -> None:
    facts = (LoadHostFacts(credential={"file": "/1"}), LoadHostFacts(credential={"file": "/2"}))
    workload = OLTP.replace("[1, 4]", "[2, 4]")
    plan = _checked(_text(SEVERAL, workload=workload), facts)
    assert [(host.address, host.credential) for host in plan.load_hosts] == [
        ("ssh://gen1", {"file": "/1"}),
        ("ssh://gen2", {"file": "/2"}),
    ]


def test_fewer_connections_than_load_hosts_are_refused() -> None:
    told = _refused(_text(SEVERAL), facts=(LoadHostFacts(), LoadHostFacts()))
    assert "threads = 1 leaves one of 2 load hosts without a connection; write at least 2" in told


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ("become = true", "write either host, or hosts for several"),
        ('host = "local"\nhosts = ["ssh://gen"]', "write either host, or hosts for several"),
        ('hosts = ["ssh://gen", "ssh://gen/"]', "hosts has ssh://gen twice: name each machine once"),
    ],
)
def test_load_hosts_are_named_in_one_way_and_once(load: str, message: str) -> None:
    assert message in _refused(_text(f"[load]\n{load}\n"))


@pytest.mark.parametrize(
    ("connections", "weights", "numbers"),
    [
        (65, [1, 1], [33, 32]),
        (65, [3, 1], [49, 16]),
        (2, [1, 1, 1], [1, 1, 0]),
        (4, [9, 1], [4, 0]),
        (7, [2, 3, 2], [2, 3, 2]),
    ],
)
def test_connections_are_shared_out_by_weight(connections: int, weights: list[int], numbers: list[int]) -> None:
    assert shared_out(connections, weights) == numbers


def test_weights_are_one_for_each_host_and_leave_none_without_a_connection() -> None:
    several = SEVERAL + "weights = [{}]\n"
    facts = (LoadHostFacts(), LoadHostFacts())
    workload = OLTP.replace("[1, 4]", "[4, 8]")
    plan = _checked(_text(several.format("1, 2"), workload=workload), facts)
    assert [host.weight for host in plan.load_hosts] == [1, 2]
    told = _refused(_text(several.format("9, 1"), workload=workload), facts=facts)
    assert "threads = 4 leaves one of 2 load hosts without a connection; write at least 6" in told
    assert "weights and hosts are 1 and 2: write one weight for each host" in _refused(_text(several.format("1")))


def test_an_open_loop_without_threads_has_connections_for_every_host() -> None:
    facts = (LoadHostFacts(), LoadHostFacts())
    plan = _checked(_text(SEVERAL, workload=OLTP.replace("threads = [1, 4]", "rate = [1000]")), facts)
    assert plan.workloads[0].open_loop is not None
    told = _refused(_text(SEVERAL, workload=OLTP.replace("threads = [1, 4]", "rate = [9]\nthreads = [1]")), facts=facts)
    assert "threads = 1 leaves one of 2 load hosts without a connection" in told
