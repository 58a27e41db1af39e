import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import sklearn.cross_decomposition
from sklearn.datasets import load_linnerud
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.data.in_memory import InMemory
from thetahat.errors import DataError, ParameterError
from thetahat.models.decomposition.cross import scatter

BOTH = ["PLSCanonical", "CCA"]
ATTRIBUTES = (
    "x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "x_rotations_", "y_rotations_",
    "coef_", "intercept_",
)  # fmt: skip


def rows(n=60, d=8, q=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) @ random.normal(size=(3, d)) + random.normal(size=(n, d))
    return 5 + X, X[:, :4] @ random.normal(size=(4, q)) + random.normal(size=(n, q))


def centred(X):
    return X - X.mean(axis=0)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("name", BOTH)
def test_every_attribute_equals_scikit_learn(name, k, scale):
    X, Y = rows()
    options = {"scale": scale, "tol": 1e-26, "max_iter": 100_000}
    ours = getattr(th, name)(k, **options).fit(X, Y)
    theirs = getattr(sklearn.cross_decomposition, name)(k, **options).fit(X, Y)
    for each in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, each), getattr(theirs, each), atol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    for a, b in zip(ours.transform(X, Y), theirs.transform(X, Y), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    scores = theirs.transform(X, Y)
    for a, b in zip(
        ours.inverse_transform(*scores), theirs.inverse_transform(*scores), strict=True
    ):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_correlations_solve_the_generalised_eigenvalue_problem():
    X, Y = rows()
    A, B = centred(X), centred(Y)
    between = A.T @ B @ np.linalg.solve(B.T @ B, B.T @ A)
    squares = scipy.linalg.eigh(between, A.T @ A, eigvals_only=True)[::-1][:5]
    model = th.CCA(5).fit(X, Y)
    np.testing.assert_allclose(model.correlations_, np.sqrt(squares))
    T, U = model.transform(X, Y)
    together = np.corrcoef(np.hstack([T, U]), rowvar=False)
    np.testing.assert_allclose(together[:5, :5], np.eye(5), atol=1e-9)
    np.testing.assert_allclose(together[5:, 5:], np.eye(5), atol=1e-9)
    np.testing.assert_allclose(together[:5, 5:], np.diag(model.correlations_), atol=1e-9)


def test_linnerud_correlations_of_the_textbooks():
    """The example of the manual of SAS: 0.795608, 0.200556, 0.072570."""
    X, Y = load_linnerud(return_X_y=True)
    found = th.CCA(3).fit(X, Y).correlations_
    np.testing.assert_allclose(found, [0.795608, 0.200556, 0.072570], atol=5e-7)


def test_correlations_do_not_depend_on_units_or_mixtures():
    X, Y = rows()
    random = np.random.default_rng(3)
    expected = th.CCA(5).fit(X, Y).correlations_
    mixed = X @ random.normal(size=(8, 8)) * 1e4 - 7
    for scale in (True, False):
        found = th.CCA(5, scale=scale).fit(mixed, Y @ random.normal(size=(5, 5)))
        np.testing.assert_allclose(found.correlations_, expected, rtol=1e-8)


def test_one_target_is_multiple_correlation():
    X, Y = rows()
    model = th.CCA(1).fit(X, Y[:, 0])
    r2 = th.LinearRegression().fit(X, Y[:, 0]).score(X, Y[:, 0])
    np.testing.assert_allclose(model.correlations_[0] ** 2, r2)
    assert model.predict(X).shape == (60,)


def test_covariance_is_largest_and_both_tables_are_deflated():
    X, Y = rows()
    model = th.PLSCanonical(5, scale=False, algorithm="svd").fit(X, Y)
    A, B = centred(X), centred(Y)
    T, U = model.transform(X, Y)
    for a in range(5):
        largest = np.linalg.svd(A.T @ B, compute_uv=False)[0]
        t, u = A @ model.x_weights_[:, a], B @ model.y_weights_[:, a]
        np.testing.assert_allclose(t @ u, largest)
        np.testing.assert_allclose(np.c_[t, u], np.c_[T[:, a], U[:, a]], atol=1e-9)
        A, B = A - np.outer(t, t @ A) / (t @ t), B - np.outer(u, u @ B) / (u @ u)
    for scores in (T, U):
        square = scores.T @ scores
        np.testing.assert_allclose(square, np.diag(np.diagonal(square)), atol=1e-9 * square.max())


def test_power_iterations_stop_at_the_tolerance():
    X, Y = rows()
    exact = th.PLSCanonical(3, algorithm="svd").fit(X, Y)
    power = th.PLSCanonical(3).fit(X, Y)
    np.testing.assert_allclose(power.x_weights_, exact.x_weights_, atol=5e-3)
    assert not np.allclose(power.x_weights_, exact.x_weights_, atol=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"tol=1e-26 in 3\. Raise max_iter"):
        th.PLSCanonical(3, tol=1e-26, max_iter=3).fit(X, Y)


class Blocks(InMemory):
    block_rows = 17


@pytest.mark.parametrize("name", BOTH)
def test_weights_sparse_rows_and_blocks(name):
    X, Y = rows()
    X = np.where(X > 5, X, 0.0)
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    kind = getattr(th, name)
    whole = kind(3).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    for form in (np.asarray, sp.csr_array):
        model = kind(3).fit(form(X), Y, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7, atol=1e-9)
    source = Blocks(X=X, y=Y, n_features=8, n_outputs=5, has_target=True)
    np.testing.assert_allclose(kind(3).fit(source).coef_, kind(3).fit(X, Y).coef_, atol=1e-9)


def test_a_pass_per_component_gives_the_same(monkeypatch):
    X, Y = rows()
    expected = th.PLSCanonical(5).fit(X, Y)
    monkeypatch.setattr(scatter, "COLUMNS_PER_PASS", 0)
    wide = np.hstack([X, np.ones((60, 70))])
    found = th.PLSCanonical(5).fit(wide, Y)
    np.testing.assert_allclose(found.x_weights_[:8], expected.x_weights_, atol=1e-9)
    np.testing.assert_allclose(found.y_rotations_, expected.y_rotations_, atol=1e-9)


@pytest.mark.parametrize("name", BOTH)
def test_fewer_pairs_than_requested(name):
    X, Y = rows()
    twice = np.column_stack([Y[:, 0], 2 * Y[:, 0] - 1])
    with pytest.warns(UserWarning, match=r"1 component explains .* Use n_components=1"):
        model = getattr(th, name)(2).fit(X, twice)
    assert not model.x_weights_[:, 1].any()
    assert np.isfinite(model.predict(X)).all()
    if name == "CCA":
        np.testing.assert_allclose(model.correlations_[0], th.CCA(1).fit(X, Y[:, 0]).correlations_)
        assert model.correlations_[1] == 0


def test_equal_columns_of_x_do_not_change_correlations():
    X, Y = rows()
    expected = th.CCA(5).fit(X, Y).correlations_
    found = th.CCA(5).fit(np.column_stack([X, X[:, 0] - X[:, 1], np.full(60, 0.1)]), Y)
    np.testing.assert_allclose(found.correlations_, expected, rtol=1e-8)


def test_equal_correlations_have_fixed_directions():
    """With as many columns as rows all correlations are 1, and only a rule fixes the pairs."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(6, 5)), random.normal(size=(6, 3))
    model = th.CCA(3).fit(X, Y)
    np.testing.assert_allclose(model.correlations_, 1.0)
    np.testing.assert_allclose(np.abs(model.y_weights_[:, 0]), [1, 0, 0], atol=1e-7)
    turned = th.CCA(3).fit(X @ random.normal(size=(5, 5)), Y)
    np.testing.assert_allclose(np.abs(turned.y_weights_), np.abs(model.y_weights_), atol=1e-7)


def test_float32_stays_accurate():
    X, Y = rows()
    found = th.CCA(3).fit(X.astype(np.float32), Y.astype(np.float32))
    assert found.correlations_.dtype == found.x_weights_.dtype == np.float32
    np.testing.assert_allclose(found.correlations_, th.CCA(3).fit(X, Y).correlations_, rtol=1e-5)


@pytest.mark.parametrize("name", BOTH)
def test_bad_input_is_refused(name):
    X, Y = rows()
    kind = getattr(th, name)
    with pytest.raises(ParameterError, match=r"upper bound is 5\. Got 6 .*n_targets"):
        kind(6).fit(X, Y)
    with pytest.raises(ParameterError, match=r"upper bound is 1\. Got 2"):
        kind(2).fit(X, Y[:, 0])
    with pytest.raises(ParameterError, match="n_components='cv' must be"):
        kind("cv").fit(X, Y)
    with pytest.raises(DataError, match="at least 2 rows"):
        kind(1).fit(X[:1], Y[:1])
    for bad in (np.nan, np.inf):
        broken = X.copy()
        broken[4, 2] = bad
        with pytest.raises(DataError, match="column 2"):
            kind(2).fit(broken, Y)
    with pytest.raises(DataError, match="overflow"):
        kind(2).fit(X * 1e200, Y)
    with pytest.raises(DataError, match=r"Pass y of shape \(60, 5\)"):
        kind(2).fit(X, Y).transform(X, Y[:, :2])
