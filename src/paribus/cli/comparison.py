"""From two stores to something read: two experiments beside each other in the forms of the comparison."""

import functools
from pathlib import Path

from sqlalchemy.engine import Engine as Store

from paribus.analysis.comparison import Side, between, effects_between, judged_alone
from paribus.cli.options import Form
from paribus.cli.reporting import as_on_terminal, deliver, judged, refuse_set, write_page
from paribus.cli.terminal import visible
from paribus.errors import UsageError
from paribus.model import Experiment
from paribus.report import comparison_view
from paribus.report.comparison_view import ComparedDocument


def compared_document(first: tuple[Store, Experiment], second: tuple[Store, Experiment]) -> ComparedDocument:
    """Two experiments beside each other; the margins are those of the first. Raises StoreError and UsageError."""
    if first[1].id == second[1].id:
        raise UsageError(f"{first[1].id} is both", "name two experiments; paribus status lists them")
    for _, one in (first, second):
        refuse_set(one, "is compared with nothing", "import both into one set, as two levels: paribus import --into")
    found = [judged(*one) for one in (first, second)]
    plan, other = (kept.plan for kept, _ in found)
    theirs = {(workload.name, response) for workload in other.workloads for response in workload.responses}
    asked = {
        (workload.name, response): plan.protocol.margins[response]
        for workload in plan.workloads
        for response in workload.responses
        if (workload.name, response) in theirs
    }
    sides = [Side(kept.trials, kept.summaries) for kept, _ in found]
    effects = [judgement.effects for _, judgement in found]
    return comparison_view.document(
        (first[1], second[1]),
        (plan, other),
        between(sides[0], sides[1], asked, plan.protocol.confidence),
        effects_between(effects[0], effects[1]),
        (found[0][1].constancy.same, found[1][1].constancy.same),
        asked=asked,
        alone=(judged_alone(effects[0], effects[1]), judged_alone(effects[1], effects[0])),
    )


def deliver_page(found: ComparedDocument, path: Path) -> Path:
    """Write it as one HTML file; where that is. Raises StoreError where it cannot be written."""
    from paribus.report.render import compared_html

    return write_page(compared_html.render(comparison_view.view(found)), path)


def deliver_text(found: ComparedDocument, form: Form, output: Path | None) -> None:
    """Write it as Markdown, or as it looks on a terminal. Raises StoreError where the file cannot be written."""
    from paribus.report.render import compared_markdown, compared_text

    seen = comparison_view.view(found)
    if form is Form.MARKDOWN:
        deliver(visible(compared_markdown.render(seen)), output)
    else:
        deliver(as_on_terminal(functools.partial(compared_text.render, seen), to_file=output is not None), output)
