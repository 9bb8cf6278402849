"""SIGKILL just before and after every kind of step, and one fault of every sort: the machine comes back."""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign import Toll, campaign
from faults import FAULTS
from forked import Forked
from laboratory import Laboratory

pytestmark = [pytest.mark.kills, pytest.mark.root, pytest.mark.usefixtures("as_root")]
KILLS = 20


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Laboratory]:
    made = Laboratory(tmp_path)
    yield made
    made.remove()


def _choose(moments: Path, rng: random.Random) -> list[tuple[str, int]]:
    """Moments to kill at, as (sort, number of it): every sort, and more of them while settings are changed."""
    counted = Counter(moments.read_text().splitlines())
    sorts = sorted(counted)
    while len(sorts) < KILLS:
        sorts.append(rng.choice([sort for sort in counted if "Journal" in sort]))
    chosen = [(sort, rng.randint(1, min(counted[sort], 15))) for sort in sorts]
    rng.shuffle(chosen)
    return chosen


def _end(process: Forked) -> int:
    return process.wait(120)


def test_the_machine_comes_back_from_a_kill_at_any_step(lab: Laboratory, tmp_path: Path) -> None:
    moments = tmp_path / "moments"
    assert _end(lab.start("here", str(moments), "none", "0", "spare")) in (0, 3), lab.words()
    killed = left_open = 0
    for number, (sort, occurrence) in enumerate(_choose(moments, random.Random(20260101))):
        code = _end(lab.start("here", str(tmp_path / "none"), sort, str(occurrence), "too" if number % 3 else "spare"))
        killed += code == -9
        lab.wait_until_nobody_works("here")
        if lab.different("here"):
            left_open += 1
            assert lab.paribus("here", "run", str(tmp_path / "here.toml")) == 4, (
                "run must refuse while a journal is open"
            )
            assert lab.paribus("here", "resume", "here") == 4, "resume must refuse while a journal is open"
        assert lab.undo("here") == 0
        assert lab.different("here") == {}, f"after kill {number}: {sort}, {occurrence}"
        assert lab.lost_or_double("here") == 0
    assert _end(lab.start("here")) in (0, 3)
    assert (lab.different("here"), lab.lost_or_double("here")) == ({}, 0)
    print(f"{killed} kills, {left_open} of them left settings changed", file=sys.stderr)
    assert killed >= KILLS * 0.6  # what is resumed has fewer steps left, and no beginning
    assert left_open >= 3


def test_the_machine_comes_back_from_every_sort_of_fault(lab: Laboratory) -> None:
    """All but those that want a guest, or a target that is left alone for a minute."""
    chosen = [one for one in FAULTS if one.where != "guest" and one.name != "link down until the target is alone"]
    toll = Toll()
    campaign(lab, chosen, random.Random(20260101), toll)
    print(toll.table(), file=sys.stderr)
    assert toll.wrong == []
    assert [fault.name for fault in chosen if not toll.of(fault)["struck"]] == []
