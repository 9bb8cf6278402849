"""Examples in the docstrings of `paribus.stats`."""

import doctest
import importlib
import pkgutil

import pytest

from paribus import stats

MODULES = [module.name for module in pkgutil.iter_modules(stats.__path__, "paribus.stats.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_the_stated_results(name: str) -> None:
    failures, _ = doctest.testmod(importlib.import_module(name))
    assert failures == 0


def test_some_modules_have_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(len(example.examples) for name in MODULES for example in finder.find(importlib.import_module(name))) > 10
