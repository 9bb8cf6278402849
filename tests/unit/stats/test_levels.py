import numpy as np
import pytest
import statsmodels.api as sm

from paribus.stats.levels import level_contrasts, level_means


def _data(seed: int, effects: list[float], each: int = 10, sd: float = 0.02):
    rng = np.random.default_rng(seed)
    level = np.repeat(np.arange(len(effects)), each)
    order = np.tile([1.0, -1.0], len(level) // 2)
    return np.asarray(effects)[level] + rng.normal(0, sd, len(level)) + 0.003 * order, order, level


def test_level_means_equal_the_analysis_of_variance_of_statsmodels() -> None:
    d, order, level = _data(1, [0.0, 0.01, 0.02])
    ours = level_means(d, order, level)
    assert ours is not None
    dummies = (level[:, None] == np.arange(3)).astype(float)
    full = sm.OLS(d, np.column_stack([dummies, order])).fit()
    reduced = sm.OLS(d, np.column_stack([np.ones(len(d)), order])).fit()
    assert ours.p_equal == pytest.approx(full.compare_f_test(reduced)[1])
    test = full.t_test([1 / 3, 1 / 3, 1 / 3, 0])
    assert ours.mean == pytest.approx(float(test.effect[0]))
    assert ours.mean_error == pytest.approx(float(test.sd[0, 0]))
    assert ours.estimates == pytest.approx(full.params[:3])


def test_similar_levels_are_shrunk_more_than_different_ones() -> None:
    alike, unlike = level_means(*_data(2, [0.01] * 4)), level_means(*_data(3, [0.1, -0.1, 0.2, 0.0]))
    assert alike is not None and unlike is not None
    assert np.ptp(alike.shrunk()) < 0.6 * np.ptp(alike.estimates)
    assert unlike.shrunk() == pytest.approx(unlike.estimates, abs=0.002)
    assert unlike.p_equal < 1e-6


def test_a_single_level_has_a_p_value_of_one() -> None:
    means = level_means(*_data(4, [0.02], each=20))
    assert means is not None
    assert means.p_equal == 1.0


def test_the_known_noise_of_levels_weights_the_fit() -> None:
    rng = np.random.default_rng(5)
    level = np.repeat([0, 1], 20)
    sd = np.array([0.001, 0.1])
    d = rng.normal(0, sd[level])
    order = np.tile([1.0, -1.0], 20)
    plain, weighted = level_means(d, order, level), level_means(d, order, level, sd)
    assert plain is not None and weighted is not None
    assert plain.errors[0] == pytest.approx(plain.errors[1])
    assert weighted.errors[1] == pytest.approx(100 * weighted.errors[0], rel=0.01)


def test_a_level_without_pairs_gives_no_level_means() -> None:
    assert level_means(np.zeros(4), np.tile([1.0, -1.0], 2), np.array([0, 0, 2, 2])) is None


def test_levels_with_a_single_order_are_compared_without_an_order_effect() -> None:
    d, _, level = _data(6, [0.0, 0.01])
    means = level_means(d, np.where(level == 0, 1.0, -1.0), level)
    assert means is not None
    assert means.estimates == pytest.approx([d[level == 0].mean(), d[level == 1].mean()])


def test_a_level_is_compared_with_the_mean_of_the_others() -> None:
    contrasts = level_contrasts(*_data(5, [0.08, 0.0, 0.01], each=200))
    assert contrasts is not None
    assert contrasts.estimates - contrasts.others == pytest.approx([0.075, -0.045, -0.03], abs=0.006)
    assert contrasts.errors == pytest.approx([0.02 / 200**0.5] * 3, rel=0.15)
    assert contrasts.other_errors == pytest.approx([0.02 / 400**0.5] * 3, rel=0.15)
    assert contrasts.freedom == pytest.approx([450] * 3, rel=0.25)
    assert contrasts.p_single < 1e-10


def test_a_level_whose_pairs_differ_more_has_a_larger_error_and_fewer_degrees_of_freedom() -> None:
    d, order, level = _data(6, [0.0] * 8)
    d[level == 0] *= 5
    contrasts = level_contrasts(d, order, level)
    assert contrasts is not None
    assert contrasts.errors[0] > 1.5 * max(contrasts.errors[1:])
    assert contrasts.freedom[0] < min(contrasts.freedom[1:])


def test_contrasts_need_two_levels_six_pairs_at_each_and_variation() -> None:
    assert level_contrasts(*_data(7, [0.0], each=20)) is None
    assert level_contrasts(*_data(7, [0.0] * 4, each=5)) is None
    assert level_contrasts(*_data(7, [0.0] * 4, each=6)) is not None
    assert level_contrasts(*_data(7, [0.0, 0.1], each=8, sd=0.0)) is None
