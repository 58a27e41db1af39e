import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import digamma, logsumexp
from scipy.stats import wishart
from sklearn import mixture
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import DataError, ParameterError
from thetahat.models.mixture.components import KINDS

TYPES = ["dirichlet_process", "dirichlet_distribution"]


def heaps(seed=0, sizes=(60, 80, 50)):
    rng = np.random.default_rng(seed)
    centres, scales = ([0, 0], [3, 3], [-4, 2]), (1.0, 0.5, 0.8)
    parts = zip(sizes, centres, scales, strict=True)
    return np.vstack([c + s * rng.standard_normal((n, 2)) for n, c, s in parts])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", TYPES)
@pytest.mark.parametrize("reg_covar", [0.0, 1e-6, 0.5])
def test_the_lower_bound_never_decreases(kind, prior, reg_covar):
    model = th.BayesianGaussianMixture(
        6, covariance_type=kind, weight_concentration_prior_type=prior, reg_covar=reg_covar,
        tol=0, max_iter=40, init_params="random_from_data", random_state=1,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning):
        model.fit(heaps())
    bounds = model.lower_bounds_
    assert np.all(np.diff(bounds) > -1e-9 * np.abs(bounds[1:]))
    assert bounds[-1] - bounds[0] > 10
    np.testing.assert_allclose(model.solution_.trace, -bounds)


def test_the_bound_of_one_row_and_component_is_its_evidence():
    """With one component q is exact, so that the bound equals log p(X), here by integration."""
    X = np.array([[0.3], [1.9], [-0.4]])
    model = th.BayesianGaussianMixture(
        1, reg_covar=0, mean_prior=[0.5], mean_precision_prior=2.0, covariance_prior=[[1.5]],
        degrees_of_freedom_prior=3.0, weight_concentration_prior_type="dirichlet_distribution",
        tol=1e-12,
    ).fit(X)  # fmt: skip

    def joint(precision):
        """Means are integrated out: rows are Gaussian with covariance I/λ + 1/(2λ)."""
        covariance = (np.eye(3) + 0.5) / precision
        away = (X - 0.5).ravel()
        exponent = -0.5 * away @ np.linalg.solve(covariance, away)
        norm = np.sqrt(np.linalg.det(2 * np.pi * covariance))
        return np.exp(exponent) / norm * wishart.pdf(precision, df=3.0, scale=1 / 1.5)

    evidence = quad(joint, 0, 50, points=[0.5, 2.0], limit=200)[0]
    assert model.lower_bound_ == pytest.approx(np.log(evidence), rel=1e-6)


@pytest.mark.parametrize("prior", TYPES)
def test_full_covariances_have_the_updates_of_scikit_learn(prior):
    X = heaps()
    settings = dict(
        n_components=4, weight_concentration_prior_type=prior, max_iter=1, warm_start=True,
        random_state=0, reg_covar=1e-10,
    )  # fmt: skip
    peer = mixture.BayesianGaussianMixture(**settings)
    model = th.BayesianGaussianMixture(**settings)
    with pytest.warns(ConvergenceWarning):
        peer.fit(X)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    for name, value in vars(peer).items():
        if name.endswith("_") and name in vars(model):
            setattr(model, name, value)
    model.lower_bound_ = -np.inf
    for each in (peer, model):
        with pytest.warns(ConvergenceWarning):
            each.set_params(max_iter=3).fit(X)
    for name in ("weights_", "means_", "covariances_", "mean_precision_", "degrees_of_freedom_"):
        np.testing.assert_allclose(
            getattr(model, name), getattr(peer, name), rtol=1e-6, atol=1e-8, err_msg=name
        )
    np.testing.assert_allclose(model.weight_concentration_, peer.weight_concentration_, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", ["tied", "diag", "spherical"])
def test_the_m_step_of_other_kinds_is_that_of_scikit_learn(kind):
    X = heaps()
    settings = dict(covariance_type=kind, random_state=0, max_iter=500, tol=1e-10)
    model = th.BayesianGaussianMixture(3, **settings).fit(X)
    peer = mixture.BayesianGaussianMixture(n_components=3, **settings)
    peer._check_parameters(X)
    peer._initialize(X, model.predict_proba(X))
    np.testing.assert_allclose(model.means_, peer.means_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.covariances_, peer.covariances_, rtol=1e-4)
    np.testing.assert_allclose(model.degrees_of_freedom_, peer.degrees_of_freedom_, rtol=1e-4)


def test_responsibilities_follow_the_formula():
    X = heaps()
    model = th.BayesianGaussianMixture(3, covariance_type="diag", random_state=0).fit(X)
    a, b = model.weight_concentration_
    log_pi = digamma(a) - digamma(a + b)
    log_pi[1:] += np.cumsum(digamma(b) - digamma(a + b))[:-1]
    joint = np.empty((len(X), 3))
    for k in range(3):
        nu, covariance = model.degrees_of_freedom_[k], model.covariances_[k]
        expected = digamma(nu / 2) + np.log(2 / (nu * covariance))
        square = ((X - model.means_[k]) ** 2 / covariance + 1e-6 / covariance).sum(axis=1)
        joint[:, k] = log_pi[k] + 0.5 * (
            expected.sum() - 2 / model.mean_precision_[k] - square - 2 * np.log(2 * np.pi)
        )
    expected = np.exp(joint - logsumexp(joint, axis=1)[:, None])
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))


