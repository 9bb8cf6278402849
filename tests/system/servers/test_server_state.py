"""The state of a private server around its trials: its counters, its rest, its cache, its data."""

import dataclasses
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED

from paribus.databases import Instance
from paribus.engine import folder
from paribus.engine.find import binary
from paribus.engine.protocol import Job
from paribus.engine.run import Engine
from paribus.errors import DataDamaged, ServerWouldNotStart
from paribus.hosts.local import LocalHost
from paribus.model import Database, Measurement, Purpose, Trial, TrialState, Workload
from paribus.store import read
from paribus.store.open import open_engine, store_url
from paribus.trial.databases.servers import PrivateServers
from paribus.trial.databases.workload_data import WorkloadData
from paribus.units import LoadLevel

FACTORS = {"mariadb": '"mysql.innodb_spin_wait_delay" = [4, 8]', "postgres": '"postgres.work_mem" = ["4MB", "64kB"]'}
COUNTED = {
    "server_data_reads_per_s",
    "server_data_writes_per_s",
    "server_fsyncs_per_s",
    "server_log_writes_per_s",
    "server_log_written_bytes_per_s",
    "server_log_waits_per_s",
    "server_checkpoint_age_bytes",
}
OF_INNODB = {
    "server_dirty_pages",
    "server_row_lock_waits_per_s",
    "server_row_lock_waited_s_per_s",
    "server_threads_running",
}


def _plan(place: Path, kind: str, workload: str, **protocol: object) -> str:
    keys = {"trial": '"1s"', "settle": '"100ms"', "rounds": 2, "placebo": "false"} | protocol
    path = place / "plan.toml"
    path.write_text(
        f'name = "state"\n[target]\npath = "{place}/data"\n[database]\nkind = "{kind}"\n[factors]\n{FACTORS[kind]}\n'
        f"[[workload]]\n{workload}\n[protocol]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
    )
    return str(path)


def _measured() -> tuple[list[int], dict[int, dict[str, Measurement]]]:
    """The trials that may be used, and what each measured."""
    store = open_engine(store_url(None), create=False)
    experiment = read.find(store, "last").id
    done = [one.order for one in read.trials(store, experiment) if one.state is TrialState.DONE]
    found = read.summaries(store, experiment)
    store.dispose()
    return done, found


@pytest.mark.parametrize("kind", list(FACTORS))
@pytest.mark.parametrize(("restart_every", "starts"), [(4, 4), (0, 1)])
def test_a_comparison_of_settings_that_are_live_spans_starts_of_the_server(
    paribus, place, kind: str, restart_every: int, starts: int
) -> None:
    workload = 'kind = "oltp_point_select"\ntable_size = 2000\nthreads = [4]'
    path = Path(_plan(place, kind, workload, trial='"200ms"', settle='"50ms"'))
    path.write_text(path.read_text().replace("[factors]", f"restart_every = {restart_every}\n[factors]"))
    done = paribus("run", str(path))
    assert done.code in RUN_ENDED, done.err
    orders, measured = _measured()
    found = {measured[order]["server_started"].mean for order in orders}
    assert len(found) >= starts if restart_every else len(found) == starts
    reasons = paribus("report", "last", "--json").json["effects"][0]["reasons"]
    assert any("starts of the server" in reason or "one start of the server" in reason for reason in reasons)


def _points(metric: str, order: int) -> tuple[float, ...]:
    store = open_engine(store_url(None), create=False)
    found = read.series(store, read.find(store, "last").id, metric, [order])
    store.dispose()
    return found[order].points


@pytest.mark.parametrize("kind", list(FACTORS))
def test_a_trial_has_the_course_of_what_the_server_counted(paribus, place, kind: str) -> None:
    workload = 'kind = "oltp_update_index"\ntable_size = 2000\nthreads = [4]'
    done = paribus("run", _plan(place, kind, workload, trial='"700ms"'))
    assert done.code in RUN_ENDED, done.err
    orders, measured = _measured()
    assert orders, done.err
    expected = COUNTED | (OF_INNODB if kind == "mariadb" else set())
    for order in orders:
        found = {name: one for name, one in measured[order].items() if name.startswith("server_")}
        assert not expected - found.keys()
        written = found["server_log_written_bytes_per_s"]
        assert (written.source, written.unit) == ("server", "B/s")
        assert written.n >= 2  # every quarter
        assert written.low <= written.mean <= written.high
        assert len(_points("server_log_written_bytes_per_s", order)) == written.n
        if kind == "mariadb":
            assert 0 <= found["server_threads_running"].mean <= 4
    # Sessions of PostgreSQL tell once a second what they read, so that a short trial may hear of none.
    hits = [measured[order].get("server_buffer_hit_share") for order in orders]
    assert any(hits) and all(0 <= one.mean <= 1 for one in hits if one)
    mean = {
        name: statistics.mean(measured[order][name].mean for order in orders)
        for name in ("server_log_written_bytes_per_s", "throughput_per_s")
    }
    log_per_transaction = mean["server_log_written_bytes_per_s"] / mean["throughput_per_s"]
    assert 20 < log_per_transaction < 100_000
    assert not list((place / "data").iterdir())


