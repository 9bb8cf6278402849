"""Sections on what the author of an imported set states: inconsistent figures, and claims beside the numbers."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from paribus.findings import Breach
from paribus.i18n import N_, gettext
from paribus.model import ClaimEvidence, Standing, Tested, VariationSource
from paribus.report.document_parts import IntervalDocument, StrictDocument, finite
from paribus.report.inputs import ReportInput
from paribus.report.section import DocumentField, findings_field, section
from paribus.report.view import numbers
from paribus.report.view.blocks import Place, WordTable

_ORDER = (
    Standing.CONTRADICTED,
    Standing.MIXED,
    Standing.NO_EFFECT,
    Standing.CONSISTENT,
    Standing.SUPPORTED,
    Standing.UNTESTABLE,
)
_WORDS = {
    Standing.SUPPORTED: N_("supported"),
    Standing.CONSISTENT: N_("consistent, within run-to-run noise"),
    Standing.NO_EFFECT: N_("no effect seen"),
    Standing.MIXED: N_("mixed"),
    Standing.CONTRADICTED: N_("contradicted"),
    Standing.UNTESTABLE: N_("untestable"),
}
_VARIATIONS = {
    "repetitions": N_("{sd}, from its repeated runs"),
    "comparisons": N_("{sd}, from the middle of its own differences"),
    "assumed": N_("{sd}, assumed"),
}
_MOST_LINES = 200


class EvidenceDocument(StrictDocument):
    """A level over another, as a claim's tables have it; more is better."""

    workload: str
    level: str
    other: str
    log_ratio: IntervalDocument
    places: int = Field(description="load levels where the two met")
    repeated: bool
    better_at: int = Field(description="load levels at which it is better by more than two equal runs differ")
    worse_at: int = Field(description="load levels at which it is worse by more than two equal runs differ")
    variation: float = Field(description="standard deviation of the log of equal runs")
    variation_source: VariationSource = Field(description="what that is taken from")


class ClaimDocument(StrictDocument):
    """A claim and how it stands beside the numbers."""

    id: str
    statement: str
    standing: Standing
    reason: str
    evidence: list[EvidenceDocument]


@section(Place.OVERVIEW, 1, findings_field("breaches", Breach, "what a set states that cannot be; cells are trials"))
def inconsistencies(report_input: ReportInput) -> Iterator[WordTable]:
    """Yield the table of inconsistencies, contradictions first."""
    breaches = report_input.of(Breach)
    if not breaches:
        return
    ordered = sorted(breaches, key=lambda breach: not breach.grave)
    grave = sum(breach.grave for breach in breaches)
    pattern = N_("{n} contradict each other; the other figures may be right, but are weaker evidence than they seem")
    yield WordTable(
        title=gettext("Inconsistencies"),
        note=gettext(pattern, n=grave),
        head=(gettext("stated value, and the value implied by the others"), gettext("trials")),
        figures=(False, False),
        rows=tuple((breach.words, numbers.few(breach.cells)) for breach in ordered[:_MOST_LINES]),
    )


def _document(tested: Tested) -> ClaimDocument:
    return ClaimDocument(
        id=tested.claim.id,
        statement=tested.claim.statement,
        standing=tested.standing,
        reason=tested.reason,
        evidence=[
            EvidenceDocument(
                workload=evidence.workload,
                level=evidence.level,
                other=evidence.other,
                log_ratio=IntervalDocument(
                    estimate=finite(evidence.estimate), low=finite(evidence.low), high=finite(evidence.high)
                ),
                places=evidence.places,
                repeated=evidence.repeated,
                better_at=evidence.better_at,
                worse_at=evidence.worse_at,
                variation=evidence.variation,
                variation_source=evidence.variation_source,
            )
            for evidence in tested.evidence
        ],
    )


_CLAIMS = DocumentField(
    "claims",
    list[ClaimDocument],
    lambda report_input: [_document(tested) for tested in report_input.of(Tested)],
    "what an author claims, beside the numbers",
)


@section(Place.OVERVIEW, 2, _CLAIMS)
def claims(report_input: ReportInput) -> Iterator[WordTable]:
    """Every claim, those first that the numbers contradict."""
    claims_tested = report_input.of(Tested)
    if not claims_tested:
        return
    counts = [(sum(tested.standing is standing for tested in claims_tested), standing) for standing in _ORDER[:-1]]
    counts_text = gettext(", ").join(
        gettext("{n} {verdict}", n=n, verdict=gettext(_WORDS[standing])) for n, standing in counts if n
    )
    testable = sum(n for n, _ in counts)
    ordered = sorted(claims_tested, key=lambda tested: _ORDER.index(tested.standing))
    yield WordTable(
        title=gettext("Claims beside the numbers"),
        note=gettext(
            "{n} testable: {counts}; {others} untestable; a difference is shown where it exceeds the spread over load "
            "levels and the variation of equal runs ({variation})",
            n=testable,
            counts=counts_text or gettext("none"),
            others=len(claims_tested) - testable,
            variation=_variations(claims_tested),
        ),
        head=(gettext("claim"), gettext("states"), gettext("standing"), gettext("why"), gettext("numbers")),
        figures=(False, False, False, False, False),
        rows=tuple(
            (
                tested.claim.id,
                tested.claim.statement,
                gettext(_WORDS[tested.standing]),
                tested.reason,
                _figures(tested.evidence),
            )
            for tested in ordered
        ),
    )


def _variations(claims_tested: Sequence[Tested]) -> str:
    """The variation of equal runs that the evidence is held against, for each set one."""
    pairs = dict.fromkeys(
        (pair.variation_source, pair.variation) for tested in claims_tested for pair in tested.evidence
    )
    texts = (gettext(_VARIATIONS[source], sd=f"{100 * deviation:.1f} %") for source, deviation in pairs)
    return gettext("; ").join(texts) or "–"


def _figures(evidence: Sequence[ClaimEvidence]) -> str:
    texts = (f"{pair.level}/{pair.other} {numbers.effect(pair.estimate, pair.low, pair.high)}" for pair in evidence[:4])
    suffix = f" … {len(evidence) - 4}" if len(evidence) > 4 else ""
    return gettext("; ").join(texts) + suffix
