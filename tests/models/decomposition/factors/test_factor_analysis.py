import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.models.decomposition.factors import noise_profile
from thetahat.models.decomposition.factors.rotation import rotated


def rows(n=300, d=8, k=2, seed=0, mean=3.0):
    """Rows of k factors, with noise that differs between the columns."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.3, 2.0, d)
    loadings = rng.normal(size=(k, d))
    return rng.normal(size=(n, k)) @ loadings + noise * rng.normal(size=(n, d)) + mean


def log_likelihood(X, model):
    law = multivariate_normal(
        model.mean_, model.components_.T @ model.components_ + np.diag(model.noise_variance_)
    )
    return law.logpdf(X).sum()


def expectation_maximisation(X, loadings, noise):
    """One step of EM as in textbooks: expected factors, then loadings and noise."""
    away = X - X.mean(axis=0)
    weights = np.linalg.solve(loadings @ loadings.T + np.diag(noise), loadings).T
    expected = away @ weights.T
    square = len(X) * (np.eye(len(weights)) - weights @ loadings) + expected.T @ expected
    loadings = np.linalg.solve(square, expected.T @ away).T
    return loadings, (away**2).mean(axis=0) - (loadings * (away.T @ expected)).mean(axis=1) * (
        loadings.shape[1] / len(X)
    )


def test_steps_of_expectation_maximisation_do_not_change_the_fit():
    X = rows()
    model = th.FactorAnalysis(2, tol=1e-9).fit(X)
    loadings, noise = model.components_.T, model.noise_variance_
    for _ in range(3):
        loadings, noise = expectation_maximisation(X, loadings, noise)
    np.testing.assert_allclose(noise, model.noise_variance_, rtol=1e-5)
    np.testing.assert_allclose(loadings, model.components_.T, atol=1e-5)


@pytest.mark.parametrize("shape", [(300, 8, 2), (20, 5, 3), (60, 150, 3), (2000, 12, 4)], ids=str)
@pytest.mark.parametrize("method", ["lapack", "randomized"])
def test_likelihood_is_at_least_that_of_scikit_learn(shape, method):
    n, d, k = shape
    X = rows(n, d, k)
    model = th.FactorAnalysis(k, svd_method=method).fit(X)
    peer = decomposition.FactorAnalysis(k, svd_method="lapack").fit(X)
    ours, theirs = log_likelihood(X, model), log_likelihood(X, peer)
    assert ours >= theirs - 0.02
    assert model.loglike_[-1] == pytest.approx(ours, rel=1e-10)
    assert (np.diff(model.loglike_) >= 0).all()


def test_fit_and_factors_equal_those_of_scikit_learn():
    X = rows()
    model = th.FactorAnalysis(2, tol=1e-8).fit(X)
    peer = decomposition.FactorAnalysis(2, svd_method="lapack", tol=1e-10).fit(X)
    np.testing.assert_allclose(model.noise_variance_, peer.noise_variance_, rtol=1e-4)
    np.testing.assert_allclose(model.get_covariance(), peer.get_covariance(), atol=1e-4)
    sign = np.sign((model.components_ * peer.components_).sum(axis=1))
    np.testing.assert_allclose(model.components_, peer.components_ * sign[:, None], atol=1e-3)
    np.testing.assert_allclose(model.transform(X), peer.transform(X) * sign, atol=1e-3)
    largest = np.abs(model.components_ / X.std(axis=0)).argmax(axis=1)
    assert (model.components_[[0, 1], largest] > 0).all()


def test_planted_noise_is_found_where_equal_noise_misleads():
    rng = np.random.default_rng(1)
    noise = np.array([0.2, 0.2, 0.2, 0.2, 3.0])
    truth = np.array([[1.0, 1.0, -1.0, 1.0, 0.0]])
    X = rng.normal(size=(5000, 1)) @ truth + noise * rng.normal(size=(5000, 5))
    model = th.FactorAnalysis(1).fit(X)
    np.testing.assert_allclose(np.sqrt(model.noise_variance_), noise, rtol=0.05)
    np.testing.assert_allclose(model.components_, truth, atol=0.1)
    assert abs(th.PCA(1).fit(X).components_[0, 4]) > 0.9  # the noisiest column


def test_density_and_samples_are_those_of_the_gaussian():
    X = rows()
    model = th.FactorAnalysis(2).fit(X)
    law = multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.log_density(X), law.logpdf(X))
    np.testing.assert_allclose(model.score_samples(X), law.logpdf(X))
    assert model.score(X) == pytest.approx(law.logpdf(X).mean())
    identity = model.get_precision() @ model.get_covariance()
    np.testing.assert_allclose(identity, np.eye(8), atol=1e-12)
    drawn = model.sample(200_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.12)
    np.testing.assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.03)


@pytest.mark.parametrize(
    "noise", [[1.0, 0.5, 2.0, 0.1, 1e-4], [1.0, 0.5, 2.0, 0.1, 1e-9], [0.02] * 5]
)
def test_precision_is_the_inverse_for_any_noise(noise):
    units = np.logspace(-3, 3, 5)
    model = th.FactorAnalysis(2).fit(rows()[:, :5])
    model.components_, model.noise_variance_ = model.components_ * units, noise * units**2
    identity = model.get_precision() @ model.get_covariance()
    np.testing.assert_allclose(identity * units[:, None] / units, np.eye(5), atol=1e-6)
    np.testing.assert_allclose(model.get_precision(), model.get_precision().T, rtol=1e-12)


def test_precision_of_many_columns_inverts_no_matrix_of_their_size(monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 120))
    model = th.FactorAnalysis(2, max_iter=3, tol=1.0).fit(X)
    expected = np.linalg.inv(model.get_covariance())
    monkeypatch.setattr(np.linalg, "inv", None)
    np.testing.assert_allclose(model.get_precision(), expected, atol=1e-12 * expected.max())


def test_factors_are_the_expected_ones():
    X = rows()
    model = th.FactorAnalysis(2).fit(X)
    expected = (X - model.mean_) @ np.linalg.solve(model.get_covariance(), model.components_.T)
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-10)
    np.testing.assert_allclose(
        model.inverse_transform(expected), model.mean_ + expected @ model.components_
    )


def test_units_of_columns_change_units_only():
    X, unit = rows(), np.array([1e3, 1.0, 1e-3, 1.0, 7.0, 1.0, 1.0, 2.0])
    model, other = (th.FactorAnalysis(2, tol=1e-8).fit(each) for each in (X, X * unit))
    np.testing.assert_allclose(other.noise_variance_, model.noise_variance_ * unit**2, rtol=1e-6)
    np.testing.assert_allclose(other.transform(X * unit), model.transform(X), atol=1e-6)


@pytest.mark.parametrize("method", ["varimax", "quartimax"])
def test_rotation_maximises_its_criterion_and_keeps_the_covariance(method):
    X = rows(d=10, k=3)
    plain, turned = (th.FactorAnalysis(3, rotation=each).fit(X) for each in (None, method))
    np.testing.assert_allclose(turned.get_covariance(), plain.get_covariance(), atol=1e-9)

    def simplicity(A):
        squares = A**2
        away = (squares.sum(axis=1) ** 2).sum() / A.shape[1] if method == "varimax" else 0.0
        return (squares**2).sum() - away

    best = simplicity(turned.components_)
    assert best > simplicity(plain.components_)
    for seed in range(50):  # no small turn is better
        random = np.random.default_rng(seed).normal(size=(3, 3))
        turn = np.linalg.qr(np.eye(3) + 0.05 * (random - random.T))[0]
        assert simplicity(turn @ turned.components_) <= best * (1 + 1e-6)


def test_varimax_equals_that_of_r():
    factors = np.array(
        [
            [0.89421016, -0.35854928],
            [-0.45081822, -0.89132754],
            [0.99500666, -0.02031465],
            [0.96822861, -0.06299656],
        ]
    )
    published = np.array([[0.962, 0.052], [-0.141, 0.989], [0.949, -0.300], [0.937, -0.251]])
    np.testing.assert_allclose(np.abs(rotated(factors.T, "varimax").T), abs(published), atol=1e-3)


@pytest.mark.parametrize("d", [6, 120], ids=["covariance", "rows"])
def test_the_scale_of_the_weights_does_not_matter(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) @ rng.normal(size=(2, d)) + rng.normal(size=(50, d))
    weight = rng.random(50)
    model = th.FactorAnalysis(2).fit(X, sample_weight=weight)
    other = th.FactorAnalysis(2).fit(X, sample_weight=weight / weight.sum())
    assert model.n_iter_ == other.n_iter_ > 2
    np.testing.assert_allclose(other.noise_variance_, model.noise_variance_, rtol=1e-6)


def test_weight_two_is_a_row_twice_and_weight_zero_is_none():
    X = rows(60)
    weight = np.tile([0.0, 1.0, 2.0], 20)
    model = th.FactorAnalysis(2, tol=1e-8).fit(X, sample_weight=weight)
    other = th.FactorAnalysis(2, tol=1e-8).fit(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(model.noise_variance_, other.noise_variance_, rtol=1e-6)
    assert model.loglike_[-1] == pytest.approx(other.loglike_[-1])


def test_file_and_memory_agree(tmp_path):
    X = rows()
    names = [f"x{j}" for j in range(8)]
    pd.DataFrame(X, columns=names).to_parquet(tmp_path / "rows.parquet")
    streamed = th.FactorAnalysis(2).fit(th.scan(tmp_path / "rows.parquet"))
    model = th.FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(streamed.noise_variance_, model.noise_variance_, rtol=1e-8)


@pytest.mark.parametrize("shape", [(300, 8), (40, 150)], ids=str)
def test_constant_columns_have_no_loadings(shape):
    X = rows(*shape)
    X[:, 3] = 7.3
    model = th.FactorAnalysis(2).fit(X)
    assert (model.components_[:, 3] == 0).all()
    assert model.noise_variance_[3] == pytest.approx(1e-12)
    kept = np.delete(np.arange(shape[1]), 3)
    other = th.FactorAnalysis(2).fit(X[:, kept])
    np.testing.assert_allclose(model.noise_variance_[kept], other.noise_variance_, rtol=1e-6)


def test_all_columns_constant_and_equal_columns():
    model = th.FactorAnalysis(1).fit(np.ones((5, 3)))
    assert np.isfinite(model.transform(np.ones((2, 3)))).all()
    X = rows(d=4, k=1)
    model = th.FactorAnalysis(2).fit(np.hstack([X, X[:, :1]]))
    assert np.isfinite(model.loglike_).all()
    assert model.noise_variance_.min() > 0


def test_no_factors_are_independent_columns():
    X = rows()
    model = th.FactorAnalysis(0).fit(X)
    np.testing.assert_allclose(model.noise_variance_, X.var(axis=0))
    assert model.transform(X).shape == (300, 0)


def test_float32_is_accurate_for_large_means():
    X = rows(2000, mean=1000.0)
    single = th.FactorAnalysis(2).fit(X.astype(np.float32))
    model = th.FactorAnalysis(2).fit(X)
    np.testing.assert_allclose(single.noise_variance_, model.noise_variance_, rtol=1e-3)
    assert single.transform(X.astype(np.float32)).dtype == np.float32


def test_same_bits_for_any_number_of_threads():
    X = rows(3000, 120, 5)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(th.FactorAnalysis(5).fit(X).components_)
    assert np.array_equal(*found)


def test_early_stop_warns():
    with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
        th.FactorAnalysis(2, max_iter=1).fit(rows())


def test_bad_inputs_are_refused():
    X = rows()
    with pytest.raises(DataError, match="at least 2 rows"):
        th.FactorAnalysis(1).fit(X[:1])
    with pytest.raises(ParameterError, match="n_components=9 must be at most"):
        th.FactorAnalysis(9).fit(X)
    with pytest.raises(ParameterError, match="noise_variance_init has the shape"):
        th.FactorAnalysis(1, noise_variance_init=np.ones(3)).fit(X)
    with pytest.raises(ParameterError, match="positive finite"):
        th.FactorAnalysis(1, noise_variance_init=np.zeros(8)).fit(X)
    X[2, 1] = np.nan
    with pytest.raises(DataError, match="contains NaN: column 1"):
        th.FactorAnalysis(1).fit(X)


def test_leading_vectors_by_pairs_of_rows_are_those_of_the_matrix():
    rng = np.random.default_rng(0)
    R = rng.standard_normal((150, 4)) @ rng.standard_normal((4, 400)) + rng.random((150, 400))
    matrix = noise_profile.FewRows(R).whitened(np.sqrt(rng.random(400) + 0.5))
    profile = noise_profile.NoiseProfile(noise_profile.FewRows(R), 4, False, 3, rng)
    values, vectors = profile._leading(matrix, 400, None)
    expected, directions = matrix.eigen(4)
    np.testing.assert_allclose(values, expected, rtol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(np.abs((vectors * directions).sum(axis=0)), 1.0, rtol=1e-6)
    repeated = noise_profile.Product(np.repeat(R[:5], 30, axis=0))  # of rank 5
    few = noise_profile.NoiseProfile(noise_profile.FewRows(R), 8, False, 3, rng)
    values, vectors = few._leading(repeated, 400, None)
    np.testing.assert_allclose(values[:5], repeated.eigen(5)[0], rtol=1e-8)
    assert (values[5:] < 1e-6).all()
