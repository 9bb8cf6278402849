"""Addresses of a server that mean no other machine to a load host, found without connecting."""

import dataclasses

import pytest

from paribus.hosts.fake import FakeHost
from paribus.knobs.catalog import load
from paribus.lab.machine.load_host_inspection import inspect_load_hosts
from paribus.model import DatabaseFacts, LoadHostFacts
from paribus.plan import dsn
from paribus.plan.form.parse import parse
from paribus.plan.needs import needs
from paribus.trial.target_session import Site

BOOT = "/proc/sys/kernel/random/boot_id"
PLAN = """
name = "n"
[load]
host = "ssh://gen"
[database]
kind = "mariadb"
{dsn}
[[workload]]
kind = "oltp_read_only"
"""


class _LoadHost(FakeHost):
    name = "ssh://gen"


def _inspected(address: str, load_host: FakeHost) -> LoadHostFacts:
    target = FakeHost({BOOT: "1\n"})
    site = Site(target, "engine", load(), (Site(load_host, "engine", load()),))
    written = f'dsn = "{address}"' if address else ""
    server = DatabaseFacts(running=dsn.parse(address)) if address else None
    [facts] = inspect_load_hosts(site, needs(parse("plan.toml", PLAN.format(dsn=written), {})), server)
    return facts


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (
            "mysql://root@localhost/?socket=/run/my.sock",
            "ssh://gen cannot reach mysql:///run/my.sock, which is a socket",
        ),
        ("mysql://bench@127.0.0.1/", "mysql://127.0.0.1:3306 is the load host itself when ssh://gen connects to it"),
        ("mysql://bench@192.0.2.7/", "mysql://192.0.2.7:3306 is the load host itself when ssh://gen connects to it"),
    ],
)
def test_an_address_that_means_the_load_host_itself_is_refused(address: str, message: str) -> None:
    host = _LoadHost({BOOT: "2\n", "/proc/net/fib_trie": "     |-- 192.0.2.7\n        /32 host LOCAL\n"})
    facts = _inspected(address, host)
    [(problem, remedy)] = facts.wrong
    assert problem.startswith(message)
    assert remedy.startswith("write the name or address under which both hosts reach it in the network")
    assert facts.notes == ()


def test_a_load_host_on_the_targets_machine_is_noted_also_where_the_server_was_not_asked() -> None:
    facts = _inspected("", _LoadHost({BOOT: "1\n"}))
    assert facts.notes == ("the load host ssh://gen and the target fake run on one machine, and share its processors",)
    assert dataclasses.replace(facts, notes=()) == LoadHostFacts()


def test_load_hosts_on_one_machine_are_noted() -> None:
    hosts = [FakeHost({BOOT: boot}) for boot in ("1\n", "2\n", "2\n")]
    target, *load_hosts = (Site(host, "engine", load()) for host in hosts)
    site = dataclasses.replace(target, load_hosts=tuple(load_hosts))
    facts = inspect_load_hosts(site, needs(parse("plan.toml", PLAN.format(dsn=""), {})), None)
    note = "the load hosts fake and fake run on one machine, and share its processors"
    assert [each.notes for each in facts] == [(), (note,)]
