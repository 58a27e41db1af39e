import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal
from sklearn import decomposition

import thetahat as th
from thetahat.errors import CapabilityError, DataError, ParameterError
from thetahat.models.decomposition.principal.scatter_operator import ScatterOperator

SOLVERS = ["full", "covariance_eigh", "randomized", "arpack"]


def rows(n=120, d=8, seed=0, mean=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + mean


def test_first_component_of_the_lecture_explains_three_quarters():
    # Four rows with the covariance [[2, 1], [1, 2]] (divisor n − 1).
    axes = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    X = axes * np.sqrt(np.array([3.0, 3.0, 1.0, 1.0]) * 3 / 4)[:, None]
    np.testing.assert_allclose(np.cov(X.T), [[2.0, 1.0], [1.0, 2.0]])
    model = th.PCA().fit(X)
    np.testing.assert_allclose(model.explained_variance_ratio_, [0.75, 0.25])
    np.testing.assert_allclose(model.components_[0], np.ones(2) / np.sqrt(2))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(120, 8), (20, 40)], ids=str)
def test_every_solver_equals_scikit_learn(solver, shape):
    X = rows(*shape)
    model = th.PCA(3, svd_solver=solver, iterated_power=12, random_state=0).fit(X)
    peer = decomposition.PCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(model.components_, peer.components_, atol=1e-9)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(model, name), getattr(peer, name), rtol=1e-10)
    assert model.noise_variance_ == pytest.approx(peer.noise_variance_)
    np.testing.assert_allclose(model.transform(X), peer.transform(X), atol=1e-8)


def test_smallest_reconstruction_error_is_the_largest_variance():
    X = rows()
    model = th.PCA(3).fit(X)
    back = model.inverse_transform(model.transform(X))
    left = ((X - back) ** 2).sum()
    assert left == pytest.approx(model.noise_variance_ * 5 * (len(X) - 1))
    np.testing.assert_allclose(model.residual_distance(X) ** 2, ((X - back) ** 2).sum(axis=1))
    parts = (model.transform(X) ** 2).sum(axis=1) + model.residual_distance(X) ** 2
    np.testing.assert_allclose(parts, ((X - X.mean(axis=0)) ** 2).sum(axis=1))
    for seed in range(20):
        other = np.linalg.qr(np.random.default_rng(seed).normal(size=(8, 3)))[0]
        away = X - X.mean(axis=0)
        assert ((away - away @ other @ other.T) ** 2).sum() > left


def test_non_centred_form_is_the_covariance_less_the_mean():
    X = rows()
    raw = X.T @ X / len(X) - np.outer(X.mean(axis=0), X.mean(axis=0))
    np.testing.assert_allclose(
        th.PCA().fit(X).explained_variance_ * (len(X) - 1) / len(X),
        th.lowrank.symmetric_eigen((raw + raw.T) / 2).values,
        rtol=1e-9,
    )


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "randomized"])
def test_without_centring_it_is_the_svd(solver):
    X = rows()
    model = th.PCA(4, center=False, svd_solver=solver, iterated_power=12, random_state=0).fit(X)
    found = th.lowrank.svd(X)
    np.testing.assert_allclose(model.singular_values_, found.s[:4])
    np.testing.assert_allclose(model.components_, found.V[:4], atol=1e-8)
    np.testing.assert_allclose(model.transform(X), X @ found.V[:4].T, atol=1e-7)


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "randomized"])
def test_scaled_columns_do_not_depend_on_units(solver):
    X, unit = rows(), np.array([1e3, 1.0, 1e-3, 1.0, 7.0, 1.0, 1.0, 2.0])
    options = dict(scale=True, svd_solver=solver, iterated_power=12, random_state=0)
    model, other = th.PCA(3, **options).fit(X), th.PCA(3, **options).fit(X * unit)
    np.testing.assert_allclose(model.components_, other.components_, atol=1e-8)
    np.testing.assert_allclose(other.transform(X * unit), model.transform(X), atol=1e-8)
    np.testing.assert_allclose(
        other.inverse_transform(model.transform(X)) / unit,
        model.inverse_transform(model.transform(X)),
        rtol=1e-7,
    )
    standard = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(
        model.explained_variance_, th.PCA(3).fit(standard).explained_variance_
    )
    shift = np.log(unit).sum()
    np.testing.assert_allclose(other.log_density(X * unit) + shift, model.log_density(X))


