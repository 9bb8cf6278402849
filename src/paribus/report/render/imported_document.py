"""Parts of the report document that only imported sets have: sources, origins of trials, and claims."""

from pydantic import Field

from paribus.model import Origin, Source, Standing, Tested
from paribus.report.render.document_parts import IntervalDocument, StrictDocument, finite


class SourceDocument(StrictDocument):
    """A file that a set is from."""

    number: int
    path: str
    sha256: str = Field(description="of its bytes as found")
    size_bytes: int
    format: str
    runs: int
    not_understood: list[tuple[int, str]] = Field(description="lines that no reader understood, with their numbers")
    remarks: list[str]


class OriginDocument(StrictDocument):
    """Where a trial of a set comes from."""

    trial: int
    source: int
    lines: tuple[int, int]
    missing: str = Field(description="what a text that was cut off lacks; empty where it is whole")


class EvidenceDocument(StrictDocument):
    """A level over another, as a claim's tables have it; more is better."""

    workload: str
    level: str
    other: str
    log_ratio: IntervalDocument
    places: int = Field(description="load levels where the two met")
    repeated: bool


class ClaimDocument(StrictDocument):
    """A claim and how it stands beside the numbers."""

    id: str
    statement: str
    standing: Standing
    reason: str
    evidence: list[EvidenceDocument]


def origin_document(origin: Origin) -> OriginDocument:
    """Return the document of the origin of a trial."""
    return OriginDocument(trial=origin.trial, source=origin.source, lines=origin.lines, missing=origin.missing)


def source_document(source: Source) -> SourceDocument:
    """Return the document of a source."""
    fields = {name: getattr(source, name) for name in SourceDocument.model_fields}
    return SourceDocument(**fields | {"not_understood": list(source.not_understood), "remarks": list(source.remarks)})


def claim_document(tested: Tested) -> ClaimDocument:
    """Return the document of a tested claim."""
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
            )
            for evidence in tested.evidence
        ],
    )
