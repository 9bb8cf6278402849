"""What tests of readers share."""

import time
from collections.abc import Callable

import pytest


@pytest.fixture
def cpu_seconds() -> Callable[[Callable[[], object]], float]:
    """The processor's time that something takes."""

    def spent(work: Callable[[], object]) -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return spent
