"""Notes on the levels of a plan that lose something in a crash or a power cut, which their advice names too."""

from collections.abc import Iterator

from paribus.i18n import N_, StoredMessage, stored_message
from paribus.knobs.loss import loss_of
from paribus.model import Plan, Value
from paribus.plan.levels import label_of


def notes(plan: Plan) -> Iterator[StoredMessage]:
    """Yields a note for each setting that is less safe than others, with what it loses."""
    knobs = {knob.name: knob for knob in plan.knobs}
    for key, value in dict.fromkeys(_settings(plan)):
        if key in knobs and (loss := loss_of(knobs[key], value)):
            text = N_("{knob} = {level} trades safety for speed: {loss}")
            yield stored_message(text, knob=key, level=label_of(value), loss=stored_message(loss))


def _settings(plan: Plan) -> Iterator[tuple[str, Value]]:
    """Yields every setting that a trial can have."""
    for factor in plan.factors:
        for level in factor.levels:
            yield factor.key, level
    for settings in (plan.hold, *(combination.settings for combination in plan.combinations)):
        yield from settings.items()
