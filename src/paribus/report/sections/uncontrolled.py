"""What differed between trials that should not have, in words.

In: a finding. Out: a sentence for each condition that differed, and one for all others. Called by the view.
"""

from paribus.findings import Constancy, Held
from paribus.i18n import N_, N_plural, gettext, ngettext
from paribus.report.view import numbers

NOT_RECORDED = Constancy(same={}, differed={}, trials=())
_MOST_VALUES = 4
_IN_TRIALS = N_plural("{value} in trial {trials}", "{value} in trials {trials}")


def differences(found: Constancy) -> tuple[str, ...]:
    """Each condition that was not the same in all trials: `vm.swappiness was 60 in trials 1, 2, and 10 in trial 3`."""
    return tuple(
        gettext("{name} was {values}", name=gettext(name), values=_values(held))
        for name, held in found.differed.items()
    )


def _values(held: tuple[Held, ...]) -> str:
    said = [
        ngettext(*_IN_TRIALS, len(one.trials), value=gettext(one.value), trials=numbers.few(one.trials))
        for one in held[:_MOST_VALUES]
    ]
    more = len(held) - len(said)
    return gettext(", and ").join([*said, *([gettext("{n} other values", n=more)] if more else [])])


def constant_conditions(found: Constancy) -> str:
    """What was the same in all trials, in a line."""
    if not found.trials:
        return gettext("uncontrolled settings were not recorded in any trial")
    conditions, trials = numbers.count(len(found.same), "condition"), numbers.count(len(found.trials), "trial")
    if found.differed:
        return gettext(
            "{conditions} outside the plan stayed constant in {trials}", conditions=conditions, trials=trials
        )
    said = N_("no drift: {conditions} outside the plan stayed constant in {trials}")
    return gettext(said, conditions=conditions, trials=trials)
