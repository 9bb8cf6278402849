"""Simulation of a plan, and the document of `paribus simulate`."""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from paribus.errors import UsageError
from paribus.experiment.simulation import simulate
from paribus.lab.machine.connection import Report, discard
from paribus.lab.machine.inspection import checked, site_of
from paribus.lab.results.prior_runs import with_prior_runs
from paribus.model import Facts, Plan, Verdict
from paribus.plan.form.parse import parse, read_file
from paribus.plan.protocol import with_usual_margin
from paribus.plan.schedule.budget import extent
from paribus.stats.generator import Noise
from paribus.units import parse_share

_USUAL_NOISE = 0.02


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SimulatedArm(_Document):
    """Number of simulations with each verdict on one arm."""

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
class SimulatedEffect:
    """The true effect as a log ratio, and the noise where it is given."""

    effect: float
    noise: float | None


def simulated_effect(effect: str, noise: str | None) -> SimulatedEffect:
    """The effect and noise of the options. Raises UsageError."""
    try:
        sign = -1 if effect.strip().startswith(("-", "−")) else 1
        ratio = 1 + sign * parse_share(effect.strip().lstrip("+-−"))
        noise_share = None if noise is None else parse_share(noise)
    except ValueError as error:
        raise UsageError(str(error), "write for example --effect -3% --noise 2%") from error
    if ratio <= 0 or (noise_share is not None and not 0 < noise_share < 1):
        raise UsageError(
            f"effect {effect} or noise {noise or 'unset'} is out of range: "
            "an effect is above -100 %, a noise between 0 and 100 %",
            "write for example --effect -3% --noise 2%",
        )
    return SimulatedEffect(math.log(ratio), noise_share)


def simulate_plan(
    plan_file: str,
    overrides: Mapping[str, str],
    effect: SimulatedEffect,
    times: int,
    seed: int,
    store: str | None,
    *,
    advance: Callable[[], object] = lambda: None,
    report: Report = discard,
) -> SimulateDocument:
    """Check a plan file against its machine and simulate it. Raises as `checked` and `document`."""
    parsed = parse(plan_file, read_file(plan_file), dict(overrides))
    with site_of(parsed, report) as site:
        plan, facts = checked(site, parsed)
    return document(plan, facts, effect, times, seed, store, advance)


def document(
    plan: Plan,
    facts: Facts,
    true_effect: SimulatedEffect,
    times: int,
    seed: int,
    store: str | None,
    advance: Callable[[], object] = lambda: None,
) -> SimulateDocument:
    """Simulate, and call `advance` after each experiment.

    Raises PlanError where the budget is too small, UsageError for `times` below 1 or `seed` below 0.
    """
    if times < 1:
        raise UsageError(f"times is {times}, so no experiment would be simulated", "simulate at least 1 experiment")
    if seed < 0:
        raise UsageError(f"the seed {seed} is below 0", "give a seed of 0 or more")
    plan, measured_pair_sds = with_prior_runs(plan, facts, store)
    known_pair_sds = {} if true_effect.noise is not None else measured_pair_sds
    if known_pair_sds:
        noise = Noise(between_sd=statistics.median(known_pair_sds.values()) / math.sqrt(2), within_sd=0.0)
    else:
        noise = Noise(between_sd=true_effect.noise or _USUAL_NOISE, trial_s=plan.protocol.trial_s)
    pair_sds = known_pair_sds or {workload.name: noise.pair_sd for workload in plan.workloads}
    plan = with_usual_margin(plan, pair_sds.values())
    rounds = extent(plan, pair_sds).rounds
    result = simulate(plan, rounds, noise, true_effect.effect, times, seed, lambda _count: advance())
    return SimulateDocument(
        plan=plan.name,
        times=times,
        seed=seed,
        effect=math.expm1(true_effect.effect),
        noise=noise.between_sd,
        noise_is_known=bool(known_pair_sds),
        rounds=rounds,
        duration_s=result.duration_s,
        planned_s=result.planned_s,
        claims=result.claims,
        arms=[
            SimulatedArm(
                factor=outcome.factor,
                arm=outcome.arm,
                workload=outcome.workload,
                response=outcome.response,
                verdicts=dict(outcome.verdicts),
                covered=outcome.covered,
                pairs=outcome.pairs,
                planned_pairs=outcome.planned,
            )
            for outcome in result.outcomes
        ],
    )
