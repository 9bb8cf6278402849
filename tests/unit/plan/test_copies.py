"""Room for the data of private servers, before any of it is made."""

import dataclasses

import pytest
from plan_samples import checked, facts, simple

from paribus.cli.texts.server_data import lines
from paribus.errors import PlanError
from paribus.knobs.catalog import load
from paribus.lab.machine.server_data import server_data
from paribus.model import DatabaseFacts, Facts, Offer, Plan
from paribus.plan.check import check
from paribus.plan.form.parse import parse
from paribus.plan.schedule.copies import copies
from paribus.plan.schedule.design import schedule

ROWS = 1_000_000
DATA = ROWS * 260
EMPTY = 100 << 20
PAGES = '"mysql.innodb_page_size" = [16384, 4096]'
LIVE = '"mysql.innodb_io_capacity" = [200, 2000]'


def _offer(name: str) -> Offer:
    knob = dataclasses.replace(
        load().get("vm.swappiness"), name=f"mysql.{name}", kind="variable", addresses=(name,), minimum=0, maximum=10**6
    )
    return Offer(knob=knob, current=200, allowed=())


OFFERS = {one.knob.name: one for one in (_offer("innodb_page_size"), _offer("innodb_io_capacity"))}


def _facts(*, reflink: bool = False, free_bytes: int = 2**40) -> Facts:
    server = DatabaseFacts(
        name="mariadb 10.11", rows=tuple(one.knob for one in OFFERS.values()), built_in=("innodb_page_size",),
        empty_bytes=EMPTY, copy_bytes_per_s=100e6, reflink=reflink,
    )  # fmt: skip
    return facts(offers=OFFERS, database=server, free_bytes=free_bytes)


def _plan(factors: str, workload: str = "", found: Facts | None = None) -> Plan:
    text = (
        f'name = "p"\n[database]\nkind = "mariadb"\n[factors]\n{factors}\n[[workload]]\nkind = "oltp_update_index"\n'
        f"table_size = {ROWS}\nthreads = [1]\n{workload}\n[protocol]\nrounds = 3\nplacebo = false\n"
    )
    return check(parse("p.toml", text, {}), load(), found or _facts())


def _document(plan: Plan, found: Facts):
    return server_data(plan, found, schedule(plan, "", 3, 0))


def test_a_server_is_copied_once_and_put_back_at_each_other_round() -> None:
    found = _document(_plan(LIVE), _facts())
    assert found is not None
    assert (found.servers, found.data_bytes, found.copy_bytes) == (1, DATA + EMPTY, DATA + EMPTY)
    assert found.copies == 1 + 2  # of three rounds
    assert found.copy_s == pytest.approx((DATA + EMPTY) / 100e6)
    said = lines(found, None)[0]
    assert "copied 3 times, about 3.65 s each and 11 s in all" in said
    assert "warning: ext4 copies every block" in said


def test_copies_with_shared_blocks_need_no_room() -> None:
    found = _document(_plan(LIVE), _facts(reflink=True))
    assert found is not None and found.copy_bytes == 0
    assert "warning" not in lines(found, None)[0]


def test_each_way_in_which_data_is_made_is_a_server() -> None:
    found = _document(_plan(PAGES), _facts())
    assert found is not None
    assert (found.servers, found.data_bytes) == (2, 2 * (DATA + EMPTY))
    assert found.copies == 2 + 2 * 2


def test_data_that_is_gone_on_with_is_not_copied() -> None:
    found = _document(_plan(LIVE, 'data = "keep"'), _facts())
    assert found is not None
    assert (found.copies, found.copy_bytes) == (0, 0)
    assert "no copy is made" in lines(found, None)[0]


def test_too_little_room_for_data_and_copies_is_a_problem() -> None:
    enough = 2 * (DATA + EMPTY)
    assert _plan(LIVE, found=_facts(free_bytes=enough))
    assert _plan(LIVE, found=_facts(free_bytes=enough // 2, reflink=True))
    with pytest.raises(PlanError, match=r"286 MiB free.* need about 696 MiB"):
        _plan(LIVE, found=_facts(free_bytes=300_000_000))


def test_files_alone_have_no_server() -> None:
    assert copies(checked(simple('"fileio.direct" = [false, true]')), DatabaseFacts(), ()) is None
