import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.exceptions import DataDimensionalityWarning
from sklearn.random_projection import johnson_lindenstrauss_min_dim as peer_bound

import thetahat as th
from thetahat.errors import ParameterError


def counts(n=150, d=60, seed=0):
    return sp.random_array((n, d), density=0.1, rng=seed, format="csr")


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
def test_truncated_svd_has_the_largest_singular_values(algorithm):
    X = counts()
    model = th.TruncatedSVD(5, algorithm=algorithm, n_iter=20, random_state=0).fit(X)
    exact = th.lowrank.svd(X.toarray())
    np.testing.assert_allclose(model.singular_values_, exact.s[:5])
    np.testing.assert_allclose(model.components_, exact.V[:5], atol=1e-6)
    best = th.lowrank.best_rank(X.toarray(), 5).matrix()
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), best, atol=1e-6)
    peer = decomposition.TruncatedSVD(5, algorithm="arpack", random_state=0).fit(X)
    np.testing.assert_allclose(model.explained_variance_, peer.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, peer.explained_variance_ratio_, rtol=1e-6
    )


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
@pytest.mark.parametrize("d", [4, 60])
def test_truncated_svd_far_from_zero_keeps_its_digits(algorithm, d):
    X = np.random.default_rng(0).normal(size=(300, d)) * np.linspace(0.2, 1.0, d) ** 4 + 1e8
    model = th.TruncatedSVD(2, algorithm=algorithm, n_iter=20).fit(X)
    exact = th.lowrank.svd(X)
    np.testing.assert_allclose(model.singular_values_, exact.s[:2], rtol=1e-6)
    centred = X - X.mean(axis=0)
    variance = (centred @ exact.V[:2].T).var(axis=0)
    np.testing.assert_allclose(model.explained_variance_, variance, rtol=1e-6)
    share = variance / centred.var(axis=0).sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, share, rtol=1e-6)


@pytest.mark.parametrize("kind", ["sparse", "weighted", "file"])
def test_random_directions_keep_the_digits_of_small_values_of_any_source(kind, tmp_path):
    sizes = np.array([1e9, 1e4, 1.0, *np.full(57, 1e-3)])
    X = np.random.default_rng(0).normal(size=(500, 60)) * sizes
    weight = np.arange(500) % 3 + 1.0 if kind == "weighted" else np.ones(500)
    rows = X
    if kind == "sparse":
        rows = sp.csr_array(X)
    elif kind == "file":
        paths = [tmp_path / "first.npy", tmp_path / "second.npy"]
        for path, part in zip(paths, (X[:130], X[130:]), strict=True):
            np.save(path, part)
        rows = th.scan(paths)
    options = {"sample_weight": weight} if kind == "weighted" else {}
    model = th.TruncatedSVD(3).fit(rows, **options)
    exact = th.lowrank.svd(X * np.sqrt(weight)[:, None])
    np.testing.assert_allclose(model.singular_values_, exact.s[:3], rtol=1e-5)
    np.testing.assert_allclose(np.abs(model.components_[2, :3]), [0.0, 0.0, 1.0], atol=1e-4)


def test_random_principal_directions_keep_the_digits_of_small_values():
    X = np.random.default_rng(0).normal(size=(500, 60)) * np.array([1e9, *np.full(59, 1.0)])
    model = th.PCA(40, svd_solver="randomized").fit(X)
    exact = th.PCA(40, svd_solver="full").fit(X)
    np.testing.assert_allclose(model.singular_values_, exact.singular_values_, rtol=1e-6)


def test_truncated_svd_refuses_more_components_than_columns():
    with pytest.raises(ParameterError, match="n_components=61 must be <= n_features=60"):
        th.TruncatedSVD(61).fit(counts())


@pytest.mark.parametrize("batch_size", [None, 20, 33])
def test_incremental_components_equal_those_of_scikit_learn(batch_size):
    X = np.random.default_rng(0).normal(size=(100, 6)) @ np.diag([5.0, 3.0, 2.0, 1.0, 0.5, 0.1])
    model = th.IncrementalPCA(3, batch_size=batch_size).fit(X)
    peer = decomposition.IncrementalPCA(3, batch_size=batch_size).fit(X)
    for name in (
        "components_",
        "explained_variance_",
        "mean_",
        "var_",
        "singular_values_",
        "explained_variance_ratio_",
        "noise_variance_",
        "n_samples_seen_",
    ):
        np.testing.assert_allclose(getattr(model, name), getattr(peer, name), atol=1e-9)
    np.testing.assert_allclose(model.transform(X), peer.transform(X), atol=1e-9)


def test_incremental_components_are_exact_when_all_directions_are_kept():
    X = np.random.default_rng(0).normal(size=(100, 6)) + 1e4
    model, whole = th.IncrementalPCA(6), th.PCA(6).fit(X)
    for batch in np.array_split(X, 7):
        model.partial_fit(batch)
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-7)
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_)