POOL = {"mariadb": "innodb_buffer_pool_size", "postgres": "shared_buffers"}
LARGE, SMALL = "128MiB", "8MiB"


def _work(job: Job, _tell: Callable[[int, int], None]) -> None:
    for _ in Engine(LocalHost(), binary(), job).events():
        pass


class _Bench:
    """Private servers of one kind with one workload's data in them, as the bench has them."""

    def __init__(self, place: Path, kind: str, *, cache: str = "warm", pool: str = LARGE) -> None:
        self.folder = place / "data" / "paribus-data" / "e"
        folder.make(LocalHost(), binary(), str(place / "data"), "e", "mine")
        database = Database(kind=kind)
        self.counted: list[str] = []
        self.servers = PrivateServers(
            LocalHost(), binary(), database, str(self.folder), lambda _pids: None,
            lambda counting: self.counted.append(counting.statement if counting else ""), lambda: False,
        )  # fmt: skip
        self.workload = Workload(
            name="mine", kind="oltp_update_index", load_levels=(1,), response="throughput_per_s", data="round",
            cache=cache, database=database.family, parameters={"table_size": 60_000},
        )  # fmt: skip
        self.trial = dataclasses.replace(TRIAL, settings={f"{database.family}.{POOL[kind]}": pool})
        self.data = WorkloadData(LocalHost(), binary(), kind, str(self.folder), _work)
        self.servers.make_data([self.trial], {"mine": self.workload}, self.data, lambda _done, _total: None)

    def apply(self) -> dict[str, float]:
        """Have the server run; what making it ready has shown."""
        self.servers.apply(self.workload, self.trial, (), self.data, lambda: None)
        return {one.metric: one.mean for one in self.servers.readied}

    @property
    def instance(self) -> Instance:
        (server,) = self.servers._servers.values()
        return server.instance

    @property
    def database(self) -> str:
        return self.servers.server(self.workload, self.trial.settings).database

    def rows(self) -> int:
        with self.instance.inside(self.database) as ask:
            return int(ask("SELECT COUNT(*) FROM sbtest1").rows[0][0] or 0)

    def read_all(self) -> None:
        with self.instance.inside(self.database) as ask:
            ask("SELECT SUM(LENGTH(pad)) FROM sbtest1")

    def lose_rows(self) -> None:
        with self.instance.inside(self.database) as ask:
            ask("DELETE FROM sbtest1 WHERE id > 59000")


TRIAL = Trial(
    experiment="e", order=1, round=1, block=1, position=1, application=1, attempt=1, factor="", arm="",
    baseline=True, purpose=Purpose.COMPARE, settings={}, workload="mine", load=LoadLevel(1),
)  # fmt: skip


@pytest.fixture
def bench(place: Path, kind: str) -> Iterator[Callable[..., _Bench]]:
    made: list[_Bench] = []

    def make(**more: str) -> _Bench:
        one = _Bench(place, kind, **more)
        made.append(one)
        return one

    yield make
    for one in made:
        one.servers.close()
    if made:
        folder.remove(LocalHost(), binary(), str(place / "data"), "e")
    assert not list((place / "data").iterdir())


@pytest.mark.parametrize("kind", list(FACTORS))
def test_rows_that_are_lost_when_data_is_put_back_are_found(bench, kind: str) -> None:
    one = bench()
    one.apply()
    one.lose_rows()
    one.servers.restore(one.workload, one.trial.settings, one.data)
    one.apply()
    assert one.rows() == 60_000

    one.lose_rows()
    one.instance.stop()
    one.instance.snapshot()  # the copy now lacks them too
    one.servers.restore(one.workload, one.trial.settings, one.data)
    for _ in range(2):  # also when it is tried again
        with pytest.raises(DataDamaged, match=r"sbtest1.? has 59,000 rows instead of 60,000") as refused:
            one.apply()
    assert "run the plan again" in refused.value.todo


