import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cross_decomposition import PLSRegression as Peer
from sklearn.datasets import load_linnerud
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

import thetahat as th
from thetahat.data.in_memory import InMemory
from thetahat.errors import CapabilityError, DataError, ParameterError
from thetahat.models.decomposition.cross import scatter

ATTRIBUTES = (
    "x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "x_rotations_", "y_rotations_",
    "x_scores_", "y_scores_", "coef_", "intercept_",
)  # fmt: skip


def rows(n=60, d=8, q=3, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3)) @ random.normal(size=(3, d)) + random.normal(size=(n, d))
    return 5 + X, X[:, :4] @ random.normal(size=(4, q)) + random.normal(size=(n, q))


@pytest.fixture(params=["one pass", "a pass per component"])
def way(request, monkeypatch):
    """Both forms of the sums of products."""
    if request.param != "one pass":
        monkeypatch.setattr(scatter, "COLUMNS_PER_PASS", 0)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("several", [True, False])
def test_every_attribute_equals_scikit_learn(way, k, scale, several):
    X, Y = rows()
    y = Y if several else Y[:, 0]
    ours = th.PLSRegression(k, scale=scale).fit(X, y)
    theirs = Peer(k, scale=scale, tol=1e-26, max_iter=100_000).fit(X, y)
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-7)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)
    for a, b in zip(ours.transform(X, y), theirs.transform(X, y), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7)


def test_algorithm_of_the_lecture():
    """Rows are deflated from the left, (I − zzᵀ/zᵀz)X, which fits the dimensions."""
    X, Y = rows()
    y, left = Y[:, 0] - Y[:, 0].mean(), X - X.mean(axis=0)
    fit, scores = np.full(len(y), Y[:, 0].mean()), []
    for _ in range(4):
        z = left @ left.T @ y
        fit = fit + z * (z @ y) / (z @ z)
        left = left - np.outer(z, z @ left) / (z @ z)
        scores.append(z)
    model = th.PLSRegression(4, scale=False).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.predict(X), fit)
    for k, z in enumerate(scores):
        cosine = abs(z @ model.x_scores_[:, k]) / np.linalg.norm(z)
        np.testing.assert_allclose(cosine, np.linalg.norm(model.x_scores_[:, k]))


def test_scores_are_orthogonal_and_deflation_reconstructs_the_rows(way):
    X, Y = rows()
    model = th.PLSRegression(8).fit(X, Y)
    T = model.x_scores_
    square = T.T @ T
    np.testing.assert_allclose(square, np.diag(np.diagonal(square)), atol=1e-9 * square.max())
    np.testing.assert_allclose(model.x_weights_.T @ model.x_weights_, np.eye(8), atol=1e-9)
    np.testing.assert_allclose(model.x_loadings_.T @ model.x_rotations_, np.eye(8), atol=1e-9)
    np.testing.assert_allclose(model.inverse_transform(T), X, atol=1e-9)


@pytest.mark.parametrize("scale", [True, False])
def test_as_many_components_as_the_rank_are_least_squares(way, scale):
    X, Y = rows()
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = th.PLSRegression(8, scale=scale).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), th.LinearRegression().fit(X, Y).predict(X))


def test_coefficients_are_least_squares_in_the_krylov_space(way):
    X, Y = rows()
    A, y = X - X.mean(axis=0), Y[:, 0] - Y[:, 0].mean()
    K = np.stack([np.linalg.matrix_power(A.T @ A / len(A), j) @ A.T @ y for j in range(3)], 1)
    expected = K @ np.linalg.lstsq(A @ K, y, rcond=None)[0]
    model = th.PLSRegression(3, scale=False).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.coef_[0], expected, rtol=1e-6)


def test_power_iterations_reach_the_singular_vectors():
    X, Y = rows()
    exact = th.PLSRegression(3).fit(X, Y)
    power = th.PLSRegression(3, algorithm="nipals", tol=1e-26, max_iter=10_000).fit(X, Y)
    np.testing.assert_allclose(power.coef_, exact.coef_, rtol=1e-6)
    assert all(steps > 2 for steps in power.n_iter_)
    with pytest.warns(ConvergenceWarning, match=r"tol=1e-26 in 3\. Raise max_iter"):
        th.PLSRegression(3, algorithm="nipals", tol=1e-26, max_iter=3).fit(X, Y)


