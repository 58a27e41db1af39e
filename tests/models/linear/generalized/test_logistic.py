"""Logistic regression: optimality, forms, maximum a posteriori, rows and labels."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

import thetahat as th
from tests.models.linear.generalized.logistic_data import (
    DESIGN,
    LABELS,
    SCORE,
    TWO,
    WEIGHT,
    N,
    X,
    fit,
    one_hot,
    risk_of,
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
