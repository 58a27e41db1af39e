"""Logistic regression: optimality, forms, solvers, penalties, labels, and what is refused."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.data.validation import as_source
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

RANDOM = np.random.default_rng(0)
N = 300
X = RANDOM.standard_normal((N, 4)) * [1, 3, 0.5, 1] + [0, 2, -1, 0]
SCORE = X @ [1.0, -0.5, 1.0, 0.0] + 0.5
TWO = (SCORE + RANDOM.logistic(size=N) > 0).astype(int)
THREE = np.array(["a", "b", "c"])[
    np.argmax(X @ RANDOM.standard_normal((4, 3)) + RANDOM.gumbel(size=(N, 3)), axis=1)
]
WEIGHT = RANDOM.integers(0, 4, N)
LABELS = {"two": TWO, "three": THREE}
TIGHT = {"tol": 1e-10, "max_iter": 10_000}
DESIGN = np.column_stack([X, np.ones(N)])


def fit(y=TWO, x=X, weight=None, **parameters):
    return th.LogisticRegression(**(TIGHT | parameters)).fit(x, y, weight)


def one_hot(y):
    return (np.unique(y)[:, None] == y).T.astype(float)


def risk_of(loss, y, penalty="none", outputs=0):
    return EmpiricalRisk(
        LinearPredictor(X.shape[1], outputs),
        loss,
        th.penalties.named(penalty) if isinstance(penalty, str) else penalty,
        as_source(X, y),
    )


# --- optimality --------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("C", [1e-3, 1.0, np.inf], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_of_the_penalised_likelihood_vanishes(labels, C, weighted):
    """C Xᵀ(p − y) + β = 0, and the intercept's Σ(p − y) = 0."""
    y, w = LABELS[labels], WEIGHT if weighted else np.ones(N)
    model = fit(y, C=C, weight=WEIGHT if weighted else None)
    error = w[:, None] * (model.predict_proba(X) - one_hot(y))
    error = error[:, 1:] if labels == "two" else error
    slope = X.T @ error + (model.coef_.T / C if np.isfinite(C) else 0.0)
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)
    np.testing.assert_allclose(error.sum(axis=0), 0.0, atol=1e-6)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
def test_subgradient_condition_of_the_absolute_penalty(labels, l1_ratio):
    """|C Xᵀ(p − y)| ≤ l1 where β = 0, and = −l1·sign(β) − l2·β elsewhere."""
    y, C = LABELS[labels], 0.015
    model = fit(y, C=C, l1_ratio=l1_ratio)
    error = model.predict_proba(X) - one_hot(y)
    error = error[:, 1:] if labels == "two" else error
    slope, coef = C * (X.T @ error).T, model.coef_
    assert (coef == 0).any()
    assert (coef != 0).any()
    assert np.all(np.abs(slope[coef == 0]) <= l1_ratio + 1e-7)
    used = coef != 0
    expected = -l1_ratio * np.sign(coef[used]) - (1 - l1_ratio) * coef[used]
    np.testing.assert_allclose(slope[used], expected, atol=1e-7)
    assert model.solution_.solver == "proximal_newton"


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"C": 0.01},
        {"C": np.inf},
        {"fit_intercept": False},
        {"class_weight": "balanced"},
        {"C": 0.05, "l1_ratio": 1.0},
        {"C": 0.05, "l1_ratio": 0.5},
        {"C": 0.05, "l1_ratio": 1.0, "fit_intercept": False},
    ],
    ids=str,
)
def test_the_optimum_of_scikit_learn(labels, parameters):
    y = LABELS[labels]
    peer = {"solver": "saga", "max_iter": 20_000} if "l1_ratio" in parameters else {}
    peer = sklearn.linear_model.LogisticRegression(
        **({"tol": 1e-9, "max_iter": 5000} | parameters | peer)
    ).fit(X, y, WEIGHT)
    model = fit(y, weight=WEIGHT, **parameters)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=2e-6)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    assert model.coef_.shape == peer.coef_.shape
    assert model.n_iter_.shape == peer.n_iter_.shape


