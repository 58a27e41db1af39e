"""Gradient boosting of bad input, of one row or class, and of small weights."""

import numpy as np
import pytest

import thetahat as th
from tests.models.ensemble.gradient_boosting.boosting_data import SIGN, X, Y


def boosters():
    return (
        th.HistGradientBoostingClassifier,
        th.HistGradientBoostingRegressor,
        th.GradientBoostingClassifier,
        th.GradientBoostingRegressor,
    )


def targets_for(kind, n):
    return np.arange(n) % 2 if "Classifier" in kind.__name__ else np.arange(n) % 7 + 0.5


@pytest.mark.parametrize("kind", boosters(), ids=lambda kind: kind.__name__)
class TestBadInput:
    def test_one_leaf_is_no_tree(self, kind):
        with pytest.raises(
            th.errors.ParameterError, match=r"max_leaf_nodes=1 must be a whole number ≥ 2"
        ):
            kind(max_leaf_nodes=1).fit(X, targets_for(kind, len(X)))

    def test_constant_and_missing_columns_give_the_constant(self, kind):
        y = targets_for(kind, 40)
        x = np.column_stack([np.ones(40), np.full(40, np.nan)])
        model = kind().fit(x, y)
        assert np.ptp(model._raw(x), axis=0).max() == 0.0
        assert not model.feature_importances_.any()

    def test_infinities_are_extreme_values(self, kind):
        y = targets_for(kind, 60)
        x = np.where(y[:, None] > y.mean(), np.inf, -np.inf)
        model = kind(min_samples_leaf=1).fit(x, y)
        low, high = model._raw(np.array([[-np.inf], [np.inf]]))[:, -1]
        assert low < high

    def test_missing_targets_are_refused(self, kind):
        y = targets_for(kind, 40).astype(float)
        y[3] = np.nan
        with pytest.raises(th.errors.DataError, match=r"NaN"):
            kind().fit(X[:40], y)

    def test_rows_of_weight_zero_are_absent(self, kind):
        y = targets_for(kind, 60)
        weight = np.ones(60)
        weight[40:] = 0.0
        x = X[:60].copy()
        x[40:] = 1e9
        y_wild = y.copy()
        y_wild[40:] = y[0]
        a = kind(min_samples_leaf=3).fit(x, y_wild, sample_weight=weight)
        b = kind(min_samples_leaf=3).fit(x[:40], y[:40])
        np.testing.assert_array_equal(a._raw(x), b._raw(x))

    def test_snapshots_of_another_fit_are_refused(self, kind, tmp_path):
        path = tmp_path / "fit.npz"
        path.write_bytes(b"nothing of the kind")
        with pytest.raises(th.errors.DataError, match="not a snapshot"):
            kind(checkpoint=path).fit(X, targets_for(kind, len(X)))


def test_one_row_and_one_class():
    model = th.HistGradientBoostingRegressor().fit([[1.0]], [3.0])
    assert model.predict([[5.0]]) == [3.0]
    with pytest.raises(th.errors.DataError, match="one class only"):
        th.HistGradientBoostingClassifier().fit(X, np.ones(len(X)))


def test_refusals_name_a_way_out():
    with pytest.raises(th.errors.CapabilityError, match="slopes"):
        th.GradientBoostingClassifier(loss="zero_one").fit(X, SIGN)
    with pytest.raises(th.errors.CapabilityError, match="2 classes"):
        th.GradientBoostingClassifier(loss="exponential").fit(X, np.arange(len(X)) % 3)
    with pytest.raises(th.errors.CapabilityError, match="Use a classifier"):
        th.HistGradientBoostingRegressor(loss="softmax").fit(X, Y)
    with pytest.raises(th.errors.DataError, match="negative"):
        th.HistGradientBoostingRegressor(loss="poisson").fit(X, -Y)
    with pytest.raises(th.errors.ParameterError, match="quantile=None"):
        th.HistGradientBoostingRegressor(loss="quantile").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="monotonic_cst has shape"):
        th.HistGradientBoostingRegressor(monotonic_cst=[1]).fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="multiclass"):
        th.HistGradientBoostingClassifier(monotonic_cst=[1] * 10).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(th.errors.ParameterError, match="interaction_cst"):
        th.HistGradientBoostingRegressor(interaction_cst=[{99}]).fit(X, Y)


@pytest.mark.parametrize("kind", [th.HistGradientBoostingRegressor, th.GradientBoostingRegressor])
@pytest.mark.parametrize("scale", [1e-3, 1 / 300])
def test_small_weights_do_not_forbid_splits(kind, scale):
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 3))
    weight = random.integers(1, 3, 300) * scale
    model = kind(random_state=0).fit(X, X[:, 0], sample_weight=weight)
    assert model.score(X, X[:, 0]) > 0.9


def test_early_stopping_by_itself_does_not_depend_on_the_unit_of_small_weights():
    random = np.random.default_rng(0)
    X = random.standard_normal((10_001, 2))
    model = th.HistGradientBoostingRegressor(max_iter=2, random_state=0)
    model.fit(X, X[:, 0], sample_weight=np.full(10_001, 1e-3))
    assert model.do_early_stopping_


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("common", [0.5, 0.1, 1e-3])
def test_small_equal_weights_are_no_weights(n_classes, common):
    """Sums of 0.1 are rounded, which moved the bounds of bins and with them whole trees."""
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(500, 3))
    y = (X[:, 0] + random.logistic(size=500) > 0) + (X[:, 1] > 1) * (n_classes - 2)
    model = th.HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5, early_stopping=False)
    plain = model.fit(X, y).predict_proba(X)
    weighted = model.fit(X, y, sample_weight=np.full(500, common)).predict_proba(X)
    np.testing.assert_array_equal(weighted, plain)
    strong = model.set_params(l2_regularization=3.0).fit(X, y).predict_proba(X)
    model.set_params(l2_regularization=3.0 * common).fit(X, y, sample_weight=np.full(500, common))
    np.testing.assert_allclose(model.predict_proba(X), strong, rtol=1e-9)


def test_constraints_are_read_as_numbers_of_any_kind():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = th.HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=5)
    expected = model.set_params(interaction_cst=[[1], [0, 2]]).fit(X, X[:, 0]).predict(X)
    for groups in ([[True], [False, 2]], [np.array([1]), np.array([0, 2])]):
        found = model.set_params(interaction_cst=groups).fit(X, X[:, 0]).predict(X)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match=r"column 1 has 2\.$"):
        model.set_params(interaction_cst=None, monotonic_cst=[0, 2, 0]).fit(X, X[:, 0])
