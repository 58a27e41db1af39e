"""Half-spaces of most rows: scikit-learn's steps, the optimum, batches, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDOneClassSVM
from sklearn.pipeline import make_pipeline

import thetahat as th

IN_ORDER = {"shuffle": False, "tol": None, "max_iter": 4}
LONG = {
    "learning_rate": "constant", "eta0": 0.02, "average": 30_000, "tol": None, "max_iter": 200,
    "random_state": 0,
}  # fmt: skip
SETTINGS = {
    "optimal": {"nu": 0.2},
    "constant": {"learning_rate": "constant"},
    "invscaling": {"learning_rate": "invscaling", "power_t": 0.3},
    "adaptive": {"learning_rate": "adaptive", "fit_intercept": False},
    "averaged": {"nu": 0.1, "average": 7},
}


class Nothing:
    """A callback, which makes every epoch a call of its own."""

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **more):
        pass

    def on_fit_task_end(self, estimator, context, **more):
        return False

    def teardown(self, estimator, context):
        pass


def drawn(n=200, d=3, seed=0):
    return np.random.default_rng(seed).normal(2.0, 1.0, (n, d))


def objective(X, coef, offset, nu):
    return np.maximum(offset - X @ coef, 0).mean() + nu / 2 * coef @ coef - nu * offset


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_the_steps_are_those_of_scikit_learn(setting, weighted):
    X = drawn()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else None
    options = IN_ORDER | SETTINGS[setting]
    ours = th.SGDOneClassSVM(**options).fit(X, sample_weight=weight)
    theirs = SGDOneClassSVM(**options).fit(X, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert (ours.t_, ours.n_iter_) == (theirs.t_, theirs.n_iter_)
    assert ours.intercept_ == -ours.offset_


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_the_objective_is_near_its_minimum(nu):
    X = drawn(300)
    found = minimize(
        lambda theta: objective(X, theta[:3], theta[3], nu), np.ones(4), method="Nelder-Mead",
        options={"maxiter": 4000, "fatol": 1e-9},
    )  # fmt: skip
    model = th.SGDOneClassSVM(nu, **LONG).fit(X)
    value = objective(X, model.coef_, model.offset_[0], nu)
    assert value - found.fun < 0.02 * abs(found.fun)


def test_about_the_share_nu_of_the_rows_are_outliers():
    X = drawn(600)
    for nu in (0.1, 0.3):
        model = th.SGDOneClassSVM(nu, **LONG)
        assert (model.fit_predict(X) == -1).mean() == pytest.approx(nu, abs=0.03)


def test_batches_continue_the_descent():
    X = drawn()
    options = {"shuffle": False, "learning_rate": "constant", "average": True}
    whole = th.SGDOneClassSVM(max_iter=1, tol=None, **options).fit(X)
    batches = th.SGDOneClassSVM(**options)
    for start in range(0, 200, 50):
        batches.partial_fit(X[start : start + 50])
    np.testing.assert_allclose(batches.coef_, whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(batches.offset_, whole.offset_, rtol=1e-12)
    assert batches.t_ == whole.t_ == 201


def test_a_start_and_a_warm_start():
    X = drawn()
    first = th.SGDOneClassSVM(warm_start=True, **IN_ORDER).fit(X)
    coef, offset = first.coef_.copy(), first.offset_.copy()
    given = th.SGDOneClassSVM(**IN_ORDER).fit(X, coef_init=coef, offset_init=offset)
    again = first.fit(X)
    np.testing.assert_array_equal(again.coef_, given.coef_)
    np.testing.assert_array_equal(again.offset_, given.offset_)


def test_sparse_rows_and_sparse_coefficients():
    X = np.where(drawn() > 2.0, drawn(), 0.0)
    dense, sparse = (
        th.SGDOneClassSVM(nu=0.2, **IN_ORDER).fit(rows) for rows in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-10)
    before = dense.decision_function(X)
    np.testing.assert_allclose(dense.sparsify().decision_function(X), before, rtol=1e-12)
    np.testing.assert_array_equal(dense.densify().coef_.shape, (3,))


def test_random_features_give_the_region_of_a_kernel_machine():
    random = np.random.default_rng(0)
    X = 0.3 * random.standard_normal((600, 2)) + np.repeat([[2.0], [-2.0]], 300, axis=0)
    kernel = th.OneClassSVM(gamma=2.0, nu=0.05).fit(X)
    linear = make_pipeline(
        th.Nystroem(gamma=2.0, random_state=0),
        th.SGDOneClassSVM(nu=0.05, tol=None, max_iter=15, random_state=0),
    ).fit(X)
    assert (linear.predict(X) == kernel.predict(X)).mean() > 0.97


def test_epochs_in_one_call_are_those_one_by_one():
    X = drawn(80)
    together = th.SGDOneClassSVM(random_state=0).fit(X)
    by_one = th.SGDOneClassSVM(random_state=0).set_callbacks(Nothing())
    by_one.fit(X)
    assert together.n_iter_ == by_one.n_iter_ > 12
    np.testing.assert_array_equal(by_one.coef_, together.coef_)
    np.testing.assert_array_equal(by_one.offset_, together.offset_)


@pytest.mark.parametrize(
    ("options", "arguments", "error"),
    [
        ({"nu": 0.0}, {}, "nu=0.0 must be"),
        ({"nu": 1.5}, {}, "nu=1.5 must be"),
        ({"learning_rate": "pa1"}, {}, "learning_rate='pa1'"),
        ({"eta0": 0.0}, {}, "eta0=0.0"),
        ({}, {"coef_init": np.zeros(2)}, "coef_init has shape"),
        ({}, {"offset_init": np.zeros(2)}, "offset_init has shape"),
        ({}, {"sample_weight": np.zeros(200)}, "weights are zero"),
        ({"learning_rate": "constant", "eta0": 1e300}, {}, "diverged|overflow"),
    ],
)
def test_bad_input_is_refused(options, arguments, error):
    with pytest.raises(ValueError, match=error):
        th.SGDOneClassSVM(**options).fit(1e10 * drawn(), **arguments)


def test_other_columns_are_refused():
    model = th.SGDOneClassSVM(random_state=0).partial_fit(drawn())
    with pytest.raises(ValueError, match="4 features"):
        model.partial_fit(drawn(d=4))
    with pytest.raises(ValueError, match=r"not finite|NaN|missing"):
        th.SGDOneClassSVM().fit([[np.nan, 1.0], [0.0, 1.0]])


def test_messages_name_its_own_parameters():
    with pytest.raises(ValueError, match=r"coef_init has shape \(2,\), but this fit needs \(3,\)"):
        th.SGDOneClassSVM().fit(drawn(d=3), coef_init=np.zeros(2))
    rows = 1e300 * drawn()
    with pytest.raises(ValueError, match=r"larger nu \(now 0\.5\)"):
        th.SGDOneClassSVM(random_state=0).fit(rows)


@pytest.mark.parametrize("name", ["SGDOneClassSVM", "SGDRegressor"])
def test_a_warm_start_with_other_columns_names_warm_start(name):
    model = getattr(th, name)(warm_start=True, random_state=0)
    y = np.arange(50.0)
    model.fit(drawn(50, d=3), y)
    with pytest.raises(ValueError, match="previous fit, which had 3 columns, but X has 4"):
        model.fit(drawn(50, d=4), y)


@pytest.mark.parametrize("by_one", [True, False])
def test_it_does_not_stop_before_the_objective_does(by_one):
    # The level swings around 0 here. Its last value beside the mean loss of the whole epoch looked
    # like an objective below the minimum, which later epochs could not improve.
    X = 1e-3 * np.random.default_rng(0).normal(size=(60, 3))

    def objective(**more):
        model = th.SGDOneClassSVM(random_state=0, max_iter=400, **more)
        if by_one:
            model.set_callbacks(Nothing())
        model.fit(X)
        coef, level = model.coef_, float(model.offset_[0])
        return np.maximum(level - X @ coef, 0).mean() + (coef @ coef - 2 * level) / 4, model

    with pytest.warns(ConvergenceWarning, match="change of the objective"):
        value, model = objective(tol=1e-8)
    assert model.n_iter_ == 400
    assert value == pytest.approx(objective(tol=None)[0])
    value, model = objective(tol=1e-4)
    assert 10 < model.n_iter_ < 30
    assert model.solution_.value > 0
