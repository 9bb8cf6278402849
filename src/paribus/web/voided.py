"""Banner of a running experiment: many of its last trials cannot be used, why, and what to do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from paribus.i18n import N_, StoredMessage, gettext, translate_stored
from paribus.model import FailureClass, Trial

_LAST_TRIALS = 10
_FEWEST_UNUSABLE = 2  # a single trial is chance
_SHARE = 3  # one in so many
_ADVICE = (  # by words of the reason in English, the first that fits
    ("other processes", N_("Stop these processes, or run the experiment when they are idle.")),
    ("the sampler did not answer", N_("Relieve the processors: the sampler needs a part of one.")),
    ("bottleneck", N_("Use fewer threads or connections, or make the load on another machine.")),
)
_OTHER_ADVICE = N_("Read the reasons in the table of the last trials, and check the machine: paribus doctor")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidedTrials:
    """The share of unusable trials, their most frequent reason, and what to do."""

    summary: str
    advice: str


def voided_trials(trials: Sequence[Trial]) -> VoidedTrials | None:
    """The banner, where a third or more of the trials that ended last cannot be used; else None."""
    ended = sorted((trial for trial in trials if trial.ended is not None), key=lambda trial: trial.ended or 0.0)
    last = [trial for trial in ended if trial.failure is not FailureClass.INTERRUPTED][-_LAST_TRIALS:]
    reasons = [reason for trial in last if (reason := _reason(trial))]
    if len(reasons) < _FEWEST_UNUSABLE or _SHARE * len(reasons) < len(last):
        return None
    most_frequent, _ = Counter(map(_message, reasons)).most_common(1)[0]
    newest = next(reason for reason in reversed(reasons) if _message(reason) == most_frequent)
    message = N_("{n} of the last {trials} trials cannot be used: {reason}")
    return VoidedTrials(
        summary=gettext(message, n=len(reasons), trials=len(last), reason=translate_stored(newest)),
        advice=gettext(next((advice for words, advice in _ADVICE if words in newest), _OTHER_ADVICE)),
    )


def _reason(trial: Trial) -> str:
    """The first reason why a trial cannot be used; empty for a usable one."""
    return next(iter(trial.invalid_because), trial.failure_message or str(trial.failure or ""))


def _message(reason: str) -> str:
    """The message of a reason without its values: reasons of one kind have the same."""
    return reason.message if isinstance(reason, StoredMessage) else reason
