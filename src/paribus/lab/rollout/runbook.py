"""Runbook of a change as Markdown: why, what it risks, and the steps to set, check, keep and take back."""

from collections.abc import Iterator

from paribus.i18n import N_, gettext
from paribus.lab.rollout.change import ChangedFactor, ChangeStep, ProductionChange

_CODE = "   "  # begins the lines of commands
_EFFECTS = {
    "live": N_("at once"),
    "session": N_("in new connections"),
    "reload": N_("when the module is loaded again"),
    "restart": N_("at the next start of the server or process"),
    "remount": N_("when the file system is mounted"),
    "reboot": N_("at the next start of the guest"),
    "rebuild": N_("when it is built: the disks are wiped, so move the data away first"),
}


def runbook(change: ProductionChange) -> str:
    """The runbook, in the current language."""
    lines = [*_head(change), *(line for factor in change.factors for line in _factor(factor)), *_end(change)]
    return "\n".join(line if line.startswith(_CODE) else line.replace("<", "&lt;") for line in lines)


def _head(change: ProductionChange) -> Iterator[str]:
    titles = ", ".join(gettext("{factor} to {arm}", factor=each.factor, arm=each.arm) for each in change.factors)
    yield "# " + gettext("Change: set {settings}", settings=titles)
    yield ""
    measured = N_("Measured by the experiment {experiment} ({name}) on {host}, {date}: {system}.")
    yield gettext(
        measured,
        experiment=change.experiment,
        name=change.name,
        host=change.host,
        date=change.measured,
        system=change.system,
    )
    yield ""
    yield gettext("It holds for that machine and its workloads. On another machine measure first.")
    yield ""
    yield from (f"- {note}" for note in change.notes)
    yield ""


def _factor(factor: ChangedFactor) -> Iterator[str]:
    yield f"## {factor.factor}: {factor.arm}"
    yield ""
    yield gettext("Advice: {text}.", text=factor.text)
    yield ""
    yield from (f"- {verdict}" for verdict in factor.verdicts)
    yield ""
    for step in factor.steps:
        yield from _step(step)


def _step(step: ChangeStep) -> Iterator[str]:
    yield f"### {step.knob}"
    yield ""
    rows = [
        (gettext("before"), f"`{step.before}`" if step.before is not None else gettext("not set")),
        (gettext("after"), f"`{step.after}`"),
        (gettext("takes effect"), gettext(_EFFECTS[step.takes_effect]) if step.takes_effect in _EFFECTS else ""),
        (gettext("risk"), step.loss or gettext("not known")),
    ]
    what, value = gettext("what"), gettext("value")
    yield f"| {what} | {value} |"
    yield "|---|---|"
    yield from (f"| {title} | {text.replace('|', chr(92) + '|')} |" for title, text in rows if text)
    yield ""
    lines = [
        (gettext("Look at the value before, and stop where it is not the one above"), step.check),
        (gettext("Set it") if not step.by_hand else gettext("Set it by hand"), step.set),
        (gettext("Check it"), step.check),
        (gettext("Keep it after the next start"), step.keep if step.keep != step.set else ""),
        (gettext("Take it back: set the value before, and remove what keeps the new one"), step.roll_back),
    ]
    for number, (title, line) in enumerate([(title, line) for title, line in lines if line], start=1):
        yield f"{number}. {title}:"
        yield ""
        yield "   ```text"
        yield from (f"   {part}" for part in line.splitlines())
        yield "   ```"
        yield ""


def _end(change: ProductionChange) -> Iterator[str]:
    title = gettext("Afterwards")
    yield f"## {title}"
    yield ""
    yield gettext("See later whether it is still in force: {command}", command=f"`paribus verify {change.experiment}`")
    if change.open_questions:
        yield ""
        yield gettext("Not part of this change, since the experiment did not decide it:")
        yield ""
        yield from (f"- {question}" for question in change.open_questions)
    yield ""
