"""Two experiments beside each other: first what differed beside what is asked, then what came out.

In: two experiments with their plans, and what `analysis.between` found. Out: one document for programs, and the same
on a terminal. Called by `compare`.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from ceteris.findings import Between, EffectBetween, Estimate
from ceteris.model import RESPONSES, Experiment, Plan, Verdict
from ceteris.report import numbers

if TYPE_CHECKING:
    from rich.console import Console

_ONE_SITTING = (
    "each experiment is one sitting: what differs from one sitting to the next on the same machine is not in these "
    "intervals, so repeat both before buying anything"
)
_WORDS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.EQUIVALENT: "equivalent",
    Verdict.DEPENDS_ON_LOAD: "depends on load",
    Verdict.UNDECIDED: "undecided",
}
_STYLES = {Verdict.BETTER: "bold dark_cyan", Verdict.WORSE: "bold dark_orange3"}


class Difference(BaseModel):
    """Something that is not the same in both experiments; empty where one of them has it not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    first: str
    second: str


class ComparedDocument(BaseModel):
    """Two experiments beside each other."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=True)

    version: int = 1
    first: str = Field(description="id of the first experiment")
    second: str
    differences: list[Difference]
    between: list[Between] = Field(description="the baseline's responses, second over first, as log ratios")
    effects: list[EffectBetween] = Field(description="effects judged in both")
    notes: list[str]


def document(
    experiments: tuple[Experiment, Experiment],
    plans: tuple[Plan, Plan],
    between: Sequence[Between],
    effects: Sequence[EffectBetween],
) -> ComparedDocument:
    """What differed, and what was found."""
    notes = [_ONE_SITTING]
    if not between:
        notes.insert(0, "no workload has three whole rounds of its baseline in both experiments: nothing is compared")
    return ComparedDocument(
        first=experiments[0].id,
        second=experiments[1].id,
        differences=_differences(experiments, plans),
        between=list(between),
        effects=list(effects),
        notes=notes,
    )


def _differences(experiments: tuple[Experiment, Experiment], plans: tuple[Plan, Plan]) -> list[Difference]:
    """Of machine, software, settings held, workloads and protocol, in this order."""
    sides: list[dict[str, str]] = []
    both = {workload.name for workload in plans[0].workloads} & {workload.name for workload in plans[1].workloads}
    for experiment, plan in zip(experiments, plans, strict=True):
        facts = {name.replace("_", " "): value for name, value in experiment.fingerprint.items()}
        facts |= {f"version of {name}": value for name, value in experiment.versions.items()}
        facts |= {name: str(value) for name, value in plan.baseline.items()}
        for workload in plan.workloads:
            if workload.name not in both:
                facts[f"workload {workload.name}"] = workload.kind
                continue
            facts |= {f"{workload.name}.{name}": str(value) for name, value in workload.parameters.items()}
            facts[f"{workload.name}.load levels"] = ", ".join(map(str, workload.load_levels))
        facts["seconds of a trial"] = f"{plan.protocol.trial_s:g}"
        facts["path"] = plan.target.path
        sides.append(facts)
    first, second = sides
    return [
        Difference(what=what, first=first.get(what, ""), second=second.get(what, ""))
        for what in dict.fromkeys([*first, *second])
        if first.get(what) != second.get(what)
    ]


def show(found: ComparedDocument, console: "Console") -> None:
    """Print it: what differed first."""
    from rich.text import Text

    console.print(Text(f"{found.second} against {found.first}", style="bold"))
    console.print()
    rows = [(one.what, one.first or numbers.DASH, one.second or numbers.DASH) for one in found.differences]
    if rows:
        _table(console, ("what differs", found.first, found.second), rows)
    else:
        console.print("nothing else differs")
    if found.between:
        _table(console, ("baseline under", "response", "load", "change", "margin", "verdict"), map(_row, found.between))
    if found.effects:
        head = ("effect", "under", found.first, found.second, "difference", "")
        _table(console, head, map(_effect_row, found.effects))
    for note in found.notes:
        console.print(Text(note, style="dim"))


def _table(console: "Console", head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for name in head:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        words = {_WORDS[verdict]: style for verdict, style in _STYLES.items()}
        table.add_row(*(Text("".join(c for c in cell if c.isprintable()), style=words.get(cell, "")) for cell in row))
    console.print(table)
    console.print()


def _row(one: Between) -> tuple[str, ...]:
    return (
        one.workload,
        RESPONSES[one.response].title,
        "all" if one.load is None else one.load.figure,
        str(numbers.effect(one.estimate, one.low, one.high)),
        numbers.margin(one.margin),
        _WORDS[one.verdict] if one.verdict else "",
    )


def _effect_row(one: EffectBetween) -> tuple[str, ...]:
    said = {True: "alike", False: "differs", None: "whether it differs is not shown"}[one.alike]
    sides = (_effect(one.first), _effect(one.second), _effect(one.difference))
    return (f"{one.factor}: {one.arm} instead of {one.baseline}", one.workload, *sides, said)


def _effect(found: Estimate) -> str:
    assert found.low is not None and found.high is not None
    return str(numbers.effect(found.value, found.low, found.high))
