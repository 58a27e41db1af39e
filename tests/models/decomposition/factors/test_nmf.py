import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn import datasets, decomposition
from sklearn.decomposition._nmf import _beta_divergence
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import CapabilityError, DataError, ParameterError
from thetahat.models.decomposition.factors import nonnegative_steps

ORDERS = [-0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3]


def rows(n=40, d=12, k=3, seed=0, zeros=False):
    """Rows of k non-negative parts, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, size=(n, k)) @ rng.gamma(0.5, size=(k, d)) + 0.1 * rng.random((n, d))
    return np.where(rng.random((n, d)) < 0.4, 0.0, X) if zeros else X


def first(X, k, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((len(X), k)) + 0.1, rng.random((k, X.shape[1])) + 0.1


def objective(X, W, H, beta, alpha_W=0.0, alpha_H=0.0, share=0.0):
    n, d = X.shape
    found = _beta_divergence(X, W, H, beta)
    for factor, strength in ((W, d * alpha_W), (H, n * alpha_H)):
        found += strength * (share * factor.sum() + 0.5 * (1 - share) * (factor**2).sum())
    return found


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_one_multiplicative_update_is_that_of_the_lecture(form):
    X = rows(zeros=True)
    Z, W = first(X, 3)
    model = th.NMF(3, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=1, tol=0)
    found = model.fit_transform(form(X), W=Z, H=W)
    for i in range(len(X)):
        ratio = X[i] / (Z[i] @ W)
        Z[i] = [Z[i, k] * (W[k] * ratio).sum() / W[k].sum() for k in range(3)]
    ratio = X / (Z @ W)
    W = np.array([[W[k, j] * (Z[:, k] * ratio[:, j]).sum() for j in range(12)] for k in range(3)])
    np.testing.assert_allclose(found, Z, rtol=1e-12)
    np.testing.assert_allclose(model.components_, W / Z.sum(axis=0)[:, None], rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("alpha", "share"), [(0.0, 0.0), (0.01, 0.0), (0.01, 0.6)])
@pytest.mark.parametrize("beta", ["cd", *ORDERS])
def test_objective_never_rises(beta, alpha, share, form):
    solver, order = ("cd", 2) if beta == "cd" else ("mu", beta)
    X = rows(zeros=order > 0)
    model = th.NMF(
        3, solver=solver, beta_loss=order, tol=0, max_iter=60, alpha_W=alpha, l1_ratio=share,
        init="random", random_state=0,
    )  # fmt: skip
    W = model.fit_transform(form(X))
    trace = np.array(model.solution_.trace)
    assert len(trace) == 61 or model.solution_.outcome.name == "STALLED"
    assert (np.diff(trace) <= 1e-12 * trace[0]).all()
    end = objective(X, W, model.components_, order, alpha, alpha, share)
    assert end <= trace[-1] * (1 + 1e-9)
    if solver == "mu":
        assert trace[-1] == pytest.approx(end, rel=1e-6)
        assert model.reconstruction_err_ == pytest.approx(
            np.sqrt(2 * _beta_divergence(X, W, model.components_, order)), rel=1e-6
        )


def test_extrapolated_steps_need_fewer_iterations_and_find_as_good_factors(monkeypatch):
    X = rows(zeros=True)
    settings = {"init": "random", "random_state": 0, "tol": 1e-6, "max_iter": 2000}
    found = th.NMF(3, **settings).fit(X)
    for name in ("FIRST_MOMENTUM", "MOST_MOMENTUM"):
        monkeypatch.setattr(nonnegative_steps, name, 0.0)
    plain = th.NMF(3, **settings).fit(X)
    assert found.n_iter_ < 0.7 * plain.n_iter_
    assert found.reconstruction_err_ <= plain.reconstruction_err_ * (1 + 1e-5)


@pytest.mark.parametrize(("alpha", "share"), [(0.0, 0.0), (0.02, 0.0), (0.02, 0.5), (0.01, 1.0)])
def test_gradients_vanish_where_entries_are_positive(alpha, share):
    X = rows()
    n, d = X.shape
    model = th.NMF(3, tol=1e-8, max_iter=20_000, alpha_W=alpha, alpha_H=2 * alpha, l1_ratio=share)
    W = model.fit_transform(X)
    H = model.components_
    away = W @ H - X
    left = away @ H.T + d * alpha * (share + (1 - share) * W)
    right = W.T @ away + 2 * n * alpha * (share + (1 - share) * H)
    size = np.abs(X @ H.T).max()
    for factor, gradient in ((W, left), (H, right)):
        assert (factor >= 0).all()
        assert (gradient >= -1e-6 * size).all()
        assert np.abs(gradient[factor > 1e-6]).max() < 1e-6 * size


def test_gradients_of_the_divergence_vanish_too():
    X = rows()
    model = th.NMF(2, solver="mu", beta_loss=1, tol=1e-12, max_iter=5000)
    W = model.fit_transform(X)
    H = model.components_
    ratio = 1 - X / (W @ H)
    for factor, gradient in ((W, ratio @ H.T), (H, W.T @ ratio)):
        assert np.abs(factor * gradient).max() < 1e-3
        assert gradient.min() > -1e-3


@pytest.mark.parametrize("shape", [(40, 12, 3), (200, 30, 8), (15, 60, 4), (6, 5, 5)], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_error_is_at_most_that_of_scikit_learn(shape, form):
    n, d, k = shape
    X = form(rows(n, d, k))
    ours = th.NMF(k, random_state=0, max_iter=2000).fit(X).reconstruction_err_
    theirs = decomposition.NMF(k, random_state=0, max_iter=2000).fit(X).reconstruction_err_
    if k < min(n, d):
        assert ours <= 1.002 * theirs
    else:  # both stop on the way to an error of 0
        assert ours <= 5e-4 * np.sqrt((rows(n, d, k) ** 2).sum())


@pytest.mark.parametrize("beta", [0, 0.5, 1, 1.5, 2, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_multiplicative_updates_are_those_of_scikit_learn(beta, form):
    X = rows()
    W, H = first(X, 3)
    settings = {"init": "custom", "solver": "mu", "beta_loss": beta, "tol": 0, "max_iter": 30}
    penalty = {"alpha_W": 0.01, "alpha_H": 0.02, "l1_ratio": 0.3}
    ours = th.NMF(3, **settings, **penalty)
    theirs = decomposition.NMF(3, **settings, **penalty)
    found = ours.fit_transform(form(X), W=W.copy(), H=H.copy())
    expected = theirs.fit_transform(X, W=W.copy(), H=H.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("beta", [0, 1, 2])
def test_multiplicative_updates_reach_the_error_of_scikit_learn_as_soon(beta):
    X = datasets.load_iris().data
    ours = th.NMF(2, solver="mu", beta_loss=beta).fit(X)
    theirs = decomposition.NMF(2, solver="mu", beta_loss=beta).fit(X)
    assert ours.n_iter_ <= theirs.n_iter_
    assert ours.reconstruction_err_ <= theirs.reconstruction_err_


def test_planted_parts_are_found():
    rng = np.random.default_rng(0)
    parts = np.kron(np.eye(3), np.ones(4)) * rng.uniform(1.0, 2.0, 12)
    X = rng.gamma(0.4, size=(300, 3)) @ parts
    model = th.NMF(3, tol=1e-6, max_iter=2000).fit(X)
    assert model.reconstruction_err_ < 1e-4 * np.linalg.norm(X)
    found = model.components_ / np.linalg.norm(model.components_, axis=1)[:, None]
    likeness = found @ (parts / np.linalg.norm(parts, axis=1)[:, None]).T
    np.testing.assert_allclose(np.sort(likeness.max(axis=1)), 1.0, atol=1e-4)
    assert sorted(likeness.argmax(axis=1)) == [0, 1, 2]


def test_transform_solves_least_squares_with_weights_at_least_0():
    X = rows()
    model = th.NMF(4, max_iter=2000).fit(X)
    expected = np.array([nnls(model.components_.T, x)[0] for x in X])
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-3 * expected.max())
    np.testing.assert_allclose(model.transform(X[3:5]), model.transform(X)[3:5], rtol=1e-12)
    np.testing.assert_allclose(model.transform(sp.csr_array(X)), model.transform(X), rtol=1e-9)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), rtol=1e-9)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, model.transform(X) @ model.components_)
    assert np.linalg.norm(X - back) == pytest.approx(model.reconstruction_err_)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_transform_of_the_divergence_is_optimal(form):
    X = rows(zeros=True)
    model = th.NMF(3, solver="mu", beta_loss=1, tol=1e-5, max_iter=3000).fit(X)
    W, H = model.transform(form(X)), model.components_
    gradient = (1 - X / (W @ H)) @ H.T
    assert np.abs(W * gradient).max() < 1e-3
    np.testing.assert_allclose(model.transform(form(X[:2])), W[:2], rtol=1e-9)


@pytest.mark.parametrize("init", [None, "nndsvd", "nndsvda", "nndsvdar", "random"])
@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.filterwarnings("ignore:NMF. The multiplicative update")
def test_other_units_lead_to_the_same_fit(init, solver):
    X = rows()
    errors = [
        th.NMF(3, init=init, solver=solver, random_state=0, tol=0, max_iter=20)
        .fit(unit * X)
        .reconstruction_err_
        / unit
        for unit in (1.0, 2.0**20, 2.0**-20)
    ]
    assert errors[1:] == pytest.approx(errors[:1] * 2, rel=1e-3)


@pytest.mark.parametrize("beta_loss", [0.0, 0.5, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("unit", [2.0**-70, 2.0**-300, 2.0**200])
def test_divergences_of_entries_of_any_size(beta_loss, form, unit):
    X = rows() + 0.1
    model = th.NMF(3, solver="mu", beta_loss=beta_loss, random_state=0, tol=0, max_iter=20)
    weights = model.fit_transform(form(X))
    both = model.inverse_transform(weights), model.inverse_transform(model.transform(form(X)))
    weights = model.fit_transform(form(unit * X))
    again = model.inverse_transform(weights), model.inverse_transform(model.transform(unit * X))
    np.testing.assert_allclose(np.array(again) / unit, both, rtol=1e-6)


def test_number_of_components():
    X = rows(d=5)
    assert th.NMF(tol=0.01).fit(X).n_components_ == 5
    assert th.NMF(None, tol=0.01).fit(X).n_components_ == 5
    W, H = first(X, 2)
    assert th.NMF(init="custom", tol=0.01).fit(X, W=W, H=H).components_.shape == (2, 5)
    more = th.NMF(8, random_state=0, tol=1e-3).fit(X)
    assert more.components_.shape == (8, 5)
    assert list(th.NMF(2, tol=0.01).fit(X).get_feature_names_out()) == ["nmf0", "nmf1"]


def test_shuffled_components_and_seeds():
    X = rows()
    settings = {"init": "random", "max_iter": 1000}
    one, same = (th.NMF(3, shuffle=True, random_state=0, **settings).fit(X) for _ in range(2))
    assert np.array_equal(one.components_, same.components_)
    other = th.NMF(3, random_state=1, **settings).fit(X)
    assert not np.allclose(one.components_, other.components_)
    plain = th.NMF(3, random_state=0, **settings).fit(X)
    assert one.reconstruction_err_ == pytest.approx(plain.reconstruction_err_, rel=0.05)


def test_rows_and_columns_of_zeros_and_single_rows():
    X = rows()
    X[4], X[:, 7] = 0.0, 0.0
    for settings in ({}, {"solver": "mu"}, {"solver": "mu", "beta_loss": 1}):
        model = th.NMF(3, max_iter=1000, **settings)
        W = model.fit_transform(X)
        np.testing.assert_allclose(W[4], 0.0, atol=1e-6)
        np.testing.assert_allclose(W @ model.components_[:, 7], 0.0, atol=1e-6)
        model = th.NMF(2, **settings).fit(np.zeros((4, 3)))
        assert not model.transform(np.zeros((2, 3))).any()
        one = th.NMF(1, tol=1e-8, max_iter=500, **settings)
        np.testing.assert_allclose(one.fit_transform(X[:1]) @ one.components_, X[:1], atol=1e-5)


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_float32_and_tables(solver):
    X = rows()
    single = th.NMF(3, solver=solver, random_state=0, tol=1e-3).fit(X.astype(np.float32))
    double = th.NMF(3, solver=solver, random_state=0, tol=1e-3).fit(X)
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.reconstruction_err_ == pytest.approx(double.reconstruction_err_, rel=1e-2)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(12)])
    named = th.NMF(3, solver=solver, random_state=0, tol=1e-3).fit(table)
    assert np.array_equal(named.components_, double.components_)
    assert named.set_output(transform="pandas").transform(table).shape == (40, 3)


@pytest.mark.parametrize("settings", [{}, {"solver": "mu", "beta_loss": 1}])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_same_bits_for_any_number_of_threads(settings, form):
    X, found = form(rows(1500, 200, 6)), []
    for threads in (1, 3):
        with th.config(threads=threads):
            model = th.NMF(20, init="random", random_state=0, max_iter=3, tol=0, **settings)
            found.append((model.fit_transform(X), model.components_))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_early_stops_warn_with_a_remedy():
    for solver in ("cd", "mu"):
        with pytest.warns(ConvergenceWarning, match=r"maximum number of iterations.*max_iter"):
            th.NMF(3, max_iter=2, solver=solver).fit(rows())
    with pytest.warns(UserWarning, match="cannot update zeros"):
        th.NMF(3, solver="mu", init="nndsvd").fit(rows())
    with pytest.warns(RuntimeWarning, match="W or H are ignored"):
        th.NMF(3).fit(rows(), H=np.ones((3, 12)))


def test_bad_inputs_are_refused(tmp_path):
    X = rows()
    W, H = first(X, 3)
    for form in (np.asarray, sp.csr_array):
        negative = X.copy()
        negative[5, 2] = -1.5
        with pytest.raises(DataError, match=r"Negative values.*column 2, row 5 holds -1.5"):
            th.NMF(3).fit(form(negative))
        with pytest.raises(DataError, match="Negative values"):
            th.NMF(3, tol=0.01).fit(X).transform(form(negative))
    with pytest.raises(DataError, match="contains NaN"):
        th.NMF(3).fit(np.where(X == X[5, 2], np.nan, X))
    with pytest.raises(ParameterError, match=r"min\(n_samples, n_features\), but n_components=13"):
        th.NMF(13, init="nndsvd").fit(X)
    with pytest.raises(ParameterError, match="does not handle beta_loss = 1"):
        th.NMF(3, beta_loss=1).fit(X)
    model = th.NMF(3, solver="mu", beta_loss=0, tol=0.01).fit(X)
    for act in (model.fit, model.transform):
        with pytest.raises(DataError, match="contains zeros"):
            act(rows(zeros=True))
    for given, message in (
        ({"W": W}, "H is None"),
        ({"W": W[:5], "H": H}, "wrong first dimension"),
        ({"W": W, "H": H[:, :5]}, "wrong second dimension"),
        ({"W": -W, "H": H}, "Negative values in data passed to NMF .input W"),
        ({"W": W, "H": 0 * H}, "full of zeros"),
    ):
        with pytest.raises(ParameterError, match=message):
            th.NMF(3, init="custom").fit(X, **given)
    pd.DataFrame(X, columns=[f"x{j}" for j in range(12)]).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(CapabilityError, match="rows in memory"):
        th.NMF(3).fit(th.scan(tmp_path / "rows.parquet"))


@pytest.mark.parametrize("penalty", [{"alpha_W": 0.05}, {"alpha_W": 0.0, "alpha_H": 0.01}], ids=str)
def test_penalties_do_not_cost_components(penalty):
    """From one start, the objective of scikit-learn is reached after as many iterations."""
    random = np.random.default_rng(4)
    X = random.random((200, 60)) * 10.0 ** random.uniform(-4, 4, 60)
    settings = {"init": "custom", "max_iter": 300, "tol": 0.0, "l1_ratio": 0.5, **penalty}
    size = np.sqrt(X.mean() / 6)
    W, H = (size * np.abs(random.standard_normal(each)) for each in ((200, 6), (6, 60)))
    found = []
    for kind in (th.NMF, decomposition.NMF):
        model = kind(6, **settings)
        left = model.fit_transform(X, W=W.copy(), H=H.copy())
        found.append((penalised(X, left, model), np.count_nonzero(left.max(axis=0))))
    assert found[0][0] <= 1.02 * found[1][0]
    assert found[0][1] == found[1][1] == 6


def penalised(X, W, model):
    alphas = (model.alpha_W, model.alpha_W if model.alpha_H == "same" else model.alpha_H)
    value = 0.5 * np.sum((X - W @ model.components_) ** 2)
    for factor, alpha, size in zip((W, model.components_), alphas, X.shape[::-1], strict=True):
        share = model.l1_ratio
        value += alpha * size * (share * factor.sum() + 0.5 * (1 - share) * np.sum(factor**2))
    return value