def test_incremental_refusals():
    X = np.random.default_rng(0).normal(size=(10, 4))
    with pytest.raises(ParameterError, match="invalid for n_features=4"):
        th.IncrementalPCA(5).fit(X)
    with pytest.raises(ParameterError, match="first partial_fit call"):
        th.IncrementalPCA(3).partial_fit(X[:2])
    with pytest.raises(ParameterError, match="first batch, 2, with batch_size=2"):
        th.IncrementalPCA(3, batch_size=2).fit(X)
    with pytest.raises(ParameterError, match="changed from 2 to 3"):
        th.IncrementalPCA(2).partial_fit(X).set_params(n_components=3).partial_fit(X)


@pytest.mark.parametrize("name", ["GaussianRandomProjection", "SparseRandomProjection"])
def test_eps_has_an_upper_limit_only_where_it_is_used(name):
    X = np.random.default_rng(0).normal(size=(10, 4))
    model = getattr(th, name)(n_components=2, eps=1.5, random_state=0)
    np.testing.assert_array_equal(
        model.fit_transform(X), model.set_params(eps=0.1).fit_transform(X)
    )
    with pytest.raises(ParameterError, match="JL bound"):
        getattr(th, name)(eps=1.5).fit(X)
    with pytest.raises(ParameterError, match="eps=0"):
        getattr(th, name)(n_components=2, eps=0).fit(X)


def test_bound_of_johnson_and_lindenstrauss():
    assert th.johnson_lindenstrauss_min_dim(1e6, eps=0.5) == 663
    sizes, errors = np.array([1e4, 1e5, 1e6]), [0.5, 0.1, 0.01]
    assert th.johnson_lindenstrauss_min_dim(sizes).tolist() == peer_bound(sizes).tolist()
    assert th.johnson_lindenstrauss_min_dim(1e6, eps=errors).tolist() == [663, 11841, 1112658]
    for bad in (dict(n_samples=0), dict(n_samples=5, eps=1.0), dict(n_samples=5, eps=0.0)):
        with pytest.raises(ParameterError, match="JL bound"):
            th.johnson_lindenstrauss_min_dim(**bad)


@pytest.mark.parametrize("name", ["GaussianRandomProjection", "SparseRandomProjection"])
def test_distances_are_kept_within_the_bound(name):
    X = np.random.default_rng(0).normal(size=(30, 4000))
    model = getattr(th, name)(eps=0.3, random_state=0)
    Z = model.fit_transform(X)
    assert model.n_components_ == th.johnson_lindenstrauss_min_dim(30, eps=0.3)
    far = ((X[:, None] - X) ** 2).sum(axis=2)
    near = ((Z[:, None] - Z) ** 2).sum(axis=2)
    ratio = near[far > 0] / far[far > 0]
    assert ratio.min() > 0.7
    assert ratio.max() < 1.3
    assert abs(ratio.mean() - 1) < 0.03


@pytest.mark.parametrize("name", ["GaussianRandomProjection", "SparseRandomProjection"])
@pytest.mark.parametrize("inverse", [False, True])
def test_projection_of_the_way_back_is_the_identity(name, inverse):
    X = np.random.default_rng(0).normal(size=(10, 50))
    model = getattr(th, name)(8, compute_inverse_components=inverse, random_state=0).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-10)
    assert hasattr(model, "inverse_components_") == inverse


def test_sparse_directions_have_the_density_and_sparse_rows_stay_sparse():
    X = counts(50, 900)
    model = th.SparseRandomProjection(300, random_state=0).fit(X)
    assert model.density_ == pytest.approx(1 / 30)
    assert model.components_.nnz / (300 * 900) == pytest.approx(1 / 30, rel=0.05)
    Z = model.transform(X)
    assert sp.issparse(Z)
    dense = model.set_params(dense_output=True).transform(X)
    np.testing.assert_allclose(Z.toarray(), dense)
    full = th.SparseRandomProjection(300, density=1.0, random_state=0).fit(X)
    np.testing.assert_allclose(np.abs(full.components_), 1 / np.sqrt(300))


def test_bad_numbers_of_directions_are_named():
    X = np.random.default_rng(0).normal(size=(100, 50))
    with pytest.raises(ParameterError, match="larger than the original space"):
        th.GaussianRandomProjection().fit(X)
    with pytest.warns(DataDimensionalityWarning, match="50 < 60"):
        th.GaussianRandomProjection(60).fit(X)


@pytest.mark.parametrize("model", [th.TruncatedSVD(1, algorithm="arpack"), th.TruncatedSVD(1)])
def test_rows_of_zeros_have_singular_values_of_zero(model):
    found = model.fit(np.zeros((10, 4)))
    np.testing.assert_array_equal(found.singular_values_, [0.0])
    np.testing.assert_allclose(np.linalg.norm(found.components_, axis=1), 1.0)
    np.testing.assert_array_equal(found.transform(np.zeros((2, 4))), np.zeros((2, 1)))
