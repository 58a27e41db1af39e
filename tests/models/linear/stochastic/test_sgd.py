"""Single-row steps: by hand, beside scikit-learn's, and near the optimum."""

import numpy as np
import pytest
import sklearn.linear_model as sk
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.linear.stochastic.sgd_data import (
    CLASSES,
    IN_ORDER,
    PENALTIES,
    SIGNS,
    D,
    N,
    X,
    Y,
    assert_same,
    sigmoid,
)
from tests.reference.descent.sgd_epoch import splitmix_orders

SCHEDULES = {
    "constant": {"learning_rate": "constant", "eta0": 0.02},
    "invscaling": {"learning_rate": "invscaling", "eta0": 0.05, "power_t": 0.25},
    "root": {"learning_rate": "invscaling", "eta0": 0.05, "power_t": 0.5},
    "adaptive": {"learning_rate": "adaptive", "eta0": 0.02},
}
CLASSIFICATION = ("hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron")
REGRESSION = ("squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")


# --- by hand -----------------------------------------------------------------------------------


def logistic_by_hand(orders, tau0):
    """w⁰ = 0; w ← w + τ(y − σ(wᵀx))x for labels 0 and 1, τ = τ₀/t, in the orders of some epochs."""
    w, labels, t = np.zeros(D), (SIGNS + 1) / 2, 0
    for order in orders:
        for i in order:
            t += 1
            w = w + tau0 / t * (labels[i] - sigmoid(w @ X[i])) * X[i]
    return w


LOGISTIC = {"loss": "log_loss", "penalty": None, "fit_intercept": False, "tol": None, "max_iter": 2}


def test_logistic_regression_by_single_rows_step_by_step():
    model = th.SGDClassifier(
        **LOGISTIC, learning_rate="invscaling", eta0=0.5, power_t=1.0, shuffle=False
    ).fit(X, SIGNS)
    by_hand = logistic_by_hand([range(N), range(N)], 0.5)
    np.testing.assert_allclose(model.coef_[0], by_hand, rtol=1e-12)


def test_logistic_regression_reshuffles_each_epoch():
    model = th.SGDClassifier(
        **LOGISTIC, learning_rate="invscaling", eta0=0.5, power_t=1.0, random_state=3
    ).fit(X, SIGNS)
    seeds = np.random.default_rng(3).integers(1 << 63, size=2, dtype=np.uint64)
    orders = [list(range(N)), list(range(N))]
    for seed, order in zip(seeds, orders, strict=True):
        splitmix_orders(int(seed))(order, N)
    assert orders[0] != orders[1]
    np.testing.assert_allclose(model.coef_[0], logistic_by_hand(orders, 0.5), rtol=1e-12)


def test_logistic_regression_by_the_library_method():
    """The same steps through LinearModel(loss, penalty, solver)."""
    method = th.optimizers.StochasticGradient(
        step=th.optimizers.InverseTime(0.5), random_state=3, batch_size=1
    )
    with pytest.warns(ConvergenceWarning):
        model = th.LinearModel(
            "logistic", "none", solver=method, fit_intercept=False, max_iter=2
        ).fit(X, (SIGNS + 1) / 2)
    random = np.random.default_rng(3)
    by_hand = logistic_by_hand([random.permutation(N) for _ in range(2)], 0.5)
    np.testing.assert_allclose(model.coef_, by_hand, rtol=1e-12)


def test_squared_loss_steps_against_the_residual():
    model = th.SGDRegressor(
        penalty=None, learning_rate="constant", eta0=0.1, shuffle=False, max_iter=1, tol=None
    ).fit([[1.0], [2.0]], [1.0, 3.0])
    # From (w, b) = 0: residual −1, so both grow by 0.1; then z = 0.3, residual −2.7.
    np.testing.assert_allclose([model.coef_[0], model.intercept_[0]], [0.1 + 0.54, 0.1 + 0.27])


@pytest.mark.parametrize(("rule", "size"), [("pa1", 0.2), ("pa2", 1 / (4 + 2.5))])
def test_passive_aggressive_steps_fit_their_row(rule, size):
    model = th.SGDClassifier(
        penalty=None, learning_rate=rule, eta0=0.2, shuffle=False, max_iter=1, tol=None
    ).fit([[2.0], [-9.0]], [1, 0])  # the second is right by far, and changes nothing
    np.testing.assert_allclose(model.coef_, [[2 * size]])


