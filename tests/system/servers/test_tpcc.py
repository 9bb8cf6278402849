"""TPC-C through a plan: on a file and on servers, consistent also after a server was killed under it."""

import math
from collections import defaultdict
from pathlib import Path

import pytest
from command import Running, run_paribus
from served import nothing_is_left, plan_on, trials, trials_with

from paribus.model import Measurement

TPCC = 'kind = "tpcc"\nwarehouses = 1\nthreads = [4]\nverify = true'
UNSAFE = {
    "mariadb": ("mysql.innodb_flush_log_at_trx_commit", "1", "0"),
    "postgres": ("postgres.synchronous_commit", "on", "off"),
}
TRIAL_S = 0.15
KILLED = '[[event]]\nat = "1s"\ndo = "kill-server"\n[[workload]]'


@pytest.mark.gate
def test_tpcc_counts_new_orders_and_the_report_has_its_mix(place: Path) -> None:
    workload = f'{TPCC}\nresponse = ["new_orders_per_s"]'
    path = plan_on(place, "sqlite", '"sqlite.cache_size" = [-2000, -8000]', workload)
    checked = run_paribus("check", path)
    assert "117 MB" in checked.out or "112 MiB" in checked.out, checked.out
    ended: dict[int, dict[str, Measurement]] = {}
    while not _both_levels(ended):  # another load on this machine may void many trials
        ended = trials_with(Running("run", path), "new_orders_per_s", _both_levels)
    driven = ended.values()
    answer = run_paribus("report", "last", "--format", "json").json
    arms = answer["tpcc"]
    assert {arm["arm"] for arm in arms} == {"-2000", "-8000"}
    assert all(arm["new_orders_per_minute"]["value"] > 0 for arm in arms)
    everything, new_orders = (
        TRIAL_S * sum(values[metric].mean for values in driven) for metric in ("throughput_per_s", "new_orders_per_s")
    )
    luck = 5 * math.sqrt(0.25 / everything)  # trials are short, so that few decks are dealt to their end
    assert new_orders / everything == pytest.approx(0.45, abs=luck)
    assert {effect["response"] for effect in answer["effects"]} <= {"new_orders_per_s"}
    assert all(values["verified_blocks"].mean == 12 for values in driven)
    assert "Transactions of TPC-C" in run_paribus("report", "last").out


def _both_levels(ended: dict[int, dict[str, Measurement]]) -> bool:
    """Tell whether a trial of each level has ended and is valid: the report is made of those."""
    used = [trial for trial in trials() if trial.order in ended and not trial.invalid_because] if ended else []
    return len({str(trial.settings["sqlite.cache_size"]) for trial in used}) == 2


@pytest.mark.gate
@pytest.mark.parametrize("kind", sorted(UNSAFE))
def test_tpcc_is_driven_and_verified_on_servers(place: Path, kind: str) -> None:
    name, *levels = UNSAFE[kind]
    running = Running("run", plan_on(place, kind, f'"{name}" = ["{levels[0]}", "{levels[1]}"]', TPCC, trial='"1s"'))
    ended = trials_with(running, "verified_blocks", lambda ended: len(ended) >= 2)
    assert all(values["verified_blocks"].mean == 12 for values in ended.values())
    assert nothing_is_left(place)


@pytest.mark.parametrize(
    ("kind", "tables"),
    [
        ("mariadb", "foreign_keys = true\nprepared = true"),
        ("mariadb", "partitions = 2\nprepared = false"),
        ("postgres", "foreign_keys = true\npartitions = 2\nprepared = false"),
    ],
    ids=["mariadb, keys", "mariadb, partitions", "postgres, both"],
)
def test_a_killed_server_leaves_it_consistent_and_loses_what_an_unsafe_setting_lets_it(
    place: Path, kind: str, tables: str
) -> None:
    name, safe, unsafe = UNSAFE[kind]
    workload = f'{TPCC}\nhome = "fixed"\n{tables}'
    path = Path(plan_on(place, kind, f'"{name}" = ["{safe}", "{unsafe}"]', workload, trial='"4s"'))
    path.write_text(path.read_text(encoding="utf-8").replace("[[workload]]", KILLED), encoding="utf-8")

    def lost(ended: dict[int, dict[str, Measurement]]) -> dict[str, float]:
        """The New-Orders that were lost at each level."""
        by_level: dict[str, float] = defaultdict(float)
        for trial in trials():
            if trial.order in ended:
                by_level[str(trial.settings[name])] += ended[trial.order]["lost_new_orders"].mean
        return by_level

    running = Running("run", str(path))
    ended = trials_with(running, "verified_blocks", lambda ended: safe in lost(ended) and lost(ended)[unsafe] > 0)
    killed = {order: values for order, values in ended.items() if "outage_s" in values}
    assert killed, [trial.failure_message or trial.invalid_because for trial in trials()]
    seen = {order: (values["verified_blocks"].mean, values["reconnects"].mean) for order, values in killed.items()}
    assert all(verified == 12 and reconnects >= 1 for verified, reconnects in seen.values()), seen
    assert lost(ended)[safe] == 0
    assert lost(ended)[unsafe] > 0
    assert nothing_is_left(place)


def test_impossible_plans_are_refused(place: Path) -> None:
    keys = plan_on(place, "sqlite", '"sqlite.cache_size" = [-2000, -8000]', f"{TPCC}\nforeign_keys = true")
    assert "foreign_keys" in run_paribus("check", keys).err
    mix = plan_on(place, "sqlite", '"sqlite.cache_size" = [-2000, -8000]', f"{TPCC}\nmix = [0, 0, 0, 0, 0]")
    assert "mix has no card" in run_paribus("check", mix).err
    path = Path(plan_on(place, "sqlite", '"sqlite.cache_size" = [-2000, -8000]'))
    path.write_text(path.read_text(encoding="utf-8") + 'response = "new_orders_per_s"\n', encoding="utf-8")
    assert "is measured under TPC-C" in run_paribus("check", str(path)).err
