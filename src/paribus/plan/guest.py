"""Check of a target that is a virtual machine, and of the settings of its hypervisor."""

from collections.abc import Iterator

from paribus.model import HYPERVISOR, Facts
from paribus.plan.form.file import PlanTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.load_host import Complaint


def complaints(table: PlanTable, facts: Facts, keys: list[tuple[KeyPath, str]]) -> Iterator[Complaint]:
    """Yields the place, the problem and its correction for all that is wrong about the guest.

    `keys`: every setting of the plan with its place.
    """
    for message, hint in facts.guest.wrong if facts.guest else ():
        yield ("target", "guest"), message, hint
    if table.target.guest is not None:
        return
    hint = 'name it as libvirt does, under [target]: guest = "NAME"'
    if "hypervisor" in table.target.model_fields_set:
        yield ("target", "hypervisor"), "target.hypervisor is set, and target.guest is not", hint
    for key_path, key in keys:
        if key.startswith(HYPERVISOR):
            message = f"{key} is a setting of a guest's hypervisor, and the plan names no guest"
            yield key_path, message, f"{hint}; for the target itself write {key.removeprefix(HYPERVISOR)}"
