"""Detection of an idle server."""

from collections.abc import Mapping

import pytest

from paribus.databases.server import quiescence
from paribus.databases.server.quiescence import PendingWork, busy_work, wait


def _course(
    *amounts: float, little: float = 0.0, stir: float = 2.0, to_the_end: bool = False
) -> quiescence.PendingHistory:
    """So much left at each second."""
    return [(float(at), {"pages": PendingWork(amount, little, stir, to_the_end)}) for at, amount in enumerate(amounts)]


@pytest.mark.parametrize(
    ("course", "at_rest"),
    [
        (_course(80, little=100), True),  # little enough at once
        (_course(800), False),  # seen once, nobody knows whether it falls
        (_course(800, 800), False),  # nor after a second
        (_course(800, 800, 800, 800), True),  # left lying: the server's settings want no less
        (_course(800, 700, 600, 500), False),
        (_course(800, 700, 600, 500, 500, 500, 500), True),
        (_course(800, 799.5, 799, 798.5), True),  # that is no work
        (_course(800_000, 799_999, 799_998, 799_997), False),  # slow, but at work
        (_course(800, 900, 1000, 1100), True),  # grows: nothing is being worked off
        (_course(1, 1, 1, 1, 1, to_the_end=True), False),
        (_course(1, 1, 0, to_the_end=True), True),
    ],
)
def test_server_is_idle_when_pending_work_is_little_or_stops_falling(
    course: quiescence.PendingHistory, at_rest: bool
) -> None:
    assert busy_work(course) == ([] if at_rest else ["pages"])


class _Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_waiting_ends_with_rest_with_patience_and_when_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    monkeypatch.setattr(quiescence, "time", clock)

    def falls(from_: float) -> Mapping[str, PendingWork]:
        return {"pages": PendingWork(max(0.0, from_ - 10 * clock.now), 5, 5), "log": PendingWork(0)}

    result = wait(lambda: falls(105), lambda: False)
    assert result.busy == () and result.waited_s == pytest.approx(10, abs=0.3)
    clock.now = 0.0
    result = wait(lambda: falls(10_000), lambda: False, patience_s=4)
    assert result.busy == ("pages",) and result.waited_s == pytest.approx(4, abs=0.3)
    clock.now = 0.0
    assert wait(lambda: falls(105), lambda: clock.now > 1).waited_s < 2