def test_the_value_is_the_mean_objective():
    model = fit(C=0.2)
    nll = -model.predict_log_proba(X)[np.arange(N), TWO]
    objective = 0.2 * nll.sum() + (model.coef_**2).sum() / 2
    assert model.solution_.value == pytest.approx(objective / (0.2 * N), rel=1e-12)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_the_old_parameter_penalty(penalty):
    new = {
        "l2": {"C": 0.1},
        "l1": {"C": 0.1, "l1_ratio": 1.0},
        "elasticnet": {"C": 0.1, "l1_ratio": 0.4},
        None: {"C": np.inf},
    }[penalty]
    old = fit(penalty=penalty, C=0.1, l1_ratio=0.4)
    np.testing.assert_array_equal(old.coef_, fit(**new).coef_)


# --- binary: forms -----------------------------------------------------------------------------


def test_at_zero_the_loss_is_ln_2_and_the_gradient_half_the_mean_label():
    signs = 2.0 * TWO - 1
    for loss, y in ((th.losses.Logistic(), TWO), (th.losses.SignLogistic(), signs)):
        value, gradient = risk_of(loss, y).value_and_gradient(np.zeros(5))
        assert value == pytest.approx(np.log(2), rel=1e-15)
        np.testing.assert_allclose(gradient, -(DESIGN.T @ signs) / N / 2, rtol=1e-12)


def test_the_two_forms_of_labels_are_one_model():
    """{0, 1} with −y log μ − (1−y) log(1−μ), and {−1, +1} with log(1 + e^{−y·z})."""
    zero_one, signs = fit(TWO), fit(2 * TWO - 1)
    np.testing.assert_array_equal(zero_one.coef_, signs.coef_)
    assert signs.classes_.tolist() == [-1, 1]
    z = signs.decision_function(X)
    mu = 1 / (1 + np.exp(-z))
    binary = -np.sum(TWO * np.log(mu) + (1 - TWO) * np.log(1 - mu))
    margin = np.sum(np.log1p(np.exp(-(2 * TWO - 1) * z)))
    assert binary == pytest.approx(margin, rel=1e-12)
    assert margin / N + (signs.coef_**2).sum() / 2 / N == pytest.approx(signs.solution_.value)


def test_mean_and_sum_of_the_likelihood_differ_by_the_number_of_rows():
    """C·Σℓ + R = C·N·(mean ℓ + R/(C·N)): the general model with the penalty of the mean."""
    mean = th.LinearModel("logistic", th.penalties.L2(1 / (0.7 * N)), tol=1e-11)
    np.testing.assert_allclose(mean.fit(X, TWO.astype(float)).coef_, fit(C=0.7).coef_[0], rtol=1e-7)


def test_gradient_and_hessian_formulas():
    """∇ = Xᵀ(μ − y)/N, H = XᵀBX/N with B = diag μ(1 − μ)."""
    random = np.random.default_rng(11)
    theta = random.standard_normal(5)
    risk = risk_of(th.losses.Logistic(), TWO)
    mu = 1 / (1 + np.exp(-DESIGN @ theta))
    np.testing.assert_allclose(
        risk.value_and_gradient(theta)[1], DESIGN.T @ (mu - TWO) / N, rtol=1e-10
    )
    hessian = (DESIGN * (mu * (1 - mu))[:, None]).T @ DESIGN / N
    np.testing.assert_allclose(risk.hessian(theta), hessian, rtol=1e-10)


@pytest.mark.parametrize("loss", [th.losses.Logistic(), th.losses.SoftmaxCrossEntropy()])
def test_the_hessian_is_positive_semidefinite_everywhere(loss):
    random = np.random.default_rng(12)
    outputs = 0 if isinstance(loss, th.losses.Logistic) else 2
    risk = risk_of(loss, TWO, outputs=outputs)
    for size in (0.1, 1.0, 5.0):
        theta = size * random.standard_normal(risk.predictor.n_parameters)
        assert np.linalg.eigvalsh(risk.hessian(theta)).min() >= -1e-12


def test_hard_labels_are_those_of_probability_above_one_half():
    model = fit()
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] > 0.5)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


