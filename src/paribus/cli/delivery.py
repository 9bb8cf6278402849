"""Reports written to files or to the terminal."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from paribus.cli.terminal import say_as_is, visible
from paribus.errors import StoreError
from paribus.files import make_folder, write_whole
from paribus.report.experiment_view import ReportView

if TYPE_CHECKING:
    from rich.console import Console


def deliver(content: str, output: Path | None) -> None:
    """Write text to a file, or to stdout as it is. Raises StoreError where the file cannot be written."""
    if output is None:
        say_as_is(content)
        return
    try:
        write_whole(output, content)
    except OSError as error:
        raise StoreError(
            f"cannot write the report {output}: {error.strerror}", "name another file with --output"
        ) from error


def markdown_text(report: ReportView, output: Path | None) -> str:
    """The report as Markdown; if `output` is a file, its pictures are written into a folder next to it."""
    from paribus.report.charts import charts
    from paribus.report.render import markdown

    if output is None:
        return visible(markdown.render(report))
    folder = output.with_suffix("")
    try:
        make_folder(folder)
        names = charts.write_pictures(report, folder)
    except OSError as error:
        raise StoreError(f"cannot write pictures into {folder}: {error.strerror}", "name another file") from error
    return visible(markdown.render(report, {key: f"{folder.name}/{name}" for key, name in names.items()}))


def terminal_text(report: ReportView, *, to_file: bool) -> str:
    """The report as terminal text; without colour if it goes to a file."""
    from paribus.report.render import text

    return as_on_terminal(functools.partial(text.render, report), to_file=to_file)


def as_on_terminal(show: "Callable[[Console], None]", *, to_file: bool) -> str:
    """Console output of `show` as text; without colour if it goes to a file."""
    import io

    from paribus.cli.console import VisibleConsole

    buffer = io.StringIO()
    real = VisibleConsole()
    colours = real.is_terminal and not to_file
    show(VisibleConsole(file=buffer, highlight=False, width=real.width, force_terminal=colours))
    return buffer.getvalue()
