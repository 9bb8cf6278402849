"""Conditions on verdicts for which a script may ask a command to fail."""

from collections.abc import Iterable
from enum import StrEnum

from paribus.analysis.paired.judge import Judgement
from paribus.model import Tag, Verdict
from paribus.report.comparison_view import ComparedDocument


class FailCondition(StrEnum):
    """Conditions on which a script may fail: a response became worse, a check failed, a comparison was not decided."""

    WORSE = "worse"
    SUSPECT = "suspect"
    UNDECIDED = "undecided"


def of_judgement(judgement: Judgement) -> frozenset[FailCondition]:
    """The conditions that hold for the verdicts of an experiment over all load levels."""
    effects = [effect for effect in judgement.effects if effect.load is None]
    conditions = _of_verdicts(effect.verdict for effect in effects)
    if any(Tag.SUSPECT in effect.tags for effect in effects):
        conditions |= {FailCondition.SUSPECT}
    return conditions | {FailCondition.UNDECIDED} if is_incomplete(judgement) else conditions


def of_comparison(document: ComparedDocument) -> frozenset[FailCondition]:
    """The conditions that hold for the baselines of two experiments; undecided where none was compared."""
    verdicts = [between.verdict for between in document.between if between.load is None]
    return _of_verdicts(verdicts or [None])


def is_incomplete(judgement: Judgement) -> bool:
    """Whether a comparison has too few usable pairs for a verdict, or a series of a matrix has no point."""
    has_empty_series = any(not series.points for matrix in judgement.matrices for series in matrix.series)
    return bool(judgement.unjudged) or has_empty_series


def _of_verdicts(verdicts: Iterable[Verdict | None]) -> frozenset[FailCondition]:
    present = set(verdicts)
    conditions: set[FailCondition] = {FailCondition.WORSE} if Verdict.WORSE in present else set()
    if present.intersection((Verdict.UNDECIDED, None)):
        conditions.add(FailCondition.UNDECIDED)
    return frozenset(conditions)
