import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn import config_context, decomposition
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import DataError, ParameterError


def sources(n=2000, seed=0):
    """Four independent variables of variance 1: three of them far from Gaussian, one uniform."""
    rng = np.random.default_rng(seed)
    S = np.column_stack(
        [
            rng.laplace(size=n),
            rng.choice([-1.0, 1.0], n),
            rng.exponential(size=n),
            rng.uniform(-1, 1, n),
        ]
    )
    return (S - S.mean(axis=0)) / S.std(axis=0)


MIXING = np.array(
    [
        [1.0, 0.5, -0.3, 0.2],
        [0.4, 1.0, 0.6, -0.5],
        [-0.2, 0.3, 1.0, 0.7],
        [0.6, -0.4, 0.1, 1.0],
        [0.3, 0.2, -0.5, 0.4],
        [1.0, 1.0, 1.0, 1.0],
    ]
)


def mixture(n=2000, seed=0, columns=4):
    return sources(n, seed) @ MIXING[:columns].T + 3.0


def similarity(found, truth):
    """The |correlations| of each source with the component that is assigned to it."""
    k = truth.shape[1]
    table = np.abs(np.corrcoef(found.T, truth.T)[: found.shape[1], found.shape[1] :])
    rows, columns = linear_sum_assignment(-table)
    assert len(rows) == k
    return table[rows, columns]


def quiet(model, X, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **params)


CONTRASTS = ["logcosh", "exp", "cube", lambda u: (u**3, (3 * u**2).mean(axis=-1))]


@pytest.mark.parametrize("fun", CONTRASTS, ids=["logcosh", "exp", "cube", "callable"])
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("columns", [4, 6])
def test_mixed_sources_are_recovered(fun, algorithm, columns):
    S, X = sources(), mixture(columns=columns)
    model = th.FastICA(4, fun=fun, algorithm=algorithm).fit(X)
    assert similarity(model.transform(X), S).min() > 0.98
    # Principal components leave them mixed.
    assert similarity(th.PCA(4).fit_transform(X), S).min() < 0.9
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9)


@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance"])
@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_same_start_gives_the_attributes_of_scikit_learn(whiten, algorithm, fun):
    X = mixture(columns=6)
    start = np.random.default_rng(5).normal(size=(3, 3))
    params = {"whiten": whiten, "algorithm": algorithm, "fun": fun, "w_init": start, "tol": 1e-7}
    model = quiet(th.FastICA(3, **params), X)
    peer = quiet(decomposition.FastICA(3, **params), X)
    assert model.n_iter_ == peer.n_iter_
    for name in ("components_", "mixing_", "mean_", "whitening_"):
        ours, theirs = getattr(model, name), getattr(peer, name)
        np.testing.assert_allclose(ours, theirs, atol=1e-7 * np.abs(theirs).max(), err_msg=name)
    np.testing.assert_allclose(model.transform(X), peer.transform(X), atol=1e-6)
    back = peer.inverse_transform(peer.transform(X))
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), back, atol=1e-6)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_white_rows_are_used_as_they_are(algorithm):
    Z = th.PCA(whiten=True).fit_transform(mixture())
    start = np.random.default_rng(1).normal(size=(4, 4))
    params = {"whiten": False, "algorithm": algorithm, "w_init": start, "tol": 1e-8}
    model = th.FastICA(**params).fit(Z)
    peer = decomposition.FastICA(**params).fit(Z)
    np.testing.assert_allclose(model.components_, peer.components_, atol=1e-8)
    np.testing.assert_allclose(model.mixing_, peer.mixing_, atol=1e-8)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)
    assert not hasattr(model, "mean_")
    np.testing.assert_allclose(model.inverse_transform(model.transform(Z)), Z, atol=1e-9)
    with pytest.warns(UserWarning, match="Ignoring n_components with whiten=False"):
        th.FastICA(2, whiten=False).fit(Z)


