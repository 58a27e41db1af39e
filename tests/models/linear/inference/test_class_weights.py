"""Standard errors of classifiers with class weights, which are importances and not counts."""

import numpy as np
import pytest

import thetahat as th
from tests.repeats import repeated

RANDOM = np.random.default_rng(0)
X = np.array([5.0, -1.0]) + RANDOM.standard_normal((300, 2))
Z = X @ [0.8, -0.5] - 5.5
Y = (RANDOM.uniform(size=300) < 1 / (1 + np.exp(-Z))).astype(int)
CLASSES = Y + (RANDOM.uniform(size=300) < 0.3)
COUNT = RANDOM.integers(0, 3, 300)


def fitted(class_weight, y=Y, rows=X, weight=None, **options):
    model = th.LogisticRegression(C=np.inf, class_weight=class_weight, tol=1e-10, **options)
    return model.fit(rows, y, weight)


def errors(summary):
    return np.array([line.standard_error for line in summary.coefficients])


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1.0, 1: 7.0}])
def test_equals_the_sandwich_formula(class_weight):
    model = fitted(class_weight)
    weight = {0: 1.0, 1: 7.0}
    if class_weight == "balanced":
        weight = {code: 150 / (code == Y).sum() for code in (0, 1)}
    importance = np.where(Y == 1, weight[1], weight[0])
    design = np.column_stack([np.ones(300), X])
    p = 1 / (1 + np.exp(-design @ np.r_[model.intercept_, model.coef_[0]]))
    bread = np.linalg.inv(design.T @ (design * (importance * p * (1 - p))[:, None]))
    odds = p / (1 - p) * weight[0] / weight[1]  # of the classes without weights
    share = odds / (1 + odds)
    squares = {
        "model": share * (weight[1] * (1 - p)) ** 2 + (1 - share) * (weight[0] * p) ** 2,
        "HC0": (importance * (Y - p)) ** 2,
    }
    leverage = np.einsum("ij,jk,ik->i", design, bread, design) * importance * p * (1 - p)
    squares["HC1"] = squares["HC0"] * 300 / 297
    squares["HC3"] = squares["HC0"] / (1 - leverage) ** 2
    for kind, middle in squares.items():
        expected = bread @ (design.T @ (design * middle[:, None])) @ bread
        summary = model.summary(X, Y, covariance=kind)
        np.testing.assert_allclose(errors(summary) ** 2, np.diagonal(expected), rtol=1e-6)
        assert summary.n == pytest.approx(300)
    low, high = model.predict_interval(X[:5])
    covariance = model.summary().covariance
    deviation = np.sqrt(np.einsum("ij,jk,ik->i", design[:5], covariance, design[:5]))
    np.testing.assert_allclose(
        np.log(high / (1 - high)) - np.log(low / (1 - low)), 2 * 1.959963984540054 * deviation
    )


def test_several_classes_agree_with_a_reference_class_and_with_two_classes():
    weights = {0: 1.0, 1: 3.0, 2: 5.0}
    free, fixed = fitted(weights, CLASSES).summary(), fitted(weights, CLASSES, reference=0)
    np.testing.assert_allclose(errors(fixed.summary()), errors(free), rtol=1e-6)
    two = th.LinearModel("softmax_cross_entropy", "none", tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(
        errors(fitted({0: 1.0, 1: 1.0}).summary()), errors(two.summary()), rtol=1e-6
    )


@pytest.mark.parametrize("y", [Y, CLASSES], ids=["two classes", "three classes"])
def test_sample_weights_count_rows_and_equal_class_weights_change_nothing(y):
    rows = np.repeat(np.arange(300), COUNT)
    weights = {0: 1.0, 1: 4.0, 2: 2.0} if y is CLASSES else {0: 1.0, 1: 4.0}
    weighted = fitted(weights, y, weight=COUNT).summary()
    repeats = fitted(weights, y[rows], X[rows]).summary()
    np.testing.assert_allclose(errors(weighted), errors(repeats), rtol=1e-7)
    assert weighted.n == pytest.approx(len(rows))
    plain = errors(fitted(None, y).summary())
    for level in (1.0, 5.0):  # only ratios matter
        equal = fitted(dict.fromkeys(weights, level), y).summary()
        np.testing.assert_allclose(errors(equal), plain, rtol=1e-7)


@repeated(150, 400)
def test_intervals_cover(repeats):
    """95% intervals of a slope hold it 95% of the time; with repeated rows it would be 70%."""
    random, hits = np.random.default_rng(1), 0
    for _ in range(repeats):
        rows = random.standard_normal((300, 2))
        y = random.uniform(size=300) < 1 / (1 + np.exp(1.5 - rows @ [0.8, -0.5]))
        line = fitted({False: 1.0, True: 8.0}, y, rows).summary()["x0"]
        hits += line.low <= 0.8 <= line.high
    assert abs(hits / repeats - 0.95) < 3.5 * np.sqrt(0.05 * 0.95 / repeats)


def test_what_needs_a_likelihood_is_not_given():
    large, small = fitted("balanced"), fitted("balanced", rows=X[:, :1])
    summary = large.summary()
    assert np.isnan([summary.aic, summary.bic, summary.likelihood_ratio.p]).all()
    assert "class weights count as importances" in str(summary)
    with pytest.raises(th.errors.CapabilityError, match=r"class_weight=None.*Wald"):
        large.likelihood_ratio_test(small)
    with pytest.raises(th.errors.CapabilityError, match="class_weight=None"):
        fitted(None).likelihood_ratio_test(small)
