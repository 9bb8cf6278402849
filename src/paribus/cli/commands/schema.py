"""`paribus schema`: JSON Schemas of plans, jobs, events and documents."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from paribus.cli.terminal import say_as_is

_VERSION = 1  # counted up where a field changes its meaning or goes; a new field leaves it


class Document(StrEnum):
    """Documents that have a schema."""

    PLAN = "plan"
    JOB = "job"
    EVENT = "event"
    REPORT = "report"
    CHECK = "check"
    SIMULATE = "simulate"
    STATUS = "status"
    CLEAN = "clean"
    DELETE = "delete"
    DOCTOR = "doctor"
    AUDIT = "audit"
    VERIFY = "verify"
    EXPORT = "export"
    APPLY = "apply"
    IMPORT = "import"
    SANDBOX = "sandbox"
    FLEET_CHECK = "fleet-check"
    FLEET_RUN = "fleet-run"
    FLEET_REPORT = "fleet-report"
    FLEET_APPLY = "fleet-apply"
    FLEET_UNDO = "fleet-undo"


def schema(
    document: Annotated[Document, typer.Argument(help="The document.")] = Document.PLAN,
) -> None:
    """Print the JSON Schema of the plan or of another document.

    Editors complete and check plans by it.

    Example: paribus schema plan > plan.schema.json
    """
    say_as_is(text_of(document))


def text_of(document: Document) -> str:
    """The JSON Schema of a document, as checked in under schema/."""
    import json

    from pydantic import TypeAdapter

    from paribus.lab.audit.auditing import AuditDocument
    from paribus.lab.check_document import CheckDocument
    from paribus.lab.cleaning import CleanDocument
    from paribus.lab.fleet.fleet_documents import FleetCheckDocument, FleetRunDocument
    from paribus.lab.machine.doctor import DoctorDocument
    from paribus.lab.results.exporting import ExportDocument
    from paribus.lab.rollout.apply_document import ApplyDocument
    from paribus.lab.rollout.fleet_rollout import FleetApplyDocument
    from paribus.lab.rollout.fleet_undo import FleetUndoDocument
    from paribus.lab.rollout.verifying import VerifyDocument
    from paribus.lab.sandboxing import SandboxDocument
    from paribus.lab.schemas import PROTOCOL_VERSION, Job, event_adapter, plan_form
    from paribus.lab.simulation import SimulateDocument
    from paribus.lab.status import StatusDocument
    from paribus.lab.store.deleting import DeleteDocument
    from paribus.lab.store.importing import ImportDocument
    from paribus.report.fleet_view import FleetDocument
    from paribus.report.render.document import ReportDocument

    forms: dict[Document, TypeAdapter[Any]] = {
        Document.PLAN: TypeAdapter(plan_form()),
        Document.JOB: TypeAdapter(Job),
        Document.EVENT: event_adapter,
        Document.REPORT: TypeAdapter(ReportDocument),
        Document.CHECK: TypeAdapter(CheckDocument),
        Document.SIMULATE: TypeAdapter(SimulateDocument),
        Document.STATUS: TypeAdapter(StatusDocument),
        Document.CLEAN: TypeAdapter(CleanDocument),
        Document.DELETE: TypeAdapter(DeleteDocument),
        Document.DOCTOR: TypeAdapter(DoctorDocument),
        Document.AUDIT: TypeAdapter(AuditDocument),
        Document.VERIFY: TypeAdapter(VerifyDocument),
        Document.EXPORT: TypeAdapter(ExportDocument),
        Document.APPLY: TypeAdapter(ApplyDocument),
        Document.IMPORT: TypeAdapter(ImportDocument),
        Document.SANDBOX: TypeAdapter(SandboxDocument),
        Document.FLEET_CHECK: TypeAdapter(FleetCheckDocument),
        Document.FLEET_RUN: TypeAdapter(FleetRunDocument),
        Document.FLEET_REPORT: TypeAdapter(FleetDocument),
        Document.FLEET_APPLY: TypeAdapter(FleetApplyDocument),
        Document.FLEET_UNDO: TypeAdapter(FleetUndoDocument),
    }
    version = PROTOCOL_VERSION if document in (Document.JOB, Document.EVENT) else _VERSION
    content = forms[document].json_schema(by_alias=True) | {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:paribus:schema:{document}:{version}",
    }
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