@pytest.mark.parametrize("k", [2, 8])
def test_density_is_that_of_the_gaussian_model(k):
    X = rows()
    model, peer = th.PCA(k).fit(X), decomposition.PCA(k, svd_solver="full").fit(X)
    normal = multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.log_density(X), normal.logpdf(X))
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X))
    assert model.score(X) == pytest.approx(peer.score(X))
    np.testing.assert_allclose(model.get_precision(), np.linalg.inv(model.get_covariance()))
    np.testing.assert_allclose(model.get_covariance(), peer.get_covariance())


def test_all_components_reproduce_the_covariance_as_a_rotation_of_variances():
    X = rows()
    model = th.PCA().fit(X)
    turned = model.components_.T @ np.diag(model.explained_variance_) @ model.components_
    np.testing.assert_allclose(turned, np.cov(X.T), atol=1e-10)
    np.testing.assert_allclose(model.get_covariance(), np.cov(X.T), atol=1e-10)


def test_samples_have_the_mean_and_covariance_of_the_model():
    model = th.PCA(3).fit(rows())
    drawn = model.sample(40_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.8)
    np.testing.assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.1)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_components_for_a_share_of_the_variance(share):
    model, peer = th.PCA(share).fit(rows()), decomposition.PCA(share, svd_solver="full").fit(rows())
    assert model.n_components_ == peer.n_components_
    assert model.explained_variance_ratio_.sum() > share
    assert model.explained_variance_ratio_[:-1].sum() <= share


def test_number_of_components_by_evidence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 10)) * 3 + rng.normal(size=(300, 10))
    assert th.PCA("mle").fit(X).n_components_ == 3
    assert decomposition.PCA("mle").fit(X).n_components_ == 3


def test_whitened_components_have_unit_variance():
    X = rows()
    model = th.PCA(5, whiten=True).fit(X)
    np.testing.assert_allclose(np.cov(model.transform(X).T), np.eye(5), atol=1e-10)
    plain = th.PCA(5).fit(X)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), plain.inverse_transform(plain.transform(X))
    )


def test_random_vectors_are_far_more_accurate_than_power_iterations():
    X = np.random.default_rng(0).normal(size=(300, 200))
    exact = th.PCA(5, svd_solver="full").fit(X)
    options = dict(svd_solver="randomized", random_state=0)
    ours = th.PCA(5, iterated_power=7, **options).fit(X)
    peer = decomposition.PCA(5, **options).fit(X)  # 7 iterations

    def error(model):
        return 1 - model.explained_variance_.sum() / exact.explained_variance_.sum()

    assert 0 <= error(ours) < 1e-4
    assert error(ours) < 0.05 * error(peer)
    assert error(th.PCA(5, **options).fit(X)) < error(peer)  # 4 iterations


