"""The store that experiments are kept in."""

from pathlib import Path

import pytest
from sqlalchemy.engine import Engine as Store

from paribus.store.open import open_engine, store_url


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A new store of the test's own."""
    return open_engine(store_url(str(tmp_path / "s.db")), create=True)
