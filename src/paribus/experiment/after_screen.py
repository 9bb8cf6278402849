"""Trials after a screen: its claims are confirmed alone, and what it calls equivalent is tried alone once.

A factor that is equivalent in a screen is so on average over the settings of the other factors. Alone it may act.
Called by the walk between blocks.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy.engine import Engine as Store

from paribus.analysis.screening.screen import equivalents, survivors
from paribus.experiment import noise
from paribus.experiment.interim_analysis import after_screens, is_over
from paribus.i18n import N_, StoredMessage, stored_message
from paribus.model import Experiment, Look, Plan, Purpose, Trial
from paribus.plan.schedule.budget import alone_within, confirmed_within
from paribus.plan.schedule.comparisons import comparisons
from paribus.plan.schedule.design import confirmation, schedule_hash, trials_alone
from paribus.plan.schedule.screened_alone import each_alone
from paribus.store import read, write


def follow_screens(plan: Plan, experiment: Experiment, store: Store, trials: Sequence[Trial]) -> StoredMessage | None:
    """Plan the trials that follow the screens, once these are over; a message about them, or None.

    Idempotent. Raises StoreError.
    """
    if not any(comparison.screened for comparison in comparisons(plan)):
        return None
    looks = read.looks(store, experiment.id)
    added, message = following(plan, trials, looks, noise.known_pair_sds(store, plan, experiment.fingerprint))
    if message:
        write.add_note(store, experiment.id, message)
    if added:
        write.add_trials(store, experiment.id, added, schedule_hash([*trials, *added]))
    return message


def following(
    plan: Plan, trials: Sequence[Trial], looks: Sequence[Look], pair_sds: Mapping[str, float]
) -> tuple[tuple[Trial, ...], StoredMessage | None]:
    """The trials that follow now, and a message about them; none while a screen or what followed it is underway."""
    planned = {trial.purpose for trial in trials}
    screens = [comparison for comparison in comparisons(plan) if comparison.screened]
    if Purpose.ALONE in planned or not all(is_over(each, trials) for each in (*screens, *after_screens(plan, trials))):
        return (), None
    claims = survivors(looks)
    if claims and Purpose.CONFIRM not in planned:
        return _confirming(plan, trials, claims, pair_sds)
    return _alone(plan, trials, equivalents(looks))


def _confirming(
    plan: Plan, trials: Sequence[Trial], claims: Sequence[tuple[str, str]], pair_sds: Mapping[str, float]
) -> tuple[tuple[Trial, ...], StoredMessage]:
    affordable, rounds = confirmed_within(plan, pair_sds, claims, trials)
    added = confirmation(plan, affordable, rounds, trials) if affordable else ()
    text = N_("the screen shows an effect of {factors}: tested separately from here on")
    tried = stored_message(text, factors=_names(affordable))
    if len(affordable) == len(claims):
        return added, tried
    text = N_("the budget is too small to confirm the screened effects of {factors}")
    unaffordable = stored_message(text, factors=_names([claim for claim in claims if claim not in affordable]))
    return added, stored_message("{tried}; {left}", tried=tried, left=unaffordable) if affordable else unaffordable


def _alone(
    plan: Plan, trials: Sequence[Trial], keys: Sequence[tuple[str, str]]
) -> tuple[tuple[Trial, ...], StoredMessage | None]:
    """The fewest pairs that can be judged, of as many factors as the budget holds."""
    affordable, rounds = alone_within(plan, keys, trials)
    if not affordable:
        return (), None
    tried = {key for comparison in each_alone(plan, affordable) for key in comparison.tested}
    text = N_("equivalent on average in the screen, and tried alone from here on: {factors}")
    return trials_alone(plan, affordable, rounds, trials), stored_message(text, factors=sorted(tried))


def _names(keys: Sequence[tuple[str, str]]) -> list[str]:
    return sorted({factor for factor, _ in keys})