@pytest.mark.parametrize(
    ("shape", "used"), [((600, 100), "covariance_eigh"), ((90, 600), "row_gram")]
)
def test_few_components_from_products_unless_they_lose_digits(shape, used):
    X = np.random.default_rng(0).normal(size=shape) * np.exp(-np.arange(shape[1]) / 20)
    for few, solver in ((X, used), (X * 10.0 ** -np.arange(shape[1]), "randomized")):
        model = th.PCA(10).fit(few)
        exact = np.linalg.svd(few - few.mean(axis=0), compute_uv=False)[:10]
        assert model.solver_ == solver
        if solver == used:
            np.testing.assert_allclose(model.singular_values_, exact, rtol=1e-10)


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_sparse_rows_equal_dense_rows(solver):
    X = sp.random_array((200, 30), density=0.2, rng=0, format="csr")
    options = dict(svd_solver=solver, iterated_power=12, random_state=0)
    dense, sparse = th.PCA(4, **options).fit(X.toarray()), th.PCA(4, **options).fit(X)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)
    np.testing.assert_allclose(sparse.transform(X), dense.transform(X.toarray()), atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_repetitions(solver):
    X = rows(60)
    weight = np.arange(60) % 3
    options = dict(svd_solver=solver, iterated_power=12, random_state=0)
    model = th.PCA(3, **options).fit(X, sample_weight=weight)
    again = th.PCA(3, **options).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(model.components_, again.components_, atol=1e-8)
    np.testing.assert_allclose(model.explained_variance_, again.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(model.mean_, again.mean_)


@pytest.mark.parametrize("scale", [False, True])
def test_batches_equal_one_fit(scale):
    X = rows(500)
    model = th.PCA(3, scale=scale)
    for batch in np.array_split(X, [7, 30, 200]):
        model.partial_fit(batch)
    whole = th.PCA(3, scale=scale, svd_solver="covariance_eigh").fit(X)
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_"):
        np.testing.assert_allclose(getattr(model, name), getattr(whole, name), rtol=1e-9)
    assert model.n_samples_ == 500
    with pytest.raises(DataError, match="8 features"):
        model.partial_fit(X[:, :3])
    assert model.fit(X[:50]).n_samples_ == 50


@pytest.mark.parametrize("solver", ["auto", "randomized"])
def test_a_file_gives_the_same_components(tmp_path, solver):
    X = rows(3000)
    np.save(tmp_path / "x.npy", X)
    options = dict(svd_solver=solver, iterated_power=12, random_state=0)
    streamed = th.PCA(3, **options).fit(th.scan(tmp_path / "x.npy"))
    np.testing.assert_allclose(
        streamed.components_, th.PCA(3, **options).fit(X).components_, atol=1e-9
    )
    with pytest.raises(CapabilityError, match="svd_solver='full'"):
        th.PCA(3, svd_solver="full").fit(th.scan(tmp_path / "x.npy"))


def test_large_means_lose_no_digits():
    X = rows(mean=0.0)
    for solver in ("full", "covariance_eigh", "randomized"):
        options = dict(svd_solver=solver, iterated_power=12, random_state=0)
        near, far = th.PCA(3, **options).fit(X), th.PCA(3, **options).fit(X + 1e7)
        np.testing.assert_allclose(far.components_, near.components_, atol=1e-6)
        np.testing.assert_allclose(far.transform(X + 1e7), near.transform(X), atol=1e-5)


def test_intervals_cover_the_variances():
    spread, inside = np.array([9.0, 4.0, 1.0]), np.zeros(3)
    for seed in range(400):
        X = np.random.default_rng(seed).normal(size=(300, 3)) * np.sqrt(spread)
        low, high = th.PCA().fit(X).variance_intervals().T
        inside += (low <= spread) & (spread <= high)
    assert (inside >= 0.92 * 400).all()
    assert (inside <= 0.98 * 400).all()


@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_intervals_of_weighted_rows_are_those_of_repeated_rows(solver):
    X, weight = rows(40, 3), np.random.default_rng(1).integers(1, 9, 40)
    weighted = th.PCA(svd_solver=solver).fit(X, sample_weight=weight).variance_intervals()
    repeated = th.PCA(svd_solver=solver).fit(np.repeat(X, weight, axis=0)).variance_intervals()
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh"])
def test_columns_whose_squares_underflow_are_refused(solver):
    X = rows(50, 1, mean=0.0) * 1e-200
    with pytest.raises(DataError, match="squares underflow"):
        th.PCA(svd_solver=solver).fit(X)
    both = np.hstack([rows(50, 1), X])  # beside an ordinary column it does no harm
    assert th.PCA(svd_solver=solver).fit(both).singular_values_[0] > 1


@pytest.mark.parametrize(
    ("options", "X", "words"),
    [
        (dict(n_components=9), rows(), "min\\(n_samples, n_features\\)=8"),
        (dict(n_components=2.5), rows(), "n_components"),
        (dict(n_components="mle"), rows(5), "n_samples >= n_features"),
        (dict(n_components=8, svd_solver="arpack"), rows(), "strictly less"),
        (dict(n_components=0.5, svd_solver="randomized"), rows(), "cannot be a share"),
        (dict(), rows(1), "at least 2 rows"),
        (dict(), np.where(rows() > 8, np.nan, rows()), "NaN"),
    ],
    ids=["many", "fraction", "mle", "arpack", "share", "one row", "nan"],
)
def test_bad_input_is_named(options, X, words):
    with pytest.raises((DataError, ParameterError, ValueError), match=words):
        th.PCA(**options).fit(X)


def test_rows_without_a_density_are_named():
    with pytest.raises(DataError, match="no density"):
        th.PCA().fit(rows(5)).log_density(rows(5))


def test_constant_rows_have_no_variance():
    model = th.PCA().fit(np.ones((5, 3)))
    assert model.explained_variance_.tolist() == [0.0, 0.0, 0.0]
    assert model.explained_variance_ratio_.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("params", [{}, {"center": False}, {"scale": True}])
def test_few_rows_of_many_columns_use_the_products_of_rows(dtype, params):
    random = np.random.default_rng(0)
    X = (random.normal(size=(60, 2500)) * np.linspace(1, 3, 2500) + 5.0).astype(dtype)
    weight = np.arange(60) % 3
    for w in (None, weight):
        found = th.PCA(4, **params).fit(X, sample_weight=w)
        exact = th.PCA(4, svd_solver="full", **params).fit(X.astype(float), sample_weight=w)
        assert found.solver_ == "row_gram"
        tolerance = 1e-9 if dtype is np.float64 else 1e-4
        for name in ("components_", "explained_variance_", "explained_variance_ratio_", "mean_"):
            got, expected = getattr(found, name), getattr(exact, name)
            np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(found.noise_variance_, exact.noise_variance_, rtol=tolerance)


def test_products_of_rows_give_the_same_bits_for_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(60, 5000))
    fits = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            fits.append(th.PCA(4).fit(X).components_)
    assert (fits[0] == fits[1]).all()
    assert (fits[0] == fits[2]).all()


def test_rows_of_low_rank_use_another_solver_than_their_products():
    X = np.random.default_rng(0).normal(size=(60, 2)) @ np.ones((2, 2500))
    model = th.PCA(4).fit(X)
    assert model.solver_ == "randomized"
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-9)