@pytest.mark.parametrize("labels", LABELS)
def test_labels_are_drawn_with_their_probabilities(labels):
    model = fit(LABELS[labels])
    row = np.repeat(X[:1], 40_000, axis=0)
    drawn = model.sample_labels(row, random_state=0)
    shares = [(drawn == label).mean() for label in model.classes_]
    np.testing.assert_allclose(shares, model.predict_proba(X[:1])[0], atol=0.01)
    np.testing.assert_array_equal(drawn, model.sample_labels(row, random_state=0))
    assert set(model.sample_labels(X)) <= set(model.classes_)


def test_logarithms_where_probabilities_vanish():
    model = fit(np.repeat([0, 1], 150), x=np.repeat([[-1.0], [1.0]], 150, axis=0))
    far = np.array([[1e5]])
    log = model.predict_log_proba(far)
    assert log[0, 0] == pytest.approx(-model.decision_function(far)[0])
    assert log[0, 1] == 0.0
    assert model.predict_proba(far)[0].tolist() == [0.0, 1.0]


# --- solvers -----------------------------------------------------------------------------------


def test_newton_is_iteratively_reweighted_least_squares():
    """w ← (XᵀBX)⁻¹XᵀB(Xw + B⁻¹(y − μ)), step by step."""
    w = np.zeros(5)
    for steps in range(1, 5):
        z = DESIGN @ w
        mu = 1 / (1 + np.exp(-z))
        b = mu * (1 - mu)
        working = z + (TWO - mu) / b
        w = np.linalg.solve((DESIGN * b[:, None]).T @ DESIGN, (DESIGN * b[:, None]).T @ working)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = fit(C=np.inf, solver="irls", max_iter=steps, tol=0.0)
        np.testing.assert_allclose(np.r_[model.coef_[0], model.intercept_], w, rtol=1e-8)
    assert model.solution_.solver == "newton"


SOLVERS = [
    "lbfgs",
    "newton-cg",
    "newton-cholesky",
    "liblinear",
    "sag",
    "saga",
    "auto",
    "newton",
    "irls",
    "gradient_descent",
    th.optimizers.LBFGS(),
    th.optimizers.SketchedNewton(rows_per_parameter=5),
    th.optimizers.ProximalNewton(),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("labels", LABELS)
def test_every_solver_reaches_the_optimum(solver, labels):
    x = (X - X.mean(axis=0)) / X.std(axis=0)
    model = fit(LABELS[labels], x=x, solver=solver, tol=1e-7)
    assert model.solution_.outcome.success
    np.testing.assert_allclose(model.coef_, fit(LABELS[labels], x=x).coef_, atol=1e-5)


@pytest.mark.parametrize("labels", LABELS)
def test_stochastic_gradients_with_a_falling_rate(labels):
    """w⁰ = 0, a new order of the rows each epoch, τ_t = τ₀/t."""
    x, y = ((X - X.mean(axis=0)) / X.std(axis=0))[:120], LABELS[labels][:120]
    solver = th.optimizers.StochasticGradient(step=th.optimizers.InverseTime(2.0))

    def stochastic():
        with pytest.warns(ConvergenceWarning, match="stochastic_gradient, 15 iterations"):
            return fit(y, x=x, solver=solver, random_state=0, max_iter=15)

    model, best = stochastic(), fit(y, x=x).solution_.value
    start = np.log(len(model.classes_))
    assert best < model.solution_.value < best + 0.1 * (start - best)
    np.testing.assert_array_equal(model.coef_, stochastic().coef_)


def test_one_stochastic_step_of_one_row():
    """w ← w + τ₀(y − σ(wᵀx))x from w = 0."""
    solver = th.optimizers.StochasticGradient(step=th.optimizers.InverseTime(0.5))
    risk = EmpiricalRisk(
        LinearPredictor(2, fit_intercept=False),
        th.losses.Logistic(),
        th.penalties.NoPenalty(),
        as_source([[2.0, -1.0]], [1.0]),
    )
    found = th.minimise(risk, solver, max_steps=1).theta
    np.testing.assert_allclose(found, 0.5 * (1 - 0.5) * np.array([2.0, -1.0]))


def test_a_solver_that_cannot_is_refused_with_a_way_out():
    with pytest.raises(
        th.errors.CapabilityError, match=r"Newton needs a smooth penalty.*proximal_newton"
    ):
        fit(l1_ratio=1.0, solver="newton")
    with pytest.raises(th.errors.ParameterError, match="Did you mean 'newton'"):
        fit(solver="newtn")


def test_many_rows_take_the_curvature_of_some_and_reach_the_same_optimum():
    random = np.random.default_rng(13)
    n, d = 30_000, 100
    x = random.standard_normal((n, d)) * random.uniform(0.5, 2.0, d) + 0.5
    y = random.random(n) < 1 / (1 + np.exp(-x @ random.standard_normal(d) / 5))
    model = fit(y, x=x)
    assert model.solution_.solver == "sketched_newton"
    assert "Hessian of a sample of rows" in model.solution_.reason
    exact = fit(y, x=x, solver="newton")
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6, atol=1e-9)
    assert_same_bits_for_any_number_of_threads(x, y)
    assert_same_bits_for_any_number_of_threads(x, y, C=0.01, l1_ratio=1.0)


