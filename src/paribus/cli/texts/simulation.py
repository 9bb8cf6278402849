"""The document of a simulation as text."""

import math

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.lab.simulation import SimulateDocument
from paribus.model import Verdict
from paribus.units import show_duration, show_percent


def show(document: SimulateDocument, console: Console) -> None:
    """Print the document for a person."""
    noise_source = "as measured on this machine" if document.noise_is_known else "from trial to trial"
    effect = show_percent(math.log1p(document.effect)) if document.effect else "no effect"
    console.print(
        Text(document.plan, "bold") + Text(f": {document.times} simulated experiments of {document.rounds} rounds")
    )
    console.print(f"true: {effect}; noise {document.noise:.1%} {noise_source}, drift up to 10 %\n", markup=False)
    table = Table(box=None, pad_edge=False)
    verdicts = [verdict for verdict in Verdict if any(verdict in arm.verdicts for arm in document.arms)]
    for title in ("factor = level", "workload", *(str(verdict).replace("_", " ") for verdict in verdicts), "pairs"):
        table.add_column(title, justify="left" if title in ("factor = level", "workload") else "right")
    for arm in document.arms:
        shares = [f"{arm.verdicts.get(verdict, 0) / document.times:.1%}" for verdict in verdicts]
        pairs = f"{arm.pairs:.0f} of {arm.planned_pairs}"
        table.add_row(Text(f"{arm.factor} = {arm.arm}"), Text(arm.workload), *shares, pairs)
    console.print(table)
    claim = "a false claim" if document.effect == 0 else "a claim"
    console.print(f"\n{claim} in {document.claims / document.times:.1%} of the experiments", markup=False)
    durations = f"{show_duration(document.duration_s)} on average, of {show_duration(document.planned_s)} planned"
    console.print(f"each takes {durations}", markup=False)