def test_optimal_rate_by_hand():
    alpha = 0.04
    first = alpha**-0.25
    model = th.SGDClassifier(
        alpha=alpha, fit_intercept=False, shuffle=False, max_iter=1, tol=None
    ).fit([[0.1], [-0.1]], [1, 0])
    second = 1 / (1 / first + alpha)
    np.testing.assert_allclose(model.coef_, [[first * 0.1 * (1 - second * alpha) + second * 0.1]])


# --- scikit-learn takes the same steps in the same order ------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", CLASSIFICATION + REGRESSION)
def test_same_steps_as_scikit_learn_classifying(loss, schedule, penalty):
    options = {"loss": loss, **IN_ORDER, **SCHEDULES[schedule], **PENALTIES[penalty]}
    assert_same(
        th.SGDClassifier(**options).fit(X, SIGNS),
        sk.SGDClassifier(**options).fit(X, SIGNS),
        rtol=1e-7,
    )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loss", REGRESSION)
def test_same_steps_as_scikit_learn_in_regression(loss, schedule, penalty):
    options = {"loss": loss, **IN_ORDER, **SCHEDULES[schedule], **PENALTIES[penalty]}
    assert_same(
        th.SGDRegressor(**options).fit(X, Y), sk.SGDRegressor(**options).fit(X, Y), rtol=1e-7
    )


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "perceptron", "huber"])
@pytest.mark.parametrize("average", [False, True, 100])
def test_same_steps_as_scikit_learn_at_the_optimal_rate(loss, average):
    random = np.random.default_rng(1)
    options = {"loss": loss, "alpha": 0.01, "average": average, **IN_ORDER}
    weight = random.random(N)
    ours = th.SGDClassifier(**options).fit(X, CLASSES, sample_weight=weight)
    theirs = sk.SGDClassifier(**options).fit(X, CLASSES, sample_weight=weight)
    assert_same(ours, theirs, rtol=1e-7)
    assert ours.t_ == theirs.t_
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("rule", ["pa1", "pa2"])
def test_same_passive_aggressive_steps_as_scikit_learn(rule):
    options = {"learning_rate": rule, "penalty": None, "eta0": 0.1, **IN_ORDER}
    assert_same(
        th.SGDClassifier(**options).fit(X, SIGNS), sk.SGDClassifier(**options).fit(X, SIGNS)
    )
    options["loss"] = "epsilon_insensitive"
    assert_same(th.SGDRegressor(**options).fit(X, Y), sk.SGDRegressor(**options).fit(X, Y))


@pytest.mark.parametrize("adapts", [{}, {"learning_rate": "adaptive"}])
def test_stops_after_as_many_epochs_as_scikit_learn(adapts):
    options = {"shuffle": False, "penalty": None, **adapts}
    ours, theirs = th.SGDRegressor(**options).fit(X, Y), sk.SGDRegressor(**options).fit(X, Y)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.solution_.outcome is th.results.Outcome.CONVERGED
    assert_same(ours, theirs, rtol=1e-7)


# --- near the optimum --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "modified_huber"])
@pytest.mark.filterwarnings("ignore:LinearModel")  # a kinked optimum is never certain
def test_averaged_steps_come_near_the_optimum(loss):
    alpha, labels = 0.01, (SIGNS + 1) / 2 if loss == "log_loss" else SIGNS
    parts = {"loss": th.losses.named(loss), "penalty": th.penalties.L2(alpha)}
    best = th.LinearModel(loss=parts["loss"], penalty=parts["penalty"], tol=1e-3)
    best.fit(X, labels)
    model = th.SGDClassifier(
        loss, alpha=alpha, average=True, random_state=0, max_iter=60, tol=None
    ).fit(X, labels)

    def objective(coef, intercept):
        value = parts["loss"].value(labels, X @ coef + intercept).mean()
        return value + parts["penalty"].value(coef)

    lowest = objective(best.coef_, best.intercept_)
    assert objective(model.coef_[0], model.intercept_[0]) < 1.05 * lowest


def test_l1_leaves_columns_out():
    random = np.random.default_rng(2)
    wide = np.hstack([X, random.standard_normal((N, 20))])
    model = th.SGDRegressor(penalty="l1", alpha=0.1, random_state=0).fit(wide, Y)
    assert (model.coef_[:D] != 0).all()
    assert (model.coef_[D:] == 0).sum() >= 18
