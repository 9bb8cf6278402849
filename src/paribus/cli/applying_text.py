"""The answer of `paribus apply` as text."""

from rich.console import Console

from paribus.lab.applying import DANGERS, ApplyDocument, Step
from paribus.model import Target


def show(found: ApplyDocument, console: Console) -> None:
    """What would be set, and what not and why."""

    def say(words: str, style: str = "") -> None:
        console.print(words, style=style, markup=False, soft_wrap=True)

    for difference in found.differences:
        say(f"another {difference.name}: measured {difference.measured}, here {difference.found}", "yellow")
    for one in found.advice:
        say(f"{one.factor}: {one.text}", "bold" if one.kind == "set" else "")
        for step in found.steps:
            if step.factor == one.factor:
                for line in lines(step):
                    say(f"  {line}")
    for note in found.notes:
        say(f"note: {note}", "yellow")
    if not found.to_set:
        by_hand = any(step.by_hand for step in found.steps)
        say("nothing else is to be set" if by_hand else "nothing is to be set")


def lines(step: Step) -> list[str]:
    """A setting: what it is and will be, and the commands."""
    if step.by_hand:
        check = [f"check    {step.check}"] if step.check else []
        last = [f"to last  {step.persist}"] if step.persist not in ("", step.set) else []
        return [
            f"{step.knob} = {step.wanted}: by hand, it is no setting of this machine",
            f"set      {step.set}",
            *check,
            *last,
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


def show_made(found: ApplyDocument, target: Target, console: Console) -> None:
    """What was set, as read back, and the way back."""
    for one in found.made:
        moved = "" if one.now == one.wanted else f", since {one.wanted} is not possible now"
        console.print(f"{one.knob} is {one.now}, was {one.before}{moved}", markup=False, soft_wrap=True)
    where = "" if target.is_local else f" --target {target.address}" + (" --become" if target.become else "")
    console.print(f"{_lasts(found)}, or: paribus undo{where}", markup=False, soft_wrap=True)
    console.print(f"journal: {found.journal}", markup=False, soft_wrap=True)


def _lasts(found: ApplyDocument) -> str:
    """How long what was set stays; what ALTER SYSTEM has written outlives the server."""
    owners = {one.knob.partition(".")[0] for one in found.made}
    until = [
        *(["the server"] if "mysql" in owners else []),
        *(["the machine"] if owners - {"mysql", "postgres"} else []),
    ]
    said = [f"until the next start of {' and of '.join(until)}"] if until else []
    said += ["beyond the next start of the server"] if "postgres" in owners else []
    return "; ".join(said) or "as it was"
