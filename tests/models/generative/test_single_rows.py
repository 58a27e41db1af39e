"""Few rows are classified in fewer steps: the answers are those of many rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import thetahat as th
from thetahat.models.neighbors.search import kernel_sums

CLASSIFIERS = [
    th.LinearDiscriminantAnalysis(),
    th.QuadraticDiscriminantAnalysis(),
    th.QuadraticDiscriminantAnalysis(covariance="diagonal"),
    th.NearestCentroid(),
    th.NearestCentroid(priors="empirical", shrink_threshold=0.2),
    th.GaussianNB(),
    th.CategoricalNB(),
    th.NaiveBayes("gaussian"),
    th.NaiveBayes(["categorical", "histogram", "kernel", "gaussian"]),
    th.BayesClassifier(th.KernelDensity(bandwidth=1.0)),
    th.BayesClassifier(th.DensityForest(5, random_state=0)),
    th.BayesClassifier(th.DensityForest(5, covariance_type="diag", random_state=0)),
    th.BayesClassifier(
        th.DensityForest(5, criterion="ise", leaf="uniform", margin=0.1, random_state=0)
    ),
]


def counts_with_classes(n=600, d=4, classes=3):
    """Whole numbers ≥ 0, which all of these classifiers accept."""
    rng = np.random.default_rng(3)
    y = rng.choice(classes, size=n, p=[0.6, 0.3, 0.1])
    return rng.binomial(9, 0.3 + 0.1 * y[:, None], size=(n, d)).astype(float), y


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: str(model)[:60])
def test_probabilities_of_a_row_alone_are_those_among_many(model):
    X, y = counts_with_classes()
    model.fit(X, y)
    many = np.tile(X, (30, 1))
    expected = model.predict_proba(many)[: len(X)]
    alone = np.vstack([model.predict_proba(X[i : i + 1]) for i in range(0, len(X), 7)])
    assert_allclose(alone, expected[::7], rtol=1e-9, atol=1e-12)
    assert_allclose(alone.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "model", [th.QuadraticDiscriminantAnalysis(), th.NearestCentroid()], ids=["qda", "centroid"]
)
@pytest.mark.parametrize("odd", [np.nan, 1e200, -1e300])
def test_an_odd_row_does_not_change_the_rows_beside_it(model, odd):
    X, y = counts_with_classes()
    model.fit(X, y)
    rows = X[:3].copy()
    rows[1, 2] = odd
    found = model.predict_proba(rows)
    assert_allclose(found[[0, 2]], model.predict_proba(X[[0, 2]]), rtol=1e-12)
    assert_allclose(found[1:2], model.predict_proba(rows[1:2]), rtol=1e-12)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("unit", [1e-140, 1e-120, 1e120])
def test_nearest_centroids_of_columns_in_extreme_units_have_the_same_probabilities(unit):
    X, y = counts_with_classes()
    expected = th.NearestCentroid().fit(X, y).predict_proba(X[:9])
    found = th.NearestCentroid().fit(X * unit, y).predict_proba(X[:9] * unit)
    assert_allclose(found, expected, rtol=1e-9)


def test_predictions_leave_the_fitted_model_as_it_is():
    X, y = counts_with_classes()
    for model in CLASSIFIERS:
        model.fit(X, y)
        before = set(vars(model))
        model.predict_proba(X[:1])
        assert set(vars(model)) == before, model


def test_the_density_of_few_rows_starts_no_threads(monkeypatch):
    X, _ = counts_with_classes()
    model = th.KernelDensity(bandwidth=1.0).fit(X)
    expected = model.log_density(X)
    asked = []
    monkeypatch.setattr(kernel_sums, "n_threads", lambda: asked.append(1) or 2)
    assert_allclose(model.log_density(X[:1]), expected[:1], rtol=1e-14)
    assert not asked
    assert_allclose(model.log_density(X), expected, rtol=1e-14)
    assert asked
