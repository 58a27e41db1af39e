"""The perceptron: it moves on mistakes alone, and makes no more of them than the theorem allows."""

import numpy as np
import pytest
import sklearn.linear_model as sk

import thetahat as th


def separable(seed, margin=0.1):
    """Rows of norm ≤ R on both sides of a unit normal, none nearer to it than ρ; R and ρ."""
    random = np.random.default_rng(seed)
    normal = random.standard_normal(4)
    normal /= np.linalg.norm(normal)
    X = random.standard_normal((200, 4)) * random.uniform(0.5, 3.0)
    X = X[np.abs(X @ normal) > margin]
    return X, np.sign(X @ normal), np.linalg.norm(X, axis=1).max(), np.abs(X @ normal).min()


@pytest.mark.parametrize("seed", range(30))
def test_at_most_as_many_mistakes_as_the_theorem_allows(seed):
    X, y, radius, margin = separable(seed)
    model = th.Perceptron(fit_intercept=False, tol=None, max_iter=300, random_state=seed)
    model.fit(X, y)
    assert 0 < model.n_mistakes_[0] <= radius**2 / margin**2
    assert model.score(X, y) == 1.0


def test_every_mistake_moves_w_by_its_row_and_nothing_else_does():
    X, y, *_ = separable(1)
    w, mistakes = np.zeros(4), 0
    for _ in range(3):
        for x, label in zip(X, y, strict=True):
            if label * (w @ x) <= 0:
                w, mistakes = w + label * x, mistakes + 1
    model = th.Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=3).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-12)
    assert model.n_mistakes_.tolist() == [mistakes]


def test_the_intercept_is_the_weight_of_a_constant_feature():
    X, y, *_ = separable(2)
    options = {"shuffle": False, "tol": None, "max_iter": 4}
    model = th.Perceptron(**options).fit(X + 0.3, y)
    constant = np.c_[X + 0.3, np.ones(len(X))]
    with_feature = th.Perceptron(fit_intercept=False, **options).fit(constant, y)
    np.testing.assert_allclose(
        np.r_[model.coef_[0], model.intercept_], with_feature.coef_[0], rtol=1e-12
    )


def test_the_step_scales_w_and_changes_no_mistake():
    X, y, *_ = separable(3)
    one = th.Perceptron().fit(X, y)
    small = th.Perceptron(eta0=0.25).fit(X, y)  # a power of two: the same digits
    np.testing.assert_array_equal(small.coef_, one.coef_ / 4)
    assert small.n_mistakes_ == one.n_mistakes_


def test_a_start_at_ones():
    X, y, *_ = separable(4)
    options = {"fit_intercept": False, "tol": None, "max_iter": 300}
    model = th.Perceptron(**options).fit(X, y, coef_init=np.ones(4))
    assert model.score(X, y) == 1.0
    assert np.abs(model.coef_ - th.Perceptron(**options).fit(X, y).coef_).max() > 0


@pytest.mark.parametrize("penalty", [None, "l2", "l1", "elasticnet"])
def test_same_steps_as_scikit_learn(penalty):
    random = np.random.default_rng(1)
    X = random.standard_normal((150, 4))
    y = random.integers(0, 3, 150)
    options = {"penalty": penalty, "alpha": 0.01, "shuffle": False, "tol": None, "max_iter": 3}
    ours, theirs = th.Perceptron(**options).fit(X, y), sk.Perceptron(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-11)


def test_it_is_stochastic_descent_on_its_loss():
    X, y, *_ = separable(5)
    model = th.Perceptron().fit(X, y)
    same = th.SGDClassifier(
        "perceptron", learning_rate="constant", eta0=1.0, penalty=None, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)
    assert model.loss_ == th.losses.Perceptron()


def test_rows_as_they_arrive():
    X, y, *_ = separable(6)
    parts = th.Perceptron(shuffle=False)
    for rows in np.array_split(np.arange(len(X)), 5):
        parts.partial_fit(X[rows], y[rows], classes=[-1.0, 1.0])
    whole = th.Perceptron(shuffle=False, max_iter=1, tol=None).fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    with pytest.raises(th.errors.DataError, match="belong to no class"):
        parts.partial_fit(X[:2], [1.0, 7.0])


def test_margin_zero_not_one():
    """A row on its right side teaches nothing, however near it is."""
    model = th.Perceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=5)
    model.fit([[1.0], [-0.001]], [1, 0])
    assert model.coef_.tolist() == [[1.0]]
    assert model.n_mistakes_.tolist() == [1]
