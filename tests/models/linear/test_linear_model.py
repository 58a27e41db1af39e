"""The general form: any loss under a linear function, any penalty, a solver that says why."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model

import thetahat as th
from tests.models.linear.linear_targets import TARGETS, N, X
from thetahat.catalog import losses, penalties, solver_table
from thetahat.mathematics.losses.base import Smooth, Targets

SMOOTH = {name: kind() for name, kind in losses().items() if issubclass(kind, Smooth)}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("penalty", ["none", "l2"])
def test_any_smooth_loss_reaches_its_optimum(name, penalty):
    """No small move of any coefficient lowers the objective."""
    random = np.random.default_rng(1)
    loss = SMOOTH[name]
    y = TARGETS[loss.targets]
    alpha = 0.1 if penalty == "l2" else 0.0
    model = th.LinearModel(loss, th.penalties.L2(0.1) if alpha else "none").fit(X, y)
    assert model.solution_.outcome.success, model.solution_

    def objective(coef, intercept):
        risk = np.mean(loss.value(y, X @ coef.T + intercept))
        return risk + alpha / 2 * (coef**2).sum()

    best = objective(model.coef_, model.intercept_)
    for _ in range(40):
        move = 1e-3 * random.standard_normal(model.coef_.shape)
        shift = 1e-3 * random.standard_normal(np.shape(model.intercept_))
        assert objective(model.coef_ + move, model.intercept_ + shift) >= best - 1e-12


def test_named_peers():
    real, binary = TARGETS[Targets.REAL], TARGETS[Targets.BINARY]
    ridge = sklearn.linear_model.Ridge(0.3 * N).fit(X, real)
    model = th.LinearModel("squared", th.penalties.L2(0.3)).fit(X, real)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-7)
    logistic = sklearn.linear_model.LogisticRegression(C=1 / (0.02 * N), tol=1e-10).fit(X, binary)
    model = th.LinearModel("logistic", th.penalties.L2(0.02)).fit(X, binary)
    np.testing.assert_allclose(model.coef_, logistic.coef_[0], rtol=1e-5)
    np.testing.assert_allclose(model.predict_mean(X), logistic.predict_proba(X)[:, 1], rtol=1e-4)
    np.testing.assert_array_equal(model.predict(X), logistic.predict(X))
    counts = TARGETS[Targets.NONNEGATIVE]
    poisson = sklearn.linear_model.PoissonRegressor(alpha=0.1, tol=1e-10).fit(X, counts)
    model = th.LinearModel("poisson", th.penalties.L2(0.1)).fit(X, counts)
    np.testing.assert_allclose(model.predict(X), poisson.predict(X), rtol=1e-5)
    lasso = sklearn.linear_model.Lasso(0.1, tol=1e-10).fit(X, real)
    model = th.LinearModel("squared", th.penalties.L1(0.1)).fit(X, real)
    np.testing.assert_allclose(model.coef_, lasso.coef_, atol=1e-7)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient_descent", "nesterov"])
def test_solvers_agree(solver):
    y = TARGETS[Targets.BINARY]
    reference = th.LinearModel("logistic", th.penalties.L2(0.1)).fit(X, y)
    model = th.LinearModel("logistic", th.penalties.L2(0.1), solver=solver, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-5)
    assert model.solution_.solver == solver


def test_refusals_name_a_way_out():
    y = TARGETS[Targets.BINARY]
    with pytest.raises(
        th.errors.CapabilityError, match=r"LBFGS needs a smooth penalty; L1 is not\. Use"
    ):
        th.LinearModel("logistic", "l1", solver="lbfgs").fit(X, y)
    with pytest.raises(th.errors.CapabilityError, match="surrogate"):
        th.LinearModel("zero_one").fit(X, TARGETS[Targets.SIGNS])
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'huber'"):
        th.LinearModel("hubber").fit(X, y)
    with pytest.raises(th.errors.DataError, match=r"LinearModel: .* targets"):
        th.LinearModel("poisson").fit(X, -1.0 - y)
    with pytest.raises(th.errors.DataError, match=r"y contains 3 classes.*softmax_cross_entropy"):
        th.LinearModel("logistic").fit(X, TARGETS[Targets.CLASSES])


def test_parts_can_be_searched():
    from sklearn.model_selection import GridSearchCV

    model = th.LinearModel(th.losses.Huber(), th.penalties.L2(1.0))
    grid = {"loss__delta": [0.5, 2.0], "penalty__alpha": [1e-3, 10.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, TARGETS[Targets.REAL])
    assert search.best_params_["penalty__alpha"] == 1e-3
    assert search.best_estimator_.loss.delta == search.best_params_["loss__delta"]
    with pytest.raises(th.errors.ParameterError, match="no parameter 'sigma'"):
        model.set_params(loss__sigma=1.0)


def test_a_loss_of_ones_own():
    def mine(y, z):
        return np.log(np.cosh(z - y))

    y = TARGETS[Targets.REAL]
    model = th.LinearModel(th.loss(mine), "none").fit(X, y)
    residual = y - model.predict(X)
    np.testing.assert_allclose(X.T @ np.tanh(residual) / N, 0.0, atol=1e-7)


def test_weights_and_streams():
    from tests.data.chunked import Chunked

    y = TARGETS[Targets.BINARY]
    whole = th.LinearModel("logistic", th.penalties.L2(0.1)).fit(X, y)
    source = Chunked(X=X, y=y, n_features=4, has_target=True)
    chunked = th.LinearModel("logistic", th.penalties.L2(0.1)).fit(source)
    np.testing.assert_allclose(chunked.coef_, whole.coef_, rtol=1e-7)


def test_bad_targets_of_a_stream_are_counted_from_its_first_row():
    from tests.data.chunked import Chunked

    rows, y = np.zeros((2000, 4)), np.ones(2000)
    y[1500] = -3.0
    with pytest.raises(th.errors.DataError, match=r"first at row 1,500: -3\.0"):
        th.LinearModel("poisson").fit(Chunked(X=rows, y=y, n_features=4, has_target=True))


def test_every_pair_of_parts_has_a_solver_or_a_reason():
    table = solver_table()
    assert len(table) == len(losses()) * (len(penalties()) - 1)
    served = {pair for pair, solver in table.items() if solver != "—"}
    assert {loss for loss, _ in served} == set(losses()) - {"ZeroOne"}
    assert table["Squared", "L1"] == "WorkingSets"
    assert table["Squared", "L2"] == table["Squared", "NoPenalty"] == "DirectLeastSquares"
    assert table["Squared", "Box"] == "CoordinateDescent"
    assert table["Logistic", "L2"] == "Newton"
    assert table["Logistic", "L1"] == "ProximalNewton"


@pytest.mark.parametrize("loss", ["huber", "logistic", "softmax", "poisson"])
def test_columns_far_from_zero_keep_their_digits(loss):
    """A column of timestamps differs from the column of ones in its last digits alone."""
    part = th.losses.named(loss)
    y, shift = TARGETS[part.targets], np.array([1e6, -3e7, 0.0, 5e5])
    plain = th.LinearModel(part, th.penalties.L2(0.01)).fit(X, y)
    far = th.LinearModel(part, th.penalties.L2(0.01)).fit(X + shift, y)
    np.testing.assert_allclose(far.coef_, plain.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        far.raw_prediction(X + shift), plain.raw_prediction(X), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(
    "model",
    [
        th.LinearModel(loss="huber", solver="lbfgs"),
        th.RobustRegressor(solver="lbfgs"),
        th.HuberRegressor(alpha=1.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_an_interrupted_fit_of_far_columns_keeps_parameters_in_the_units_of_the_data(model):
    class Interrupting:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "step" and context.task_id >= 1:
                raise KeyboardInterrupt

    rows, y = X + np.array([1e6, -3e7, 0.0, 5e5]), TARGETS[Targets.REAL]
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Interrupting()).fit(rows, y)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    np.testing.assert_allclose(model.solution_.theta[:5], np.append(model.coef_, model.intercept_))
    assert np.abs(model.predict(rows) - y).mean() < 2 * np.abs(y - y.mean()).mean()


@pytest.mark.parametrize(
    "penalty", [th.penalties.NoPenalty(), th.penalties.L2(1e-3), th.penalties.L1(1e-3)]
)
def test_huber_solves_targets_far_from_zero(penalty):
    """Rows beyond the bend at the start: Newton's parabola is flat there."""
    random = np.random.default_rng(0)
    x = random.normal(size=(60, 5))
    y = (x @ [1.0, 2.0, 0.0, 0.0, -1.0] + random.normal(size=60)) * 100 + 5e4
    model = th.LinearModel("huber", penalty).fit(x, y)
    assert model.solution_.outcome is th.results.Outcome.CONVERGED
    assert model.n_iter_ < 40
    slower = "proximal_gradient" if isinstance(penalty, th.penalties.L1) else "lbfgs"
    other = th.LinearModel("huber", penalty, solver=slower, max_iter=10_000).fit(x, y)
    assert model.solution_.value == pytest.approx(other.solution_.value, rel=1e-9)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-3, atol=1e-2)


