"""Mechanisms that a plan's arms need in order to act, and notes on those that its plan or machine excludes."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.catalog import Catalogue
from paribus.mechanisms import FREE_BLOCKS, MECHANISMS, Case, Least, Mechanism, Obstacle, has_least, least_message
from paribus.model import LAYOUT, Facts, Knob, Plan, Requirement, Settings, Workload
from paribus.plan.checks.layouts import differ_in_free_share, disk_bytes
from paribus.plan.schedule.comparisons import Comparison, PlannedArm, candidates, screened

_EXCLUDED = N_("{knob} cannot act under {workload}: it needs {mechanism}, and {fact}; {remedy}, or remove {knob}")
_UNLIKELY = N_("{knob} can hardly act under {workload}: it needs {mechanism}, and {fact}; {remedy}, or remove {knob}")
_LEAST = N_("under {workload} {need}")
_LENGTHENED = N_("under {workload} {need}; trials become that long if the budget holds them")
_Subject = tuple[str, str]  # knob and workload


def requirements_of(
    plan: Plan, catalogue: Catalogue, facts: Facts
) -> tuple[tuple[Requirement, ...], list[StoredMessage]]:
    """Returns what every compared arm needs in order to act, and a note on each need that is not met."""
    requirements: list[Requirement] = []
    certain: dict[_Subject, dict[str, StoredMessage]] = defaultdict(dict)
    others: dict[_Subject, dict[str, StoredMessage]] = defaultdict(dict)
    for comparison in candidates(plan):
        for knob, arm, mechanism in _needs(comparison, catalogue):
            requirement, obstacle = _requirement(plan, comparison, arm, knob, mechanism, facts)
            requirements.append(requirement)
            subject = (knob.name, comparison.workload.name)
            if obstacle is not None:
                notes = certain if obstacle.certain else others
                notes[subject].setdefault(mechanism.name, _note(knob, comparison.workload, mechanism, obstacle))
            elif has_least(requirement):
                message = _LENGTHENED if plan.protocol.learns_trial_length else _LEAST
                note = stored_message(message, workload=requirement.workload, need=least_message(requirement))
                others[subject].setdefault(mechanism.name, note)
    noted = dict.fromkeys((need.knob, need.workload) for need in requirements)
    return tuple(requirements), [note for subject in noted for note in (certain[subject] or others[subject]).values()]


def _needs(comparison: Comparison, catalogue: Catalogue) -> Iterator[tuple[Knob, PlannedArm, Mechanism]]:
    """Yields each mechanism of each knob that an arm changes; nothing for an arm with a change of unknown needs."""
    baseline, *arms = comparison.arms
    for arm in arms:
        changed = [key for key in comparison.tested if arm.settings.get(key) != baseline.settings.get(key)]
        knobs = [catalogue.find(key) for key in changed]
        needs = [(knob, _names(knob, baseline.settings, arm.settings)) for knob in knobs if knob is not None]
        if len(needs) == len(changed) and all(names for _, names in needs):
            yield from ((knob, arm, MECHANISMS[name]) for knob, names in needs for name in names)


def _names(knob: Knob, baseline: Settings, other: Settings) -> Sequence[str]:
    """Returns the mechanisms of a knob; of layouts only where they differ in the share of the disks that stays free."""
    if knob.name != LAYOUT:
        return knob.needs
    differs = differ_in_free_share(str(baseline.get(LAYOUT)), str(other.get(LAYOUT)))
    return [FREE_BLOCKS.name] if differs else []


def _requirement(
    plan: Plan, comparison: Comparison, arm: PlannedArm, knob: Knob, mechanism: Mechanism, facts: Facts
) -> tuple[Requirement, Obstacle | None]:
    levels = tuple(chosen.settings[knob.name] for chosen in (comparison.arms[0], arm) if knob.name in chosen.settings)
    cases = [
        Case(
            knob=knob,
            levels=levels,
            workload=comparison.workload,
            settings=settings,
            facts=facts,
            disk_bytes=disk_bytes(plan, settings),
        )
        for settings in _settings(plan, comparison, arm)
    ]
    obstacles = [mechanism.obstacle(case) for case in cases]
    first = obstacles[0] if None not in obstacles else None
    is_certain = first is not None and all(obstacle is not None and obstacle.certain for obstacle in obstacles)
    least = None if first is not None else _least(mechanism, cases)
    requirement = Requirement(
        factor=comparison.factor,
        arm=arm.label,
        workload=comparison.workload.name,
        knob=knob.name,
        mechanism=mechanism.name,
        obstacle=first.fact.message if first is not None and is_certain else "",
        values={name: str(value) for name, value in first.fact.values.items()} if first and is_certain else {},
        threshold=mechanism.threshold(cases[0]),
        least_bytes=least.size_bytes if least else 0.0,
        least_s=least.duration_s if least else 0.0,
        constant=least.constant if least else "",
    )
    return requirement, first


def _settings(plan: Plan, comparison: Comparison, arm: PlannedArm) -> list[Settings]:
    """Returns the settings of both arms; of a screened factor, also with the other levels of the other factors."""
    arms = [comparison.arms[0].settings, arm.settings]
    together = screened(plan, comparison.workload)
    if comparison.factor not in {factor.key for factor in together}:
        return arms
    others = [factor for factor in together if factor.key != comparison.factor]
    chosen = [{factor.key: level} for factor in others for level in factor.levels[1:]]
    return arms + [{**settings, **other} for settings, other in itertools.product(arms, chosen)]


def _least(mechanism: Mechanism, cases: Sequence[Case]) -> Least | None:
    """Returns what a trial must write or last, in the arm where that is least."""
    amounts = [amount for case in cases if (amount := mechanism.least(case)) is not None]
    return min(amounts, key=lambda amount: (amount.size_bytes, amount.duration_s), default=None)


def _note(knob: Knob, workload: Workload, mechanism: Mechanism, obstacle: Obstacle) -> StoredMessage:
    return stored_message(
        _EXCLUDED if obstacle.certain else _UNLIKELY,
        knob=knob.name,
        workload=workload.name,
        mechanism=stored_message(mechanism.name),
        fact=obstacle.fact,
        remedy=obstacle.remedy,
    )
