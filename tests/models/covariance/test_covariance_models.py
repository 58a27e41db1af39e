"""Empirical and shrunk covariances: against scikit-learn, by weights, sources and corners."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.covariance

import thetahat as th
from thetahat.errors import DataError, IllConditionedWarning, ParameterError

NAMES = ["EmpiricalCovariance", "ShrunkCovariance", "LedoitWolf", "OAS"]


def rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 10.0 * rng.normal(size=d)


def theirs(name, X, **params):
    return getattr(sklearn.covariance, name)(**params).fit(X)


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("shape", [(40, 3), (2000, 30), (30, 1)])
@pytest.mark.parametrize("name", NAMES)
def test_estimates_are_those_of_scikit_learn(name, shape, centred):
    X = rows(*shape)
    model = getattr(th, name)(assume_centered=centred).fit(X)
    peer = theirs(name, X, assume_centered=centred)
    np.testing.assert_allclose(model.location_, peer.location_, rtol=1e-12)
    np.testing.assert_allclose(model.covariance_, peer.covariance_, rtol=1e-10)
    np.testing.assert_allclose(model.precision_, peer.precision_, rtol=1e-7)
    np.testing.assert_allclose(model.mahalanobis(X), peer.mahalanobis(X), rtol=1e-8)
    assert model.score(X) == pytest.approx(peer.score(X))
    if hasattr(peer, "shrinkage_"):
        assert model.shrinkage_ == pytest.approx(peer.shrinkage_, rel=1e-9)


@pytest.mark.parametrize("name", ["ShrunkCovariance", "LedoitWolf", "OAS"])
def test_fewer_rows_than_columns_give_a_definite_covariance(name):
    X = rows(10, 25)
    model = getattr(th, name)().fit(X)
    np.testing.assert_allclose(model.covariance_, theirs(name, X).covariance_, rtol=1e-9)
    assert np.linalg.eigvalsh(model.covariance_)[0] > 0
    np.testing.assert_allclose(model.covariance_ @ model.precision_, np.eye(25), atol=1e-9)


@pytest.mark.filterwarnings("ignore::thetahat.errors.IllConditionedWarning")
def test_a_constant_column_costs_columns_of_small_units_no_digits():
    X, units = np.random.default_rng(0).normal(size=(200, 3)), np.array([1e-8, 1e6, 1.0])
    model = th.EmpiricalCovariance().fit(np.column_stack([X * units, np.full(200, 3.0)]))
    truth = np.linalg.inv(np.cov(X.T, bias=True)) / units / units[:, None]
    np.testing.assert_allclose(model.precision_[:3, :3], truth, rtol=1e-9)
    assert not model.precision_[3].any()


@pytest.mark.filterwarnings("ignore::thetahat.errors.IllConditionedWarning")
def test_a_dependent_column_of_small_units_costs_no_digits():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = th.EmpiricalCovariance().fit(X @ [[1e-8, 1e6, 0.0], [1e-8, 0.0, 1.0]])
    # The pseudo-inverse of the mixing matrix; its other terms are below rounding errors.
    back = np.array([[1e-20, 1e-6, 0.0], [1e-8, 0.0, 1.0]])
    truth = back.T @ np.linalg.inv(np.cov(X.T, bias=True)) @ back
    np.testing.assert_allclose(model.precision_, truth, rtol=1e-9)


def test_a_singular_covariance_has_a_density_on_its_support_and_a_warning_with_the_rank():
    X = rows(10, 25)
    with pytest.warns(IllConditionedWarning, match="its rank is 9, with 25 columns and 10 rows"):
        model = th.EmpiricalCovariance().fit(X)
    peer = theirs("EmpiricalCovariance", X)
    scale = np.abs(peer.precision_).max()
    np.testing.assert_allclose(model.precision_, peer.precision_, atol=1e-8 * scale)
    np.testing.assert_allclose(model.mahalanobis(X), 9.0, rtol=1e-6)
    assert np.isfinite(model.log_density(X)).all()
    assert (model.log_density(X + 1.0) == -np.inf).all()
    assert np.isfinite(model.mahalanobis(X + 1.0)).all()
    assert np.isfinite(model.log_density(model.sample(5, random_state=0))).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_row_of_weight_two_counts_as_two_rows(name):
    X, weight = rows(50, 4), np.random.default_rng(1).integers(0, 4, 50)
    weighted = getattr(th, name)().fit(X, sample_weight=weight)
    repeated = getattr(th, name)().fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-12)
    assert weighted.score(X, sample_weight=weight) == pytest.approx(
        repeated.score(np.repeat(X, weight, axis=0))
    )


@pytest.mark.parametrize("name", NAMES)
def test_sparse_files_memory_maps_and_single_precision(name, tmp_path):
    X = rows(30_000, 3, seed=2)
    expected = getattr(th, name)().fit(X)
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", X)
    for where in (
        th.scan(tmp_path / "rows.parquet"),
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
        scipy.sparse.csr_array(X),
    ):
        found = getattr(th, name)().fit(where)
        np.testing.assert_allclose(found.covariance_, expected.covariance_, rtol=1e-9)
        np.testing.assert_allclose(found.log_density(where), expected.log_density(X), rtol=1e-8)
    single = getattr(th, name)().fit(X.astype(np.float32))
    np.testing.assert_allclose(single.covariance_, expected.covariance_, rtol=1e-4)
    assert single.log_density(X[:3].astype(np.float32)).dtype == np.float32
    assert single.sample(2).dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
def test_threads_do_not_change_bits(name):
    X = rows(60_000, 5, seed=3)
    with th.config(threads=1):
        one = getattr(th, name)().fit(X)
        density = one.log_density(X)
    with th.config(threads=3):
        many = getattr(th, name)().fit(X)
        np.testing.assert_array_equal(many.log_density(X), density)
    np.testing.assert_array_equal(many.covariance_, one.covariance_)


def test_large_means_lose_no_digits():
    X = rows(500, 3)
    near, far = (th.LedoitWolf().fit(X + shift) for shift in (0.0, 2.0**30))
    np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-6)
    assert far.shrinkage_ == pytest.approx(near.shrinkage_, rel=1e-6)


def test_shrinkage_is_nearly_the_best_of_all():
    """The error with the estimated amount is close to the smallest over a grid of amounts."""
    d = 20
    truth = np.diag(np.linspace(0.5, 2.0, d))
    best, found, plain = [], [], []
    for seed in range(30):
        X = np.random.default_rng(seed).normal(size=(30, d)) @ np.sqrt(truth)
        grid = [th.ShrunkCovariance(shrinkage=r).fit(X) for r in np.linspace(0.01, 1, 40)]
        best.append(min(model.error_norm(truth) for model in grid))
        found.append(th.OAS().fit(X).error_norm(truth))
        plain.append(th.EmpiricalCovariance().fit(X).error_norm(truth))
    assert np.mean(found) < 1.1 * np.mean(best)
    assert np.mean(found) < 0.3 * np.mean(plain)


def test_functions_are_those_of_the_estimators():
    X, weight = rows(40, 3), np.random.default_rng(0).random(40)
    for name, function in (("LedoitWolf", th.ledoit_wolf), ("OAS", th.oas)):
        covariance, shrinkage = function(X, sample_weight=weight)
        model = getattr(th, name)().fit(X, sample_weight=weight)
        np.testing.assert_array_equal(covariance, model.covariance_)
        assert shrinkage == model.shrinkage_
    empirical = th.empirical_covariance(X, assume_centered=True)
    np.testing.assert_allclose(empirical, X.T @ X / 40)
    model = th.ShrunkCovariance(shrinkage=0.3, assume_centered=True).fit(X)
    np.testing.assert_allclose(th.shrunk_covariance(empirical, 0.3), model.covariance_)


@pytest.mark.parametrize("norm", ["frobenius", "spectral"])
@pytest.mark.parametrize("scaling", [True, False])
@pytest.mark.parametrize("squared", [True, False])
def test_error_norm_is_that_of_scikit_learn(norm, scaling, squared):
    X = rows(40, 3)
    other = np.eye(3)
    found = th.OAS().fit(X).error_norm(other, norm, scaling, squared)
    assert found == pytest.approx(theirs("OAS", X).error_norm(other, norm, scaling, squared))


def test_precision_is_computed_on_request_if_it_is_not_stored():
    X = rows(40, 3)
    model = th.LedoitWolf(store_precision=False).fit(X)
    assert model.precision_ is None
    np.testing.assert_array_equal(model.get_precision(), th.LedoitWolf().fit(X).precision_)


def test_bad_input():
    X = rows(40, 3)
    model = th.OAS().fit(X)
    with pytest.raises(ParameterError, match="shrinkage"):
        th.ShrunkCovariance(shrinkage=1.5).fit(X)
    with pytest.raises(ParameterError, match="store_precision"):
        th.EmpiricalCovariance(store_precision="yes").fit(X)
    with pytest.raises(DataError, match="comp_cov has shape"):
        model.error_norm(np.eye(2))
    with pytest.raises(NotImplementedError, match="norm='max'"):
        model.error_norm(np.eye(3), norm="max")
    with pytest.raises(DataError, match="NaN"):
        th.LedoitWolf().fit([[1.0, np.nan], [1.0, 2.0]])
    with pytest.raises(DataError, match="square matrix"):
        th.shrunk_covariance([1.0, 2.0])
    with pytest.raises(DataError, match="finite"):
        th.shrunk_covariance([[np.inf]])
    with pytest.raises(ParameterError, match="shrinkage=2"):
        th.shrunk_covariance(np.eye(2), 2)
    with pytest.raises(DataError, match="squares overflow"):
        th.LedoitWolf().fit(X * 1e200)
    with pytest.warns(UserWarning, match="Only one sample available"):
        one = th.LedoitWolf().fit(X[:1])
    np.testing.assert_array_equal(one.covariance_, np.zeros((3, 3)))


@pytest.mark.parametrize("name", [*NAMES, "MinCovDet", "GraphicalLasso", "GraphicalLassoCV"])
def test_score_takes_the_rows_under_both_names(name):
    X = rows(60, 3)
    model = getattr(th, name)().fit(X)
    assert model.score(X_test=X[:9]) == model.score(X[:9]) == model.score(X=X[:9])
    with pytest.raises(ParameterError, match="but neither was given"):
        model.score()
    with pytest.raises(ParameterError, match="but both was given"):
        model.score(X, X_test=X)


def test_ledoit_wolf_takes_a_block_size():
    X = rows(60, 3)
    ours, share = th.ledoit_wolf(X, block_size=2)
    peer, of_peer = sklearn.covariance.ledoit_wolf(X, block_size=2)
    np.testing.assert_allclose(ours, peer, rtol=1e-10)
    assert share == pytest.approx(of_peer)
    with pytest.raises(ParameterError, match="block_size"):
        th.ledoit_wolf(X, block_size=0)


@pytest.mark.parametrize("given", ["x", [["a"]], 1j * np.eye(2), np.full((2, 2), np.nan)], ids=str)
def test_shrinking_needs_a_matrix_of_numbers(given):
    with pytest.raises(DataError, match="shrunk_covariance: "):
        th.shrunk_covariance(given)
