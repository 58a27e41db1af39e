"""The general form: any loss under a linear function, any penalty, a solver that says why."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import r2_score
from sklearn.utils.estimator_checks import check_estimator

import thetahat as th
from thetahat.catalog import losses, penalties, solver_table
from thetahat.mathematics.losses.base import Smooth, Targets
from thetahat.mathematics.losses.links import Link

RANDOM = np.random.default_rng(0)
N = 250
X = RANDOM.standard_normal((N, 4))
SCORE = X @ [1.0, -2.0, 0.5, 0.0] + 0.3
TARGETS = {
    Targets.REAL: SCORE + 0.5 * RANDOM.standard_normal(N),
    Targets.NONNEGATIVE: RANDOM.poisson(np.exp(SCORE / 2)).astype(float),
    Targets.POSITIVE: np.exp(SCORE / 2 + 0.2 * np.sin(np.arange(N))),
    Targets.BINARY: (SCORE + RANDOM.logistic(size=N) > 0).astype(float),
    Targets.SIGNS: np.sign(SCORE + RANDOM.logistic(size=N)),
    Targets.CLASSES: RANDOM.integers(0, 3, N).astype(float),
}
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
    from tests.test_conformance import Chunked

    y = TARGETS[Targets.BINARY]
    whole = th.LinearModel("logistic", th.penalties.L2(0.1)).fit(X, y)
    source = Chunked(X=X, y=y, n_features=4, has_target=True)
    chunked = th.LinearModel("logistic", th.penalties.L2(0.1)).fit(source)
    np.testing.assert_allclose(chunked.coef_, whole.coef_, rtol=1e-7)


def test_bad_targets_of_a_stream_are_counted_from_its_first_row():
    from tests.test_conformance import Chunked

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


# --- with a loss of classes it is a classifier -------------------------------------------------

OF_CLASSES = {
    name: kind()
    for name, kind in losses().items()
    if issubclass(kind, Smooth) and kind.targets in (Targets.BINARY, Targets.SIGNS, Targets.CLASSES)
}


@pytest.mark.parametrize("name", OF_CLASSES)
def test_a_loss_of_classes_takes_any_labels(name):
    loss, words = OF_CLASSES[name], np.array(["no", "perhaps", "yes"])
    codes = TARGETS[loss.targets]
    codes = ((codes + 1) / 2 if loss.targets is Targets.SIGNS else codes).astype(int)
    words = words if loss.targets is Targets.CLASSES else words[[0, 2]]
    penalty = th.penalties.L2(0.1)
    model = th.LinearModel(loss, penalty).fit(X, words[codes])
    assert is_classifier(model)
    assert not is_regressor(model)
    assert model.classes_.tolist() == words.tolist()
    predicted = model.predict(X)
    assert model.score(X, words[codes]) == np.mean(predicted == words[codes])
    scores = model.decision_function(X)
    assert scores.shape == (N,) if len(words) == 2 else (N, 3)
    best = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    np.testing.assert_array_equal(predicted, words[best])
    assert hasattr(model, "predict_proba") == (loss.link in (Link.LOGIT, Link.SOFTMAX))
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert shares.shape == (N, len(words))
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        np.testing.assert_array_equal(words[shares.argmax(axis=1)], predicted)


@pytest.mark.parametrize("loss", ["squared", "poisson", "huber"])
def test_other_losses_give_a_regressor(loss):
    model = th.LinearModel(loss)
    assert is_regressor(model)
    assert not is_classifier(model)
    assert not hasattr(model, "decision_function")
    assert not hasattr(model, "predict_proba")
    y = TARGETS[th.losses.named(loss).targets]
    assert not hasattr(model.fit(X, y), "classes_")
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))


@pytest.mark.parametrize("loss", ["logistic", "hinge", "softmax_cross_entropy"])
def test_evaluate_stratifies_and_scores_by_accuracy(loss):
    y = np.where(SCORE > 1.5, "rare", "common")
    found = th.evaluate(th.LinearModel(loss, th.penalties.L2(0.1)), X, y, cv=5)
    assert found.scores["accuracy"].mean() > 0.8
    shares = [np.mean(y[fold.rows] == "rare") for fold in found.fits]
    np.testing.assert_allclose(shares, np.mean(y == "rare"), atol=0.02)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "softmax_cross_entropy"])
def test_classifiers_pass_scikit_learns_checks(loss):
    check_estimator(th.LinearModel(loss), on_skip=None)


def test_labels_in_a_file_are_found_before_the_fit(tmp_path):
    lines = [
        ",".join(map(repr, map(float, (*row, label))))
        for row, label in zip(X, SCORE > 0, strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d,label\n" + "\n".join(lines) + "\n")
    for loss in ("logistic", "sign_logistic", "softmax_cross_entropy"):
        whole = th.LinearModel(loss, th.penalties.L2(0.1)).fit(X, (SCORE > 0).astype(float))
        streamed = th.LinearModel(loss, th.penalties.L2(0.1)).fit(th.scan(path, target="label"))
        np.testing.assert_array_equal(streamed.classes_, [0.0, 1.0])
        np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-7)


def test_a_model_saved_before_it_had_labels_predicts_the_numbers_of_its_loss():
    for kind, loss in ((Targets.BINARY, "logistic"), (Targets.SIGNS, "sign_logistic")):
        model = th.LinearModel(loss).fit(X, TARGETS[kind])
        expected = model.predict(X)
        del model.classes_
        np.testing.assert_array_equal(model.predict(X), expected)


def test_intervals_of_a_likelihood_of_signs():
    """The two ways to write the logistic loss have one likelihood, and one table of errors."""
    labels = np.where(SCORE + np.random.default_rng(5).logistic(size=N) > 0, "yes", "no")
    one, other = (
        th.LinearModel(loss, "none").fit(X, labels) for loss in ("logistic", "sign_logistic")
    )
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6)
    robust = one.summary(X, labels, covariance="HC1")
    assert len(robust.coefficients) == 5


def test_a_fitted_model_follows_the_loss_of_its_fit():
    """Parameters that are set after a fit count from the next fit on."""
    labels = np.where(SCORE > 0, "yes", "no")
    model = th.LinearModel("hinge").fit(X, labels).set_params(loss="logistic")
    assert not hasattr(model, "predict_proba")
    assert model.set_params(loss="squared").score(X, labels) > 0.8
    model.fit(X, SCORE)
    assert not hasattr(model, "classes_")
    assert model.score(X, SCORE) == pytest.approx(r2_score(SCORE, model.predict(X)))


@pytest.mark.parametrize("penalty", ["none", "l2"])
def test_scores_of_the_softmax_sum_to_zero(penalty):
    y = TARGETS[Targets.CLASSES]
    model = th.LinearModel("softmax_cross_entropy", penalty).fit(X, y)
    alpha = 0.0 if penalty == "none" else 1.0
    peer = th.LogisticRegression(C=np.inf if not alpha else 1 / N, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(model.intercept_.sum(), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)


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


def test_labels_agree_with_the_probabilities_of_a_loss_of_ones_own():
    @dataclass(frozen=True)
    class ComplementaryLogLog(th.losses.Logistic):
        def mean(self, z):
            return -np.expm1(-np.exp(z))

    labels = np.where(SCORE > 0, "yes", "no")
    model = th.LinearModel(ComplementaryLogLog(), th.penalties.L2(0.1)).fit(X, labels)
    likely = model.predict_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[likely])


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