def assert_same_bits_for_any_number_of_threads(x, y, **parameters):
    found = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            found.append(th.LogisticRegression(**parameters).fit(x, y).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_warm_start_goes_on_where_it_was():
    model = th.LogisticRegression(warm_start=True, tol=1e-6, solver="gradient_descent")
    model.set_params(max_iter=10_000).fit(X / X.std(axis=0), TWO)
    assert model.n_iter_[0] > 5
    assert model.fit(X / X.std(axis=0), TWO).n_iter_[0] == 1
    three = th.LogisticRegression(warm_start=True, C=np.inf, reference="b").fit(X, THREE)
    assert three.fit(X, THREE).n_iter_[0] == 1
    three.fit(X[:, :2], THREE)  # another shape starts from the beginning
    assert three.coef_.shape == (3, 2)


# --- several classes ---------------------------------------------------------------------------


def test_two_classes_of_the_softmax_are_the_binary_model():
    """p = softmax(z₁, z₂) = σ(z₂ − z₁); and w₂ = −w₁ where the penalty is shared evenly."""
    risk = risk_of(th.losses.SoftmaxCrossEntropy(), TWO, th.penalties.L2(1 / N), outputs=2)
    theta = th.minimise(risk, th.optimizers.Newton(), tolerance=1e-12).theta
    coef = risk.predictor.split(theta)[0]
    np.testing.assert_allclose(coef[:, 1], -coef[:, 0], atol=1e-8)
    # Two vectors ±β/2 cost half of one β, so C doubles.
    binary = fit(TWO, C=2.0)
    np.testing.assert_allclose(coef[:, 1] - coef[:, 0], binary.coef_[0], rtol=1e-6)


def test_gradient_of_the_cross_entropy():
    """∇_W = (1/N) Σ x_n(α_n − y_n)ᵀ."""
    random = np.random.default_rng(14)
    codes = np.unique(THREE, return_inverse=True)[1]
    risk = risk_of(th.losses.SoftmaxCrossEntropy(), codes, outputs=3)
    theta = random.standard_normal(15)
    alpha = np.exp(DESIGN @ theta.reshape(5, 3))
    alpha /= alpha.sum(axis=1, keepdims=True)
    value, gradient = risk.value_and_gradient(theta)
    assert value == pytest.approx(-np.mean(np.log(alpha[np.arange(N), codes])))
    expected = DESIGN.T @ (alpha - one_hot(codes)) / N
    np.testing.assert_allclose(gradient.reshape(5, 3), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("reference", ["a", "b", "c"])
def test_reference_class_form(reference):
    """p_j = e^{w_j·x}/(1 + Σ e^{w_i·x}), p_k = 1/(1 + …): unpenalised, the softmax itself."""
    model, softmax = fit(THREE, C=np.inf, reference=reference), fit(THREE, C=np.inf)
    at = model.classes_.tolist().index(reference)
    assert not model.coef_[at].any()
    assert model.intercept_[at] == 0
    np.testing.assert_allclose(model.predict_proba(X), softmax.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(model.coef_, softmax.coef_ - softmax.coef_[at], rtol=1e-5, atol=1e-8)
    grown = np.exp(np.delete(X @ model.coef_.T + model.intercept_, at, axis=1))
    rest = 1 + grown.sum(axis=1)
    np.testing.assert_allclose(model.predict_proba(X)[:, at], 1 / rest, rtol=1e-9)
    others = np.delete(model.predict_proba(X), at, axis=1)
    np.testing.assert_allclose(others, grown / rest[:, None], rtol=1e-9)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_penalised_reference_form_counts_the_other_classes_only(l1_ratio):
    model = fit(THREE, C=0.1, reference="a", l1_ratio=l1_ratio)
    error = (model.predict_proba(X) - one_hot(THREE))[:, 1:]
    slope = 0.1 * (X.T @ error).T
    if l1_ratio:
        assert np.abs(slope).max() <= 1 + 1e-6
    else:
        np.testing.assert_allclose(slope, -model.coef_[1:], atol=1e-7)
    assert not model.coef_[0].any()


def test_the_softmax_without_a_free_constant():
    model = fit(THREE, C=np.inf)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-12)
    assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "seed", [7, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (4, 11))]
)
def test_many_columns_and_classes_take_few_steps(seed):
    """One curvature for all classes, or where that is too rough, the whole of some rows."""
    random = np.random.default_rng(seed)
    n, d = 4000, 130
    x = random.random((n, d)) * (random.random(d) < 0.9)
    x[:, 3] *= np.arange(n) % 1000 == 7  # in hardly any row
    y = np.argmax(x @ random.standard_normal((d, 5)) + random.gumbel(size=(n, 5)), axis=1)
    model = fit(y, x=x, tol=1e-6)
    assert model.solution_.solver == "sketched_newton"
    slope = x.T @ (model.predict_proba(x) - one_hot(y)) + model.coef_.T
    assert np.abs(slope).max() / n <= 1e-6
    assert_same_bits_for_any_number_of_threads(x, y)
    # Plain L-BFGS takes several times as many, and one curvature alone more than 100 for seed 7.
    assert model.n_iter_[0] < 40


