"""Copies of experiments between stores: whole, once, and only of what is finished."""

from pathlib import Path

import scripted
from plan_samples import FILEIO, checked, simple

from paribus.model import ExperimentState
from paribus.store import read, write
from paribus.store.copy import Copied, copy
from paribus.store.open import open_engine, store_url


def test_finished_experiments_are_copied_once_and_others_left_out(tmp_path: Path) -> None:
    source, target = (open_engine(store_url(str(tmp_path / name)), create=True) for name in ("a.db", "b.db"))
    plan = checked(simple('"vm.swappiness" = [60, 1]', FILEIO, '[protocol]\nbudget = "1h"'))
    done, running = (scripted.carry_out(source, plan, lambda trial: 0.06 * (trial.arm == "1")).id for _ in range(2))
    write.set_state(source, running, ExperimentState.RUNNING)
    reported: list[str] = []
    assert copy(source, target, reported.append) == Copied(copied=1, present=0, unfinished=1)
    assert reported == [done]
    assert copy(source, target, reported.append) == Copied(copied=0, present=1, unfinished=1)
    assert read.trials(target, done) == read.trials(source, done)
    assert read.summaries(target, done) == read.summaries(source, done)
    assert read.looks(target, done) == read.looks(source, done)
    assert read.conditions(target, done) == read.conditions(source, done)
