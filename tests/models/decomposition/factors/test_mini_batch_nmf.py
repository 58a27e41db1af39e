"""Non-negative factors by batches: scikit-learn's updates, batches by hand, stopping, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
DIVERGENCES = ["frobenius", "kullback-leibler", "itakura-saito", 1.5, 3.0]


def drawn(n=120, d=8, k=3, seed=0):
    random = np.random.default_rng(seed)
    return random.random((n, k)) ** 2 @ random.random((k, d)) + 0.01 * random.random((n, d))


def start(X, k=3):
    random = np.random.default_rng(1)
    return {"W": random.random((len(X), k)) + 0.1, "H": random.random((k, X.shape[1])) + 0.1}


@pytest.mark.parametrize("beta_loss", DIVERGENCES)
@pytest.mark.parametrize("penalty", [{}, {"alpha_W": 0.01, "l1_ratio": 0.5}], ids=["", "penalised"])
def test_the_updates_are_those_of_scikit_learn(beta_loss, penalty):
    X = 4 * drawn()  # with a mean above 1, so that the sums start at 1
    options = {
        "n_components": 3, "init": "custom", "beta_loss": beta_loss, "batch_size": 50,
        "max_iter": 8, **penalty,
    }  # fmt: skip
    ours = th.MiniBatchNMF(**options).fit(X, **start(X))
    theirs = decomposition.MiniBatchNMF(**options).fit(X, **start(X))
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-9)
    assert (ours.n_iter_, ours.n_steps_) == (theirs.n_iter_, theirs.n_steps_)
    assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1 + 1e-9)


@pytest.mark.parametrize("beta_loss", DIVERGENCES[:3])
def test_sparse_rows_give_the_same_components(beta_loss):
    X = drawn()
    if beta_loss != "itakura-saito":
        X = np.where(X > 0.3, X, 0.0)
    options = {"init": "custom", "beta_loss": beta_loss, "batch_size": 50, "max_iter": 5}
    dense, sparse = (
        th.MiniBatchNMF(3, **options).fit(rows, **start(X)) for rows in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(sparse.components_, dense.components_, rtol=1e-8)
    assert sparse.reconstruction_err_ == pytest.approx(dense.reconstruction_err_, rel=1e-6)


def test_the_error_is_about_that_of_all_rows():
    X = drawn(600, 20, 5)
    whole = th.NMF(5, tol=1e-6, max_iter=500).fit(X)
    batches = th.MiniBatchNMF(5, batch_size=100, tol=1e-5, fresh_restarts=True).fit(X)
    further = batches.reconstruction_err_ - whole.reconstruction_err_
    assert 0 <= further < 0.05 * np.linalg.norm(X)


def test_weights_of_the_fit_are_those_of_transform():
    X = drawn()
    model = th.MiniBatchNMF(3, batch_size=40, random_state=0)
    weights = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), weights, atol=1e-6)
    assert weights.min() >= 0
    assert model.components_.min() >= 0


def test_batches_that_arrive_one_by_one():
    X = drawn(400)
    model = th.MiniBatchNMF(3, random_state=0)
    for start_row in range(0, 400, 50):
        model.partial_fit(X[start_row : start_row + 50])
    assert model.n_steps_ == 8
    error = np.linalg.norm(X - model.inverse_transform(model.transform(X))) / np.linalg.norm(X)
    assert error < 0.2
    with pytest.raises(ValueError, match="9 features"):
        model.partial_fit(drawn(d=9))


@pytest.mark.parametrize("beta_loss", DIVERGENCES)
@pytest.mark.parametrize("init", ["random", None])
def test_small_units_lead_to_the_same_components(beta_loss, init):
    X, found = drawn() / 4, []
    for unit in (1.0, 2.0**-20, 2.0**-200):
        model = th.MiniBatchNMF(
            3, init=init, beta_loss=beta_loss, batch_size=50, max_iter=8, random_state=0
        ).fit(unit * X)
        found.append(model.inverse_transform(model.transform(unit * X)) / unit)
        model = th.MiniBatchNMF(3, init=init, beta_loss=beta_loss, random_state=0)
        for _ in range(3):
            model.partial_fit(unit * X)
        found[-1] = found[-1], model.inverse_transform(model.transform(unit * X)) / unit
    for each in found[1:]:
        np.testing.assert_allclose(each, found[0], rtol=1e-6)


def test_the_fit_ends_by_its_rules():
    X = drawn()
    still = th.MiniBatchNMF(3, tol=0.1, random_state=0).fit(X)
    assert still.solution_.gap <= 0.1
    with pytest.warns(ConvergenceWarning):
        th.MiniBatchNMF(3, max_iter=1, tol=1e-12, max_no_improvement=None).fit(X)


@pytest.mark.parametrize(
    ("options", "X", "error"),
    [
        ({"batch_size": 0}, drawn(), "batch_size=0"),
        ({"forget_factor": 1.5}, drawn(), "forget_factor=1.5"),
        ({"init": "nndsvd", "n_components": 20}, drawn(), "n_components <= min"),
        ({"init": "custom"}, drawn(), "^MiniBatchNMF: init='custom' needs"),
        ({}, -drawn(), "Negative values"),
        ({"beta_loss": "itakura-saito"}, np.zeros((9, 3)), "add a small number|zeros"),
        ({}, np.full((9, 3), np.nan), "missing|NaN|not finite"),
    ],
)
def test_bad_input_is_refused(options, X, error):
    with pytest.raises(ValueError, match=error):
        th.MiniBatchNMF(**options).fit(X)


@pytest.mark.parametrize("X", [np.zeros((6, 3)), np.ones((6, 3)), np.ones((1, 3)), np.ones((5, 1))])
def test_degenerate_rows(X):
    model = th.MiniBatchNMF(1, random_state=0).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-3)
