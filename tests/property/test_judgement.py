"""The simulations behind the judging procedure: a fifth of the draws, and all of them where PARIBUS_EXPLORE is set."""

import os

import pytest
from properties import PROPERTIES, Property

_SHARE, _MORE_ERRORS = (1, 0.0) if "PARIBUS_EXPLORE" in os.environ else (5, 2.0)
"""Part of the draws, and the standard errors by which that widens the bounds, which are made for all of them."""


@pytest.mark.parametrize("one", PROPERTIES, ids=lambda one: one.name)
def test_a_property_of_the_procedure_is_kept(one: Property) -> None:
    seen = list(one.observe(one.draws // _SHARE, 1))
    broken = [each for each in seen if not each.holds(_MORE_ERRORS)]
    assert [f"{each.name}: {each.share.value:.2%} of {each.bound}" for each in broken] == []
