"""The duality gap at the end of a fit, and how few steps reach it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.margin.margin_data import objective


def wide(n=80, d=200):
    """Rows that a hyperplane separates, some of them of weight 0."""
    random = np.random.default_rng(3)
    X = random.normal(size=(n, d))
    y = np.where(X[:, :5].sum(axis=1) + random.normal(size=n) > 0, 1, -1)
    return X, y, random.integers(0, 4, n) * 1.0


@pytest.mark.parametrize("C", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_gap_is_small_compared_with_the_objective_reached(loss, C):
    """The optimum is a tiny share of the objective at β = 0, so a share of that is not small."""
    X, y, weight = wide()
    model = th.LinearSVC(C=C, loss=loss, dual=True).fit(X, y, weight)
    exact = th.LinearSVC(C=C, loss=loss, dual=True, tol=1e-10).fit(X, y, weight)
    reached, least = (
        objective(each, X, y, loss=loss, C=C, weight=weight) for each in (model, exact)
    )
    assert model.solution_.outcome.success
    assert reached <= (1 + 1e-4) * least


def test_a_gap_small_only_compared_with_the_start_is_not_convergence():
    X, y, weight = wide()
    with pytest.warns(ConvergenceWarning):
        th.LinearSVC(C=1e4, dual=True, max_iter=10).fit(X, y, weight)


def test_few_rows_with_an_l1_penalty_and_a_large_cost_need_few_steps():
    """From β = 0 Newton's method needs hundreds of steps."""
    X, y, _ = wide(60, 150)
    model = th.LinearSVC(C=100, penalty="l1", dual=False).fit(X, y)
    exact = th.LinearSVC(C=100, penalty="l1", dual=False, tol=1e-7).fit(X, y)
    reached, least = (objective(each, X, y, C=100, penalty="l1") for each in (model, exact))
    assert model.solution_.outcome.success
    assert model.n_iter_ < 60
    assert reached <= 1.001 * least


def test_a_wide_l1_penalty_stops_at_a_share_of_the_largest_slope():
    """Steps beyond that only add digits that the cost of the rows does not show."""
    X, y, _ = wide(100, 1000)
    model = th.LinearSVC(penalty="l1", dual=False).fit(X, y)
    exact = th.LinearSVC(penalty="l1", dual=False, tol=1e-7).fit(X, y)
    reached, least = (objective(each, X, y, C=1.0, penalty="l1") for each in (model, exact))
    assert model.solution_.outcome.success
    assert model.n_iter_ <= 13
    assert reached <= 1.0001 * least


@pytest.mark.parametrize("limit", [1, 10, 11, 15])
def test_the_path_of_l1_penalties_keeps_to_its_steps(limit):
    X, y, _ = wide(60, 150)
    with pytest.warns(ConvergenceWarning):
        model = th.LinearSVC(C=100, penalty="l1", dual=False, max_iter=limit).fit(X, y)
    assert model.n_iter_ == limit
    value = objective(model, X, y, C=100, penalty="l1")
    np.testing.assert_allclose(model.solution_.value * 100 * len(y), value)


def test_few_sweeps_find_the_face_of_a_hard_hinge_loss():
    """Conjugate gradients start early, so that half as many sweeps suffice."""
    random = np.random.default_rng(2)
    X = random.standard_normal((300, 100))
    y = X[:, :30] @ random.standard_normal(30) + 5 * random.standard_normal(300) > 0
    model = th.LinearSVC(loss="hinge").fit(X, y)
    assert model.solution_.solver == "dual_coordinate_descent"
    assert model.n_iter_ <= 150
    assert model.solution_.gap < 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_wide_rows_need_no_more_sweeps_than_their_gap(loss):
    """The sweeps end at the gap that the tolerance asks for, not at a share of an earlier gap."""
    random = np.random.default_rng(0)
    X = random.standard_normal((100, 1000))
    model = th.LinearSVC(loss=loss).fit(X, X[:, :9].sum(axis=1) > 0)
    assert model.solution_.solver == "dual_coordinate_descent"
    assert model.solution_.gap <= 1e-4 * model.solution_.value
    assert model.n_iter_ <= 30
