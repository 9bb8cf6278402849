"""Drives of a controller's volume that fail in the trials of a plan: what forbids it."""

from collections.abc import Iterator

from paribus.model import OF_MEMBER, RETURNS, WITHOUT_LAYOUT
from paribus.plan.checks.events import Complaint, has_members, in_order, layouts_of
from paribus.plan.form.file import PlanTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed


def complaints(parsed: Parsed) -> Iterator[Complaint]:
    """Yields every reason against failures and replacements of drives."""
    table = parsed.table
    if not has_members(table):
        return
    for number, event in enumerate(table.event):
        place: KeyPath = ("event", number, "do")
        if event.do not in (*OF_MEMBER, *WITHOUT_LAYOUT):
            message = f"{event.do} is of a layout, and drives of a controller fail in this plan"
            yield place, message, "use fail-member and replace, or move it to a plan of its own"
    if table.target.guest:
        message = "the drives of a controller are those of a machine, and the target is a virtual one"
        yield ("target", "may_fail"), message, "run this plan on the machine that has the controller"
    if any(True for _ in layouts_of(table)):
        message = "drives of a controller fail on the volume that they make, and this plan has a layout"
        yield ("target", "may_fail"), message, "remove layout, or the events of these drives"
    if (second := _second_failure(table)) is not None:
        yield second


def _second_failure(table: PlanTable) -> Complaint | None:
    """The first drive that fails, or is replaced, while another one lacks: no volume must lose more than one."""
    failed = ""
    for event in in_order(table):
        place: KeyPath = ("event", next(number for number, other in enumerate(table.event) if other is event), "disk")
        disk = event.disk or failed
        if event.do in RETURNS and failed and disk != failed:
            return place, f"{disk} has not failed, and {failed} has", f'write disk = "{failed}", or leave disk out'
        if event.do not in OF_MEMBER or event.do in RETURNS:
            failed = "" if event.do in RETURNS else failed
            continue
        if failed:
            todo = f"let {failed} be replaced before, or remove this event"
            return place, f"{failed} has failed before, and a volume may do without one drive only", todo
        failed = disk
    return None
