"""Claims of authors held against tables of single runs: how often numbers of chance support, or contradict, them.

A table has a factor of two levels under some load levels. Each cell differs by noise of its own. All cells of a level
share a shift too, as runs of one afternoon do. The product's own code reads the table and judges.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from experiments import Observation, count, share_of

from paribus.analysis.imported.claims import ImportedSet, judge_claims
from paribus.analysis.imported.judgement import judge_set
from paribus.model import (
    DIRECTIONAL,
    Claim,
    Factor,
    Measurement,
    Plan,
    Protocol,
    Purpose,
    Standing,
    Target,
    Trial,
    TrialState,
    Workload,
)
from paribus.units import LoadLevel

_RESPONSE = "throughput_per_s"
_BETTER = Claim(id="1", factor="f0", claim="better", statement="", better_level="on")
_EQUAL = replace(_BETTER, claim="no_difference", better_level="", levels=("off", "on"))
_RATIO = replace(_BETTER, claim="ratio", magnitude="130%")
_SHOWN = (Standing.SUPPORTED, Standing.CONTRADICTED)


@dataclass(frozen=True)
class Table:
    """A table: load levels, noise of a cell, shift of a level, and the effect of the first factor.

    `factors` each have a table of their own; `repeated` so many runs of each cell.
    """

    cells: int
    noise: float
    shift: float
    effect: float = 0.0
    factors: int = 1
    repeated: int = 1


def _drawn(table: Table, rng: np.random.Generator) -> ImportedSet:
    """The table as an imported set."""
    trials: list[Trial] = []
    summaries: dict[int, dict[str, Measurement]] = {}
    for number in range(table.factors):
        of_cells = rng.uniform(-1, 1, table.cells)
        for level in ("off", "on"):
            for _ in range(table.repeated):
                shift = rng.normal(0, table.shift) + (table.effect if level == "on" and number == 0 else 0.0)
                for cell in range(table.cells):
                    order = len(trials) + 1
                    trials.append(_trial(order, f"f{number}", level, 2**cell))
                    figure = float(1000 * np.exp(of_cells[cell] + shift + rng.normal(0, table.noise)))
                    measured = Measurement.of_value(_RESPONSE, "1/s", figure, "measure", "imported")
                    summaries[order] = {_RESPONSE: measured}
    names = [f"f{number}" for number in range(table.factors)]
    levels = ("off", "on")
    workload = Workload(
        name="w", kind="imported", parameters={}, load_levels=tuple(2**cell for cell in range(table.cells)),
        response=_RESPONSE, data="keep", cache="warm",
    )  # fmt: skip
    plan = Plan(
        name="n", question="", target=Target(address="imported", path="", device=None), hold={}, baseline={},
        factors=tuple(Factor(key=name, levels=levels, labels=levels, scope=("w",)) for name in names),
        combinations=(), workloads=(workload,), digest="", text="",
        protocol=Protocol(trial_s=0, settle_s=0, budget_s=0, confidence=0.95, seed=0, margins={}, rounds=None),
    )  # fmt: skip
    return ImportedSet(plan, trials, summaries, {trial.order: "T1.csv" for trial in trials})


def _trial(order: int, factor: str, level: str, load: int) -> Trial:
    return Trial(
        experiment="e", order=order, round=1, block=order, position=1, application=1, attempt=1, factor=factor,
        arm=level, baseline=level == "off", purpose=Purpose.COMPARE, settings={factor: level}, workload="w",
        load=LoadLevel(load), state=TrialState.DONE,
    )  # fmt: skip


def _standings(n: int, seed: tuple[int, ...], table: Table, claim: Claim = _BETTER) -> dict[str, object]:
    def standing(rng: np.random.Generator) -> str:
        return str(judge_claims([claim], [_drawn(table, rng)])[0].standing)

    return count(n, seed, standing)  # type: ignore[return-value]


def _verdict(table: ImportedSet) -> str:
    plan = table.plan
    judged = judge_set(
        table.trials,
        table.summaries,
        plan.workloads,
        plan.protocol,
        plan.factors,
        courses={},
        options={},
        conditions={},
    )
    return str(judged.effects[0].verdict)


def claims(n: int, seed: int) -> Iterator[Observation]:
    """Observe claims on tables without and with an effect."""
    tables = [
        Table(cells, noise, shift)
        for cells in (6, 10, 14)
        for noise, shift in ((0.01, 0.05), (0.08, 0.0), (0.08, 0.05))
    ]
    for which, table in enumerate(tables):
        outcomes = _standings(n, (seed, 37, which), table)
        name = f"no effect, {table.cells} cells, noise {table.noise:.0%}, shift {table.shift:.0%}"
        yield Observation(f"{name}: supported", share_of(outcomes, (Standing.SUPPORTED,), n), high=0.05)
        yield Observation(f"{name}: contradicted", share_of(outcomes, (Standing.CONTRADICTED,), n), high=0.05)
    for which, shift in enumerate((0.01, 0.03, 0.08)):
        of_set = Table(10, 0.03, shift, factors=12)
        outcomes = _standings(n, (seed, 37, 20 + which), of_set)
        yield Observation(
            f"no effect, 12 factors of a set, shift {shift:.0%}: supported",
            share_of(outcomes, (Standing.SUPPORTED,), n),
            high=0.05,
        )
    repeated = Table(10, 0.03, 0.03, repeated=3)
    outcomes = _standings(n, (seed, 37, 30), repeated)
    yield Observation("no effect, 3 runs of each: supported", share_of(outcomes, (Standing.SUPPORTED,), n), high=0.05)
    verdicts = count(n, (seed, 37, 31), lambda rng: _verdict(_drawn(repeated, rng)))
    yield Observation("no effect, 3 runs of each: better or worse", share_of(verdicts, DIRECTIONAL, n), high=0.05)
    for which, (effect, high) in enumerate(((0.05, 0.05), (0.10, 0.05))):
        outcomes = _standings(n, (seed, 37, 40 + which), Table(10, 0.03, 0.01, effect, repeated=3), _EQUAL)
        yield Observation(
            f"+{effect:.0%}, 3 runs of each: no difference supported",
            share_of(outcomes, (Standing.SUPPORTED,), n),
            high=high,
        )
    outcomes = _standings(n, (seed, 37, 50), Table(10, 0.03, 0.05), _RATIO)
    yield Observation("no effect: a ratio of 1.3 supported", share_of(outcomes, (Standing.SUPPORTED,), n), high=0.05)
    for which, effect in enumerate((0.2, 0.35)):
        outcomes = _standings(n, (seed, 37, 60 + which), Table(10, 0.05, 0.03, effect))
        yield Observation(
            f"+{np.expm1(effect):.0%}, single runs: supported", share_of(outcomes, (Standing.SUPPORTED,), n), low=0.5
        )
