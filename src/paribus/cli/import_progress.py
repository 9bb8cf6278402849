"""Progress bar of an import."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class ImportProgress:
    """A bar that counts files. It starts at the first file: all reading processes must exist before its thread."""

    def __init__(self, console: Console, files: int) -> None:
        self._progress = Progress(
            TextColumn("files"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=files)
        self._is_started = False

    def __enter__(self) -> "ImportProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def advance(self) -> None:
        """Count a file."""
        if not self._is_started:
            self._is_started = True
            self._progress.start()
        self._progress.advance(self._task)
