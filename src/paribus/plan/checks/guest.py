"""Check of a target that is a virtual machine, and of the settings of its hypervisor."""

from collections.abc import Iterator

from paribus.model import DOMAIN, HYPERVISOR, Facts
from paribus.plan.checks.load_host import Complaint
from paribus.plan.form.file import PlanTable
from paribus.plan.form.key_paths import KeyPath


def complaints(table: PlanTable, facts: Facts, keys: list[tuple[KeyPath, str]]) -> Iterator[Complaint]:
    """Yields the place, the problem and its correction for all that is wrong about the guest.

    `keys`: every setting of the plan with its place.
    """
    for message, hint in facts.guest.wrong if facts.guest else ():
        yield ("target", "guest"), message, hint
    of_domain = [(key_path, key) for key_path, key in keys if key.startswith(DOMAIN)]
    for key_path, key in of_domain if table.target.guest is not None else []:
        if table.target.devices:
            yield key_path, f"{key} restarts the guest, which layouts do not outlive", "compare them in two plans"
        if table.database is not None and table.database.dsn is not None:
            hint = "have Paribus start a server of its own: remove database.dsn"
            yield key_path, f"{key} restarts the guest, and others use its server", hint
    if table.target.guest is not None:
        return
    hint = 'name it as libvirt does, under [target]: guest = "NAME"'
    if "hypervisor" in table.target.model_fields_set:
        yield ("target", "hypervisor"), "target.hypervisor is set, and target.guest is not", hint
    for key_path, key in keys:
        if key.startswith(DOMAIN):
            yield key_path, f"{key} is a setting of a virtual machine, and the plan names none", hint
        if key.startswith(HYPERVISOR):
            message = f"{key} is a setting of a guest's hypervisor, and the plan names no guest"
            yield key_path, message, f"{hint}; for the target itself write {key.removeprefix(HYPERVISOR)}"
