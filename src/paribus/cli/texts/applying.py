"""The answer of `paribus apply` as text."""

from rich.console import Console

from paribus.lab.rollout.apply_document import ApplyDocument, Step
from paribus.lab.rollout.applying import DANGERS
from paribus.model import Target, is_of_hypervisor


def show(document: ApplyDocument, console: Console) -> None:
    """Print the settings to be applied, and the reasons for those that are not."""

    def say(text: str, style: str = "") -> None:
        console.print(text, style=style, markup=False, soft_wrap=True)

    for difference in document.differences:
        say(f"another {difference.name}: measured {difference.measured}, here {difference.found}", "yellow")
    for advised in document.advice:
        say(f"{advised.factor}: {advised.text}", "bold" if advised.kind == "set" else "")
        for step in document.steps:
            if step.factor == advised.factor:
                for line in lines(step):
                    say(f"  {line}")
    for note in document.notes:
        say(f"note: {note}", "yellow")
    if not document.to_set:
        by_hand = any(step.by_hand for step in document.steps)
        say("nothing else is to be set" if by_hand else "nothing is to be set")


def lines(step: Step) -> list[str]:
    """A setting as lines: current and recommended value, and the commands."""
    if step.by_hand:
        check = [f"check    {step.check}"] if step.check else []
        persist = [f"to last  {step.persist}"] if step.persist not in ("", step.set) else []
        return [
            f"{step.knob} = {step.wanted}: by hand, it is {_owner(step)}",
            f"set      {step.set}",
            *check,
            *persist,
        ]
    if step.refused:
        return [f"{step.knob}: cannot be set here: {step.refused}"]
    if step.now == step.wanted:
        return [f"{step.knob} is {step.now} already", f"to last  {step.persist}"]
    danger = [f"danger   {DANGERS.get(step.danger, step.danger)}"] if step.danger else []
    now = "not there yet" if step.now is None else step.now
    return [
        f"{step.knob}: now {now}, then {step.wanted}",
        f"set      {step.set}",
        f"check    {step.check}",
        f"to last  {step.persist}",
        *danger,
    ]


def _owner(step: Step) -> str:
    return "a setting of the hypervisor" if is_of_hypervisor(step.knob) else "no setting of this machine"


def show_made(document: ApplyDocument, target: Target, console: Console) -> None:
    """Print what was set, as read back, and how to restore it."""
    for change in document.made:
        moved = "" if change.now == change.wanted else f", since {change.wanted} is not possible now"
        console.print(f"{change.knob} is {change.now}, was {change.before}{moved}", markup=False, soft_wrap=True)
    target_options = "" if target.is_local else f" --target {target.address}" + (" --become" if target.become else "")
    console.print(f"{_duration_text(document)}, or: paribus undo{target_options}", markup=False, soft_wrap=True)
    console.print(f"journal: {document.journal}", markup=False, soft_wrap=True)


def _duration_text(document: ApplyDocument) -> str:
    """Return the time for which settings stay in force; those written by ALTER SYSTEM outlive the server."""
    owners = {change.knob.partition(".")[0] for change in document.made}
    resets = [
        *(["the server"] if "mysql" in owners else []),
        *(["the machine"] if owners - {"mysql", "postgres"} else []),
    ]
    parts = [f"until the next start of {' and of '.join(resets)}"] if resets else []
    parts += ["beyond the next start of the server"] if "postgres" in owners else []
    return "; ".join(parts) or "as it was"