def test_more_columns_than_rows():
    X, Y = rows(n=20, d=500)
    ours, theirs = th.PLSRegression(12).fit(X, Y[:, 0]), Peer(12).fit(X, Y[:, 0])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    np.testing.assert_allclose(ours.x_scores_, theirs.x_scores_, atol=1e-6)


def test_weights_and_sparse_rows(way):
    X, Y = rows()
    X = np.where(X > 5, X, 0.0)
    weight = np.random.default_rng(1).integers(0, 4, len(X))
    whole = th.PLSRegression(3).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    for kind in (np.asarray, sp.csr_array):
        model = th.PLSRegression(3).fit(kind(X), Y, sample_weight=weight)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.transform(kind(X)), whole.transform(X), atol=1e-9)


class Blocks(InMemory):
    block_rows = 17


def test_rows_in_blocks(way):
    X, Y = rows()
    source = Blocks(X=X, y=Y, n_features=8, n_outputs=3, has_target=True)
    blocks, whole = th.PLSRegression(3).fit(source), th.PLSRegression(3).fit(X, Y)
    np.testing.assert_allclose(blocks.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_allclose(blocks.score(source), whole.score(X, Y))


def test_rows_of_a_file(tmp_path):
    import pandas

    X, Y = rows()
    table = pandas.DataFrame(X, columns=[f"c{j}" for j in range(8)]).assign(y=Y[:, 0])
    table.to_parquet(tmp_path / "rows.parquet")
    source = th.scan(tmp_path / "rows.parquet", target="y")
    model, whole = th.PLSRegression(3).fit(source), th.PLSRegression(3).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-10)
    assert not hasattr(model, "x_scores_")
    with pytest.raises(CapabilityError, match="n_components='cv' needs its rows in memory"):
        th.PLSRegression("cv").fit(source)


def test_number_of_components_by_cross_validation():
    X, Y = rows(n=80, d=12)
    model = th.PLSRegression("cv", scale=False, cv=KFold(4)).fit(X, Y[:, 0])
    grid = {"n_components": range(1, 13)}
    search = GridSearchCV(
        Peer(scale=False), grid, cv=KFold(4), scoring="neg_mean_squared_error"
    ).fit(X, Y[:, 0])
    assert model.n_components_ == search.best_params_["n_components"]
    np.testing.assert_allclose(
        model.cv_errors_.mean(axis=0), -search.cv_results_["mean_test_score"]
    )
    plain = th.PLSRegression(model.n_components_, scale=False).fit(X, Y[:, 0])
    np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_constant_columns_and_targets():
    X, Y = rows()
    with_constant = np.column_stack([X, np.full(len(X), 7.0)])
    model = th.PLSRegression(2).fit(with_constant, Y)
    np.testing.assert_allclose(model.coef_[:, :8], th.PLSRegression(2).fit(X, Y).coef_)
    assert not model.coef_[:, 8].any()
    with pytest.warns(UserWarning, match="y residual is constant at iteration 0: no component"):
        flat = th.PLSRegression(2).fit(X, np.full(len(X), 3.0))
    np.testing.assert_array_equal(flat.predict(X), 3.0)
    with pytest.warns(UserWarning, match="no component explains"):
        th.PLSRegression(1).fit(np.ones((5, 2)), np.arange(5.0))


