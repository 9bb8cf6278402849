"""The newest experiment of a test's store, and the schemas of documents."""

import json
from collections import Counter
from pathlib import Path

from paribus.model import TrialState
from paribus.store import read
from paribus.store.open import open_engine, store_url

ROOT = Path(__file__).parents[2]
UNCOUNTED = (TrialState.SUPERSEDED, TrialState.SPARED)


def schema(name: str) -> object:
    """The schema of a document that is checked in."""
    return json.loads((ROOT / "schema" / f"{name}.json").read_text())


def counting_arms() -> Counter[tuple[int, str]]:
    """The number of trials that count, of each arm of each block."""
    store = open_engine(store_url(None), create=False)
    trials = read.trials(store, read.find(store, "last").id)
    store.dispose()
    return Counter((trial.block, trial.arm) for trial in trials if trial.state not in UNCOUNTED)
