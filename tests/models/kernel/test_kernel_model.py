"""Every loss of the library under a kernel: optimality, equivalences, peers and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.svm import SVC, SVR

import thetahat as th
from thetahat.errors import DataError, IllConditionedWarning, MemoryBudgetError, ParameterError
from thetahat.mathematics.losses.base import Loss, Subdifferentiable, Targets

RANDOM = np.random.default_rng(0)
N = 120
X = RANDOM.standard_normal((N, 2))
Y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RANDOM.standard_normal(N)
LABELS = np.where(X[:, 0] ** 2 + X[:, 1] > 0.7, "out", "in")
RBF = th.kernels.RBF(gamma=0.5)
ALPHA = 1e-3

LOSSES = [
    value()
    for value in (getattr(th.losses, name) for name in th.losses.__all__)
    if isinstance(value, type) and issubclass(value, Loss) and issubclass(value, Subdifferentiable)
]


def targets(loss):
    if loss.targets in (Targets.BINARY, Targets.SIGNS, Targets.CLASSES):
        return LABELS
    match loss.targets:
        case Targets.NONNEGATIVE:
            return np.floor(np.exp(Y))
        case Targets.POSITIVE:
            return np.exp(Y)
    return Y


def objective(model, y):
    """The mean loss and the penalty at a fitted model, from its coefficients alone."""
    coded = y
    if hasattr(model, "classes_"):
        coded = np.searchsorted(model.classes_, y).astype(float)
        coded = 2 * coded - 1 if model.loss_.targets is Targets.SIGNS else coded
    K, c = model.kernel_(model.X_fit_), model.dual_coef_
    penalty = model.alpha / 2 * float(np.sum(c * (K @ c)))
    return float(np.mean(model.loss_.value(coded, model.raw_prediction(X)))) + penalty


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_loss_works_and_no_nearby_function_is_better(loss):
    y = targets(loss)
    model = th.KernelModel(loss, RBF, alpha=ALPHA, max_iter=3000).fit(X, y)
    best = objective(model, y)
    # Subgradients reach a rough fit only; all other solvers the optimum.
    slack = 1e-3 if model.solution_.solver == "subgradient_descent" else 1e-9
    random = np.random.default_rng(1)
    for size in (1e-3, 1e-1):
        other = th.KernelModel(loss, RBF, alpha=ALPHA)
        other.__dict__.update(vars(model))
        move = random.standard_normal(model.dual_coef_.shape)
        other.dual_coef_ = model.dual_coef_ + size * move
        other.intercept_ = model.intercept_ + size
        assert objective(other, y) > best - slack
    null = th.KernelModel(loss, RBF, alpha=1e9, max_iter=300).fit(X, y)
    assert best <= objective(null, y)


def test_squared_loss_has_a_closed_form_that_the_solvers_reach():
    weight = np.random.default_rng(2).integers(0, 3, N).astype(float)
    closed = th.KernelModel("squared", RBF, alpha=ALPHA).fit(X, Y, weight)
    assert closed.solution_.solver == "cholesky"
    newton = th.KernelModel("squared", RBF, alpha=ALPHA, solver="newton", tol=1e-12)
    newton.fit(X, Y, weight)
    np.testing.assert_allclose(closed.predict(X), newton.predict(X), atol=1e-7)
    # Without an intercept it is kernel ridge regression with the penalty n·alpha.
    plain = th.KernelModel("squared", RBF, alpha=ALPHA, fit_intercept=False).fit(X, Y, weight)
    ridge = th.KernelRidge(alpha=ALPHA * weight.sum(), kernel=RBF).fit(X, Y, weight)
    np.testing.assert_allclose(plain.predict(X), ridge.predict(X), atol=1e-9)


def test_linear_kernel_is_the_linear_model():
    for loss, y in (("squared", Y), ("logistic", LABELS), ("huber", Y), ("hinge", LABELS)):
        kernel = th.KernelModel(loss, th.kernels.Linear(), alpha=0.1).fit(X, y)
        linear = th.LinearModel(loss, th.penalties.L2(0.1)).fit(X, y)
        np.testing.assert_allclose(
            kernel.raw_prediction(X), linear.raw_prediction(X), atol=1e-6, err_msg=loss
        )


def test_hinge_loss_is_the_support_vector_machine():
    model = th.KernelModel("hinge", RBF, alpha=ALPHA, tol=1e-10).fit(X, LABELS)
    peer = SVC(C=1 / (N * ALPHA), gamma=0.5, tol=1e-9).fit(X, LABELS)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(model.support_, np.sort(peer.support_))
    machine = th.SVC(C=1 / (N * ALPHA), gamma=0.5, tol=1e-9).fit(X, LABELS)
    np.testing.assert_allclose(machine.decision_function(X), peer.decision_function(X), atol=1e-4)
    # Dense against sparse coefficients: logistic regression keeps every row.
    dense = th.KernelModel("logistic", RBF, alpha=ALPHA).fit(X, LABELS)
    assert len(model.support_) < N / 2 < len(dense.support_)
    # Rows outside the margin do not matter.
    again = th.KernelModel("hinge", RBF, alpha=ALPHA * N / len(model.support_), tol=1e-10)
    again.fit(X[model.support_], LABELS[model.support_])
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_losses_of_support_vectors_reach_the_solver_of_svc_and_svr(loss):
    y = LABELS if loss == "hinge" else Y
    weight = np.arange(N) % 3.0
    rows = np.repeat(np.arange(N), np.arange(N) % 3)
    model = th.KernelModel(loss, RBF, alpha=ALPHA).fit(X, y, sample_weight=weight)
    assert model.solution_.solver == "smo"
    assert f"{loss} loss under a kernel: pairs of dual variables" in model.solution_.reason
    assert model.solution_.gap <= 1e-7
    repeated = th.KernelModel(loss, RBF, alpha=ALPHA).fit(X[rows], y[rows])
    sparse = th.KernelModel(loss, RBF, alpha=ALPHA).fit(sp.csr_array(X), y, sample_weight=weight)
    given = th.KernelModel(loss, "precomputed", alpha=ALPHA).fit(RBF(X), y, sample_weight=weight)
    other = th.KernelModel(loss, RBF, alpha=ALPHA, solver="dual_coordinate_descent", tol=1e-9)
    other.fit(X, y, sample_weight=weight)
    assert other.solution_.solver != "smo"
    assert model.solution_.value <= other.solution_.value * (1 + 1e-6)
    for each, queries in ((repeated, X), (sparse, X), (given, RBF(X)), (other, X)):
        found = each.raw_prediction(queries)
        np.testing.assert_allclose(found, model.raw_prediction(X), atol=1e-5)


def test_epsilon_insensitive_loss_is_support_vector_regression():
    loss = th.losses.EpsilonInsensitive(0.1)
    model = th.KernelModel(loss, RBF, alpha=ALPHA, tol=1e-10).fit(X, Y)
    peer = SVR(C=1 / (N * ALPHA), gamma=0.5, epsilon=0.1, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-4)
    np.testing.assert_array_equal(model.support_, np.sort(peer.support_))


def test_quantile_loss_splits_the_rows():
    for level in (0.1, 0.5, 0.9):
        model = th.KernelModel(th.losses.Quantile(level), RBF, alpha=0.01).fit(X, Y)
        assert np.mean(Y < model.predict(X)) == pytest.approx(level, abs=0.1)


def test_all_centres_are_the_exact_model():
    for loss, y in (("logistic", LABELS), ("huber", Y), ("squared", Y)):
        exact = th.KernelModel(loss, RBF, alpha=ALPHA).fit(X, y)
        some = th.KernelModel(loss, RBF, alpha=ALPHA, n_components=N).fit(X, y)
        np.testing.assert_allclose(some.raw_prediction(X), exact.raw_prediction(X), atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "quantile"])
def test_fewer_centres_are_nearly_as_good(loss):
    y = LABELS if loss in ("logistic", "hinge") else Y
    exact = th.KernelModel(loss, RBF, alpha=ALPHA).fit(X, y)
    some = th.KernelModel(loss, RBF, alpha=ALPHA, n_components=40, random_state=0).fit(X, y)
    assert len(some.dual_coef_) <= 40
    assert some.score(X, y) > exact.score(X, y) - 0.05


def test_equal_rows_share_a_centre():
    rows, y = np.repeat(X[:20], 3, axis=0), np.repeat(LABELS[:20], 3)
    model = th.KernelModel("logistic", RBF, alpha=ALPHA).fit(rows, y)
    once = th.KernelModel("logistic", RBF, alpha=ALPHA).fit(X[:20], LABELS[:20])
    assert len(model.support_) <= 20
    np.testing.assert_allclose(model.decision_function(X), once.decision_function(X), atol=1e-7)


def test_precomputed_matrix_is_the_same_model():
    for loss, y in (("squared", Y), ("logistic", LABELS), ("hinge", LABELS)):
        rows = th.KernelModel(loss, RBF, alpha=ALPHA).fit(X, y)
        matrix = th.KernelModel(loss, "precomputed", alpha=ALPHA).fit(RBF(X), y)
        new = np.random.default_rng(3).standard_normal((9, 2))
        np.testing.assert_allclose(
            matrix.raw_prediction(RBF(new, X)), rows.raw_prediction(new), atol=1e-9
        )


def test_kernel_logistic_regression_is_the_logistic_loss_under_a_kernel():
    model = th.KernelLogisticRegression(C=2.0, kernel=RBF).fit(X, LABELS)
    other = th.KernelModel("logistic", RBF, alpha=1 / (2.0 * N)).fit(X, LABELS)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    three = np.where(X[:, 1] > 1, "top", LABELS)
    several = th.KernelLogisticRegression(C=100.0).fit(X, three)
    assert several.score(X, three) > 0.9
    np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1.0)
    # At the optimum, the coefficient of row i is C·(yᵢ − pᵢ).
    pulls = 2.0 * ((model.classes_[1] == LABELS) - model.predict_proba(X)[:, 1])
    np.testing.assert_allclose(
        RBF(X) @ pulls + model.intercept_, model.decision_function(X), atol=1e-6
    )


def test_parameters_of_the_kernel_can_be_searched():
    from sklearn.model_selection import GridSearchCV

    grid = {"kernel__sigma": [0.01, 1.0], "alpha": [1e-3]}
    search = GridSearchCV(th.KernelModel(kernel=th.kernels.RBF(sigma=5.0)), grid, cv=3).fit(X, Y)
    assert search.best_params_["kernel__sigma"] == 1.0
    K = GridSearchCV(th.KernelModel(kernel="precomputed"), {"alpha": [1e-3, 1e3]}, cv=3)
    assert K.fit(RBF(X), Y).best_params_["alpha"] == 1e-3


@pytest.mark.parametrize(
    ("model", "rows", "error", "words"),
    [
        (th.KernelModel(alpha=0.0), X, ParameterError, "alpha=0.0 must be a number > 0"),
        (th.KernelModel(n_components=0), X, ParameterError, "n_components=0"),
        (th.KernelModel(kernel="rfb"), X, ParameterError, "Did you mean 'rbf'"),
        (th.KernelModel(kernel="precomputed"), X, DataError, "must be square"),
        (
            th.KernelModel(kernel="precomputed"),
            np.triu(np.ones((N, N))),
            DataError,
            "must be symmetric",
        ),
        (
            th.KernelModel("logistic", th.kernels.FromFunction(lambda a, b: -(a @ b.T))),
            X,
            DataError,
            "not positive semi-definite",
        ),
        (
            th.KernelModel("squared", th.kernels.FromFunction(lambda a, b: -(a @ b.T))),
            X,
            DataError,
            "not positive semi-definite",
        ),
        (
            th.KernelModel(kernel=th.kernels.FromFunction(lambda a, b: a @ b.T * np.nan)),
            X,
            DataError,
            "must be finite",
        ),
    ],
)
def test_wrong_input_is_refused(model, rows, error, words):
    y = LABELS if model.loss == "logistic" else Y
    with pytest.raises(error, match=words):
        model.fit(rows, y)


def test_a_query_of_another_width_is_refused():
    model = th.KernelModel().fit(X, Y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.ones((2, 3)))


def test_too_many_rows_are_refused_with_their_bytes_and_a_remedy():
    rows = np.zeros((400_000, 1))
    with pytest.raises(MemoryBudgetError, match=r"400000 × 400000 entries.*TiB.*n_components"):
        th.KernelModel("logistic", n_components=None).fit(rows, np.arange(400_000) % 2)


def test_many_rows_get_few_centres_and_the_reason_says_so(monkeypatch):
    monkeypatch.setattr("thetahat.models.kernel.machine.MOST_EXACT_ROWS", 100)
    monkeypatch.setattr("thetahat.models.kernel.machine.USUAL_CENTRES", 30)
    for loss, y in (("squared", Y), ("logistic", LABELS), ("hinge", LABELS), ("quantile", Y)):
        many = th.KernelModel(loss, RBF, alpha=ALPHA, random_state=0).fit(X, y)
        asked = th.KernelModel(loss, RBF, alpha=ALPHA, n_components=30, random_state=0).fit(X, y)
        np.testing.assert_array_equal(many.support_, asked.support_)
        np.testing.assert_array_equal(many.dual_coef_, asked.dual_coef_)
        words = "30 of 120 rows are centres (uniform)"
        assert f"{words}, because there are more than 100 rows" in many.solution_.reason
        assert f"{words};" in asked.solution_.reason
        exact = th.KernelModel(loss, RBF, alpha=ALPHA, n_components=None).fit(X, y)
        few = th.KernelModel(loss, RBF, alpha=ALPHA).fit(X[:100], y[:100])
        assert "Nyström" not in exact.solution_.reason + few.solution_.reason


@pytest.mark.parametrize("rule", ["uniform", "kmeans++", "leverage"])
def test_centres_of_every_rule_serve_the_model(rule):
    model = th.KernelModel("squared", RBF, alpha=1e-6, n_components=60, centers=rule)
    model.set_params(random_state=0).fit(X, Y)
    exact = th.KernelModel("squared", RBF, alpha=1e-6).fit(X, Y)
    assert len(model.support_) <= 60
    assert f"({rule})" in model.solution_.reason
    np.testing.assert_allclose(model.predict(X), exact.predict(X), atol=0.05)
    with pytest.raises(ParameterError, match="centers='kmeans'"):
        model.set_params(centers="kmeans").fit(X, Y)


@pytest.mark.parametrize("n", [2, 3])
def test_very_few_rows(n):
    for loss, y in (
        ("squared", Y[:n]),
        ("hinge", np.arange(n) % 2),
        ("logistic", np.arange(n) % 2),
    ):
        assert np.isfinite(th.KernelModel(loss).fit(X[:n], y).raw_prediction(X)).all()


def test_columns_of_any_scale_and_equal_rows():
    for scale in (1e-3, 1e3):
        model = th.KernelModel("huber").fit(scale * X, Y)
        np.testing.assert_allclose(
            model.predict(scale * X), th.KernelModel("huber").fit(X, Y).predict(X), atol=1e-6
        )
    assert th.KernelModel().fit(np.ones((6, 2)), Y[:6]).predict([[1.0, 1.0]]) == pytest.approx(
        Y[:6].mean()
    )


def test_quantiles_of_many_rows_are_solved_to_a_duality_gap():
    """The dual of the quantile loss: the optimum of linear programming, with few iterations."""
    random = np.random.default_rng(21)
    rows = random.standard_normal((520, 5))
    y = np.sin(rows[:, 0]) + random.standard_normal(520)
    loss, kernel = th.losses.Quantile(0.8), th.kernels.RBF(sigma=0.7)
    model = th.KernelModel(loss, kernel, 0.01, tol=1e-7).fit(rows, y)
    assert model.solution_.gap_kind == "duality gap"
    assert model.solution_.outcome.name == "CONVERGED"
    program = th.KernelModel(loss, kernel, 0.01, solver="interior_point", tol=1e-7).fit(rows, y)
    assert model.solution_.value == pytest.approx(program.solution_.value, rel=1e-5)
    below = np.mean(y <= model.predict(rows) + 1e-6)
    assert 0.78 < below < 1.0


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_least_squares_of_a_column_of_large_numbers(intercept, weighted):
    r = np.random.default_rng(0)
    rows = r.normal(size=(60, 3)) * [1e6, 1, 1]
    y = 3e-6 * rows[:, 0] + rows[:, 1] + 1.0
    weight = r.integers(0, 3, 60) if weighted else None
    model = th.KernelModel("squared", "linear", alpha=1e-2, fit_intercept=intercept)
    with pytest.warns(IllConditionedWarning, match="Scale the columns"):
        model.fit(rows, y, sample_weight=weight)
    linear = th.LinearModel("squared", th.penalties.L2(1e-2), fit_intercept=intercept)
    linear.fit(rows, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(rows), linear.predict(rows), atol=0.05)
    with pytest.warns(IllConditionedWarning):
        square = th.KernelModel("squared", "polynomial", fit_intercept=intercept).fit(rows, y)
    assert square.score(rows, y) > 0.5


@pytest.mark.parametrize("loss", ["squared", "huber", "absolute", "epsilon_insensitive", "hinge"])
@pytest.mark.parametrize("kernel", [th.kernels.Sigmoid(), th.kernels.Periodic()])
def test_a_function_that_is_no_kernel_is_refused(loss, kernel):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    y = rows[:, 0] > 0 if loss == "hinge" else rows[:, 0]
    with pytest.raises(DataError, match=r"is not positive semi-definite|squared norm"):
        th.KernelModel(loss, kernel, alpha=1e-4).fit(rows, y)


@pytest.mark.filterwarnings("ignore::thetahat.errors.SeparationWarning")
def test_logarithms_of_probabilities_that_round_to_zero_are_finite():
    X, y = np.array([[0.0], [1.0], [2.0], [50.0]]), np.array([0, 0, 1, 1])
    model = th.KernelLogisticRegression(C=1e9, kernel="linear").fit(X, y)
    z = model.raw_prediction(100 * X)
    found = model.predict_log_proba(100 * X)
    np.testing.assert_allclose(found[1:, 0], -z[1:])
    several = th.KernelLogisticRegression(C=1e9, kernel="linear").fit(X, [0, 0, 1, 2])
    found = several.predict_log_proba(100 * X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.exp(found), several.predict_proba(100 * X), atol=1e-12)


LINEAR = {
    "squared": th.KernelModel(kernel="linear"),
    "hinge": th.KernelModel("hinge", kernel="linear"),
    "absolute": th.KernelModel("absolute", kernel="linear"),
    "few centres": th.KernelModel("logistic", kernel="linear", n_components=9, random_state=0),
    "logistic": th.KernelLogisticRegression(kernel="linear"),
    "discriminants": th.KernelDiscriminantAnalysis(kernel="linear", alpha=1e-3),
}


@pytest.mark.parametrize("name", LINEAR)
def test_the_origin_of_the_rows_has_no_influence_on_the_linear_kernel(name, tmp_path):
    random, found = np.random.default_rng(0), []
    rows = np.round(random.standard_normal((80, 3)) * 2**16) / 2**16  # exact, also when moved
    z = rows[:, 0] + random.standard_normal(80)
    y = z if name in ("squared", "absolute") else z > 0
    for shift in (0.0, 2.0**30):
        model = clone(LINEAR[name]).fit(rows + shift, y)
        if name != "discriminants":
            np.testing.assert_array_equal(model.X_fit_, rows[model.support_] + shift)
        th.save(model, tmp_path / "model")
        model = th.load(tmp_path / "model")
        raw = model.transform if name == "discriminants" else model.raw_prediction
        found.append(raw(rows + shift))
    np.testing.assert_allclose(found[1], found[0], atol=1e-6 * np.abs(found[0]).max())


@pytest.mark.parametrize("loss", ["absolute", th.losses.Quantile(0.8)])
def test_absolute_losses_reach_the_objective_of_other_solvers(loss):
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = X[:, 0] + X[::-1, 1]
    pairs = th.KernelModel(loss).fit(X, y)
    dual = th.KernelModel(loss, solver="dual_coordinate_descent", tol=1e-10).fit(X, y)
    assert pairs.solution_.solver == "smo"
    np.testing.assert_allclose(pairs.solution_.value, dual.solution_.value, atol=2e-8)
    np.testing.assert_allclose(pairs.predict(X), dual.predict(X), atol=1e-3)


def test_absolute_loss_takes_another_solver_where_pairs_need_many_steps():
    X = np.random.default_rng(0).standard_normal((100, 2))
    model = th.KernelModel("absolute", alpha=1e-6).fit(X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2)
    assert model.solution_.solver != "smo"
    assert model.solution_.outcome.name == "CONVERGED"
