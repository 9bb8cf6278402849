"""The simulations behind the judging procedure, with the draws that its bounds are made for."""

import pytest
from properties import PROPERTIES, Property


@pytest.mark.parametrize("one", PROPERTIES, ids=lambda one: one.name)
def test_a_property_of_the_procedure_is_kept(one: Property) -> None:
    seen = list(one.observe(one.draws, 1))
    assert [f"{each.name}: {each.share.value:.2%} of {each.bound}" for each in seen if not each.holds] == []
