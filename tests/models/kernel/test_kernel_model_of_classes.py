"""Kernel models with the losses of the perceptron and of Crammer and Singer."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

NARROW = th.kernels.RBF(sigma=0.3)


def checkerboard(n=300):
    X = np.random.default_rng(0).standard_normal((n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "even", "odd")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_perceptron_separates_classes(weighted):
    X, y = checkerboard()
    weight = np.random.default_rng(1).integers(0, 3, len(y)) if weighted else None
    model = th.KernelModel("perceptron", NARROW).fit(X, y, sample_weight=weight)
    assert model.score(X, y, weight) == 1.0
    assert model.solution_.outcome.success
    assert model.solution_.gap == 0.0


def test_the_perceptron_is_the_kernel_perceptron():
    X, y = checkerboard()
    model = th.KernelModel("perceptron", NARROW, fit_intercept=False).fit(X, y)
    other = th.KernelPerceptron(NARROW).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_the_perceptron_takes_given_matrices_and_few_centres():
    X, y = checkerboard()
    assert th.KernelModel("perceptron", "precomputed").fit(NARROW(X), y).score(NARROW(X), y) == 1.0
    few = th.KernelModel("perceptron", NARROW, n_components=150, random_state=0).fit(X, y)
    assert few.score(X, y) > 0.95
    assert len(few.support_) == 150
    assert "Nyström" in few.solution_.reason


def test_classes_that_are_not_separated_are_reported():
    X, y = checkerboard()
    with pytest.warns(ConvergenceWarning, match="share of rows on the wrong side"):
        th.KernelModel("perceptron", "linear", max_iter=5).fit(X, y)


def test_the_perceptron_refuses_rows_in_blocks(tmp_path):
    X, y = checkerboard(50)
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X, y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *lines]))
    rows = th.scan(tmp_path / "rows.csv", target="y")
    with pytest.raises(th.errors.CapabilityError, match="in memory"):
        th.KernelModel("perceptron", n_components=10).fit(rows)


@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
def test_crammer_singer_reaches_its_optimum_with_intercepts(alpha):
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 2))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.2 * random.standard_normal(200), [-0.5, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = th.KernelModel("crammer_singer", alpha=alpha).fit(X, y)
    assert model.solution_.gap <= 1e-8
    K = model.kernel_(model.X_fit_)
    rows = model.kernel_(X, model.X_fit_)

    def risk(c, b):
        loss = th.losses.CrammerSinger().value(y, rows @ c + b).mean()
        return loss + alpha / 2 * np.sum(c * (K @ c))

    best = risk(model.dual_coef_, model.intercept_)
    assert best == pytest.approx(model.solution_.value, abs=1e-9)
    for seed in range(30):
        move = np.random.default_rng(seed)
        c = model.dual_coef_ + 1e-3 * move.standard_normal(model.dual_coef_.shape)
        b = model.intercept_ + 1e-2 * move.standard_normal(3)
        assert risk(c, b) >= best - 1e-8
        assert risk(model.dual_coef_, b) >= best - 1e-8
