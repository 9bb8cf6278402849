"""Refusals to overwrite or read a block device: allowed only where the plan names it permanently and nothing uses it.

In: the device as it was inspected, and the names in the plan. Out: the reason, and what to do. Pure; called when a
plan is checked, and again right before a load.
"""

from collections.abc import Sequence

from paribus.model import BlockDevice, Refusal

_BY_ID = "/dev/disk/by-id/"


def refusal(device: BlockDevice, may_destroy: Sequence[str]) -> Refusal | None:
    """Return the reason why a load must not write to the device; None if it may."""
    if (unreadable := refusal_to_read(device)) is not None:
        return unreadable
    if device.read_only:
        return Refusal(f"{device.path} is read-only", "name another device, or use a reading mode")
    if device.claims:
        return Refusal(
            f"{device.path} must not be written to: it {', '.join(device.claims)}",
            "name a device that nothing uses; a load would destroy what is there",
        )
    if device.signatures:
        return Refusal(
            f"{device.path} must not be written to: it holds {', '.join(device.signatures)}",
            f"where that may be lost, wipe it yourself: wipefs -a {device.path}",
        )
    named = {name.removeprefix(_BY_ID) for name in may_destroy}
    if named.isdisjoint(device.ids):
        message = f"a load would destroy what is on {device.path}, and target.may_destroy does not name it"
        return Refusal(message, _naming(device))
    return None


def refusal_to_read(device: BlockDevice) -> Refusal | None:
    """Return the reason why a load may not even read the device; None if it may."""
    if device.refused:
        return Refusal(device.refused, "name a block device of this machine, as a user who may read it")
    if device.difference:
        return Refusal(
            f"{device.path} is another device than the one this experiment began on: {device.difference}",
            "give that device its name again (lsblk and losetup show which is which), or start a new experiment",
        )
    return None


def _naming(device: BlockDevice) -> str:
    """Return advice on naming the device in a plan."""
    if device.ids:
        return f'if that may be lost, add to [target]: may_destroy = ["{device.ids[0]}"]'
    return (
        "it has neither serial nor id that could name it, and the next boot may call another disk so: use one that has"
    )
