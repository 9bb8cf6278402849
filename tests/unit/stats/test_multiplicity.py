import pytest
from statsmodels.stats.multitest import multipletests

from paribus.stats.multiplicity import benjamini_hochberg

P_VALUES = [[0.03, 0.001, 0.2, 0.04, 0.04], [0.5], [0.9, 0.8], [0.01] * 4]


@pytest.mark.parametrize("p_values", P_VALUES)
def test_they_are_those_of_statsmodels(p_values: list[float]) -> None:
    assert benjamini_hochberg(p_values) == pytest.approx(list(multipletests(p_values, method="fdr_bh")[1]))


def test_no_claim_needs_no_adjusting() -> None:
    assert benjamini_hochberg([]) == []
