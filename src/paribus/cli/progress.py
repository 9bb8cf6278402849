"""Progress display of a running experiment: a bar with the remaining time, and a line for the current trial."""

import contextlib
import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from paribus.cli.progress_log import Log, discard
from paribus.model import FailureClass, Look, Purpose, Trial, TrialState, Verdict
from paribus.units import show_duration, show_percent, show_size

if TYPE_CHECKING:
    from paribus.lab.running import Steadiness

_LINE_EVERY_S = 60.0
_OVER = (TrialState.DONE, TrialState.INVALID, TrialState.FAILED)


class ProgressDisplay:
    """Shows an experiment on a terminal; elsewhere prints a line per minute.

    With `verbose` it prints a line for each finished trial instead, and each reason why one cannot be used; `log`
    receives these in any case.
    """

    def __init__(self, console: Console, *, verbose: bool = False, log: Log = discard) -> None:
        self._console = console
        self._verbose = verbose
        self._log = log
        self._last_line = -math.inf
        self._unusable: Counter[str] = Counter()  # trials by reason
        self._progress = Progress(
            TextColumn("trials"), BarColumn(bar_width=32), MofNCompleteColumn(), TextColumn("{task.fields[left]}")
        )
        self._whole = self._progress.add_task("", total=None, left="")
        self._line = Text(no_wrap=True, overflow="ellipsis")
        self._live = Live(Group(self._progress, self._line), console=console, transient=True)
        self._to_do = 0
        self._made = 0
        self._began = time.monotonic()

    def __enter__(self) -> "ProgressDisplay":
        if self._console.is_terminal:
            with contextlib.suppress(OSError):
                self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # here and elsewhere: a terminal that is gone stops no experiment
            self._live.stop()
        if self._unusable and not self._verbose:
            self._say(self._reasons())

    def on_trials(self, trials: Sequence[Trial]) -> None:
        """Count the trials."""
        over = sum(trial.state in _OVER for trial in trials)
        counted = sum(trial.state not in (TrialState.SUPERSEDED, TrialState.SPARED) for trial in trials)
        self._to_do = counted - over
        self._made = 0
        self._began = time.monotonic()
        self._progress.update(self._whole, total=counted, completed=over)

    def on_data_progress(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """Show how much of the data exists."""
        self._line.plain = f"making data for {workload}: {show_size(done_bytes)} of {show_size(total_bytes)}"

    def on_fill_progress(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """Show the progress of sequential overwriting."""
        self._line.plain = f"preconditioning {workload}: overwritten to {done_bytes / total_bytes * 100:.0f} %"

    def on_round(self, workload: str, number: int, per_s: float, last: "Steadiness | None") -> None:
        """Show a round of random overwriting, and how steady the last rounds are."""
        spread = f", spread {last.spread * 100:.0f} %" if last else ""
        self._line.plain = f"preconditioning {workload}: round {number}, {per_s:,.0f} IOPS{spread}"
        if not self._console.is_terminal:
            self._say(self._line.plain)

    def on_notes(self, notes: Sequence[str]) -> None:
        """Print notes about the machine or the next step."""
        for note in notes:
            self._say(note)

    def on_decisions(self, looks: Sequence[Look]) -> None:
        """Print decided comparisons."""
        from paribus.report.sections.verdicts import title  # slow to import, and the engine has made trials by now

        for look in looks:
            effect = show_percent(look.estimate)
            if look.verdict is not Verdict.EQUIVALENT:  # which a narrower interval decided
                effect += f" [{show_percent(look.low)}, {show_percent(look.high)}]"
            verdict = str(look.verdict).replace("_", " ")
            comparison = f"{look.factor} = {look.arm} under {look.workload}"
            self._say(f"{comparison}: {verdict} after {look.pairs} pairs, {title(look.response)} {effect}")

    def on_connection_lost(self, message: str) -> None:
        """Print that the connection to the target was lost; reconnecting may take minutes."""
        self._line.plain = "reaching the target again"
        self._say(f"{message}; reaching it again, for some minutes")

    def on_store_locked(self, message: str) -> None:
        """Print that another program has locked the store."""
        self._line.plain = "waiting for the store"
        self._say(message)

    def on_trial_state(self, trial: Trial) -> None:
        """Show the current trial and the remaining time."""
        position = f"{trial.workload} at {trial.load}"
        text = f"trial {trial.order}, {position}, {trial.subject}: {trial.state.value}"
        self._line.plain = text
        if trial.state not in _OVER:
            return
        if trial.purpose in (Purpose.PRECONDITION, Purpose.CALIBRATE):  # they say nothing of the trials to come
            self._to_do -= 1
            self._began = time.monotonic()
        else:
            self._made += 1
        left_s = (time.monotonic() - self._began) / max(1, self._made) * max(0, self._to_do - self._made)
        left = f"{show_duration(left_s)} left" if left_s >= 1 else ""
        reasons = [*trial.invalid_because, *filter(None, [trial.failure_message])]
        if trial.failure is not FailureClass.INTERRUPTED:
            self._unusable.update(reasons[:1])
        unusable = f"{self._unusable.total()} unusable" if self._unusable else ""
        self._progress.update(self._whole, advance=1, left=", ".join(filter(None, [left, unusable])))
        lines = [f"trial {trial.order} ({position}, {trial.subject}) {trial.state.value}: {why}" for why in reasons]
        for line in [text] if trial.state is TrialState.DONE else lines:
            self._log(line)
            if self._verbose:
                self._print(line)
        if not self._verbose and not self._console.is_terminal and time.monotonic() - self._last_line >= _LINE_EVERY_S:
            self._summarise(left)

    def _summarise(self, left: str) -> None:
        """Print how far the experiment is, and the most frequent reason why trials so far cannot be used."""
        self._last_line = time.monotonic()
        task = self._progress.tasks[0]
        parts = [f"{task.completed:.0f} of {task.total or 0:.0f} trials", *([left] if left else [])]
        if self._unusable:
            parts.append(self._reasons())
        self._print("; ".join(parts))

    def _reasons(self) -> str:
        """The number of trials that cannot be used, and the most frequent reason."""
        reason, _ = self._unusable.most_common(1)[0]
        return f"{self._unusable.total()} unusable, for example: {reason}"

    def _say(self, text: str) -> None:
        """Print and log a line."""
        self._log(text)
        self._print(text)

    def _print(self, text: str) -> None:
        """Print a line that stays on the terminal."""
        with contextlib.suppress(OSError):
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)
