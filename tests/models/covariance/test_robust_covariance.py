"""MinCovDet and EllipticEnvelope: small determinants, resistance to outliers, scikit-learn."""

from itertools import combinations

import numpy as np
import pytest
import sklearn.covariance

import thetahat as th
from thetahat.errors import DataError, IllConditionedWarning, ParameterError
from thetahat.models.covariance.fast_mcd import smallest_determinant
from thetahat.models.covariance.robust import consistency_factor


def contaminated(n, d, share, seed):
    """Gaussian rows, of which the first share is moved far away."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    k = int(share * n)
    X[:k] += 30.0 + rng.normal(size=(k, d))
    return X, k


def log_determinant(matrix):
    return np.linalg.slogdet(matrix)[1]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [1, 2])
def test_the_smallest_determinant_of_all_sets_is_found(d, seed):
    rows = np.random.default_rng(seed).normal(size=(12, d))
    found = smallest_determinant(rows, 7, np.random.default_rng(0))
    best = min(
        log_determinant(np.atleast_2d(np.cov(rows[list(chosen)].T, bias=True)))
        for chosen in combinations(range(12), 7)
    )
    assert found.sum() == 7
    assert log_determinant(np.atleast_2d(np.cov(rows[found].T, bias=True))) == pytest.approx(best)


@pytest.mark.parametrize(("n", "d", "share"), [(100, 5, 0.4), (400, 4, 0.0), (1600, 4, 0.3)])
def test_the_determinant_is_at_most_that_of_scikit_learn(n, d, share):
    X, _ = contaminated(n, d, share, seed=n)
    ours = th.MinCovDet(random_state=0).fit(X)
    theirs = sklearn.covariance.MinCovDet(random_state=0).fit(X)
    assert ours.raw_support_.sum() == theirs.raw_support_.sum()
    bound = log_determinant(theirs.raw_covariance_) + 1e-3
    assert log_determinant(ours.raw_covariance_) <= bound


def test_correction_and_reweighting_are_those_of_scikit_learn():
    """With the same raw rows the result is the same."""
    X, _ = contaminated(100, 3, 0.4, seed=1)
    ours = th.MinCovDet(random_state=0).fit(X)
    theirs = sklearn.covariance.MinCovDet(random_state=0).fit(X)
    np.testing.assert_array_equal(ours.raw_support_, theirs.raw_support_)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.location_, theirs.location_, rtol=1e-10)
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-10)
    np.testing.assert_allclose(ours.dist_, theirs.dist_, rtol=1e-8)


@pytest.mark.parametrize("share", [0.1, 0.45])
@pytest.mark.parametrize("n", [200, 3000])
def test_outliers_have_little_influence(n, share):
    X, k = contaminated(n, 3, share, seed=2)
    model = th.MinCovDet(random_state=0).fit(X)
    pure = th.EmpiricalCovariance().fit(X[k:])
    assert not model.support_[:k].any()
    truth = th.distributions.MultivariateNormal(pure.location_, pure.covariance_)
    found = th.distributions.MultivariateNormal(model.location_, model.covariance_)
    assert truth.kl(found) < 0.1


def test_the_covariance_of_gaussian_rows_is_consistent():
    X = np.random.default_rng(3).normal(size=(20_000, 4))
    model = th.MinCovDet(random_state=0).fit(X)
    np.testing.assert_allclose(model.covariance_, np.eye(4), atol=0.05)
    factor = consistency_factor(4, model.raw_support_.mean())
    np.testing.assert_allclose(factor * model.raw_covariance_, np.eye(4), atol=0.12)


def test_units_and_rotations_do_not_matter():
    X, _ = contaminated(300, 3, 0.3, seed=4)
    A = np.array([[1e3, 0.0, 0.0], [2.0, 1e-3, 0.0], [0.0, 0.5, 1.0]])
    plain, moved = (th.MinCovDet(random_state=0).fit(rows) for rows in (X, X @ A.T + 5.0))
    np.testing.assert_array_equal(plain.raw_support_, moved.raw_support_)
    expected = A @ plain.covariance_ @ A.T
    size = np.sqrt(np.diagonal(expected))
    np.testing.assert_allclose(
        moved.covariance_ / size / size[:, None], expected / size / size[:, None], atol=1e-6
    )


def test_threads_do_not_change_bits():
    X, _ = contaminated(3000, 8, 0.3, seed=5)
    with th.config(threads=1):
        one = th.MinCovDet(random_state=0).fit(X)
    with th.config(threads=3):
        many = th.MinCovDet(random_state=0).fit(X)
    np.testing.assert_array_equal(one.covariance_, many.covariance_)
    np.testing.assert_array_equal(one.dist_, many.dist_)


def test_rows_in_a_plane_and_single_precision():
    X, _ = contaminated(200, 2, 0.3, seed=6)
    plane = np.column_stack([X, X @ [1.0, 2.0]])
    with pytest.warns(IllConditionedWarning, match="its rank is 2, with 3 columns"):
        model = th.MinCovDet(random_state=0).fit(plane)
    flat = th.MinCovDet(random_state=0).fit(X)
    np.testing.assert_allclose(model.covariance_[:2, :2], flat.covariance_, rtol=1e-6)
    single = th.MinCovDet(random_state=0).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.covariance_, flat.covariance_, rtol=1e-3)


def test_half_of_the_rows_on_a_plane_are_an_exact_fit():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 2))
    X[:45, 1] = 2.0 * X[:45, 0]
    with pytest.warns(IllConditionedWarning, match="increase support_fraction"):
        model = th.MinCovDet(random_state=0).fit(X)
    assert not model.support_[45:].any()
    np.testing.assert_allclose(model.covariance_[1], 2.0 * model.covariance_[0], rtol=1e-9)


def test_a_known_mean_of_zero_is_used():
    X = np.random.default_rng(8).normal(size=(500, 2)) + 0.2
    model = th.MinCovDet(assume_centered=True, random_state=0).fit(X)
    np.testing.assert_array_equal(model.location_, [0.0, 0.0])
    kept = X[model.support_]
    expected = kept.T @ kept / len(kept) * consistency_factor(2, 0.975)
    np.testing.assert_allclose(model.covariance_, expected)


def test_bad_input():
    X = np.random.default_rng(9).normal(size=(20, 2))
    with pytest.raises(ParameterError, match="support_fraction"):
        th.MinCovDet(support_fraction=0.0).fit(X)
    with pytest.raises(ParameterError, match="contamination"):
        th.EllipticEnvelope(contamination=0.6).fit(X)
    with pytest.raises(DataError, match="1 sample"):
        th.MinCovDet().fit(X[:1])
    with pytest.raises(DataError, match="equal to 0, try to increase support_fraction"):
        th.MinCovDet(random_state=0).fit([[0.1]] * 8 + [[0.5], [0.9]])
    with pytest.raises(DataError, match="all 10 rows are equal"):
        th.EllipticEnvelope().fit(np.ones((10, 2)))
    with pytest.raises(DataError, match="NaN"):
        th.MinCovDet().fit([[np.nan, 1.0], [0.0, 1.0]])


class TestEllipticEnvelope:
    """Rows outside of a robust ellipse are outliers."""

    def test_outliers_are_found(self):
        X, k = contaminated(300, 3, 0.2, seed=10)
        model = th.EllipticEnvelope(contamination=0.2, random_state=0).fit(X)
        labels = np.where(np.arange(300) < k, -1, 1)
        np.testing.assert_array_equal(model.predict(X), labels)
        assert model.score(X, labels) == 1.0
        assert model.score(X, -labels, sample_weight=np.ones(300)) == 0.0

    def test_scores_are_those_of_scikit_learn(self):
        X, _ = contaminated(100, 3, 0.4, seed=1)
        ours = th.EllipticEnvelope(random_state=0).fit(X)
        theirs = sklearn.covariance.EllipticEnvelope(random_state=0).fit(X)
        assert ours.offset_ == pytest.approx(theirs.offset_)
        for method in ("score_samples", "decision_function", "predict"):
            expected = getattr(theirs, method)(X)
            np.testing.assert_allclose(getattr(ours, method)(X), expected, rtol=1e-8)


def test_the_raw_estimate_alone():
    X, k = contaminated(120, 3, 0.2, seed=4)
    location, covariance, support, dist = th.fast_mcd(X, random_state=0)
    model = th.MinCovDet(random_state=0).fit(X)
    np.testing.assert_array_equal(support, model.raw_support_)
    np.testing.assert_allclose(location, X[support].mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(X[support].T, bias=True))
    away = X - location
    expected = np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away)
    np.testing.assert_allclose(dist, expected)
    assert not support[:k].any()
    theirs = sklearn.covariance.fast_mcd(X, random_state=0)
    assert log_determinant(covariance) <= log_determinant(theirs[1]) + 1e-9
    with pytest.raises(ParameterError, match="support_fraction"):
        th.fast_mcd(X, 2.0)


@pytest.mark.parametrize("name", ["MinCovDet", "EllipticEnvelope"])
@pytest.mark.parametrize("centred", [False, True])
def test_methods_correct_and_reweight_as_in_scikit_learn(name, centred):
    X, _ = contaminated(80, 1, 0.2, 0)  # one column, where both searches are exact
    options = {"assume_centered": centred, "random_state": 0}
    ours = getattr(th, name)(**options).fit(X)
    peer = getattr(sklearn.covariance, name)(**options).fit(X)
    np.testing.assert_allclose(ours.correct_covariance(X), peer.correct_covariance(X))
    np.testing.assert_allclose(ours.dist_, peer.dist_)
    for a, b in zip(ours.reweight_covariance(X), peer.reweight_covariance(X), strict=True):
        np.testing.assert_allclose(a, b)
    for each in ("location_", "covariance_", "precision_", "support_", "dist_"):
        np.testing.assert_allclose(getattr(ours, each), getattr(peer, each), rtol=1e-6)
    with pytest.raises(DataError, match="data has 3 rows, but `fit` had 80"):
        ours.reweight_covariance(X[:3])


def test_fast_mcd_computes_the_covariance_as_asked():
    X, _ = contaminated(80, 2, 0.2, 0)
    _, plain, support, distance = th.fast_mcd(X, None, th.empirical_covariance, 0)
    options = {"cov_computation_method": lambda rows: 4 * np.cov(rows.T, bias=True)}
    _, covariance, same, nearer = th.fast_mcd(X, random_state=0, **options)
    np.testing.assert_allclose(covariance, 4 * plain)
    np.testing.assert_array_equal(same, support)
    np.testing.assert_allclose(nearer, distance / 4)
