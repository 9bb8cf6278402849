"""A comparison of two experiments as a page or as text."""

import functools
from pathlib import Path

from paribus.cli.delivery import as_on_terminal, deliver
from paribus.cli.options import Form
from paribus.cli.terminal import visible
from paribus.lab.results.reporting import write_page
from paribus.report import comparison_view
from paribus.report.comparison_view import ComparedDocument


def deliver_page(document: ComparedDocument, path: Path) -> Path:
    """Write the comparison as one HTML file and return its path. Raises StoreError."""
    from paribus.report.render import compared_html

    return write_page(compared_html.render(comparison_view.view(document)), path)


def deliver_text(document: ComparedDocument, form: Form, output: Path | None) -> None:
    """Write the comparison as Markdown or terminal text. Raises StoreError if the file cannot be written."""
    from paribus.report.render import compared_markdown, compared_text

    compared_view = comparison_view.view(document)
    if form is Form.MARKDOWN:
        deliver(visible(compared_markdown.render(compared_view)), output)
    else:
        deliver(
            as_on_terminal(functools.partial(compared_text.render, compared_view), to_file=output is not None), output
        )