def test_components_beyond_those_that_explain_y_are_zero():
    random = np.random.default_rng(0)
    X = np.linalg.qr(random.normal(size=(50, 4)) - 0.0)[0]
    X = np.linalg.qr(X - X.mean(axis=0))[0]
    with pytest.warns(UserWarning, match=r"1 component explains .* Use n_components=1"):
        model = th.PLSRegression(3, scale=False).fit(X, X @ [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(model.coef_[0], [1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("unit", [1e-3, 1e3, 1e60])
def test_units_do_not_matter_with_scaling(unit):
    X, Y = rows()
    scaled = X * np.where(np.arange(8) == 2, unit, 1.0)
    expected = th.PLSRegression(3).fit(X, Y).predict(X)
    np.testing.assert_allclose(th.PLSRegression(3).fit(scaled, Y).predict(scaled), expected)


def test_large_means_lose_no_digits(way):
    X, Y = rows()
    expected = th.PLSRegression(3).fit(X, Y).x_scores_
    far = th.PLSRegression(3).fit(X + 1e6, Y)
    np.testing.assert_allclose(far.x_scores_, expected, atol=1e-7)


def test_linnerud_weights_of_the_r_packages():
    X, y = load_linnerud(return_X_y=True)
    model = th.PLSRegression(3).fit(X, y)
    np.testing.assert_allclose(
        np.abs(model.x_weights_[:, 0]), [0.61330704, 0.74697144, 0.25668686], atol=5e-6
    )


def test_bad_input_is_refused():
    X, Y = rows()
    with pytest.raises(ParameterError, match=r"upper bound is 8\. Got 9 instead"):
        th.PLSRegression(9).fit(X, Y)
    with pytest.raises(ParameterError, match=r"upper bound is 5\. Got 6 instead"):
        th.PLSRegression(6).fit(X[:5], Y[:5])
    with pytest.raises(DataError, match="at least 2 rows"):
        th.PLSRegression(1).fit(X[:1], Y[:1])
    bad = Y.copy()
    bad[3, 1] = np.nan
    with pytest.raises(DataError, match="NaN"):
        th.PLSRegression(2).fit(X, bad)
    broken = X.copy()
    broken[4, 2] = np.nan
    with pytest.raises(DataError, match=r"NaN.*column 2|column 2.*NaN"):
        th.PLSRegression(2).fit(broken, Y)
    with pytest.raises(ParameterError, match="n_components='cvv' must be"):
        th.PLSRegression("cvv").fit(X, Y)
    model = th.PLSRegression(2).fit(X, Y)
    with pytest.raises(DataError, match=r"Pass y of shape \(60, 3\)"):
        model.transform(X, Y[:, :2])
    with pytest.raises(DataError, match="must have 2 columns"):
        model.inverse_transform(model.x_scores_, Y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [0.1, 1e6 + 0.1, 1 / 3e5, 1.23456e12])
def test_rounding_errors_of_constant_columns_are_not_scaled_up(way, value, kind):
    X, Y = rows()
    weight = np.random.default_rng(2).random(len(X))
    flat = np.full((len(X), 1), value)
    plain = th.PLSRegression(3).fit(kind(X), Y, sample_weight=weight)
    model = th.PLSRegression(3).fit(kind(np.hstack([X, flat])), Y, sample_weight=weight)
    assert not model.coef_[:, 8].any()
    np.testing.assert_allclose(model.coef_[:, :8], plain.coef_, rtol=1e-9)
    both = th.PLSRegression(3).fit(kind(X), np.hstack([Y, flat]), sample_weight=weight)
    assert not both.y_weights_[3].any()
    np.testing.assert_allclose(both.coef_[:3], plain.coef_, rtol=1e-9)


def test_rows_of_weight_zero_do_not_count():
    X, Y = rows()
    weight = np.zeros(len(X))
    weight[7] = 2.0
    with pytest.raises(DataError, match="n_samples = 1, but a covariance needs at least 2 rows"):
        th.PLSRegression(1).fit(X, Y[:, 0], sample_weight=weight)
    weight[20:24] = 1.0
    with pytest.raises(ParameterError, match=r"upper bound is 5\. Got 6 instead"):
        th.PLSRegression(6).fit(X, Y, sample_weight=weight)
    with pytest.raises(DataError, match=r"fold 1 of cv=5 has .*Drop rows of weight 0"):
        th.PLSRegression("cv").fit(X, Y, sample_weight=weight)


def test_small_columns_vanish_only_with_an_error():
    X, Y = rows()
    expected = th.PLSRegression(3).fit(X, Y).predict(X)
    small = X * 1e-200
    np.testing.assert_allclose(th.PLSRegression(3).fit(small, Y).predict(small), expected)
    with pytest.raises(DataError, match="Column 0 is so small that its squares underflow"):
        th.PLSRegression(3, scale=False).fit(small, Y)
