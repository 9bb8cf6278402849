"""Sections of a report: their place, their blocks and their fields of the document for programs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import GenericAlias
from typing import Any

from paribus.report.inputs import ReportInput
from paribus.report.view.blocks import Block, Place

BlockMaker = Callable[[ReportInput], Iterable[Block]]


@dataclass(frozen=True, slots=True)
class DocumentField:
    """A field of the document for programs: its JSON type, its value for a report, and what it means."""

    name: str
    type: Any
    value: Callable[[ReportInput], object]
    meaning: str = ""


def findings_field(name: str, kind: type, meaning: str = "") -> DocumentField:
    """Return the field that lists all findings of a type as they are."""
    return DocumentField(name, GenericAlias(list, (kind,)), lambda report_input: report_input.of(kind), meaning)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of a report; `position` orders those of a place, `fields` are its part of the document for programs."""

    place: Place
    position: int
    blocks: BlockMaker
    fields: tuple[DocumentField, ...]


registered: list[ReportSection] = []


def section(place: Place, position: int, *fields: DocumentField) -> Callable[[BlockMaker], BlockMaker]:
    """Register the function that makes the blocks of a section; at COMPARISON it gets one factor under one workload."""

    def register(blocks: BlockMaker) -> BlockMaker:
        registered.append(ReportSection(place, position, blocks, fields))
        return blocks

    return register