# --- maximum a posteriori ----------------------------------------------------------------------


def test_gaussian_prior_is_the_squared_penalty_of_logistic_regression():
    """NLL + ‖w‖²/(2s²) is minimised for C = s²; of the mean NLL, with λ = 1/(2Ns²)·2."""
    from scipy.optimize import minimize

    s = 0.4

    def negative_log_posterior(w):
        z = X @ w[:4] + w[4]
        return np.sum(np.logaddexp(0, z) - TWO * z) + w[:4] @ w[:4] / (2 * s**2)

    mode = minimize(negative_log_posterior, np.zeros(5), tol=1e-12, method="BFGS").x
    model = fit(C=s**2)
    np.testing.assert_allclose(np.r_[model.coef_[0], model.intercept_], mode, atol=1e-5)
    mean = th.LinearModel("logistic", th.penalties.L2(2 * 1 / (2 * N * s**2)), tol=1e-10)
    np.testing.assert_allclose(mean.fit(X, TWO.astype(float)).coef_, model.coef_[0], rtol=1e-6)


def test_gaussian_prior_is_the_squared_penalty_of_ridge():
    """λ = σ²/s²: the mode of N(y | Xw, σ²)·N(w | 0, s²)."""
    random = np.random.default_rng(16)
    sigma, s = 0.7, 0.3
    y = SCORE + sigma * random.standard_normal(N)
    precision = X.T @ X / sigma**2 + np.eye(4) / s**2
    mode = np.linalg.solve(precision, X.T @ y / sigma**2)
    model = th.Ridge(sigma**2 / s**2, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, mode, rtol=1e-10)


def test_a_flat_prior_is_maximum_likelihood():
    random = np.random.default_rng(17)
    np.testing.assert_allclose(fit(C=1e12).coef_, fit(C=np.inf).coef_, rtol=1e-6)
    y = SCORE + random.standard_normal(N)
    flat = th.Ridge(1e-12).fit(X, y).coef_
    np.testing.assert_allclose(flat, th.LinearRegression().fit(X, y).coef_, rtol=1e-9)


# --- rows, labels, columns ---------------------------------------------------------------------


