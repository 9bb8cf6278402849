"""Two experiments beside each other: first what differed beside what is asked, then what came out.

In: two experiments with their plans, and what `analysis.between` found. Out: one document for programs, and the same
on a terminal. Called by `compare`.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from ceteris.findings import Between, EffectBetween, Estimate
from ceteris.language import later, tr
from ceteris.model import RESPONSES, Experiment, Plan, Verdict
from ceteris.report import numbers

if TYPE_CHECKING:
    from rich.console import Console

_ONE_SITTING = later(
    "each experiment is one sitting: what differs from one sitting to the next on the same machine is not in these "
    "intervals, so repeat both before buying anything"
)
_WORDS = {
    Verdict.BETTER: later("better"),
    Verdict.WORSE: later("worse"),
    Verdict.EQUIVALENT: later("equivalent"),
    Verdict.DEPENDS_ON_LOAD: later("depends on load"),
    Verdict.UNDECIDED: later("undecided"),
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
    notes = [tr(_ONE_SITTING)]
    if not between:
        said = tr("no workload has three whole rounds of its baseline in both experiments: nothing is compared")
        notes.insert(0, said)
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
        facts = {tr(name).replace("_", " "): value for name, value in experiment.fingerprint.items()}
        facts |= {tr("version of {name}", name=name): value for name, value in experiment.versions.items()}
        facts |= {name: str(value) for name, value in plan.baseline.items()}
        for workload in plan.workloads:
            if workload.name not in both:
                facts[tr("workload {name}", name=workload.name)] = workload.kind
                continue
            facts |= {f"{workload.name}.{name}": str(value) for name, value in workload.parameters.items()}
            facts[f"{workload.name}." + tr("load levels")] = ", ".join(map(str, workload.load_levels))
        facts[tr("seconds of a trial")] = f"{plan.protocol.trial_s:g}"
        facts[tr("path")] = plan.target.path
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

    console.print(Text(tr("{second} against {first}", second=found.second, first=found.first), style="bold"))
    console.print()
    rows = [(one.what, one.first or numbers.DASH, one.second or numbers.DASH) for one in found.differences]
    if rows:
        _table(console, (tr("what differs"), found.first, found.second), rows)
    else:
        console.print(tr("nothing else differs"))
    if found.between:
        head = (tr("baseline under"), tr("response"), tr("load"), tr("change"), tr("margin"), tr("verdict"))
        _table(console, head, map(_row, found.between))
    if found.effects:
        columns = (tr("effect"), tr("under"), found.first, found.second, tr("difference"), "")
        _table(console, columns, map(_effect_row, found.effects))
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
        words = {tr(_WORDS[verdict]): style for verdict, style in _STYLES.items()}
        table.add_row(*(Text("".join(c for c in cell if c.isprintable()), style=words.get(cell, "")) for cell in row))
    console.print(table)
    console.print()


def _row(one: Between) -> tuple[str, ...]:
    return (
        one.workload,
        tr(RESPONSES[one.response].title),
        tr("all") if one.load is None else one.load.figure,
        str(numbers.effect(one.estimate, one.low, one.high)),
        numbers.margin(one.margin),
        tr(_WORDS[one.verdict]) if one.verdict else "",
    )


def _effect_row(one: EffectBetween) -> tuple[str, ...]:
    said = {True: tr("alike"), False: tr("differs"), None: tr("whether it differs is not shown")}[one.alike]
    sides = (_effect(one.first), _effect(one.second), _effect(one.difference))
    change = tr("{arm} instead of {baseline}", arm=one.arm, baseline=one.baseline)
    return (f"{one.factor}: {change}", one.workload, *sides, said)


def _effect(found: Estimate) -> str:
    assert found.low is not None and found.high is not None
    return str(numbers.effect(found.value, found.low, found.high))
