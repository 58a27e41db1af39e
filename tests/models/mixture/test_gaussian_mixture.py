"""Gaussian mixtures: worked numbers, relations between fits, and scikit-learn as an oracle."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer

import thetahat as th
from thetahat.models.mixture.components import KINDS


def heaps(n=300, d=3, k=3, seed=0, apart=4.0):
    rng = np.random.default_rng(seed)
    centres = apart * rng.standard_normal((k, d))
    shapes = 0.7 * rng.standard_normal((k, d, d))
    labels = rng.integers(0, k, n)
    return centres[labels] + np.einsum("nj,njk->nk", rng.standard_normal((n, d)), shapes[labels])


def start(kind, k, d, X):
    """Starting values for both libraries: uniform weights, rows as means, unit covariances."""
    precisions = {
        "full": np.tile(np.eye(d), (k, 1, 1)),
        "tied": np.eye(d),
        "diag": np.ones((k, d)),
        "spherical": np.ones(k),
    }[kind]
    return dict(weights_init=np.full(k, 1 / k), means_init=X[:k], precisions_init=precisions)


def shared_start(kind, X, k=3, **params):
    return dict(n_components=k, covariance_type=kind, **start(kind, k, X.shape[1], X), **params)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_same_start_gives_the_iterations_of_scikit_learn(kind, d):
    X = heaps(d=d, seed=d)
    params = shared_start(kind, X, tol=0.0, max_iter=15)
    ours, theirs = th.GaussianMixture(**params).fit(X), Peer(**params).fit(X)
    np.testing.assert_allclose(ours.lower_bounds_, theirs.lower_bounds_, rtol=1e-10)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-9, err_msg=name
        )
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    assert ours.bic(X) == pytest.approx(theirs.bic(X))
    assert ours.aic(X) == pytest.approx(theirs.aic(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_the_log_likelihood_never_decreases(kind):
    X = heaps(seed=4, apart=1.5)
    for rule in ("kmeans", "k-means++", "random", "random_from_data"):
        model = th.GaussianMixture(
            4, covariance_type=kind, init_params=rule, reg_covar=0.0, tol=1e-9, max_iter=300,
            random_state=1,
        ).fit(X)  # fmt: skip
        assert len(model.lower_bounds_) == model.n_iter_ > 3
        assert np.diff(model.lower_bounds_).min() > -1e-12
        assert model.score(X) >= model.lower_bound_ - 1e-12


def test_the_lower_bound_holds_at_any_responsibilities_and_is_tight_at_the_posterior():
    X = heaps(seed=2, apart=1.0)
    model = th.GaussianMixture(3, random_state=0).fit(X)
    rng = np.random.default_rng(5)
    for concentration in (0.1, 1.0, 10.0):
        rho = rng.dirichlet(np.full(3, concentration), len(X))
        assert model.lower_bound(X, rho) < model.score(X)
    posterior = model.predict_proba(X)
    assert model.lower_bound(X, posterior) == pytest.approx(model.score(X), abs=1e-12)
    # The gap is the divergence of ρ from the posterior.
    gap = np.where(rho > 0, rho * (np.log(rho) - np.log(posterior)), 0.0).sum(axis=1).mean()
    assert model.lower_bound(X, rho) == pytest.approx(model.score(X) - gap, abs=1e-10)
    weight = rng.integers(1, 4, len(X))
    assert model.lower_bound(X, rho, weight) == pytest.approx(
        model.lower_bound(np.repeat(X, weight, axis=0), np.repeat(rho, weight, axis=0))
    )


def test_known_labels_give_shares_means_and_variances_of_the_classes():
    X = np.array([[1.0], [2.0], [3.0], [6.0], [10.0], [11.0], [13.0], [18.0]])
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    model = th.GaussianMixture(2, reg_covar=0.0).fit(X, labels=labels)
    assert model.weights_[1] == 0.5
    np.testing.assert_allclose(model.means_.ravel(), [13.0, 3.0])
    np.testing.assert_allclose(model.covariances_.ravel(), [9.5, 3.5])
    assert model.converged_
    assert model.n_iter_ == 1
    joint = np.log(0.5) + np.array(
        [multivariate_normal(model.means_[k], model.covariances_[k]).logpdf(x)
         for x, k in zip(X, labels, strict=True)]
    )  # fmt: skip
    assert model.lower_bound_ == pytest.approx(joint.mean())


@pytest.mark.parametrize("kind", KINDS)
def test_hard_responsibilities_reproduce_known_labels(kind):
    X = heaps(seed=7, apart=200.0)  # so far apart that posteriors are 0 or 1
    soft = th.GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    labels = soft.predict(X)
    assert set(np.unique(soft.predict_proba(X))) == {0.0, 1.0}
    hard = th.GaussianMixture(3, covariance_type=kind).fit(X, labels=labels)
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_allclose(getattr(soft, name), getattr(hard, name), rtol=1e-9)


def test_small_spherical_variances_reproduce_k_means():
    from sklearn.cluster import KMeans

    X = heaps(seed=9, apart=1.0)
    means = X[:3]
    for _ in range(60):  # EM with equal weights and a variance that is held near 0
        model = th.GaussianMixture(
            3, covariance_type="spherical", max_iter=0, weights_init=np.full(3, 1 / 3),
            means_init=means, precisions_init=np.full(3, 1e9),
        ).fit(X)  # fmt: skip
        shares = model.predict_proba(X)
        means = shares.T @ X / shares.sum(axis=0)[:, None]
    peer = KMeans(3, init=X[:3], n_init=1, tol=0.0, algorithm="lloyd").fit(X)
    np.testing.assert_allclose(means, peer.cluster_centers_, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), peer.labels_)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_equal_repetition(kind):
    X = heaps(n=120, seed=3, apart=1.0)
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    params = shared_start(kind, X, tol=0.0, max_iter=6)
    with pytest.warns(ConvergenceWarning):
        weighted = th.GaussianMixture(**params).fit(X, sample_weight=weight)
    with pytest.warns(ConvergenceWarning):
        repeated = th.GaussianMixture(**params).fit(np.repeat(X, weight, axis=0))
    for name in ("weights_", "means_", "covariances_", "lower_bounds_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9)


def test_a_few_labels_fix_the_components_of_their_rows():
    X = heaps(n=400, seed=11, apart=3.0)
    truth = th.GaussianMixture(3, random_state=0).fit(X).predict(X)
    names = (truth + 1) % 3  # other numbers than those that the fit would choose
    labels = np.where(np.arange(len(X)) % 20 == 0, names, -1)
    model = th.GaussianMixture(3, random_state=0).fit(X, labels=labels)
    assert (model.predict(X) == names).mean() > 0.95
    assert np.diff(model.lower_bounds_).min() > -1e-9


@pytest.mark.parametrize("rule", ["kmeans", "k-means++", "random", "random_from_data"])
def test_every_start_works_with_labels_and_weights(rule):
    X = heaps(n=200, seed=12)
    labels = np.where(np.arange(200) < 5, 2, -1)
    model = th.GaussianMixture(3, init_params=rule, random_state=3, max_iter=200)
    model.fit(X, sample_weight=np.linspace(0.5, 2.0, 200), labels=labels)
    assert model.converged_
    np.testing.assert_allclose(model.weights_.sum(), 1.0)


def test_restarts_are_reported_and_the_best_is_kept():
    X = heaps(n=200, k=6, seed=5, apart=1.0)
    model = th.GaussianMixture(5, n_init=6, init_params="random_from_data", random_state=1).fit(X)
    assert model.restart_bounds_.shape == (6,)
    assert model.lower_bound_ == model.restart_bounds_.max() > model.restart_bounds_.min()


def test_a_collapsed_component_is_reported():
    X = np.vstack([heaps(n=100, seed=6), [[50.0, 50.0, 50.0]]])
    model = th.GaussianMixture(
        2,
        weights_init=[0.99, 0.01],
        means_init=[X[:100].mean(axis=0), X[100]],
        precisions_init=[np.linalg.inv(np.cov(X[:100].T)), np.eye(3)],
    )
    with pytest.warns(ConvergenceWarning, match="1 of 2 components .first: 1. collapsed"):
        model.fit(X)
    np.testing.assert_array_equal(model.collapsed_, [1])


@pytest.mark.parametrize("kind", KINDS)
def test_digits_survive_a_large_mean(kind):
    X = heaps(n=500, seed=8, apart=3.0)
    far = X + 2.0**20
    params = dict(covariance_type=kind, tol=1e-10, max_iter=500, random_state=0)
    near, moved = (th.GaussianMixture(3, **params).fit(rows) for rows in (X, far))
    np.testing.assert_allclose(moved.covariances_, near.covariances_, rtol=1e-5, atol=1e-7)
    assert moved.lower_bound_ == pytest.approx(near.lower_bound_, rel=1e-8)


def test_clusters_far_apart_keep_their_variances():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((200, 2)), 1e6 + rng.standard_normal((200, 2))
    model = th.GaussianMixture(2, reg_covar=0.0, random_state=0).fit(np.vstack([a, b]))
    order = np.argsort(model.means_[:, 0])
    for k, rows in zip(order, (a, b), strict=True):
        np.testing.assert_allclose(model.covariances_[k], np.cov(rows.T, bias=True), rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_bits_do_not_depend_on_threads(kind):
    X = heaps(n=40_000, d=2, seed=10)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            model = th.GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
            shares = model.predict_proba(X)
        found.append((model.means_, model.covariances_, model.lower_bounds_, shares))
    for left, right in zip(*found, strict=True):
        np.testing.assert_array_equal(left, right)
    by_column = th.GaussianMixture(3, covariance_type=kind, random_state=0)
    by_column.fit(np.asfortranarray(X))
    np.testing.assert_allclose(by_column.means_, model.means_, rtol=1e-10)


def test_rows_in_a_file_give_the_fit_in_memory(tmp_path):
    import pyarrow
    import pyarrow.parquet

    X = heaps(n=30_000, d=2, seed=13)
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=7000)
    inside = th.GaussianMixture(3, random_state=0).fit(X)
    outside = th.GaussianMixture(3, random_state=0).fit(th.scan(tmp_path / "rows.parquet"))
    np.testing.assert_allclose(outside.means_, inside.means_, rtol=1e-8)
    np.testing.assert_allclose(
        outside.predict_proba(th.scan(tmp_path / "rows.parquet")),
        inside.predict_proba(X),
        atol=1e-7,
    )


def test_single_precision_stays_close():
    X = heaps(seed=14)
    single = th.GaussianMixture(3, random_state=0).fit(X.astype(np.float32))
    double = th.GaussianMixture(3, random_state=0).fit(X)
    assert single.means_.dtype == single.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.means_, double.means_, rtol=1e-4, atol=1e-5)
    assert single.lower_bound_ == pytest.approx(double.lower_bound_, rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_have_the_moments_of_the_mixture(kind):
    X = heaps(seed=15)
    model = th.GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    rows, labels = model.sample(60_000, random_state=1)
    np.testing.assert_allclose(np.bincount(labels) / 60_000, model.weights_, atol=0.01)
    expected = {
        "full": lambda k: model.covariances_[k],
        "tied": lambda k: model.covariances_,
        "diag": lambda k: np.diag(model.covariances_[k]),
        "spherical": lambda k: model.covariances_[k] * np.eye(3),
    }[kind]
    for k in range(3):
        part = rows[labels == k]
        np.testing.assert_allclose(part.mean(axis=0), model.means_[k], atol=0.1)
        np.testing.assert_allclose(np.cov(part.T), expected(k), atol=0.2, rtol=0.1)


def test_density_is_the_sum_of_the_components():
    X = heaps(seed=16)
    model = th.GaussianMixture(3, random_state=0).fit(X)
    density = sum(
        w * multivariate_normal(m, C).pdf(X)
        for w, m, C in zip(model.weights_, model.means_, model.covariances_, strict=True)
    )
    np.testing.assert_allclose(model.log_density(X), np.log(density), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(model.novelty(X), -model.log_density(X))
    np.testing.assert_array_equal(model.score_samples(X), model.log_density(X))
