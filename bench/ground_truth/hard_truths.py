"""Whether verdicts are true where the truth is awkward: stalls, carry-over, a throttle that acts at high load only.

    sudo python bench/ground_truth/hard_truths.py --results bench/ground_truth/campaigns/NAME.jsonl [--only N]

The truths are those of a throttle on a real disk, as in `run.py`:

- stalls: 15 % of the trials of one setting lose 30 % for 0.7 s of 1 s. Its mean is lower by 3.2 %;
- carries-over: each trial after that setting is slowed for its first third of a second; the settings are equal;
- high load only: the throttle lies between what the disk does with one write outstanding and with eight;
- three of eight: eight settings of which three are best, within 0.1 %;
- twelve knobs: a screen of a throttle that gains 5 %, and of eleven settings of memory management that do nothing here.

An interrupted campaign continues; `--table` prints what was found.
"""

import argparse
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import campaign
from campaign import Row
from run import BASE, PLAN, TRIAL_S

_EIGHT = (5000, 4500, 4800, 5100, 5200, 5500, 5503, 5505)
_BEST = frozenset({"5500", "5503", "5505"})
_THROTTLE = "cgroup.load.writes_per_s"  # as reports call it
_HIGH = 25_000  # writes per second, between what the disk does with one outstanding and with eight
_IDLE = """
"vm.swappiness" = [60, 10]
"vm.vfs_cache_pressure" = [100, 200]
"vm.dirty" = ["20%", "15%"]
"vm.dirty_background" = ["10%", "8%"]
"vm.dirty_expire_centisecs" = [3000, 2000]
"vm.dirty_writeback_centisecs" = [500, 400]
"vm.watermark_scale_factor" = [10, 20]
"vm.page-cluster" = [3, 2]
"vm.compaction_proactiveness" = [20, 10]
"vm.zone_reclaim_mode" = [0, 1]
"vm.max_map_count" = [65530, 70000]
"""


@dataclass(frozen=True)
class Case:
    """One experiment: its number, what the truth is like, and the throttle of the compared setting as a ratio."""

    number: int
    truth: str
    ratio: float


@dataclass(frozen=True)
class Truth:
    """Truth to test for: number of experiments, throttle, the plan's factors and loads, right and false answers."""

    times: int
    ratio: float
    is_right: Callable[[Row], bool]
    is_false: Callable[[Row], bool]
    levels: Sequence[int] = (1, 2, 4, 8)
    factors: str = ""
    rounds: int = 10
    interference: str = ""


def _verdict_is(*verdicts: str) -> Callable[[Row], bool]:
    return lambda row: campaign.verdict(row) in verdicts


def _levels(row: Row) -> dict[str, str]:
    selections = row["report"]["selections"]
    return {level["arm"]: level["verdict"] for level in selections[0]["levels"]} if selections else {}


def _best_found(row: Row) -> bool:
    return {arm for arm, verdict in _levels(row).items() if verdict == "equivalent"} == _BEST


def _best_lost(row: Row) -> bool:
    levels = _levels(row)
    wrong = {arm for arm, verdict in levels.items() if verdict == "equivalent"} - _BEST
    return bool(wrong or any(levels.get(arm) == "worse" for arm in _BEST))


def _screen(row: Row) -> dict[str, str]:
    effects = row["report"]["effects"]
    return {effect["factor"]: effect["verdict"] for effect in effects if effect["load"] is None}


def _screen_is_right(row: Row) -> bool:
    return _screen(row).get(_THROTTLE) == "better" and not _screen_is_false(row)


def _screen_is_false(row: Row) -> bool:
    verdicts = _screen(row)
    idle = [verdict for factor, verdict in verdicts.items() if factor != _THROTTLE]
    claims = {"better", "worse", "depends_on_load"}
    return bool(claims.intersection(idle)) or verdicts.get(_THROTTLE) in ("worse", "equivalent")