@pytest.mark.parametrize("whiten", ["unit-variance", "arbitrary-variance"])
def test_components_are_white(whiten):
    X = mixture(columns=6)
    model = quiet(th.FastICA(3, whiten=whiten), X)
    found = model.transform(X)
    variance = 1.0 if whiten == "unit-variance" else 1.0 / len(X)
    np.testing.assert_allclose(np.cov(found.T, bias=True), variance * np.eye(3), atol=1e-10)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    away = (X - model.mean_) @ model.whitening_.T
    np.testing.assert_allclose(away.T @ away, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(model.mixing_, np.linalg.pinv(model.components_), atol=1e-10)


@pytest.mark.parametrize("alpha", [1.0, 1.7])
def test_fit_is_a_fixed_point_and_a_local_optimum_of_the_contrast(alpha):
    X = mixture()
    model = th.FastICA(fun_args={"alpha": alpha}, tol=1e-13).fit(X)
    S = model.transform(X)
    g, slope = np.tanh(alpha * S), alpha * (1 - np.tanh(alpha * S) ** 2)
    # At an optimum over rotations, E[g(s)sᵀ] is symmetric once its rows have these signs.
    excess = (S * g).mean(axis=0) - slope.mean(axis=0)
    pull = np.sign(excess)[:, None] * (g.T @ S / len(S))
    np.testing.assert_allclose(pull, pull.T, atol=1e-6)
    np.testing.assert_allclose(model.nongaussianity_, np.abs(excess), rtol=1e-6)
    assert (np.diff(model.nongaussianity_) <= 0).all()

    def objective(rotated):
        return np.sign(excess) @ np.log(np.cosh(alpha * rotated)).mean(axis=0)

    for seed in range(20):
        random = np.random.default_rng(seed).normal(size=(4, 4))
        turn = np.linalg.qr(np.eye(4) + 0.02 * (random - random.T))[0]
        turn *= np.sign(np.diagonal(turn))
        assert objective(S @ turn) < objective(S)


def test_order_and_signs_do_not_depend_on_the_seed():
    X = mixture()
    first, other = (th.FastICA(random_state=seed, tol=1e-12).fit(X) for seed in (0, 7))
    np.testing.assert_allclose(first.components_, other.components_, atol=1e-5)
    largest = np.abs(first.mixing_).argmax(axis=0)
    assert (first.mixing_[largest, range(4)] > 0).all()
    again = th.FastICA(tol=1e-12).fit(X)
    assert np.array_equal(again.components_, th.FastICA(tol=1e-12).fit(X).components_)


def test_units_of_columns_do_not_change_the_sources():
    X, unit = mixture(), np.array([1e3, 1.0, 1e-3, 10.0])
    model, other = (th.FastICA(tol=1e-12).fit(each) for each in (X, X * unit))
    np.testing.assert_allclose(
        np.abs(other.transform(X * unit)), np.abs(model.transform(X)), atol=1e-4
    )


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_weight_two_is_a_row_twice_and_weight_zero_is_none(algorithm):
    X = mixture(300)
    weight = np.tile([0.0, 1.0, 2.0], 100)
    start = np.random.default_rng(1).normal(size=(4, 4))
    params = {"w_init": start, "tol": 1e-6, "algorithm": algorithm}
    model = quiet(th.FastICA(**params), X, sample_weight=weight)
    other = quiet(th.FastICA(**params), np.repeat(X, weight.astype(int), axis=0))
    np.testing.assert_allclose(model.components_, other.components_, atol=1e-8)
    slow = quiet(
        th.FastICA(fun=lambda u: (np.tanh(u), 1 - np.tanh(u) ** 2), **params),
        X,
        sample_weight=weight,
    )
    np.testing.assert_allclose(slow.components_, model.components_, atol=1e-8)
    with pytest.raises(ParameterError, match="cannot be weighted"):
        th.FastICA(fun=CONTRASTS[3]).fit(X, sample_weight=weight)


def test_file_and_memory_agree(tmp_path):
    X = mixture()
    model = th.FastICA().fit(X)
    pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "rows.parquet")
    streamed = th.FastICA().fit(th.scan(tmp_path / "rows.parquet"))
    np.testing.assert_allclose(streamed.components_, model.components_, atol=1e-9)


def test_float32_is_accurate_for_large_means():
    X = (mixture() + 1000.0).astype(np.float32)
    single, model = th.FastICA().fit(X), th.FastICA().fit(X.astype(np.float64))
    assert single.components_.dtype == single.transform(X).dtype == np.float32
    np.testing.assert_allclose(single.components_, model.components_, atol=1e-5)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_same_bits_for_any_number_of_threads(algorithm):
    X = mixture(60_000)
    found = []
    for threads in (1, 3):
        with th.config(threads=threads):
            found.append(th.FastICA(algorithm=algorithm).fit(X).components_)
    assert np.array_equal(*found)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_early_stop_warns_with_a_remedy(algorithm):
    with pytest.warns(ConvergenceWarning, match=r"maximum number of iterations .*Raise max_iter"):
        model = th.FastICA(algorithm=algorithm, max_iter=2, tol=1e-12).fit(mixture())
    assert model.n_iter_ == 2
    assert not model.solution_.outcome.success


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
def test_fit_that_runs_out_of_time_is_usable(algorithm):
    X = mixture()
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="max_time"):
        model = th.FastICA(algorithm=algorithm, tol=1e-12).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-9)