@pytest.mark.parametrize("kind", list(FACTORS))
def test_a_copy_that_was_cut_short_is_not_put_back(bench, kind: str) -> None:
    one = bench()
    one.apply()
    copy = Path(one.instance._directory.snapshot)
    largest = max((path for path in copy.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    with largest.open("r+b") as file:
        file.truncate(largest.stat().st_size - 8192)
    with pytest.raises(DataDamaged, match=rf"{largest.name} differs from its copy: [0-9]+ bytes instead of [0-9]+"):
        one.servers.restore(one.workload, one.trial.settings, one.data)


@pytest.mark.parametrize("kind", list(FACTORS))
def test_a_warm_cache_has_what_it_can_hold_and_its_share_is_known(bench, kind: str) -> None:
    one = bench()
    large = one.apply()
    assert large["server_cache_bytes"] == 128 << 20
    assert (8 << 20) < large["server_data_bytes"] < large["server_cached_bytes"] * 1.1
    assert large["server_warm_s"] > 0 and large["server_restless"] == 0
    assert set(one.apply()) == {"server_started"}  # it runs, and nothing was to be made ready
    assert one.counted[-1]

    one.trial = dataclasses.replace(one.trial, settings={next(iter(one.trial.settings)): SMALL})
    small = one.apply()
    assert small["server_cache_bytes"] == 8 << 20
    assert small["server_cached_bytes"] <= 8 << 20 < small["server_data_bytes"]


@pytest.mark.parametrize("kind", list(FACTORS))
def test_a_cold_start_finds_nothing_in_memory(bench, kind: str) -> None:
    one = bench(cache="cold")
    for _ in range(2):  # each trial is a start
        ready = one.apply()
        assert "server_warm_s" not in ready and "server_rest_s" in ready
        before = one.instance.status()
        assert _in_page_cache(one) < 0.2
        one.read_all()
        read = "Innodb_buffer_pool_reads" if kind == "mariadb" else "pg_stat_database.blks_read"
        deadline = time.monotonic() + 20  # a session of PostgreSQL reports what it read about once a second
        while one.instance.status()[read] - before[read] <= 100:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    one.servers.restore(one.workload, one.trial.settings, one.data)
    assert "server_rest_s" in one.apply()  # though rows were counted in between
    assert _in_page_cache(one) < 0.2


def _in_page_cache(one: _Bench) -> float:
    """The share of the largest files of data that is in the page cache."""
    names = "*.ibd" if one.servers.family == "mysql" else "base/*/*"
    files = [path for path in Path(one.instance._directory.data).rglob(names) if path.stat().st_size > (8 << 20)]
    assert files
    argv = ["fincore", "--bytes", "--noheadings", "--output", "RES", *map(str, files)]
    cached = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    return sum(map(int, cached)) / sum(path.stat().st_size for path in files)


def test_failed_data_creation_is_reported_in_the_words_of_the_server(place) -> None:
    one = Instance(LocalHost(), binary(), str(place / "data" / "db"), "mariadb")
    with pytest.raises(ServerWouldNotStart, match=r"its data was not made; .*Invalid page size=5000"):
        one.create({"innodb_page_size": "5000"})


def _overwrite(path: Path) -> None:
    """Overwrite a part of every page in the second half of a file."""
    page_bytes = 16 << 10
    with path.open("r+b") as file:
        for offset in range(path.stat().st_size // 2 // page_bytes * page_bytes, path.stat().st_size, page_bytes):
            file.seek(offset + 4000)
            file.write(b"\x55" * 2000)


@pytest.mark.parametrize("kind", list(FACTORS))
def test_servers_find_damage_by_their_own_checks(bench, kind: str) -> None:
    one = bench(cache="cold")
    one.apply()
    assert one.servers.damage(one.workload, one.trial.settings) == []
    path = f"{one.database}/sbtest1.ibd"
    if kind == "postgres":
        with one.instance.inside(one.database) as ask:
            path = ask("SELECT pg_relation_filepath('sbtest1_pkey')").rows[0][0]
    one.instance.stop()
    _overwrite(next(one.folder.glob(f"**/data/{path}")))
    one.apply()
    damage = one.servers.damage(one.workload, one.trial.settings)
    assert any("sbtest1" in text for text in damage), damage
