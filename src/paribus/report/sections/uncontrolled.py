"""What differed between trials that should not have, in words.

In: a finding. Out: a sentence for each condition that differed, and one for all others. Called by the view.
"""

from paribus.findings import Constancy, Held
from paribus.i18n import later, laters, tr, trn
from paribus.report.view import numbers

NOT_TOLD = Constancy(same={}, differed={}, trials=())
_MOST_VALUES = 4
_IN_TRIALS = laters("{value} in trial {trials}", "{value} in trials {trials}")


def unlike(found: Constancy) -> tuple[str, ...]:
    """Each condition that was not the same in all trials: `vm.swappiness was 60 in trials 1, 2, and 10 in trial 3`."""
    return tuple(
        tr("{name} was {values}", name=tr(name), values=_values(held)) for name, held in found.differed.items()
    )


def _values(held: tuple[Held, ...]) -> str:
    said = [
        trn(*_IN_TRIALS, len(one.trials), value=tr(one.value), trials=numbers.few(one.trials))
        for one in held[:_MOST_VALUES]
    ]
    more = len(held) - len(said)
    return tr(", and ").join([*said, *([tr("{n} other values", n=more)] if more else [])])


def alike(found: Constancy) -> str:
    """What was the same in all trials, in a line."""
    if not found.trials:
        return tr("no trial looked at what should be alike in all")
    conditions, trials = numbers.count(len(found.same), "condition"), numbers.count(len(found.trials), "trial")
    if found.differed:
        return tr(
            "{conditions} that no trial sets stayed as they were, in {trials}", conditions=conditions, trials=trials
        )
    said = later("nothing: {conditions} that no trial sets stayed as they were, in {trials}")
    return tr(said, conditions=conditions, trials=trials)
