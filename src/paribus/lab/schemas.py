"""Types of plans, jobs and events, for their JSON Schemas."""

from paribus import workloads as _workloads  # noqa: F401  registers the kinds that a plan may name
from paribus.engine.protocol import VERSION as PROTOCOL_VERSION
from paribus.engine.protocol import Job, event_adapter
from paribus.plan.form.file import plan_form

__all__ = ["PROTOCOL_VERSION", "Job", "event_adapter", "plan_form"]
