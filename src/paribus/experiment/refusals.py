"""Refused settings: the message on one, and the end of an experiment that cannot compare anything."""

from collections.abc import Sequence

from paribus.errors import EngineError
from paribus.i18n import StoredMessage, stored_message
from paribus.model import FailureClass, Purpose, Trial, TrialState

_REFUSED_FOR_GOOD = 2  # once can be chance


def refusal_of(done: Trial) -> StoredMessage:
    """Return the message on a setting that the machine refused or replaced."""
    if done.failure_message:
        return stored_message("the machine refuses {setting}", setting=done.failure_message)
    return stored_message("the machine takes another value: {setting}", setting=list(done.invalid_because))


def raise_if_pointless(done: Trial, trials: Sequence[Trial], refusal: StoredMessage) -> None:
    """Raise EngineError where a refused trial ends its experiment: in a screen, or where the baseline cannot be set."""
    if done.purpose is Purpose.SCREEN:
        raise EngineError("refused-in-screen", refusal, 'leave it out, or set protocol.design="one-at-a-time"')
    if _is_baseline_refused(trials):
        raise EngineError(
            "refused-baseline",
            f"the baseline cannot be set, so nothing can be compared: {refusal}",
            "correct that value in the plan or in the server's file, then run the plan anew: paribus run FILE",
        )


def _is_baseline_refused(trials: Sequence[Trial]) -> bool:
    """Return whether the baseline was refused twice, and under every workload, and no trial was made."""
    refused = [t.workload for t in trials if t.baseline and t.failure is FailureClass.SETTING_REJECTED]
    is_general = len(refused) >= _REFUSED_FOR_GOOD and set(refused) == {t.workload for t in trials}
    return is_general and not any(t.state is TrialState.DONE for t in trials)