TRUTHS = {
    "stalls": Truth(
        4, 0.0002, _verdict_is("worse", "undecided"), _verdict_is("equivalent", "better"), interference="stalls"
    ),
    "carries-over": Truth(
        5,
        0.0002,
        _verdict_is("equivalent", "undecided"),
        _verdict_is("better", "worse", "depends_on_load"),
        interference="carries-over",
    ),
    "high load only": Truth(
        5, 0.20, _verdict_is("depends_on_load"), _verdict_is("equivalent", "worse"), levels=(1, 8, 16), factors="high"
    ),
    "three of eight": Truth(4, 0.10, _best_found, _best_lost, levels=(4, 8), factors="eight"),
    "twelve knobs": Truth(2, 0.05, _screen_is_right, _screen_is_false, levels=(4, 8), factors="twelve"),
}


def cases() -> list[Case]:
    """All of them in random order, always the same."""
    chosen = [(name, truth.ratio) for name, truth in TRUTHS.items() for _ in range(truth.times)]
    random.Random(20261126).shuffle(chosen)
    return [Case(number, name, ratio) for number, (name, ratio) in enumerate(chosen, start=1)]


@contextmanager
def _interfered(how: str, compared: int, seed: int) -> Iterator[None]:
    """A process that changes the throttle during trials."""
    if not how:
        yield
        return
    script = Path(__file__).with_name("interference.py")
    beside = subprocess.Popen([sys.executable, str(script), how, str(compared), str(seed)])
    try:
        yield
    finally:
        beside.kill()
        beside.wait()


def experiment(case: Case, folder: Path) -> Row:
    """Carry it out as a user would, and read the report."""
    truth = TRUTHS[case.truth]
    base = _HIGH if truth.factors == "high" else BASE
    other = round(base * (1 + case.ratio))
    plan = PLAN.format(
        path=folder, base=base, other=other, levels=list(truth.levels), trial=TRIAL_S, margin=0.02, seed=case.number
    )
    throttle = f'"cgroup.writes_per_s" = [{base}, {other}]\n'
    if truth.factors == "eight":
        plan = plan.replace(throttle, f'"cgroup.writes_per_s" = {list(_EIGHT)}\n')
    if truth.factors == "twelve":
        plan = plan.replace(throttle, throttle + _IDLE)
        plan = plan.replace("rounds = 10\n", 'budget = "10min"\n')
    if truth.interference == "stalls":
        plan += "in_flight = false\n"
    with _interfered(truth.interference, other, case.number):
        return campaign.run(plan, folder, whole_report=True)


def table(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    head = ["truth", "experiments", "right", "false", "verdicts", "minutes"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for name, truth in TRUTHS.items():
        of_truth = [row for row in rows if row["truth"] == name]
        if of_truth:
            verdicts = Counter(campaign.verdict(row) for row in of_truth) if truth.factors in ("", "high") else {}
            words = ", ".join(f"{verdict.replace('_', ' ')} {n}" for verdict, n in verdicts.items())
            right, false = sum(map(truth.is_right, of_truth)), sum(map(truth.is_false, of_truth))
            minutes = sum(row["seconds"] for row in of_truth) / 60
            lines.append(f"| {name} | {len(of_truth)} | {right} | {false} | {words} | {minutes:.1f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out what is left of a campaign, then print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="where the campaign's results are kept")
    parser.add_argument("--only", type=int, help="so many of the cases")
    parser.add_argument("--truth", choices=TRUTHS, help="cases of this truth only")
    parser.add_argument("--table", action="store_true", help="only print the table")
    options = parser.parse_args(arguments)
    if not options.table:
        chosen = [case for case in cases() if options.truth in (None, case.truth)]
        campaign.complete(options.results, chosen[: options.only], experiment)
    rows = campaign.read(options.results)
    print(table(rows))
    return int(any(TRUTHS[row["truth"]].is_false(row) for row in rows))


if __name__ == "__main__":
    sys.exit(main())