def test_several_gaussian_sources_are_reported():
    rng = np.random.default_rng(0)
    S = sources(5000)
    S[:, 2:] = rng.normal(size=(5000, 2))
    with pytest.warns(UserWarning, match="2 of 4 components cannot be distinguished from Gaussian"):
        model = th.FastICA(max_iter=1000).fit(S @ MIXING[:4].T)
    assert similarity(model.transform(S @ MIXING[:4].T)[:, :2], S[:, :2]).min() > 0.98
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        S[:, 2] = rng.laplace(size=5000)  # one Gaussian source is identified by the others
        model = th.FastICA(max_iter=1000).fit(S @ MIXING[:4].T)
    assert similarity(model.transform(S @ MIXING[:4].T), S).min() > 0.98


@pytest.mark.parametrize("solver", ["svd", "eigh"])
def test_rows_of_low_rank_and_constant_columns(solver):
    X = mixture(columns=6)
    X[:, 0] = 7.3
    with pytest.warns(UserWarning, match="n_components is too large: it will be set to 4"):
        model = th.FastICA(6, whiten_solver=solver).fit(X)
    assert model.components_.shape == (4, 6)
    assert th.FastICA(whiten_solver=solver).fit(X).components_.shape == (4, 6)
    assert similarity(model.transform(X), sources()).min() > 0.98
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6)


def test_whitening_is_accurate_where_a_covariance_is_not():
    X = mixture() * [1.0, 1.0, 1.0, 1e-9]
    found = th.FastICA().fit(X).transform(X)
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(4), atol=1e-6)


def test_fewer_rows_than_columns():
    X = np.random.default_rng(0).laplace(size=(20, 50))
    model = quiet(th.FastICA(), X)
    assert model.components_.shape == (19, 50)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)
    one = quiet(th.FastICA(), X[:, :1])
    assert abs(one.transform(X[:, :1]).var() - 1) < 1e-12


def test_bad_inputs_are_refused():
    X = mixture(100)
    with pytest.raises(DataError, match="at least 2 rows"):
        th.FastICA().fit(X[:1])
    with pytest.raises(DataError, match="all columns of X are constant"):
        th.FastICA().fit(np.full((5, 3), 0.1))
    with pytest.raises(ParameterError, match=r"alpha must be in \[1,2\]"):
        th.FastICA(fun_args={"alpha": 0}).fit(X)
    with pytest.raises(ParameterError, match=r"w_init has invalid shape.+should be \(4, 4\)"):
        th.FastICA(w_init=np.eye(3)).fit(X)
    with pytest.raises(ParameterError, match="rank is 1 of 4"):
        th.FastICA(w_init=np.ones((4, 4))).fit(X)
    with pytest.raises(ParameterError, match="must return two arrays"):
        th.FastICA(fun=np.tanh).fit(X)
    with pytest.raises(ParameterError, match="returned the shapes"):
        th.FastICA(fun=lambda u: (u[:1], u.mean(axis=-1))).fit(X)
    with pytest.raises(ParameterError, match="whiten"):
        th.FastICA(whiten=True).fit(X)
    X[2, 1] = np.nan
    for whiten in ("unit-variance", False):
        with pytest.raises(DataError, match="contains NaN: column 1"):
            th.FastICA(whiten=whiten).fit(X)


def test_copy_is_accepted_and_routed():
    X = sources(300) @ MIXING.T
    model = th.FastICA(4, random_state=0).fit(X)
    found = model.transform(X, copy=False)
    np.testing.assert_array_equal(found, model.transform(X))
    np.testing.assert_allclose(model.inverse_transform(found, copy=False), X, atol=1e-8)
    names = model.set_output(transform="pandas").transform(X, copy=True).columns
    assert list(names) == ["fastica0", "fastica1", "fastica2", "fastica3"]
    with config_context(enable_metadata_routing=True):
        model.set_transform_request(copy=True).set_inverse_transform_request(copy=True)