@pytest.mark.parametrize("prior", TYPES)
def test_components_that_are_not_needed_get_no_weight(prior):
    X = heaps()
    model = th.BayesianGaussianMixture(
        10, weight_concentration_prior=1e-4, weight_concentration_prior_type=prior, max_iter=1000,
        n_init=3, random_state=0,
    ).fit(X)  # fmt: skip
    assert np.sum(model.weights_ > 0.01) == 3
    assert len(np.unique(model.predict(X))) == 3
    found = model.means_[model.weights_ > 0.01]
    assert np.abs(found[np.argsort(found[:, 0])] - [[-4, 2], [0, 0], [3, 3]]).max() < 0.4


@pytest.mark.parametrize("kind", KINDS)
def test_weights_equal_repetition(kind):
    X = heaps(sizes=(30, 30, 30))
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    model = th.BayesianGaussianMixture(
        1, covariance_type=kind, tol=1e-10, max_iter=500, random_state=0
    )
    expected = model.fit(np.repeat(X, weight, axis=0))
    bound, means = expected.lower_bound_, expected.means_
    found = model.fit(X, sample_weight=weight)
    assert found.lower_bound_ == pytest.approx(bound, rel=1e-10)
    np.testing.assert_allclose(found.means_, means, rtol=1e-10)


def test_the_density_integrates_to_one_and_is_that_of_the_samples():
    X = heaps()[:, :1]
    model = th.BayesianGaussianMixture(3, random_state=0).fit(X)
    total = quad(lambda x: np.exp(model.log_density([[x]])[0]), -30, 30, limit=200)[0]
    assert total == pytest.approx(1, rel=1e-6)
    drawn, _ = model.sample(20_000, random_state=0)
    assert drawn.mean() == pytest.approx(model.weights_ @ model.means_[:, 0], abs=0.1)


def test_restarts_are_reported_and_the_best_is_kept():
    X = heaps()
    model = th.BayesianGaussianMixture(5, n_init=4, init_params="random", random_state=0).fit(X)
    assert len(model.restart_bounds_) == 4
    assert model.lower_bound_ == model.restart_bounds_.max()


def test_a_warm_start_goes_on():
    X = heaps()
    cold = th.BayesianGaussianMixture(4, max_iter=12, tol=0, random_state=0)
    warm = th.BayesianGaussianMixture(4, max_iter=6, tol=0, warm_start=True, random_state=0)
    with pytest.warns(ConvergenceWarning):
        cold.fit(X)
    for _ in range(2):
        with pytest.warns(ConvergenceWarning):
            warm.fit(X)
    np.testing.assert_allclose(warm.means_, cold.means_, rtol=1e-9)
    assert warm.lower_bound_ == pytest.approx(cold.lower_bound_, rel=1e-12)
    with pytest.raises(ParameterError, match="warm_start"):
        warm.set_params(n_components=3).fit(X)


def test_float32_tables_and_files(tmp_path):
    X = heaps()
    model = th.BayesianGaussianMixture(3, random_state=0)
    expected = model.fit(X).means_
    single = model.fit(X.astype(np.float32))
    assert single.means_.dtype == single.covariances_.dtype == np.float32
    np.testing.assert_allclose(single.means_, expected, rtol=1e-3, atol=1e-3)
    table = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_allclose(model.fit(table).means_, expected)
    table.to_csv(tmp_path / "rows.csv", index=False)
    np.testing.assert_allclose(model.fit(th.scan(tmp_path / "rows.csv")).means_, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_and_constant_columns_have_finite_results(kind):
    rng = np.random.default_rng(0)
    for X in (np.ones((8, 2)), np.column_stack([rng.random(20), np.ones(20)])):
        model = th.BayesianGaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
        assert np.isfinite(model.lower_bound_)
        assert np.isfinite(model.predict_proba(X)).all()
    with pytest.raises(DataError, match="reg_covar"):
        th.BayesianGaussianMixture(2, covariance_type=kind, reg_covar=0).fit(np.ones((8, 2)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (dict(degrees_of_freedom_prior=0.5), "greater than 1"),
        (dict(mean_prior=[1.0]), "shape of"),
        (dict(mean_prior=[1.0, np.nan]), "finite"),
        (dict(mean_prior="a"), "numbers"),
        (dict(covariance_prior=[[1.0, 2.0], [2.0, 1.0]]), "positive-definite"),
        (dict(covariance_prior=-1.0, covariance_type="spherical"), "positive"),
        (dict(covariance_prior=[1.0], covariance_type="diag"), "shape of"),
        (dict(weight_concentration_prior=0.0), "weight_concentration_prior"),
        (dict(weight_concentration_prior_type="other"), "dirichlet_process"),
    ],
)
def test_bad_priors_are_errors(parameters, message):
    with pytest.raises(ParameterError, match=message):
        th.BayesianGaussianMixture(2, **parameters).fit(heaps())


def test_more_components_than_rows_are_an_error():
    with pytest.raises(DataError, match="n_components"):
        th.BayesianGaussianMixture(4).fit(np.eye(3))
