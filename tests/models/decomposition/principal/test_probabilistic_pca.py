"""Tests of probabilistic principal components with missing entries."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.models.decomposition.principal.observed_entries import (
    ExtrapolatedSteps,
    ObservedEntries,
    Subspace,
    pieces,
)


def rows(n=300, d=8, k=3, noise=0.5, missing=0.3, seed=0, mean=5.0):
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(k, d)) * np.arange(k, 0, -1)[:, None]
    X = rng.normal(size=(n, k)) @ directions + noise * rng.normal(size=(n, d)) + mean
    X[rng.random(X.shape) < missing] = np.nan
    return X


def marginal_log_density(X, mean, covariance):
    """log p of the observed entries, row by row from the marginal Gaussian."""
    found = np.zeros(len(X))
    for i, row in enumerate(X):
        seen = ~np.isnan(row)
        if seen.any():
            part = covariance[np.ix_(seen, seen)]
            found[i] = multivariate_normal.logpdf(row[seen], mean[seen], part)
    return found


@pytest.mark.parametrize("shape", [(300, 8), (40, 60)], ids=str)
def test_without_missing_entries_it_is_the_closed_form(shape):
    n, d = shape
    X = rows(n, d, missing=0.0)
    model, principal = th.ProbabilisticPCA(3).fit(X), th.PCA(3).fit(X)
    assert model.n_iter_ == 1
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    np.testing.assert_allclose(model.components_, principal.components_, atol=1e-10)
    np.testing.assert_allclose(model.mean_, principal.mean_, rtol=1e-12)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    np.testing.assert_allclose(model.explained_variance_, values[:3], rtol=1e-9)
    np.testing.assert_allclose(model.noise_variance_, values[3:].mean(), rtol=1e-9)
    share = values[:3] / values.sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, share, rtol=1e-9)


def test_steps_from_another_start_reach_the_closed_form():
    X = rows(missing=0.0) - 5.0
    rng = np.random.default_rng(1)
    problem = ObservedEntries(list(pieces(X, None, 3)), 8, convex=True)
    start = Subspace(rng.normal(size=(8, 3)), rng.normal(size=8), 2.0).flat()
    solution = th.minimise(problem, ExtrapolatedSteps(), start, tolerance=1e-13, keep_trace=True)
    assert solution.steps > 3
    assert (np.diff(solution.trace) <= 0).all()
    found, model = Subspace.of(solution.theta, 8), th.ProbabilisticPCA(3).fit(X)
    assert -300 * solution.value == pytest.approx(model.loglike_[-1], rel=1e-9)
    covariance = found.loadings @ found.loadings.T + found.noise * np.eye(8)
    np.testing.assert_allclose(covariance, model.get_covariance(), atol=1e-4)


def test_all_components_but_one_are_a_gaussian_with_any_covariance():
    X = rows(missing=0.0)
    model = th.ProbabilisticPCA().fit(X)
    assert model.n_components_ == 7
    np.testing.assert_allclose(model.get_covariance(), np.cov(X.T, bias=True), atol=1e-9)
    few = rows(6, 20, missing=0.0)
    assert th.ProbabilisticPCA().fit(few).n_components_ == 4
    assert th.ProbabilisticPCA().fit(np.repeat(few, 9, axis=0)).n_components_ == 4


def test_density_is_the_marginal_one_of_the_observed_entries():
    X = rows()
    X[7] = np.nan
    model = th.ProbabilisticPCA(3).fit(X)
    expected = marginal_log_density(X, model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.log_density(X), expected, atol=1e-9)
    assert model.log_density(X)[7] == 0.0
    assert model.loglike_[-1] == pytest.approx(expected.sum(), rel=1e-12)


def test_likelihood_never_decreases():
    model = th.ProbabilisticPCA(4, tol=1e-12).fit(rows(120, 10, missing=0.5))
    assert model.n_iter_ > 5
    assert (np.diff(model.loglike_) >= 0).all()
    assert model.loglike_[-1] > model.loglike_[0] + 10


def test_gradient_of_the_marginal_likelihood_is_zero_at_the_optimum():
    X = rows(60, 5, k=2)
    d, k = 5, 2
    model = th.ProbabilisticPCA(k, tol=1e-13).fit(X)
    above = np.sqrt(model.explained_variance_ - model.noise_variance_)
    start = np.concatenate(
        [(model.components_.T * above).ravel(), model.mean_, [np.log(model.noise_variance_)]]
    )

    def mean_log_likelihood(theta):
        W = theta[: d * k].reshape(d, k)
        covariance = W @ W.T + np.exp(theta[-1]) * np.eye(d)
        return marginal_log_density(X, theta[d * k : -1], covariance).mean()

    slope = approx_fprime(start, mean_log_likelihood, 1e-6)
    np.testing.assert_allclose(slope, 0.0, atol=2e-5)
    away = approx_fprime(start * 1.01, mean_log_likelihood, 1e-6)
    assert np.abs(away).max() > 1e-3


def test_components_and_completion_are_conditional_means():
    X = rows()
    model = th.ProbabilisticPCA(3).fit(X)
    C, mean = model.get_covariance(), model.mean_
    above = model.explained_variance_ - model.noise_variance_
    W = model.components_.T * np.sqrt(above)
    Z, full = model.transform(X), model.complete(X)
    for row, z, filled in zip(X[:20], Z, full, strict=False):
        seen = ~np.isnan(row)
        weights = np.linalg.solve(C[np.ix_(seen, seen)], row[seen] - mean[seen])
        np.testing.assert_allclose(z, W[seen].T @ weights, atol=1e-9)
        np.testing.assert_allclose(filled[~seen], (mean + C[:, seen] @ weights)[~seen], atol=1e-8)
        assert (filled[seen] == row[seen]).all()
    back = model.inverse_transform(Z)
    np.testing.assert_allclose(back[np.isnan(X)], full[np.isnan(X)], atol=1e-10)


def test_planted_subspace_is_found_where_filling_by_means_misleads():
    truth, X = rows(1000, 12, missing=0.0), rows(1000, 12, missing=0.5)
    whole = th.PCA(3).fit(truth).components_

    def cosine(model):
        return np.linalg.svd(model.components_ @ whole.T, compute_uv=False).min()

    model = th.ProbabilisticPCA(3).fit(X)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    assert cosine(model) > 0.998
    assert model.noise_variance_ == pytest.approx(0.25, rel=0.1)
    assert th.PCA(3).fit(filled).noise_variance_ > 4 * model.noise_variance_

    def error(full):
        return np.sqrt(np.mean((full - truth)[np.isnan(X)] ** 2))

    best = error(th.ProbabilisticPCA(3).fit(truth).complete(X))
    assert error(model.complete(X)) < 1.03 * best < 0.4 * error(filled)


def test_row_without_observed_entries_has_no_effect_and_gets_the_mean():
    X = rows(80)
    empty = np.full((2, 8), np.nan)
    model, same = th.ProbabilisticPCA(2).fit(X), th.ProbabilisticPCA(2).fit(np.vstack([X, empty]))
    np.testing.assert_allclose(same.get_covariance(), model.get_covariance(), rtol=1e-9)
    assert (model.transform(empty) == 0).all()
    np.testing.assert_allclose(model.complete(empty), np.tile(model.mean_, (2, 1)))


def test_weight_two_is_a_row_twice_and_weight_zero_is_none():
    X = rows(90)
    weight = np.tile([0.0, 1.0, 2.0], 30)
    model = th.ProbabilisticPCA(2, tol=1e-11).fit(X, sample_weight=weight)
    twice = th.ProbabilisticPCA(2, tol=1e-11).fit(np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(model.get_covariance(), twice.get_covariance(), rtol=1e-5)
    np.testing.assert_allclose(model.mean_, twice.mean_, rtol=1e-6)
    assert model.loglike_[-1] == pytest.approx(twice.loglike_[-1], rel=1e-10)


def test_units_and_means_of_all_entries_change_nothing_else():
    X = rows(100)
    model, other = th.ProbabilisticPCA(2).fit(X), th.ProbabilisticPCA(2).fit(1e40 * X - 3e41)
    np.testing.assert_allclose(other.components_, model.components_, atol=1e-6)
    np.testing.assert_allclose(other.transform(1e40 * X - 3e41), model.transform(X), atol=1e-6)
    np.testing.assert_allclose(other.noise_variance_, 1e80 * model.noise_variance_, rtol=1e-6)


def test_column_in_other_units():
    X = rows(200)
    X[:, 2] *= 1e3
    model = th.ProbabilisticPCA(3, tol=1e-10).fit(X)
    assert (np.diff(model.loglike_) >= 0).all()
    expected = marginal_log_density(X, model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.log_density(X), expected, atol=1e-6)
    assert abs(model.components_[0, 2]) > 0.999


def test_constant_columns_have_no_loadings():
    X = rows(100)
    X[:, 4] = np.where(np.isnan(X[:, 4]), np.nan, 0.1)
    model = th.ProbabilisticPCA(2).fit(X)
    np.testing.assert_allclose(model.components_[:, 4], 0.0, atol=1e-9)
    assert model.mean_[4] == pytest.approx(0.1)
    assert model.complete(X)[:, 4] == pytest.approx(0.1)


def test_no_components_are_means_and_one_variance():
    X = rows(50)
    model = th.ProbabilisticPCA(0).fit(X)
    np.testing.assert_allclose(model.mean_, np.nanmean(X, axis=0))
    assert model.noise_variance_ == pytest.approx(np.nanmean((X - model.mean_) ** 2))
    assert model.transform(X).shape == (50, 0)


def test_samples_have_the_covariance_of_the_model():
    model = th.ProbabilisticPCA(2).fit(rows(200, 4, k=2))
    drawn = model.sample(40_000, random_state=0)
    error = np.abs(np.cov(drawn.T) - model.get_covariance()).max()
    assert error < 0.03 * model.explained_variance_[0]
    inverse = model.get_precision() @ model.get_covariance()
    np.testing.assert_allclose(inverse, np.eye(4), atol=1e-9)


@pytest.mark.parametrize("scale", [1e20, 1e-25])
def test_float32_rows_whose_squares_are_beyond_float32(scale):
    X = rows(60, 4, k=1, missing=0.1)
    small = (X * scale).astype(np.float32)
    expected = th.ProbabilisticPCA(1).fit(X)
    model = th.ProbabilisticPCA(1)
    Z = model.fit_transform(small)
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, expected.transform(X), atol=1e-4)
    np.testing.assert_allclose(
        model.explained_variance_, expected.explained_variance_ * scale**2, rtol=1e-4
    )
    np.testing.assert_allclose(
        model.get_covariance(), expected.get_covariance() * scale**2, rtol=1e-3
    )
    filled = model.complete(small)
    assert filled.dtype == np.float32
    np.testing.assert_allclose(filled, expected.complete(X) * scale, rtol=1e-3, atol=1e-3 * scale)
    apart = X.shape[1] - np.isnan(X).sum(axis=1)
    np.testing.assert_allclose(
        model.log_density(small), expected.log_density(X) - apart * np.log(scale), rtol=1e-4
    )


def test_float32_is_accurate_for_large_means():
    X = rows(200, mean=1000.0)
    small = X.astype(np.float32)
    model, same = th.ProbabilisticPCA(2).fit(small), th.ProbabilisticPCA(2).fit(small.astype(float))
    assert model.components_.dtype == model.transform(small).dtype == np.float32
    np.testing.assert_allclose(model.components_, same.components_, atol=1e-6)
    np.testing.assert_allclose(model.transform(small), same.transform(small), atol=1e-3)


def test_same_bits_for_any_number_of_threads(monkeypatch):
    from thetahat.models.decomposition.principal import observed_entries

    monkeypatch.setattr(observed_entries, "PIECE", 2000)
    found = []
    for threads in (1, 2):
        with th.config(threads=threads):
            model = th.ProbabilisticPCA(3).fit(rows())
            found.append((model.components_, model.transform(rows())))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    monkeypatch.undo()
    whole = th.ProbabilisticPCA(3).fit(rows())
    np.testing.assert_allclose(found[0][0], whole.components_, atol=1e-9)


def test_early_stop_warns():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        th.ProbabilisticPCA(4, max_iter=1, tol=0.0).fit(rows(60, 10, missing=0.5))


def test_time_limit_and_interrupt_keep_the_best_model_so_far(monkeypatch):
    from thetahat.models.decomposition.principal import observed_entries

    X = rows(60, 10, missing=0.5)
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="max_time"):
        model = th.ProbabilisticPCA(4, tol=1e-9).fit(X)
    assert model.n_iter_ == 1
    whole, passes = observed_entries._sums, []

    def interrupted(*arguments):
        passes.append(None)
        if len(passes) > 5:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(observed_entries, "_sums", interrupted)
    model = th.ProbabilisticPCA(4, tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    trace = model.solution_.trace
    assert len(trace) == 3
    assert trace[-1] < trace[0]
    assert model.complete(X).shape == X.shape


def test_columns_that_are_never_observed_together_or_only_once():
    X = rows(60, 6, k=2, missing=0.0)
    apart, once = X.copy(), X.copy()
    apart[:30, 0] = apart[30:, 1] = np.nan
    once[1:, 3] = np.nan
    for holes in (apart, once):
        model = th.ProbabilisticPCA(2).fit(holes)
        assert (np.diff(model.loglike_) >= 0).all()
        expected = marginal_log_density(holes, model.mean_, model.get_covariance())
        np.testing.assert_allclose(model.log_density(holes), expected, atol=1e-9)


def test_components_that_explain_all_entries_warn_of_the_bound_of_the_noise():
    X = rows(100, noise=0.0, k=2, missing=0.2)
    with pytest.warns(UserWarning, match="2 components explain the observed entries exactly"):
        model = th.ProbabilisticPCA(2).fit(X)
    assert (np.diff(model.loglike_) >= 0).all()
    truth = rows(100, noise=0.0, k=2, missing=0.0)
    np.testing.assert_allclose(model.complete(X), truth, atol=1e-2)


def test_bad_inputs_are_refused(tmp_path):
    X = rows(20, 4)
    lost = X.copy()
    lost[:, 2] = np.nan
    with pytest.raises(DataError, match=r"column 2 has no observed entry \(1 of 4 columns\)"):
        th.ProbabilisticPCA(1).fit(lost)
    with pytest.raises(DataError, match="has no observed entry"):
        th.ProbabilisticPCA(1).fit(np.full((5, 3), np.nan))
    with pytest.raises(ParameterError, match="n_components=4 must be less than the number of col"):
        th.ProbabilisticPCA(4).fit(X)
    with pytest.raises(ParameterError, match="of rows with an observed entry, 3,"):
        th.ProbabilisticPCA(3).fit(rows(3, 9, missing=0.0))
    with pytest.raises(DataError, match="all columns are constant"):
        th.ProbabilisticPCA(1).fit(np.ones((5, 3)))
    with pytest.raises(DataError, match="at least 2 rows"):
        th.ProbabilisticPCA(0).fit(X[:1])
    with pytest.raises(DataError, match=r"[Ii]nf"):
        th.ProbabilisticPCA(1).fit(np.where(np.isnan(X), np.inf, X))
    np.savetxt(tmp_path / "rows.csv", rows(30, 3, k=1, missing=0.0), delimiter=",", header="a,b,c")
    with pytest.raises(CapabilityError, match="needs its rows in memory"):
        th.ProbabilisticPCA(1).fit(th.scan(tmp_path / "rows.csv"))
