"""Selection of the best level: who remains in the experiment, what is concluded, and what is stored of it."""

import pytest
from plan_samples import FILEIO, checked, simple
from scripted import MACHINE, Bench, make_trials
from sqlalchemy.engine import Engine as Store

from paribus.analysis.paired.leads import candidates_of, leads_of
from paribus.experiment import walk
from paribus.experiment.evidence import analyse, evidence
from paribus.experiment.interim_analysis import take_due_looks
from paribus.findings import Selection
from paribus.model import Purpose, Trial, TrialState, Verdict
from paribus.store import read

LEVELS = '"vm.swappiness" = [60, 10, 30, 40, 50]'
PROTOCOL = '[protocol]\nsettle = "10s"\nwash_out = false\nbudget = "20h"\n'


def _carried_out(
    store: Store, effects: dict[str, float], noise: float = 0.006, protocol: str = PROTOCOL
) -> tuple[list[Trial], Selection, dict[str, Verdict | None]]:
    """The trials, the selection and the verdicts by arm of an experiment in which arms have these log ratios."""
    plan = checked(simple(LEVELS, FILEIO, protocol))
    begun = walk.begin(plan, {}, MACHINE, {}, store)
    trials = make_trials(store, begun, Bench(store, lambda trial: effects.get(trial.arm, 0.0), noise=noise))
    take_due_looks(read.plan(store, begun.id), begun, store, trials, over=True)
    judgement = analyse(evidence(store, begun.id), begun, store, finished=True)
    (selection,) = judgement.selections
    verdicts = {effect.arm: effect.verdict for effect in judgement.effects if effect.load is None}
    return read.trials(store, begun.id), selection, verdicts


def _made(trials: list[Trial]) -> dict[str, int]:
    compared = [trial for trial in trials if trial.purpose is Purpose.COMPARE and trial.state is TrialState.DONE]
    return {arm: sum(trial.arm == arm for trial in compared) for arm in ("60", "10", "30", "40", "50")}


def test_equally_good_levels_remain_until_that_is_shown_and_others_leave(store: Store) -> None:
    trials, selection, verdicts = _carried_out(store, {"10": 0.08, "30": 0.083, "40": 0.03, "50": -0.06})
    assert verdicts == {"10": Verdict.BETTER, "30": Verdict.BETTER, "40": Verdict.BETTER, "50": Verdict.WORSE}
    assert set(selection.plateau) == {"10", "30"}
    assert selection.best in selection.plateau
    behind = {level.arm: level.behind for level in selection.levels if level.verdict is Verdict.WORSE}
    assert behind.keys() == {"60", "40", "50"}
    assert set(behind.values()) <= {"10", "30"}
    made = _made(trials)
    assert made["10"] == made["30"] == 32, "to show that two are equal takes 29 pairs at this margin"
    assert made["60"] == made["40"] == made["50"] == 16
    lost = {level.arm: level.loss for level in selection.levels}
    assert lost["60"] is not None and lost["60"].value == pytest.approx(0.083, abs=0.01)


def test_a_level_that_is_shown_to_be_best_ends_the_comparison(store: Store) -> None:
    trials, selection, _ = _carried_out(store, {"10": 0.12, "30": 0.06})
    assert selection.best == "10"
    assert {level.arm for level in selection.levels if level.verdict is Verdict.WORSE} == {"60", "30", "40", "50"}
    assert selection.plateau == ("10",)
    assert _made(trials)["10"] == 16, "one look decides"


def test_ranking_of_worse_levels_costs_no_trials(store: Store) -> None:
    trials, selection, verdicts = _carried_out(store, {"10": -0.1, "30": -0.1005, "40": -0.05, "50": -0.1})
    assert set(verdicts.values()) == {Verdict.WORSE}
    assert (selection.best, selection.plateau) == ("60", ("60",))
    assert set(_made(trials).values()) == {16}


def test_two_levels_need_no_selection(store: Store) -> None:
    plan = checked(simple('"vm.swappiness" = [60, 10]', FILEIO, PROTOCOL))
    begun = walk.begin(plan, {}, MACHINE, {}, store)
    make_trials(store, begun, Bench(store, lambda trial: 0.05 * (trial.arm == "10")))
    assert {each.purpose for each in read.looks(store, begun.id)} == {Purpose.COMPARE}
    assert analyse(evidence(store, begun.id), begun, store, finished=True).selections == ()


def test_indistinguishable_levels_end_undecided_and_have_the_error_of_those_behind(store: Store) -> None:
    trials, selection, _ = _carried_out(store, {"10": 0.2, "30": 0.205}, 0.05, PROTOCOL + 'margin = "1%"\n')
    assert {level.arm for level in selection.levels if level.verdict is Verdict.WORSE} == {"60", "40", "50"}
    experiment = trials[0].experiment
    plan, summaries = read.plan(store, experiment), read.summaries(store, experiment)
    (candidates,) = candidates_of(trials, plan.workloads)

    counts = sorted({look.pairs for look in read.looks(store, experiment) if look.purpose is Purpose.SELECT})

    def high(remaining: int) -> float:
        leads = leads_of(candidates, trials, summaries, plan.protocol, counts, remaining=remaining, over=True)
        return leads["30", "10"].interval.high

    assert high(2) < high(3) < high(5)
    (undecided,) = (level for level in selection.levels if level.arm == "10")
    assert undecided.verdict is Verdict.UNDECIDED
    assert undecided.loss is not None and undecided.loss.high == pytest.approx(high(2))
    assert high(2) > selection.margin
