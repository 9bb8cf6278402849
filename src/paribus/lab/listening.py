"""Listener of experiments run without a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paribus.model import Look, Trial

if TYPE_CHECKING:
    from paribus.lab.running import Steadiness


class DiscardingListener:
    """Ignores all progress; a base for listeners that need only some of it."""

    def on_trials(self, trials: Sequence[Trial]) -> None:
        """Ignore the trials of the experiment."""

    def on_notes(self, messages: Sequence[str]) -> None:
        """Ignore messages about the machine."""

    def on_decisions(self, looks: Sequence[Look]) -> None:
        """Ignore the looks that decided."""

    def on_data_progress(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """Ignore the progress of making data."""

    def on_trial_state(self, trial: Trial) -> None:
        """Ignore a trial's state."""

    def on_connection_lost(self, message: str) -> None:
        """Ignore the loss of the connection."""

    def on_store_locked(self, message: str) -> None:
        """Ignore the lock of the store."""

    def on_fill_progress(self, workload: str, done_bytes: int, total_bytes: int) -> None:
        """Ignore the progress of preconditioning."""

    def on_round(self, workload: str, number: int, per_s: float, last: "Steadiness | None") -> None:
        """Ignore a round of preconditioning."""
