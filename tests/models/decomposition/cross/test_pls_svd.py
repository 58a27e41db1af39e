"""Partial least squares by one singular value decomposition: its identities, and scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cross_decomposition import PLSSVD as Peer

import thetahat as th


def tables(n=60, d=7, q=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.arange(1, d + 1) + 50.0
    return X, X[:, :q] @ random.normal(size=(q, q)) + random.normal(size=(n, q))


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize(("n", "d", "q"), [(60, 7, 4), (5, 30, 3), (40, 3, 20)])
def test_directions_and_scores_are_those_of_scikit_learn(n, d, q, scale):
    X, y = tables(n, d, min(d, q))
    k = min(n, d, y.shape[1]) - 1
    ours, peer = th.PLSSVD(k, scale=scale).fit(X, y), Peer(k, scale=scale).fit(X, y)
    np.testing.assert_allclose(ours.x_weights_, peer.x_weights_, atol=1e-9)
    np.testing.assert_allclose(ours.y_weights_, peer.y_weights_, atol=1e-9)
    for found, expected in zip(ours.transform(X, y), peer.transform(X, y), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_covariances_of_the_scores_are_the_singular_values():
    X, y = tables()
    model = th.PLSSVD(4).fit(X, y)
    T, U = model.fit_transform(X, y)
    np.testing.assert_allclose(T.T @ U, np.diag(model.singular_values_), atol=1e-9)
    first = th.PLSCanonical(1, algorithm="svd").fit(X, y)
    np.testing.assert_allclose(first.x_weights_[:, 0], model.x_weights_[:, 0])
    back, again = model.inverse_transform(T, U)
    np.testing.assert_allclose(again, y, atol=1e-9)  # four orthogonal directions of four targets
    assert back.shape == X.shape


def test_weights_count_rows_and_kinds_of_rows_agree(tmp_path):
    X, y = tables()
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = th.PLSSVD(2).fit(X, y, sample_weight=counts)
    repeated = th.PLSSVD(2).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0))
    np.testing.assert_allclose(weighted.x_weights_, repeated.x_weights_, atol=1e-10)
    dense, sparse = th.PLSSVD(2).fit(X, y), th.PLSSVD(2).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.x_weights_, dense.x_weights_, atol=1e-8)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y[:, 0]]))
    one = th.PLSSVD(1).fit(th.scan(tmp_path / "rows.npy", target=7))
    np.testing.assert_allclose(one.x_weights_, th.PLSSVD(1).fit(X, y[:, 0]).x_weights_, atol=1e-10)


def test_covariances_of_lower_rank_leave_zeros_and_a_warning():
    X, y = tables()
    y = np.column_stack([y[:, 0], 2 * y[:, 0], np.ones(len(y))])
    with pytest.warns(UserWarning, match="n_components=1"):
        model = th.PLSSVD(2).fit(X, y)
    assert not model.x_weights_[:, 1].any()
    assert model.singular_values_[1] == 0.0


def test_bad_input_is_explained():
    X, y = tables()
    with pytest.raises(ValueError, match="`n_components` upper bound is 4"):
        th.PLSSVD(5).fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        th.PLSSVD(1).fit(X)
    with pytest.raises(ValueError, match=r"y has shape \(60, 3\)"):
        th.PLSSVD(1).fit(X, y).transform(X, y[:, :3])
