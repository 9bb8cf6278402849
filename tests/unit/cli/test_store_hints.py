"""Commands in messages name the store of the command line."""

from collections.abc import Iterator

import pytest

from paribus.cli.store_hints import keep_store, with_store

EXPERIMENT = "20261201-003606-37f3"


@pytest.fixture(autouse=True)
def _own_store() -> Iterator[None]:
    keep_store("/srv/my store.db")
    yield
    keep_store(None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"see: paribus report {EXPERIMENT}", f"see: paribus report {EXPERIMENT} --store '/srv/my store.db'"),
        (
            f"with paribus resume {EXPERIMENT} --budget 4min",
            f"with paribus resume {EXPERIMENT} --store '/srv/my store.db' --budget 4min",
        ),
        ("continue with: paribus resume", "continue with: paribus resume --store '/srv/my store.db'"),
        (f"paribus again {EXPERIMENT} --store /x", f"paribus again {EXPERIMENT} --store /x"),
        ("paribus report shows it; paribus status", "paribus report shows it; paribus status"),
        ("paribus resume continues", "paribus resume continues"),
    ],
)
def test_commands_on_an_experiment_name_the_store(text: str, named: str) -> None:
    assert with_store(text) == named


def test_the_default_store_is_not_named() -> None:
    keep_store(None)
    assert with_store("paribus report last") == "paribus report last"