def test_rows_in_a_file(tmp_path):
    table = np.column_stack([X, TWO])
    path = tmp_path / "rows.npy"
    np.save(path, table)
    source = th.scan(path, target=4)
    model = fit(None, x=source)
    np.testing.assert_allclose(model.coef_, fit().coef_, rtol=1e-7)
    sparse = th.LogisticRegression(C=0.05, l1_ratio=1.0, tol=1e-9).fit(source)
    np.testing.assert_allclose(sparse.coef_, fit(C=0.05, l1_ratio=1.0).coef_, rtol=1e-5)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("labels", LABELS)
def test_dense_equals_sparse(l1_ratio, labels):
    rows = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = fit(LABELS[labels], x=rows, C=0.1, l1_ratio=l1_ratio)
    sparse = fit(LABELS[labels], x=sp.csr_array(rows), C=0.1, l1_ratio=l1_ratio)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        ("text", np.array(["no", "yes"])),
        ("objects", np.array(["no", "yes"], dtype=object)),
        ("Booleans", np.array([False, True])),
        ("numbers", np.array([-7, 40])),
        ("whole floats", np.array([1.0, 2.0])),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_labels_of_any_kind(kind, labels):
    model = fit(labels[TWO])
    assert model.classes_.tolist() == labels.tolist()
    np.testing.assert_array_equal(model.coef_, fit().coef_)
    np.testing.assert_array_equal(model.predict(X), labels[fit().predict(X)])


def test_class_weights_weigh_rows():
    named = fit(class_weight={0: 2.0, 1: 0.5})
    rows = fit(weight=np.where(TWO == 1, 0.5, 2.0))
    np.testing.assert_allclose(named.coef_, rows.coef_, rtol=1e-9)


def test_units_of_the_columns_do_not_matter_without_a_penalty():
    scale = np.array([1e-6, 1.0, 1e6, 1e3])
    model, plain = fit(x=X * scale, C=np.inf), fit(C=np.inf)
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-4)
    assert th.LogisticRegression().fit(X * scale, TWO).solution_.outcome.success


def test_dependent_and_constant_columns():
    x = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(N), np.zeros(N)])
    for parameters in ({"C": np.inf}, {}, {"C": 0.1, "l1_ratio": 1.0}):
        model = fit(x=x, **parameters)
        assert np.isfinite(model.coef_).all()
        assert model.coef_[0, -1] == 0
    dependent, plain = fit(x=x, C=np.inf), fit(C=np.inf)
    np.testing.assert_allclose(dependent.predict_proba(x), plain.predict_proba(X), atol=1e-6)
    assert abs(fit(x=x).coef_[0, -2]) < 1e-8  # the intercept does it for free


# --- separation --------------------------------------------------------------------------------

PERFECT = (np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1]))
QUASI = (np.array([[0.0], [1.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1, 1]))
QUASI_THREE = (
    np.array([[0.0], [1.0], [1.0], [2.0], [3.0], [4.0], [4.0], [5.0]]),
    np.array([0, 0, 1, 1, 1, 1, 2, 2]),
)
PERFECT_THREE = (np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]] * 3), np.array([0, 1, 2] * 3))


@pytest.mark.parametrize("C", [np.inf, 1e12], ids=str)
@pytest.mark.parametrize(
    ("data", "word"),
    [
        (PERFECT, "perfectly"),
        (PERFECT_THREE, "perfectly"),
        (QUASI, "quasi"),
        (QUASI_THREE, "quasi"),
    ],
    ids=["perfect", "perfect three", "quasi", "quasi three"],
)
def test_separated_classes_are_reported(data, word, C):
    x, y = data
    with pytest.warns(th.errors.SeparationWarning, match=rf"{word}.*separated.*Use a penalty"):
        model = th.LogisticRegression(C=C).fit(x, y)
    assert "with no penalty, or too weak a one" in model.solution_.message
    assert "grow without bound" in model.solution_.message
    assert model.n_iter_[0] < 50
    assert np.isfinite(model.coef_).all()
    np.testing.assert_array_equal(model.predict(x[:1]), y[:1])


