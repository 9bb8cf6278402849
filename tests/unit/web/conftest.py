"""A store, and the pages that are made of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from asked import Site
from sqlalchemy.engine import Engine as Store

from paribus.i18n import Language
from paribus.store.open import open_engine, store_url


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a # store.db"


@pytest.fixture
def store(path: Path) -> Store:
    return open_engine(store_url(str(path)), create=True)


@pytest.fixture
def page(path: Path) -> Callable[..., str]:
    """Return a page of the store; by default that of the newest experiment."""

    def get(address: str = "/experiments/last", language: Language | None = None, **options: object) -> str:
        async def once() -> str:
            return (await Site(path, language=language, **options).ask(address)).text  # type: ignore[arg-type]

        return asyncio.run(once())

    return get
