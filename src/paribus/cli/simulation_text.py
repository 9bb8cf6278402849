"""The document of a simulation as text."""

import math

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paribus.lab.simulation import SimulateDocument
from paribus.model import Verdict
from paribus.units import show_duration, show_percent


def show(found: SimulateDocument, console: Console) -> None:
    """Print the document for a person."""
    known = "as measured on this machine" if found.noise_is_known else "from trial to trial"
    effect = show_percent(math.log1p(found.effect)) if found.effect else "no effect"
    console.print(Text(found.plan, "bold") + Text(f": {found.times} simulated experiments of {found.rounds} rounds"))
    console.print(f"true: {effect}; noise {found.noise:.1%} {known}, drift up to 10 %\n", markup=False)
    table = Table(box=None, pad_edge=False)
    words = [v for v in Verdict if any(v in one.verdicts for one in found.arms)]
    for title in ("factor = level", "workload", *(str(word).replace("_", " ") for word in words), "pairs"):
        table.add_column(title, justify="left" if title in ("factor = level", "workload") else "right")
    for one in found.arms:
        shares = [f"{one.verdicts.get(word, 0) / found.times:.1%}" for word in words]
        pairs = f"{one.pairs:.0f} of {one.planned_pairs}"
        table.add_row(Text(f"{one.factor} = {one.arm}"), Text(one.workload), *shares, pairs)
    console.print(table)
    what = "a false claim" if found.effect == 0 else "a claim"
    console.print(f"\n{what} in {found.claims / found.times:.1%} of the experiments", markup=False)
    shown = f"{show_duration(found.duration_s)} on average, of {show_duration(found.planned_s)} planned"
    console.print(f"each takes {shown}", markup=False)
