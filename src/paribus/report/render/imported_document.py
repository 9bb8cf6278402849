"""What the document of a report holds of a set that was imported: files, where trials come from, and claims."""

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


def origin(one: Origin) -> OriginDocument:
    """Where a trial comes from, as the document has it."""
    return OriginDocument(trial=one.trial, source=one.source, lines=one.lines, missing=one.missing)


def source(one: Source) -> SourceDocument:
    """A file as the document has it."""
    fields = {name: getattr(one, name) for name in SourceDocument.model_fields}
    return SourceDocument(**fields | {"not_understood": list(one.not_understood), "remarks": list(one.remarks)})


def claim(one: Tested) -> ClaimDocument:
    """A claim as the document has it."""
    return ClaimDocument(
        id=one.claim.id,
        statement=one.claim.statement,
        standing=one.standing,
        reason=one.reason,
        evidence=[
            EvidenceDocument(
                workload=each.workload,
                level=each.level,
                other=each.other,
                log_ratio=IntervalDocument(
                    estimate=finite(each.estimate), low=finite(each.low), high=finite(each.high)
                ),
                places=each.places,
                repeated=each.repeated,
            )
            for each in one.evidence
        ],
    )
