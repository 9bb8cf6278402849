"""A comparison of two experiments as a page or as text."""

import functools
from pathlib import Path

from paribus.cli.delivery import as_on_terminal, deliver
from paribus.cli.options import Form
from paribus.cli.terminal import visible
from paribus.lab.reporting import write_page
from paribus.report import comparison_view
from paribus.report.comparison_view import ComparedDocument


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
