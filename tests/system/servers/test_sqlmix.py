"""Transactions of one's own on real servers, through whole experiments: conflicts, retries, and what they sum up to."""

import signal

import pytest
from command import RUN_ENDED, Running
from served import experiment, measured, nothing_is_left, plan_on, trials

from paribus.model import ExperimentState, FailureClass, TrialState

# Two rows, taken in both orders.
CROSSED = """
kind = "sqlmix"
threads = [4]
data = "keep"
schema = ["CREATE TABLE hot (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)"]
[[workload.rows]]
count = 2
insert = "INSERT INTO hot VALUES (?, 0)"
arguments = [{sequence = 1}]
"""
TRANSFER = """
[[workload.transactions]]
name = "from {one}"
statements = [
  {{sql = "UPDATE hot SET n = n + 1 WHERE id = {one}"}},
  {{sql = "UPDATE hot SET n = n - 1 WHERE id = {other}"}},
]
"""
BOTH = pytest.mark.parametrize("kind", ["mariadb", "postgres"])


@BOTH
def test_a_storm_of_deadlocks_is_counted_and_the_experiment_is_done(paribus, place, kind) -> None:
    workload = CROSSED + TRANSFER.format(one=1, other=2) + 'rollback = "20%"\n' + TRANSFER.format(one=2, other=1)
    # PostgreSQL looks for deadlocks after this time alone.
    quick = '[database.settings]\ndeadlock_timeout = "10ms"' if kind == "postgres" else ""
    ways = '"sqlmix.prepared" = [true, false]'
    done = paribus("run", plan_on(place, kind, ways, workload, quick, trial='"300ms"', margin='"50%"'))
    assert done.code in RUN_ENDED, done.err
    assert experiment().state is ExperimentState.DONE, done.err
    assert nothing_is_left(place)
    assert not [one.failure_message for one in trials() if one.state is TrialState.FAILED]
    made = list(measured().values())
    conflicts, retries, rollbacks = (
        sum(one[f"{name}_per_s"].mean or 0 for one in made) for name in ("conflicts", "retries", "rollbacks")
    )
    assert conflicts > 0
    assert retries == pytest.approx(conflicts, rel=0.1)  # each conflict is one more attempt, and nothing else is
    assert rollbacks > 0
    assert all(one["throughput_per_s"].mean for one in made)
    metrics = {row["metric"] for row in paribus("report", "--format", "json").json["cells"]}
    assert metrics >= {"throughput_per_s", "queries_per_s", "response_p95_s"}


def test_without_transactions_a_row_that_came_back_is_a_conflict(place) -> None:
    workload = 'kind = "oltp_write_only"\ntable_size = 2\nthreads = [4]\ndata = "keep"\nskip_trx = true'
    factor = '"mysql.innodb_io_capacity" = [200, 2000]'
    running = Running("run", plan_on(place, "mariadb", factor, workload, trial='"300ms"'))
    running.wait_for("trial 5")
    running.signal(signal.SIGINT)
    assert running.end().code == 130
    assert not [one.failure_message for one in trials() if one.failure not in (None, FailureClass.INTERRUPTED)]
    assert sum(one["conflicts_per_s"].mean or 0 for one in measured().values()) > 0
    assert nothing_is_left(place)
