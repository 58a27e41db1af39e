"""Rules for the width of bins: worked numbers, brute force, weights, refusals."""

from math import pi, sqrt

import numpy as np
import pytest

import thetahat as th
from thetahat.errors import DataError, ParameterError

RULES = [
    th.binning.scott, th.binning.freedman_diaconis, th.binning.shimazaki_shinomoto,
    th.binning.cross_validation,
]  # fmt: skip


def draw(n, seed=0):
    return np.random.default_rng(seed).standard_normal(n)


def test_scott_has_the_exact_constant():
    constant = (24 * sqrt(pi)) ** (1 / 3)
    assert constant == pytest.approx(3.4908302, abs=5e-8)
    x = draw(500)
    assert th.binning.scott(x) == pytest.approx(constant * x.std() * 500 ** (-1 / 3), rel=1e-13)
    assert th.binning.scott(x) == pytest.approx(np.ptp(np.histogram_bin_edges(x, "scott")[:2]),
                                                rel=0.1)  # fmt: skip


@pytest.mark.parametrize(("n", "n_bins"), [(1000, 10), (10**6, 100)])
def test_freedman_diaconis_of_uniform_rows_gives_the_cube_root_of_their_number(n, n_bins):
    x = np.arange(1, n + 1) / n
    assert x[3 * n // 4 - 1] - x[n // 4 - 1] == 0.5
    assert th.binning.freedman_diaconis(x) == pytest.approx(1 / n_bins, rel=1e-12)


def test_freedman_diaconis_falls_back_to_scott():
    x = np.array([0.0] * 8 + [1.0, 2.0])
    assert th.binning.freedman_diaconis(x) == th.binning.scott(x)


def counted(x, n_bins):
    return np.histogram(x, bins=n_bins)[0], np.ptp(x) / n_bins


def test_shimazaki_shinomoto_is_an_argmin():
    x = draw(300)

    def cost(n_bins):
        counts, width = counted(x, n_bins)
        return (2 * counts.mean() - counts.var()) / width**2

    best = min(range(1, 101), key=cost)
    assert th.binning.shimazaki_shinomoto(x) == pytest.approx(np.ptp(x) / best)
    assert 5 < best < 40
    assert th.binning.shimazaki_shinomoto_cost(*counted(x, 7)) == pytest.approx(cost(7))


def test_leave_one_out_cost_by_leaving_rows_out():
    x = draw(40)
    counts, width = counted(x, 6)
    edges = np.histogram_bin_edges(x, 6)
    bin_ = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, 5)
    heights = counts / (40 * width)
    held_out = [(counts[b] - 1) / (39 * width) for b in bin_]
    wanted = (heights**2 * width).sum() - 2 * np.mean(held_out)
    assert th.binning.leave_one_out_cost(counts, width) == pytest.approx(wanted, rel=1e-12)


def test_cross_validation_minimises_the_leave_one_out_cost():
    x = draw(300)
    costs = [th.binning.leave_one_out_cost(*counted(x, k)) for k in range(1, 101)]
    assert th.binning.cross_validation(x) == pytest.approx(np.ptp(x) / (1 + np.argmin(costs)))


def test_held_out_distance():
    counts, held_out, width = np.array([3, 5, 2]), np.array([1, 1, 2]), 0.5
    wanted = ((counts / 10 - held_out / 4) ** 2 / width).sum()
    assert th.binning.held_out_distance(counts, held_out, width) == pytest.approx(wanted)
    # One bin has no distance: the term Σ(M_l/M)²/Δx makes it an estimate of the squared error.
    assert th.binning.held_out_distance([10], [4], width) == 0
    shares, others = counts / 10, held_out / 4
    error = ((shares**2 - 2 * shares * others) / width).sum()
    assert wanted - (others**2 / width).sum() == pytest.approx(error)


def test_search_over_given_widths():
    x, widths = draw(200), [0.05, 0.3, 5.0]
    assert th.binning.best_width(x, widths=widths) == 0.3
    assert th.binning.best_width(x, "shimazaki_shinomoto", widths) == 0.3
    tried = []

    def cost(counts, width):
        tried.append((counts.sum(), width))
        return -width

    assert th.binning.best_width(x, cost, widths) == 5.0
    assert tried == [(200.0, width) for width in widths]


def test_bins_are_floors_of_the_distance_from_the_smallest_number():
    x = np.array([0.0, 0.3, 0.7, 1.0, 2.5])
    seen = {}
    th.binning.best_width(x, lambda counts, width: seen.setdefault(width, counts).sum(), [1.0])
    np.testing.assert_array_equal(seen[1.0], [3, 1, 1])


@pytest.mark.parametrize("rule", RULES)
def test_weights_are_repetitions(rule):
    x, weight = draw(60), np.random.default_rng(1).integers(0, 4, 60)
    assert rule(x, weight) == pytest.approx(rule(np.repeat(x, weight)), rel=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_widths_scale_with_the_numbers(rule):
    x = draw(100)
    for factor in (1e-150, 1e3, 1e150):
        assert rule(factor * x) == pytest.approx(factor * rule(x), rel=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("x", [[1.0, 1.0, 1.0], [], [[1.0, 2.0]], [1.0, np.nan], [-1e308, 1e308]])
def test_numbers_without_a_width_are_refused(rule, x):
    with pytest.raises((DataError, ParameterError), match="binning"):
        rule(x)


def test_wrong_arguments_are_refused():
    x = draw(20)
    for wrong in ({"cost": "aic"}, {"widths": [0.0]}, {"widths": [-1.0]}, {"widths": []},
                  {"widths": [1e-12]}):  # fmt: skip
        with pytest.raises(ParameterError):
            th.binning.best_width(x, **wrong)
    with pytest.raises(DataError):
        th.binning.held_out_distance([1, 2], [1, 2, 3], 1.0)
    with pytest.raises(DataError):
        th.binning.leave_one_out_cost([1.0], 1.0)
    with pytest.raises(ParameterError):
        th.binning.shimazaki_shinomoto_cost([1.0], 0.0)