# --- least squares and the lasso are reached by the same road ----------------------------------


def test_squared_loss_is_solved_by_the_direct_solver_of_linear_regression():
    y = TARGETS[Targets.REAL]
    model, plain = th.LinearModel("squared", "none").fit(X, y), th.LinearRegression().fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert model.intercept_ == plain.intercept_
    ours, theirs = model.solution_, plain.solution_
    assert (ours.solver, ours.reason, ours.outcome) == (
        theirs.solver,
        theirs.reason,
        theirs.outcome,
    )
    assert ours.condition == theirs.condition
    residual = y - model.predict(X)
    assert ours.value == pytest.approx(np.mean(residual**2) / 2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_squared_loss_with_a_ridge_is_ridge_regression(weighted, fit_intercept):
    random = np.random.default_rng(1)
    y, weight = TARGETS[Targets.REAL], random.uniform(0.0, 2.0, N) if weighted else None
    total = N if weight is None else weight.sum()
    model = th.LinearModel(penalty=th.penalties.L2(0.3), fit_intercept=fit_intercept)
    model.fit(X, y, sample_weight=weight)
    ridge = th.Ridge(0.3 * total, fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-14)
    objective = th.LinearModel(penalty=th.penalties.L2(0.3), solver="newton", tol=1e-12)
    objective.set_params(fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    assert model.solution_.value == pytest.approx(objective.solution_.value, rel=1e-10)
    np.testing.assert_allclose(model.coef_, objective.coef_, rtol=1e-7)


def test_dependent_columns_give_the_solution_of_least_norm():
    twice = np.column_stack([X, X[:, 0]])
    y = TARGETS[Targets.REAL]
    model = th.LinearModel("squared", "none").fit(twice, y)
    assert model.solution_.rank == 4
    assert model.coef_[0] == pytest.approx(model.coef_[4])


def test_non_negative_least_squares_is_solved_by_active_sets():
    y = TARGETS[Targets.REAL]
    model = th.LinearModel(penalty=th.penalties.NonNegative()).fit(X, y)
    plain = th.LinearRegression(positive=True).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("positive", [False, True])
def test_l1_penalty_is_solved_by_the_solver_of_the_lasso(scale, positive):
    """The default tolerance gives the digits of a lasso solved to rounding, in any unit of y."""
    y, alpha = scale * TARGETS[Targets.REAL], 0.1 * scale
    penalty = th.penalties.L1(alpha)
    model = th.LinearModel(penalty=penalty & th.penalties.NonNegative() if positive else penalty)
    lasso = th.Lasso(alpha, positive=positive, tol=1e-16, max_iter=10_000)
    model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lasso.fit(X, y)
    assert model.solution_.solver == lasso.solution_.solver == "working_sets"
    np.testing.assert_allclose(model.coef_, lasso.coef_, rtol=1e-6, atol=1e-7 * scale)


@pytest.mark.parametrize("solver", ["cholesky", "pseudo_inverse", "qr", "svd", "dual", "lsqr"])
def test_the_value_of_a_ridge_includes_its_penalty(solver):
    y = TARGETS[Targets.REAL]
    ridge = th.Ridge(20.0, solver=solver, tol=1e-12).fit(X, y)
    residual = y - ridge.predict(X)
    expected = residual @ residual + 20.0 * ridge.coef_ @ ridge.coef_
    assert ridge.solution_.value == pytest.approx(expected)
    wide, target = X[:3], y[:3]
    model = th.LinearModel("squared", th.penalties.L2(0.5)).fit(wide, target)
    residual = target - model.predict(wide)
    expected = residual @ residual / 6 + 0.25 * model.coef_ @ model.coef_
    assert model.solution_.value == pytest.approx(expected)


# --- what is said of parts and rows ------------------------------------------------------------


def test_the_docstring_names_every_loss():
    names = {kind.name for kind in losses().values()}
    described = th.LinearModel.__doc__
    assert {name for name in names if f'"{name}"' not in described} <= {"zero_one"}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (th.LinearModel(lambda residual: residual**2), r"th\.loss\(function\)"),
        (th.LinearModel("quantile", solver="newton"), 'or "interior_point"'),
        (th.LinearRegression(solver="qr"), "drop columns, or use Ridge"),
    ],
    ids=["function", "solver", "dependent"],
)
def test_refusals_name_what_can_be_typed(model, message):
    X = np.column_stack([np.arange(9.0), np.arange(9.0)])
    with pytest.raises(th.errors.ThetahatError, match=message):
        model.fit(X, np.arange(9.0))


def test_text_is_refused_in_plain_words():
    with pytest.raises(
        th.errors.DataError, match=r"holds the text 'a' at row 1, column 0"
    ) as found:
        th.Ridge().fit([[1.0], ["a"]], [1.0, 2.0])
    assert "float()" not in str(found.value)
