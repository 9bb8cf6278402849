"""Responses that a plan must make possible: of events, of a crash, of the engine. The check of a plan calls this."""

from collections.abc import Iterator

from paribus.model import EVENT_RESPONSES, IMPAIRED, NEW_ORDERS, TPCC
from paribus.plan.form.file import WorkloadTable
from paribus.plan.form.key_paths import KeyPath
from paribus.plan.form.parse import Parsed
from paribus.plan.workloads import kind_of, name_of, program_of

_OF_ENGINE = ("longest_stall_s", "fairness")
_OTHER = "judge another response"


def complaints(parsed: Parsed) -> Iterator[tuple[KeyPath, str, str]]:
    """Yields the responses of a plan that nothing in it would measure."""
    table = parsed.table
    actions = {event.do for event in table.event}
    begins_at_once = any(event.at == 0 and not event.after for event in table.event)
    chosen: list[tuple[KeyPath, list[str]]] = [(("protocol", "response"), table.protocol.response or [])]
    chosen += [(("workload", number, "response"), each.response or []) for number, each in enumerate(table.workload)]
    for place, responses in chosen:
        for response in responses:
            needed = EVENT_RESPONSES.get(response)
            if needed and actions.isdisjoint(needed):
                yield place, f"{response} is measured after an event", f'add [[event]] with do = "{needed[0]}"'
            elif needed and response.endswith(("_share", IMPAIRED)) and begins_at_once:
                yield place, f"{response} is of the throughput before, and an event begins at once", "set at later"
            elif needed and (named := [event.name for event in table.event if event.do in needed and event.name]):
                message = f"{response} does not exist in trials without {named[0]}"
                yield place, message, "judge throughput_per_s, or remove the name of the event"
        if "recovery_s" in responses and table.protocol.recovery == "none":
            yield place, "recovery_s is measured after a crash", "set recovery = true under [protocol]"
    for number, each in enumerate(table.workload):
        responses = each.response or table.protocol.response or []
        yield from ((("workload", number), *each_reason) for each_reason in _against(each, responses))


def _against(workload: WorkloadTable, responses: list[str]) -> Iterator[tuple[str, str]]:
    """Yields why a load does not have the responses chosen for it, and what to do."""
    name = name_of(workload)
    if NEW_ORDERS in responses and kind_of(workload).name != TPCC:
        yield f"{NEW_ORDERS} is measured under TPC-C, and {name} is another workload", _OTHER
    for response in _OF_ENGINE:
        if response in responses and program_of(workload):
            yield f"{response} needs the load engine, and {name} is a program", _OTHER
    if "fairness" not in responses or program_of(workload):
        return
    if workload.rate is not None:
        yield f"fairness needs a closed loop, and {name} has a rate", f"remove rate, or {_OTHER}"
    elif kind_of(workload).name == "iomatrix":
        yield f"fairness is of equal operations, and {name} has small and large ones", _OTHER
    elif min(workload.threads) == 1:
        yield "fairness is between threads, and a load level has one", "set threads to 2 or more"
