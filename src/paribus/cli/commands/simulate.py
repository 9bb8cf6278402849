"""`paribus simulate`: error rates and duration of a plan, by simulation."""

from typing import Annotated

import typer

from paribus.cli.options import AsJson, Overrides, PlanFile, StoreUrl, read_overrides
from paribus.cli.terminal import report_line, say_json


def simulate(
    plan_file: PlanFile,
    overrides: Overrides = None,
    effect: Annotated[
        str, typer.Option(metavar="SHARE", help="The true effect of every level but the baselines, such as 3% or -2%.")
    ] = "0%",
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Standard deviation of trials. Default: the noise of this machine where known, else 2%.",
        ),
    ] = None,
    times: Annotated[int, typer.Option(min=1, max=100_000, help="How many experiments to simulate.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of run orders and noise.")] = 1,
    store: StoreUrl = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a plan many times and count the verdicts.

    Nothing is measured or changed. Run order, looks, stopping and verdicts are those of an experiment. The results of
    trials are random: noise between seconds and between trials, 2 % of trials far too slow, and drift of up to 10 %.

    Example: paribus simulate examples/scheduler.toml --effect 3% --noise 2%
    """
    from rich.progress import track

    from paribus.cli.console import VisibleConsole
    from paribus.cli.texts.simulation import show
    from paribus.lab import simulation

    console = VisibleConsole(highlight=False, stderr=True)
    true_effect = simulation.simulated_effect(effect, noise)
    bar = iter(track(range(times), "simulating", console=console, transient=True))
    document = simulation.simulate_plan(
        str(plan_file),
        read_overrides(overrides),
        true_effect,
        times,
        seed,
        store,
        advance=lambda: next(bar, None),
        report=report_line,
    )
    if as_json:
        say_json(document.model_dump_json(indent=2))
    else:
        show(document, VisibleConsole(highlight=False))
