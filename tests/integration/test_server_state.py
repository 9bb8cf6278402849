"""The state of a private server around its trials: its counters, its rest, its cache, its data."""

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import RUN_ENDED

from ceteris.model import Measurement, TrialState
from ceteris.store import read
from ceteris.store.open import open_engine, store_url

FACTORS = {"mariadb": '"mysql.innodb_io_capacity" = [200, 2000]', "postgres": '"postgres.work_mem" = ["4MB", "64kB"]'}
COUNTED = {
    "server_data_reads_per_s",
    "server_data_writes_per_s",
    "server_fsyncs_per_s",
    "server_log_writes_per_s",
    "server_log_written_bytes_per_s",
    "server_log_waits_per_s",
    "server_checkpoint_age_bytes",
    "server_buffer_hit_share",
}
OF_INNODB = {
    "server_dirty_pages",
    "server_row_lock_waits_per_s",
    "server_row_lock_waited_s_per_s",
    "server_threads_running",
}


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that other users can pass."""
    folder = Path(tempfile.mkdtemp(prefix="ceteris-state-", dir="/var/tmp"))
    folder.chmod(0o755)
    (folder / "data").mkdir()
    yield folder
    shutil.rmtree(folder)


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


def _points(metric: str, order: int) -> tuple[float, ...]:
    store = open_engine(store_url(None), create=False)
    found = read.series(store, read.find(store, "last").id, metric, [order])
    store.dispose()
    return found[order].points


@pytest.mark.parametrize("kind", list(FACTORS))
def test_a_trial_has_the_course_of_what_the_server_counted(ceteris, place, kind: str) -> None:
    plan = _plan(place, kind, 'kind = "oltp_update_index"\ntable_size = 2000\nthreads = [4]')
    done = ceteris("run", plan)
    assert done.code in RUN_ENDED, done.err
    orders, measured = _measured()
    assert orders, done.err
    expected = COUNTED | (OF_INNODB if kind == "mariadb" else set())
    for order in orders:
        found = {name: one for name, one in measured[order].items() if name.startswith("server_")}
        assert not expected - found.keys()
        written = found["server_log_written_bytes_per_s"]
        assert (written.source, written.unit) == ("server", "B/s")
        assert written.n >= 3  # every quarter
        assert written.low <= written.mean <= written.high
        assert len(_points("server_log_written_bytes_per_s", order)) == written.n
        assert 0 < found["server_buffer_hit_share"].mean <= 1
        if kind == "mariadb":
            assert 0 <= found["server_threads_running"].mean <= 4
    mean = {
        name: statistics.mean(measured[order][name].mean for order in orders)
        for name in ("server_log_written_bytes_per_s", "throughput_per_s")
    }
    log_per_transaction = mean["server_log_written_bytes_per_s"] / mean["throughput_per_s"]
    assert 20 < log_per_transaction < 100_000
    assert not list((place / "data").iterdir())
