"""Machine time of an experiment by the product's own planner: settle runs, wash-out and all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from paribus import workloads
from paribus.model import Factor, Knob, Plan, Protocol, Target, Workload
from paribus.plan.schedule.budget import (
    alone_within,
    block_s,
    settle_runs_s,
    with_settle_runs,
)
from paribus.plan.schedule.comparisons import comparisons
from paribus.plan.schedule.screened_alone import confirming, each_alone

BUDGET_S = 24 * 3600.0
CLIENT_S = 3.0  # to start a load's client, more than the product's own load takes
assert workloads  # imported so that the kinds register themselves
_WORKLOAD = "fileio"


@dataclass(frozen=True)
class Cost:
    """The seconds of the parts of an experiment.

    Attributes:
        pair_s: Seconds of a pair of a comparison, or of the screen.
        confirmed_block_s: Seconds of a block that confirms factors of a screen beside one baseline, by their number.
        is_shared: Whether the confirmed factors share a baseline; else each has blocks of its own.
        first_s: Settle runs, of the first experiment of a week on a machine.
        alone_s: Seconds to try alone what a screen finds equivalent, by the number of such factors.
    """

    pair_s: float
    confirmed_block_s: tuple[float, ...]
    is_shared: bool
    first_s: float
    alone_s: tuple[float, ...] = (0.0,)

    def confirming_s(self, pairs: Sequence[int]) -> float:
        """Return the seconds of the confirmation of factors that take so many pairs each."""
        if not self.is_shared:
            return sum(pairs) * self.confirmed_block_s[1]
        return sum(self.confirmed_block_s[sum(n > block for n in pairs)] for block in range(max(pairs, default=0)))


def cost(
    knobs: int, levels: int, trial_s: float, margin: float, *, in_flight: bool, segment_s: float | None = None
) -> Cost:
    """Return what the product plans for so many knobs of two levels.

    Args:
        knobs: One, or as many as are screened together.
        levels: Load levels.
        trial_s: Measured seconds of a trial.
        margin: Equivalence margin, log ratio.
        in_flight: Whether settings change while the load continues.
        segment_s: Measured seconds of a segment where settings are toggled.
    """
    plan = with_settle_runs(plan_of(knobs, levels, trial_s, margin, in_flight=in_flight, segment_s=segment_s))
    known = replace(plan, protocol=replace(plan.protocol, settle_runs=0))
    (comparison,) = comparisons(known)
    keys = [(factor.key, _WORKLOAD) for factor in known.factors]
    loads = 1 if in_flight else 2
    confirmed = [confirming(known, keys[:count])[0] for count in range(1, knobs + 1)]
    return Cost(
        pair_s=block_s(comparison, known) + loads * CLIENT_S,
        confirmed_block_s=(0.0, *(block_s(together, known) + loads * CLIENT_S for together in confirmed)),
        is_shared=len(confirmed[-1].tested) > 1,
        first_s=settle_runs_s(plan),
        alone_s=(0.0, *(_alone_s(known, count, loads) for count in range(1, knobs + 1))) if knobs > 1 else (0.0,),
    )


def _alone_s(plan: Plan, count: int, loads: int) -> float:
    keys = [(factor.key, _WORKLOAD) for factor in plan.factors[:count]]
    (comparison,) = each_alone(plan, keys)
    _, rounds = alone_within(plan, keys, ())
    clients = 1 if loads == 1 else count + 1
    return rounds * comparison.blocks_per_round * (block_s(comparison, plan) + clients * CLIENT_S)


def plan_of(
    knobs: int,
    levels: int,
    trial_s: float,
    margin: float,
    *,
    in_flight: bool,
    segment_s: float | None,
    settings: int = 2,
) -> Plan:
    """Return a plan of knobs with so many settings each, named 0, 1 and so on; arguments as those of `cost`."""
    values = tuple(range(settings))
    keys = [f"vm.knob_{number}" for number in range(knobs)]
    workload = Workload(
        name=_WORKLOAD,
        kind="fileio",
        parameters={},
        load_levels=tuple(range(1, levels + 1)),
        response="throughput_per_s",
        data="keep",
        cache="warm",
    )
    return Plan(
        name="cost",
        question="",
        target=Target(address="local", path="/", device=None),
        hold={},
        baseline=dict.fromkeys(keys, 0),
        factors=tuple(
            Factor(key=key, levels=values, labels=tuple(map(str, values)), scope=(_WORKLOAD,)) for key in keys
        ),
        combinations=(),
        workloads=(workload,),
        protocol=Protocol(
            trial_s=trial_s,
            settle_s=min(trial_s / 2, 30.0),
            takeoff_s=min(trial_s / 3, 20.0),
            toggle_s=min(trial_s / 5, 12.0),
            budget_s=BUDGET_S,
            confidence=0.95,
            seed=1,
            margins={"throughput_per_s": margin},
            rounds=None,
            placebo=False,
            settled="usual",
            in_flight=in_flight,
            washed_out=() if segment_s else tuple(keys),
            segment_s=segment_s,
        ),
        digest="",
        text="",
        knobs=tuple(
            Knob(name=key, kind="sysfs", addresses=(), type="integer", summary="", documentation="") for key in keys
        ),
    )