def test_components_of_sparse_rows_are_exact():
    X = sp.random(400, 120, 0.05, random_state=0, format="csr")
    found = th.PCA(5, random_state=0).fit(X)
    dense = th.PCA(5, svd_solver="full").fit(X.toarray())
    np.testing.assert_allclose(found.explained_variance_, dense.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(found.transform(X), dense.transform(X.toarray()), atol=1e-8)


@pytest.mark.parametrize("k", [None, 5])
def test_columns_of_very_different_units_keep_their_digits(k):
    X = np.random.default_rng(0).normal(size=(800, 60)) * np.array([1e9, *np.full(59, 1.0)])
    model = th.PCA(k).fit(X)
    assert model.solver_ == "covariance_eigh"
    exact = th.PCA(k, svd_solver="full").fit(X)
    np.testing.assert_allclose(model.singular_values_, exact.singular_values_, rtol=1e-6)
    np.testing.assert_allclose(model.components_, exact.components_, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"scale": True}, {"center": False}])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lanczos_iterations_centre_the_rows_once(options, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 30)) / np.arange(1, 31) + 3.0).astype(dtype)
    weight = rng.random(60) + 1.0
    expected = th.PCA(3, svd_solver="full", **options).fit(X, sample_weight=weight)
    calls, apply = [], ScatterOperator.__call__
    monkeypatch.setattr(
        ScatterOperator, "__call__", lambda self, Q: calls.append(1) or apply(self, Q)
    )
    model = th.PCA(3, svd_solver="arpack", **options).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-5)
    np.testing.assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-5)
    assert not calls
    with th.config(memory=1 << 10):  # too little for centred rows
        again = th.PCA(3, svd_solver="arpack", **options).fit(X, sample_weight=weight)
    np.testing.assert_allclose(again.components_, model.components_, atol=1e-6)
    assert bool(calls) == (dtype == np.float32 or options != {"center": False})


def test_a_first_batch_of_one_row_is_refused():
    with pytest.raises(DataError, match=r"^PCA: n_samples = 1, .* Add rows"):
        th.PCA(1).partial_fit(rows()[:1])
    with pytest.raises(DataError, match=r"^PCA: the sum of the weights, 1, .* Multiply"):
        th.PCA(1).fit(rows()[:2], sample_weight=[0.5, 0.5])
