"""Transductive machines: an objective that never rises, class balance, relations, refusals."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import DataError, ParameterError

X, KIND = make_moons(120, noise=0.08, random_state=0)
FEW = np.concatenate([np.flatnonzero(KIND == k)[:3] for k in (0, 1)])
PARTIAL = np.full(120, -1)
PARTIAL[FEW] = KIND[FEW]
NARROW = th.kernels.RBF(sigma=0.3)


def overlapping():
    """Two heaps in ten columns with few labels, whose labels change many times."""
    random = np.random.default_rng(3)
    kind = random.integers(0, 2, 150)
    rows = random.standard_normal((150, 10))
    rows[:, 0] += np.where(kind, 1.2, -1.2)
    return rows, np.where(np.arange(150) < 12, kind, -1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "squared"])
def test_objective_never_rises_while_the_weight_stays(loss):
    model = th.TransductiveSVM(loss, "linear", 0.1, 5.0, n_stages=4).fit(*overlapping())
    assert model.n_iter_ == len(model.path_) > 4
    repeated = 0
    for weight in np.unique(model.path_[:, 0]):
        values = model.path_[model.path_[:, 0] == weight, 1]
        repeated += len(values) - 1
        assert (np.diff(values) <= 1e-8).all()
    assert repeated > 0
    assert model.solution_.outcome.name == "LOCAL"
    assert model.solution_.gap == 0.0
    assert model.solution_.trace[-1] == model.solution_.value


def test_value_is_the_formula_and_the_labels_are_balanced():
    model = th.TransductiveSVM(kernel=NARROW, alpha=0.01, unlabelled_weight=2.0).fit(X, PARTIAL)
    z = model.decision_function(X)
    signs = np.where(model.transduction_ == 1, 1.0, -1.0)
    losses = np.maximum(1 - signs * z, 0.0)
    K = NARROW(model.X_fit_)
    norm = model.dual_coef_ @ K @ model.dual_coef_
    rest = PARTIAL < 0
    expected = losses[FEW].mean() + 2.0 * losses[rest].mean() + 0.005 * norm
    assert model.solution_.value == pytest.approx(expected, rel=1e-6)
    assert model.transduction_[rest].mean() == 0.5
    np.testing.assert_array_equal(model.transduction_[FEW], KIND[FEW])
    skewed = th.TransductiveSVM(kernel=NARROW, positive_share=0.25).fit(X, PARTIAL)
    assert abs((skewed.transduction_[rest] == 1).sum() - 0.25 * rest.sum()) <= 0.5


def test_best_of_all_labellings_of_a_few_rows():
    """Every balanced labelling is tried; annealing finds the best one here."""
    rows = np.array([[0.0], [0.4], [0.9], [2.2], [2.9], [3.4], [3.0], [0.1]])
    y = np.array([0, -1, -1, -1, -1, -1, 1, -1])
    model = th.TransductiveSVM(kernel="linear", alpha=0.1, positive_share=0.5).fit(rows, y)
    free = np.flatnonzero(y < 0)
    best = np.inf
    weight = np.where(y < 0, 1.0 / 6, 1.0 / 2)
    for positive in combinations(free, 3):
        labels = np.where(y == 1, 1, 0)
        labels[list(positive)] = 1
        machine = th.KernelModel("hinge", "linear", 0.1 / 2).fit(rows, labels, sample_weight=weight)
        best = min(best, 2 * machine.solution_.value)
    assert model.solution_.value == pytest.approx(best, rel=1e-6)


def test_unlabelled_rows_move_the_boundary_to_the_gap():
    supervised = th.KernelModel("hinge", NARROW).fit(X[FEW], KIND[FEW])
    model = th.TransductiveSVM(kernel=NARROW).fit(X, PARTIAL)
    assert model.score(X, KIND) > 0.98 > 0.85 > supervised.score(X, KIND)


def test_all_labels_or_no_weight_give_the_kernel_model():
    alone = th.KernelModel("hinge", NARROW, 0.01).fit(X, KIND)
    model = th.TransductiveSVM(kernel=NARROW, alpha=0.01).fit(X, KIND)
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-5)
    assert model.solution_.outcome.name == "CONVERGED"
    few = th.KernelModel("hinge", NARROW, 0.01).fit(X[FEW], KIND[FEW])
    ignored = th.TransductiveSVM(kernel=NARROW, alpha=0.01, unlabelled_weight=0.0).fit(X, PARTIAL)
    np.testing.assert_allclose(ignored.decision_function(X), few.decision_function(X), atol=1e-5)


def test_row_twice_is_weight_two_for_unlabelled_rows_too():
    random = np.random.default_rng(2)
    weight = random.integers(0, 3, len(X))
    weight[FEW] = np.maximum(weight[FEW], 1)
    rows = np.repeat(np.arange(len(X)), weight)
    for share in (None, 0.37):
        model = th.TransductiveSVM(kernel=NARROW, positive_share=share, alpha=0.01)
        once = model.fit(X, PARTIAL, sample_weight=weight).decision_function(X)
        twice = model.fit(X[rows], PARTIAL[rows]).decision_function(X)
        np.testing.assert_allclose(once, twice, atol=1e-5)


def test_stops_early_with_a_warning():
    model = th.TransductiveSVM("hinge", "linear", 0.1, n_stages=1, max_rounds=1)
    with pytest.warns(ConvergenceWarning, match="label would change"):
        model.fit(*overlapping())
    assert model.solution_.outcome.name == "STEPS_EXHAUSTED"
    assert model.solution_.gap > 0


def test_refusals():
    with pytest.raises(DataError, match="3 classes"):
        th.TransductiveSVM().fit(X, np.arange(120) % 4 - 1)
    with pytest.raises(ParameterError, match="several classes"):
        th.TransductiveSVM("softmax_cross_entropy").fit(X, PARTIAL)
    with pytest.raises(ParameterError, match="positive_share"):
        th.TransductiveSVM(positive_share=1.0).fit(X, PARTIAL)
    with th.config(memory=50_000), pytest.raises(MemoryError, match="n_components"):
        th.TransductiveSVM().fit(X, PARTIAL)
