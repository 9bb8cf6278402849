"""What differed between trials that should not have, in words.

In: a finding. Out: a sentence for each condition that differed, and one for all others. Called by the view.
"""

from paribus.findings import Constancy, Held
from paribus.i18n import N_, N_plural, gettext, ngettext
from paribus.report.view import numbers

NOT_RECORDED = Constancy(same={}, differed={}, trials=())
_MOST_VALUES = 4
_IN_TRIALS = N_plural("{value} in trial {trials}", "{value} in trials {trials}")


def differences(constancy: Constancy) -> tuple[str, ...]:
    """Each condition that was not the same in all trials: `vm.swappiness was 60 in trials 1, 2, and 10 in trial 3`."""
    return tuple(
        gettext("{name} was {values}", name=gettext(name), values=_values(observed))
        for name, observed in constancy.differed.items()
    )


def _values(observed: tuple[Held, ...]) -> str:
    texts = [
        ngettext(*_IN_TRIALS, len(value.trials), value=gettext(value.value), trials=numbers.few(value.trials))
        for value in observed[:_MOST_VALUES]
    ]
    omitted = len(observed) - len(texts)
    return gettext(", and ").join([*texts, *([gettext("{n} other values", n=omitted)] if omitted else [])])


def constant_conditions(constancy: Constancy) -> str:
    """What was the same in all trials, in a line."""
    if not constancy.trials:
        return gettext("uncontrolled settings were not recorded in any trial")
    conditions, trials = numbers.count(len(constancy.same), "condition"), numbers.count(len(constancy.trials), "trial")
    if constancy.differed:
        return gettext(
            "{conditions} outside the plan stayed constant in {trials}", conditions=conditions, trials=trials
        )
    pattern = N_("no drift: {conditions} outside the plan stayed constant in {trials}")
    return gettext(pattern, conditions=conditions, trials=trials)
