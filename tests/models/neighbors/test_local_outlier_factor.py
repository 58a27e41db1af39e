"""Local outlier factors against their definition, and at the corners."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import thetahat as th


def rows(seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.normal(size=(80, 2)), 0.1 * rng.normal(size=(60, 2)) + 6, [[5.0, 5.0]]]
    )


def by_definition(X, k):
    """Breunig et al. (2000), row by row."""
    d = cdist(X, X)
    np.fill_diagonal(d, np.inf)
    near = np.argsort(d, axis=1, kind="stable")[:, :k]
    reach = np.sort(d, axis=1)[:, k - 1]
    density = np.array(
        [1 / np.mean([max(d[i, j], reach[j]) for j in near[i]]) for i in range(len(X))]
    )
    return np.array([np.mean(density[near[i]]) / density[i] for i in range(len(X))])


@pytest.mark.parametrize("k", [1, 5, 20])
def test_factors_are_those_of_the_definition(k):
    X = rows()
    model = th.LocalOutlierFactor(n_neighbors=k).fit(X)
    np.testing.assert_allclose(-model.negative_outlier_factor_, by_definition(X, k), rtol=1e-6)


def test_a_row_beside_a_dense_cluster_is_an_outlier():
    X = rows()
    labels = th.LocalOutlierFactor(n_neighbors=20).fit_predict(X)
    assert labels[-1] == -1
    assert (labels[80:140] == 1).mean() > 0.9


def test_contamination_is_the_share_of_outliers():
    labels = th.LocalOutlierFactor(contamination=0.1).fit_predict(rows())
    assert (labels == -1).sum() == 14


@pytest.mark.parametrize("scale", [1e-14, 1e-3, 1e150])
def test_factors_do_not_depend_on_the_unit(scale):
    X = rows()
    plain = th.LocalOutlierFactor().fit(X).negative_outlier_factor_
    scaled = th.LocalOutlierFactor().fit(X * scale).negative_outlier_factor_
    np.testing.assert_allclose(scaled, plain, rtol=1e-6)


def test_new_rows_are_judged_by_the_training_rows():
    X = rows()
    model = th.LocalOutlierFactor(n_neighbors=10, novelty=True).fit(X)
    new = np.array([[0.0, 0.0], [3.0, 3.0], [6.0, 6.0]])
    assert model.predict(new).tolist() == [1, -1, 1]
    np.testing.assert_array_equal(
        model.decision_function(new), model.score_samples(new) - model.offset_
    )


def test_methods_are_there_only_where_they_mean_something():
    X = rows()
    found = th.LocalOutlierFactor().fit(X)
    for name in ("predict", "decision_function", "score_samples"):
        assert not hasattr(found, name)
    with pytest.raises(AttributeError) as refusal:
        found.predict(X)
    assert "novelty=True to score new rows" in str(refusal.value.__cause__)
    assert not hasattr(th.LocalOutlierFactor(novelty=True), "fit_predict")


def test_equal_rows_have_finite_factors_and_a_warning():
    X = np.concatenate([np.zeros((30, 1)), [[1e-9]], [[2.0]]])
    with pytest.warns(UserWarning, match="More than n_neighbors = 5 rows are equal"):
        model = th.LocalOutlierFactor(n_neighbors=5).fit(X)
    assert np.isfinite(model.negative_outlier_factor_).all()
    np.testing.assert_allclose(model.negative_outlier_factor_[:30], -1.0)


def test_all_rows_equal():
    labels = th.LocalOutlierFactor(n_neighbors=3).fit_predict(np.ones((10, 2)))
    assert labels.tolist() == [1] * 10


def test_single_rows_and_too_many_neighbours():
    with pytest.raises(th.errors.DataError, match="a single row has no neighbours"):
        th.LocalOutlierFactor().fit([[1.0]])
    with pytest.warns(UserWarning, match="all other rows are neighbours"):
        model = th.LocalOutlierFactor(n_neighbors=50).fit(rows()[:10])
    assert model.n_neighbors_ == 9


def test_a_forged_file_is_refused(tmp_path):
    model = th.LocalOutlierFactor(novelty=True).fit(rows())
    state = dict(model.__getstate__())
    state["_density"] = state["_density"][:3]
    with pytest.raises(Exception, match="one number for each of the 141 rows"):
        th.LocalOutlierFactor().__setstate__(state)
    th.save(model, tmp_path / "m.theta")
    again = th.load(tmp_path / "m.theta")
    np.testing.assert_array_equal(again.score_samples(rows(1)), model.score_samples(rows(1)))
