"""Factors whose settings may leave something behind for the next trial, such as dirty pages or a cold cache."""

from collections.abc import Iterator

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.catalog import Catalogue
from paribus.mechanisms import MECHANISMS
from paribus.model import Plan
from paribus.plan.schedule.comparisons import adjusts_for_carry_over, candidates, comparisons


def washed_out(plan: Plan, catalogue: Catalogue) -> tuple[str, ...]:
    """Returns the factors, or the name of the combinations, whose carry-over is washed out.

    Where the plan does not say, these are all but the factors whose knobs act through mechanisms that leave nothing.
    """
    always = plan.protocol.washes_out
    if always is False:
        return ()
    chosen = [comparison for comparison in candidates(plan) if always or _may_leave(comparison.tested, catalogue)]
    return tuple(dict.fromkeys(comparison.factor for comparison in chosen))


def wash_out_notes(plan: Plan) -> Iterator[StoredMessage]:
    """Yields a note for each comparison of more than two settings where the plan says how long to wash out."""
    for comparison in comparisons(plan) if plan.protocol.wash_s is not None else ():
        if adjusts_for_carry_over(comparison, plan):
            yield stored_message(
                N_(
                    "wash_out is not used for {factor}: with more than two levels the effect is adjusted for what one "
                    "trial leaves to the next; if that lasts longer, set settle to the time that it lasts"
                ),
                factor=comparison.factor,
            )


def segment_notes(plan: Plan) -> Iterator[StoredMessage]:
    """Yields a note if a plan asks for segments and none of its settings can be toggled."""
    if (
        plan.protocol.segment_chosen
        and plan.protocol.segment_s is not None
        and not any(comparison.toggled for comparison in comparisons(plan))
    ):
        yield stored_message(
            N_(
                "segment is not used: no setting of this plan takes effect at once under a load of Paribus and leaves "
                "nothing behind; wash_out = false states that settings leave nothing behind"
            )
        )


def _may_leave(keys: tuple[str, ...], catalogue: Catalogue) -> bool:
    """Returns whether these settings may leave something behind; parameters of workloads and unknown knobs may."""
    knobs = [catalogue.find(key) for key in keys]
    return not all(
        knob is not None and knob.needs and not any(MECHANISMS[name].leaves_state for name in knob.needs)
        for knob in knobs
    )
