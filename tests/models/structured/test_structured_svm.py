"""Structured machines: Crammer and Singer's, chains, random fields, gaps, refusals."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_gradient
from thetahat.mathematics.optimizers.dual import cutting_planes
from thetahat.objective.structured_risk import RandomFieldRisk

IRIS, KIND = load_iris(return_X_y=True)
IRIS = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)


def sequences(count, seed):
    """Labels that stay for a while, and two columns that show them with noise."""
    random = np.random.default_rng(seed)
    centre = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    X, Y = [], []
    for _ in range(count):
        states = [int(random.integers(3))]
        for _ in range(int(random.integers(3, 12))):
            stays = random.random() < 0.8
            states.append(states[-1] if stays else int(random.integers(3)))
        X.append(centre[states] + random.standard_normal((len(states), 2)))
        Y.append(np.array(["a", "b", "c"])[states])
    return X, Y


@pytest.mark.parametrize("alpha", [0.1, 0.003])
def test_multiclass_is_the_machine_of_crammer_and_singer(alpha):
    model = th.StructuredSVM(alpha=alpha, tol=1e-10).fit(IRIS, KIND)
    peer = th.LinearSVC(
        multi_class="crammer_singer", C=1 / (alpha * len(IRIS)), tol=1e-10, max_iter=100_000
    ).fit(IRIS, KIND)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-7)
    np.testing.assert_array_equal(model.predict(IRIS), peer.predict(IRIS))
    assert model.solution_.gap <= 1e-10
    assert model.solution_.gap_kind == "duality gap"


def test_hinge_of_a_chain_is_at_its_optimum():
    """The value equals the maximum over all label sequences, and no small step lowers it."""
    X, Y = sequences(12, 1)
    X, Y = [x[:4] for x in X], [y[:4] for y in Y]
    model = th.StructuredSVM("chain", alpha=0.05, tol=1e-9).fit(X, Y)
    chain, codes = model.structure_, [np.searchsorted(model.classes_, y) for y in Y]
    every = [np.array(each) for each in product(range(3), repeat=4)]
    table = [np.array([chain.features(x, y) for y in every]) for x in X]
    costs = [np.array([chain.loss(c, y) for y in every]) for c in codes]
    true = [chain.features(x, c) for x, c in zip(X, codes, strict=True)]

    def objective(w):
        terms = [
            (cost + rows @ w).max() - own @ w
            for rows, cost, own in zip(table, costs, true, strict=True)
        ]
        return np.mean(terms) + 0.025 * w @ w

    assert model.solution_.value == pytest.approx(objective(model.weights_), rel=1e-10)
    for seed in range(30):
        step = 1e-3 * np.random.default_rng(seed).standard_normal(chain.size)
        assert objective(model.weights_ + step) > objective(model.weights_) - 1e-9


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_neighbouring_labels_help(loss):
    X, Y = sequences(60, 2)
    new, labels = sequences(60, 3)
    model = th.StructuredSVM("chain", alpha=0.1, loss=loss, tol=1e-4).fit(X, Y)
    single = th.LinearSVC().fit(np.vstack(X), np.concatenate(Y))
    apart = single.score(np.vstack(new), np.concatenate(labels))
    assert model.score(new, labels) > apart + 0.05
    assert (np.diag(model.transition_) > model.transition_.mean(axis=1)).all()


def test_random_field_has_the_right_gradient():
    X, Y = sequences(4, 4)
    chain = th.structures.Chain(3, 2)
    codes = [np.searchsorted(["a", "b", "c"], y) for y in Y]
    risk = RandomFieldRisk(chain, X, codes, np.array([0.4, 0.3, 0.2, 0.1]), 0.1)
    w = np.random.default_rng(5).standard_normal(chain.size)
    value, slope = risk.value_and_gradient(w)
    np.testing.assert_allclose(slope, numeric_gradient(risk.value, w).value, atol=1e-6)
    assert value == risk.value(w)


def test_example_twice_is_weight_two():
    X, Y = sequences(15, 6)
    weight = np.random.default_rng(7).integers(0, 3, 15)
    rows = np.repeat(np.arange(15), weight)
    model = th.StructuredSVM("chain", alpha=0.1, tol=1e-11)
    once = model.fit(X, Y, sample_weight=weight).weights_
    twice = model.fit([X[i] for i in rows], [Y[i] for i in rows]).weights_
    np.testing.assert_allclose(once, twice, atol=1e-5)


def test_searches_and_files(tmp_path):
    X, Y = sequences(20, 8)
    search = GridSearchCV(th.StructuredSVM("chain", tol=1e-3), {"alpha": [0.1, 1.0]}, cv=2)
    search.fit(X, Y)
    assert search.best_score_ > 0.6
    th.save(search.best_estimator_, tmp_path / "chain.theta")
    loaded = th.load(tmp_path / "chain.theta")
    for ours, theirs in zip(loaded.predict(X), search.predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)


class Ranking(th.structures.Structure):
    """Which of two items is better: y is 0 or 1, x holds one row for each item."""

    def features(self, x, y):
        return x[y] - x[1 - y]

    def loss(self, y, other):
        return float(y != other)

    def decode(self, x, weights, y=None):
        scores = [weights @ self.features(x, each) for each in (0, 1)]
        return int(np.argmax(scores if y is None else np.add(scores, np.arange(2) != y)))


def test_structure_of_your_own():
    random = np.random.default_rng(9)
    X = list(random.standard_normal((60, 2, 3)))
    Y = [int(x[1] @ [1.0, -2.0, 0.5] > x[0] @ [1.0, -2.0, 0.5]) for x in X]
    model = th.StructuredSVM(Ranking(), alpha=1e-3).fit(X, Y)
    assert model.score(X, Y) > -0.05
    assert model.predict(X[:5]) == Y[:5]
    direction = model.weights_ / np.linalg.norm(model.weights_)
    assert direction @ np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25) > 0.97
    with pytest.raises(ParameterError, match="log_partition"):
        th.StructuredSVM(Ranking(), loss="logistic").fit(X, Y)


def test_refusals():
    X, Y = sequences(4, 10)
    with pytest.raises(DataError, match=r"sequence 1 has .* labels"):
        th.StructuredSVM("chain").fit(X, [Y[0], Y[1][:-1], *Y[2:]])
    with pytest.raises(DataError, match="sequence 2 of X has 1 columns"):
        th.StructuredSVM("chain").fit([X[0], X[1], X[2][:, :1], X[3]], Y)
    with pytest.raises(DataError, match="4 inputs and y has 3 outputs"):
        th.StructuredSVM("chain").fit(X, Y[:3])
    with pytest.raises(DataError, match="one label only"):
        th.StructuredSVM("chain").fit(X, [np.full(len(x), "a") for x in X])
    with pytest.raises(DataError, match="NaN"):
        th.StructuredSVM("chain").fit([*X[:3], np.full_like(X[3], np.nan)], Y)
    with pytest.raises(ParameterError, match="structure"):
        th.StructuredSVM("tree").fit(X, Y)
    with pytest.raises(DataError, match="sample_weight"):
        th.StructuredSVM("chain").fit(X, Y, sample_weight=[1.0, -1.0, 1.0, 1.0])
    model = th.StructuredSVM("chain", tol=1e-2).fit(X, Y)
    with pytest.raises(DataError, match="2 are expected"):
        model.predict([np.ones((3, 5))])
    with pytest.raises(ParameterError, match="multiclass"):
        model.decision_function(X)
    with th.config(memory=1000), pytest.raises(MemoryError, match="fewer examples"):
        th.StructuredSVM("chain").fit(X, Y)


LARGE = load_iris().data


@pytest.mark.parametrize(
    "X",
    [LARGE * [1, 1, 100, 1], LARGE * [1, 1, 1e3, 1], (LARGE * 6e4).clip(-6e4, 6e4)],
    ids=["100", "1000", "clipped"],
)
def test_large_columns_need_few_iterations(X):
    model = th.StructuredSVM(max_iter=20).fit(X, KIND)
    assert model.solution_.outcome.name == "CONVERGED"
    scores = X @ model.coef_.T + model.intercept_
    right = scores[np.arange(len(X)), KIND]
    losses = np.maximum(scores + (np.arange(3) != KIND[:, None]) - right[:, None], 0).max(axis=1)
    value = losses.mean() + 0.005 * float(model.weights_ @ model.weights_)
    assert value == pytest.approx(model.solution_.value, abs=1e-9)


def test_columns_that_rounding_limits_end_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="Scale the columns"):
        model = th.StructuredSVM().fit(LARGE * 1e7, KIND)
    assert model.solution_.steps < 200


def test_slow_passes_end_early(monkeypatch):
    monkeypatch.setattr(cutting_planes, "LARGEST_PROGRAM", 0)
    monkeypatch.setattr(cutting_planes, "MOST_TURNS", 1)
    monkeypatch.setattr(cutting_planes, "SLOW_AFTER", 10)
    with pytest.warns(ConvergenceWarning):
        model = th.StructuredSVM().fit(LARGE * [1, 1, 1e4, 1], KIND)
    assert not model.solution_.outcome.success
    assert model.solution_.steps < 1000
