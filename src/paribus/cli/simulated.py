"""The answer of `paribus simulate`, as one document and as text."""

import math
import statistics
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from paribus.cli.prior_runs import informed
from paribus.errors import UsageError
from paribus.experiment.simulation import simulate
from paribus.model import Facts, Plan, Verdict
from paribus.plan.budget import extent
from paribus.plan.protocol import with_usual_margin
from paribus.stats.generator import Noise
from paribus.units import parse_share, show_duration, show_percent

_USUAL_NOISE = 0.02


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SimulatedArm(_Document):
    """How often each verdict was given on one arm."""

    factor: str
    arm: str
    workload: str
    response: str
    verdicts: dict[Verdict, int]
    covered: int = Field(description="how often the interval held the true effect")
    pairs: float = Field(description="on average, when it was decided")
    planned_pairs: int


class SimulateDocument(_Document):
    """The answer of `paribus simulate --json`; effect, noise and margins are ratios."""

    plan: str
    times: int
    seed: int
    effect: float
    noise: float
    noise_is_known: bool
    rounds: int
    duration_s: float = Field(description="of one experiment, on average")
    planned_s: float
    claims: int = Field(description="in how many of them any arm was called better, worse or dependent on load")
    arms: list[SimulatedArm]


@dataclass(frozen=True, slots=True)
class Asked:
    """The true effect as a log ratio, and the noise where it is given."""

    effect: float
    noise: float | None


def asked(effect: str, noise: str | None) -> Asked:
    """What the options ask for. Raises UsageError."""
    try:
        sign = -1 if effect.strip().startswith(("-", "−")) else 1
        ratio = 1 + sign * parse_share(effect.strip().lstrip("+-−"))
        known = None if noise is None else parse_share(noise)
    except ValueError as error:
        raise UsageError(str(error), "write for example --effect -3% --noise 2%") from error
    if ratio <= 0 or (known is not None and not 0 < known < 1):
        raise UsageError(
            "an effect is above -100 %, a noise between 0 and 100 %", "for example --effect -3% --noise 2%"
        )
    return Asked(math.log(ratio), known)


def document(
    plan: Plan, facts: Facts, wanted: Asked, times: int, seed: int, store: str | None, console: Console
) -> SimulateDocument:
    """Simulate, with a bar on the console. Raises PlanError where the budget is too small."""
    plan, seen = informed(plan, facts, store)
    known = {} if wanted.noise is not None else seen
    if known:
        noise = Noise(between_sd=statistics.median(known.values()) / math.sqrt(2), within_sd=0.0)
    else:
        noise = Noise(between_sd=wanted.noise or _USUAL_NOISE, trial_s=plan.protocol.trial_s)
    pair_sds = known or {workload.name: noise.pair_sd for workload in plan.workloads}
    plan = with_usual_margin(plan, pair_sds.values())
    rounds = extent(plan, pair_sds).rounds
    bar = iter(track(range(times), "simulating", console=console, transient=True))
    found = simulate(plan, rounds, noise, wanted.effect, times, seed, lambda _made: next(bar, None))
    return SimulateDocument(
        plan=plan.name,
        times=times,
        seed=seed,
        effect=math.expm1(wanted.effect),
        noise=noise.between_sd,
        noise_is_known=bool(known),
        rounds=rounds,
        duration_s=found.duration_s,
        planned_s=found.planned_s,
        claims=found.claims,
        arms=[
            SimulatedArm(
                factor=one.factor,
                arm=one.arm,
                workload=one.workload,
                response=one.response,
                verdicts=dict(one.verdicts),
                covered=one.covered,
                pairs=one.pairs,
                planned_pairs=one.planned,
            )
            for one in found.outcomes
        ],
    )


def show(found: SimulateDocument, console: Console) -> None:
    """Print the document for a person."""
    known = "as measured on this machine" if found.noise_is_known else "from trial to trial"
    effect = show_percent(math.log1p(found.effect)) if found.effect else "no effect"
    console.print(Text(found.plan, "bold") + Text(f": {found.times} simulated experiments of {found.rounds} rounds"))
    console.print(f"true: {effect}; noise {found.noise:.1%} {known}, drift up to 10 %\n", markup=False)
    table = Table(box=None, pad_edge=False)
    words = [v for v in Verdict if any(v in one.verdicts for one in found.arms)]
    for title in ("factor = level", "workload", *(str(word).replace("_", " ") for word in words), "pairs"):
        table.add_column(title, justify="left" if title in ("factor = level", "workload") else "right")
    for one in found.arms:
        shares = [f"{one.verdicts.get(word, 0) / found.times:.1%}" for word in words]
        pairs = f"{one.pairs:.0f} of {one.planned_pairs}"
        table.add_row(Text(f"{one.factor} = {one.arm}"), Text(one.workload), *shares, pairs)
    console.print(table)
    what = "a false claim" if found.effect == 0 else "a claim"
    console.print(f"\n{what} in {found.claims / found.times:.1%} of the experiments", markup=False)
    shown = f"{show_duration(found.duration_s)} on average, of {show_duration(found.planned_s)} planned"
    console.print(f"each takes {shown}", markup=False)