def test_a_negligible_absolute_penalty_is_none():
    with pytest.warns(th.errors.SeparationWarning, match="perfectly separated"):
        th.LogisticRegression(C=1e9, l1_ratio=1.0).fit(*PERFECT)


@pytest.mark.parametrize("unit", [1e-3, 1e-5])
def test_a_penalty_that_holds_the_coefficients_is_one_however_small(unit):
    rows = np.random.default_rng(4).standard_normal((400, 4))
    y = (rows.sum(axis=1) > 0).astype(int)
    expected = th.LogisticRegression(C=1.0, tol=1e-8).fit(rows, y)
    model = th.LogisticRegression(C=1 / unit**2, tol=1e-8).fit(rows * unit, y)
    np.testing.assert_allclose(model.coef_ * unit, expected.coef_, rtol=1e-3)
    assert model.solution_.outcome.success


def test_more_columns_than_rows_are_always_separated():
    random = np.random.default_rng(18)
    with pytest.warns(th.errors.SeparationWarning, match="perfectly separated"):
        th.LogisticRegression(penalty=None).fit(random.standard_normal((10, 30)), TWO[:10])


@pytest.mark.parametrize(
    "data",
    [PERFECT, QUASI, QUASI_THREE, PERFECT_THREE],
    ids=["perfect", "quasi", "quasi three", "perfect three"],
)
def test_a_penalty_makes_separated_classes_an_ordinary_problem(data):
    assert th.LogisticRegression().fit(*data).solution_.outcome.success
    th.LogisticRegression(C=1.0, l1_ratio=1.0).fit(*data)


@pytest.mark.parametrize("labels", LABELS)
def test_overlapping_classes_are_not_called_separated(labels):
    random = np.random.default_rng(19)
    strong = (SCORE * 4 + random.logistic(size=N) > 0).astype(int)
    for y in (LABELS[labels], strong):
        model = fit(y, C=np.inf)  # a warning would be an error
        assert model.solution_.outcome.success
        assert "separated" not in model.solution_.message


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C=0 must be a number > 0"),
        ({"C": -1.0}, r"C=-1\.0 must be a number > 0"),
        ({"C": np.nan}, "C=nan must be a number > 0"),
        ({"l1_ratio": 1.5}, r"l1_ratio=1\.5 must be a number from 0 to 1"),
        ({"penalty": "l3"}, "penalty='l3' must be one of"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"reference": "d"}, r"reference='d' is not one of the classes of y: 'a', 'b', 'c'"),
        ({"class_weight": {"d": 1.0}}, "class_weight contains 'd'"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(th.errors.ParameterError, match=message):
        th.LogisticRegression(**parameters).fit(X, THREE)


@pytest.mark.parametrize("C", [1e-12, 1e-300, 1e-320], ids=str)
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_a_tiny_C_leaves_only_the_intercept(C, l1_ratio):
    model = fit(C=C, l1_ratio=l1_ratio)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-6)
    assert model.intercept_[0] == pytest.approx(np.log(TWO.mean() / (1 - TWO.mean())), rel=1e-5)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(N), "one class only"),
        (SCORE, "Unknown label type: continuous"),
        (np.where(np.arange(N) == 7, np.nan, TWO), r"contains NaN \(first at row 7\)"),
        (TWO[:-1], "inconsistent"),
    ],
    ids=["one class", "regression", "missing", "too few"],
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        th.LogisticRegression().fit(X, y)


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match="1 iteration,"):
        model = th.LogisticRegression(max_iter=1).fit(X, TWO)
    assert model.solution_.outcome is th.results.Outcome.STEPS_EXHAUSTED


def test_steps_that_end_within_the_tolerance_asked_for_are_enough():
    """The solver aims for a part of tol, and only tol is owed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = th.LogisticRegression(max_iter=3, tol=1e-2).fit(X, TWO)
    assert model.solution_.gap <= 1e-2
    assert model.solution_.outcome.success


def test_max_time_keeps_the_best_so_far():
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.LogisticRegression().fit(X, TWO)
    assert model.score(X, TWO) > 0.6


def test_no_iteration_is_counted_where_none_is_allowed():
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert th.LogisticRegression(max_iter=0).fit(X, y).n_iter_.tolist() == [0]
