"""Curves of one's own: relations, certainty, bounds, robust losses."""

import math

import numpy as np
import pytest
from scipy import special, stats
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.nonlinear.decay_data import START, TRUTH, T, Y, decay, fitted


def test_residuals_are_orthogonal_to_the_tangent():
    model = fitted()
    residuals = Y - model.predict(T)
    tangent = th.autodiff.jacobian(lambda theta: decay(T, theta), model.theta_)
    np.testing.assert_allclose(tangent.T @ residuals, 0, atol=1e-8)
    assert model.solution_.value == pytest.approx(residuals @ residuals / 2)


def test_maximum_likelihood_of_noise_and_curve():
    """N(y | f(x; θ̂), σ̂²) with σ̂² = (1/n)Σr² has the largest likelihood."""
    model = fitted()
    residuals = Y - model.predict(T)
    assert model.sigma_mle_**2 == pytest.approx(np.mean(residuals**2), rel=1e-12)
    assert model.sigma_**2 == pytest.approx(residuals @ residuals / (len(Y) - 3), rel=1e-12)

    def likelihood(theta, sigma):
        return stats.norm.logpdf(Y, decay(T, theta), sigma).sum()

    best = likelihood(model.theta_, model.sigma_mle_)
    assert model.summary().log_likelihood == pytest.approx(best)
    for shift in 0.01 * np.vstack([np.eye(4), -np.eye(4)]):
        assert likelihood(model.theta_ + shift[:3], model.sigma_mle_ * (1 + shift[3])) < best


def test_linear_function_is_linear_regression():
    random = np.random.default_rng(1101)
    X = random.standard_normal((60, 3))
    y = X @ [1.0, -2.0, 0.5] + 4.0 + random.standard_normal(60)
    weight = random.uniform(0.5, 2.0, 60)
    curve = th.NonlinearRegression().fit(X, y, weight)
    line = th.LinearRegression().fit(X, y, weight)
    np.testing.assert_allclose(curve.theta_, [*line.coef_, line.intercept_], rtol=1e-10)
    for kind in ("confidence", "prediction"):
        for weights in ("frequency", "precision"):
            options = {"kind": kind, "weights": weights, "level": 0.9}
            ours = curve.predict_interval(X, **options)
            np.testing.assert_allclose(ours, line.predict_interval(X, **options), rtol=1e-8)
    ours, theirs = curve.summary(weights="precision"), line.summary(weights="precision")
    assert ours["b2"].standard_error == pytest.approx(theirs["x1"].standard_error)
    assert ours["b2"].low == pytest.approx(theirs["x1"].low)
    assert ours["b2"].p == pytest.approx(theirs["x1"].p)
    assert ours.log_likelihood == pytest.approx(theirs.log_likelihood)


def test_all_methods_agree():
    expected = fitted().theta_
    for method in ("gauss_newton", "levenberg", "levenberg_marquardt"):
        model = th.NonlinearRegression(decay, [4.0, 1.0, 0.5], method=method).fit(T, Y)
        assert model.solution_.gap < 1e-6
        assert model.solution_.solver == method
        np.testing.assert_allclose(model.theta_, expected, rtol=1e-7)
    own = fitted(method=th.optimizers.LevenbergMarquardt(tau0=10.0))
    np.testing.assert_allclose(own.theta_, expected, rtol=1e-7)


def test_a_jacobian_of_ones_own_is_checked_and_used():
    def jacobian(X, theta):
        curve = np.exp(-theta[1] * X[:, 0])
        return np.stack([curve, -theta[0] * X[:, 0] * curve, np.ones(len(X))], axis=1)

    model = fitted(jacobian=jacobian)
    np.testing.assert_allclose(model.theta_, fitted().theta_, rtol=1e-9)
    assert "your Jacobian" in model.solution_.reason

    def wrong(X, theta):
        columns = jacobian(X, theta)
        columns[7, 1] *= -1
        return columns

    with pytest.raises(
        th.errors.ParameterError, match=r"derivative by b2 in row 7 .* 0\.3501\d+.* -0\.3501\d+"
    ):
        fitted(jacobian=wrong)
    with pytest.raises(
        th.errors.ParameterError, match=r"returned shape \(40, 2\).*\(40, 3\) is needed"
    ):
        fitted(jacobian=lambda X, theta: jacobian(X, theta)[:, :2])


def test_what_autodiff_cannot_follow_is_differenced_and_said():
    def bessel(X, theta):
        return theta[0] * special.j0(theta[1] * X[:, 0])

    y = bessel(T, np.array([2.0, 1.5]))
    model = th.NonlinearRegression(bessel, [1.0, 1.2]).fit(T, y)
    np.testing.assert_allclose(model.theta_, [2.0, 1.5], rtol=1e-8)
    assert "central differences: automatic differentiation failed" in model.solution_.reason
    assert "automatic differentiation" in fitted().solution_.reason
    # 0·log 0: the derivative's formula fails at x = 0, and the power itself does not.
    power = th.NonlinearRegression(lambda X, b: b[0] * X[:, 0] ** b[1], [1.0, 1.0])
    power.fit(T, 2 * T[:, 0] ** 1.5)
    np.testing.assert_allclose(power.theta_, [2.0, 1.5], rtol=1e-8)


@pytest.mark.filterwarnings("ignore:NonlinearRegression")  # some fit worse than a constant
def test_derivatives_by_rows_are_only_taken_where_they_hold():
    """θ as one vector, sums over rows, branches: forward mode, and the same answer."""
    random = np.random.default_rng(1102)
    X = random.standard_normal((30, 2))
    y = 1 + X @ [0.7, 0.2] + 0.1 * random.standard_normal(30)
    models = {
        "one by one": (lambda X, b: b[0] * X[:, 0] + np.exp(b[1] * X[:, 1]), True),
        "vector": (lambda X, b: np.exp(0.1 * (X @ b)), False),
        "times two": (lambda X, b: np.exp(0.1 * X[:, 0] * (2 * b)[1]) + b[0], False),
        "over rows": (lambda X, b: b[0] * X[:, 0] + np.mean(np.exp(b[1] * X[:, 1])), False),
        "branch": (lambda X, b: (b[0] if b[0] > 0 else -b[0]) * X[:, 0] + b[1], False),
    }
    for name, (model, by_rows) in models.items():
        curve = th.NonlinearRegression(model, [0.5, 0.3]).fit(X, y)
        assert (curve._curve.derivative == "autodiff by rows") is by_rows, name
        differences = th.NonlinearRegression(model, [0.5, 0.3], jacobian="finite-differences")
        np.testing.assert_allclose(curve.theta_, differences.fit(X, y).theta_, rtol=1e-5)


def test_interruption_keeps_the_best_so_far():
    calls = []

    def interrupted(X, theta):
        calls.append(1)
        if len(calls) > 300:
            raise KeyboardInterrupt
        return decay(X, theta)

    model = th.NonlinearRegression(interrupted, START, tol=0.0, jacobian="finite-differences")
    with pytest.raises(KeyboardInterrupt):
        model.set_params(start=[50.0, 9.0, 9.0]).fit(T, Y)
    assert model.theta_.shape == (3,)
    with pytest.raises(th.errors.CapabilityError, match="interrupted"):
        model.summary()


def test_bands_hold_what_they_promise():
    """Over many samples, 90 % of the intervals hold the truth, or a new y."""
    random = np.random.default_rng(1103)
    model = th.NonlinearRegression(decay, TRUTH)
    new = np.array([[0.5], [2.5]])
    mean = np.zeros(2)
    fresh, inside = np.zeros(2), np.zeros(3)
    rounds = 120
    for _ in range(rounds):
        model.fit(T, decay(T, TRUTH) + 0.3 * random.standard_normal(len(T)))
        low, high = model.predict_interval(new, level=0.9, kind="confidence")
        mean += (low < decay(new, TRUTH)) & (decay(new, TRUTH) < high)
        low, high = model.predict_interval(new, level=0.9)
        y = decay(new, TRUTH) + 0.3 * random.standard_normal(2)
        fresh += (low < y) & (y < high)
        lines = model.summary(level=0.9).coefficients
        inside += [line.low < truth < line.high for line, truth in zip(lines, TRUTH, strict=True)]
    for count in (*mean, *fresh, *inside):
        assert 0.82 < count / rounds < 0.97


def test_weights_count_rows_and_zero_leaves_out():
    random = np.random.default_rng(1104)
    weight = random.integers(0, 3, len(T)).astype(float)
    rows = np.repeat(np.arange(len(T)), weight.astype(int))
    model = th.NonlinearRegression(decay, START)
    weighted = model.fit(T, Y, weight)
    theta, covariance, sigma = weighted.theta_, weighted.covariance_, weighted.sigma_
    repeated = model.fit(T[rows], Y[rows])
    np.testing.assert_allclose(theta, repeated.theta_, rtol=1e-8)
    np.testing.assert_allclose(covariance, repeated.covariance_, rtol=1e-7)
    assert sigma == pytest.approx(repeated.sigma_)


def test_bounds_by_pair_and_by_name():
    free = fitted()
    assert free.theta_[2] > 0.9
    pair = fitted(bounds=([-np.inf, 0.0, -1.0], [np.inf, np.inf, 0.5]))
    named = th.NonlinearRegression(
        decay, {"height": 1.0, "rate": 1.0, "floor": 0.0}, bounds={"floor": (-1.0, 0.5)}
    ).fit(T, Y)
    np.testing.assert_allclose(pair.theta_, named.theta_, rtol=1e-9)
    assert pair.theta_[2] == 0.5
    held = th.NonlinearRegression(lambda X, b: b[0] * np.exp(-b[1] * X[:, 0]) + 0.5, [1.0, 1.0])
    held.fit(T, Y)
    np.testing.assert_allclose(pair.theta_[:2], held.theta_, rtol=1e-8)
    np.testing.assert_allclose(pair.standard_errors_[:2], held.standard_errors_, rtol=1e-6)
    assert math.isnan(pair.standard_errors_[2])
    assert "at a bound, and treated as known: floor" in str(named.summary())


def test_summary_is_a_table_with_names():
    model = th.NonlinearRegression(decay, {"height": 1.0, "rate": 1.0, "floor": 0.0}).fit(T, Y)
    text = str(model.summary())
    assert text.splitlines()[0].split()[:2] == ["estimate", "std."]
    assert {line.split()[0] for line in text.splitlines()[2:5]} == {"height", "rate", "floor"}
    assert "maximum likelihood" in text
    assert "<td>rate</td>" in model.summary()._repr_html_()
    assert repr(model.summary()) == text


def test_parameters_that_rows_do_not_determine():
    """Only b1·b2 shows: both are free to trade, their product is not."""

    def product(X, theta):
        return theta[0] * theta[1] * X[:, 0] + theta[2]

    model = th.NonlinearRegression(product, [1.0, 1.0, 0.0])
    with pytest.warns(
        th.errors.IllConditionedWarning, match="do not determine b1, b2 .* rank 2 of 3"
    ):
        model.fit(T, 6 * T[:, 0] + 1 + 0.1 * (Y - 1))
    assert np.isinf(model.standard_errors_[:2]).all()
    assert np.isfinite(model.standard_errors_[2])
    assert "not determined by these rows: b1, b2" in str(model.summary())
    line = th.LinearRegression().fit(T, 6 * T[:, 0] + 1 + 0.1 * (Y - 1))
    low, high = model.predict_interval(T, kind="confidence")
    # as wide as the band of the two parameters that do exist, but for one degree of freedom less
    expected = line.predict_interval(T, kind="confidence")
    np.testing.assert_allclose((high - low) / (expected[1] - expected[0]), 1.014, rtol=2e-3)


@pytest.mark.parametrize(
    "loss",
    [
        th.losses.Huber(delta=0.1),
        th.losses.Cauchy(scale=0.2),
        th.losses.Tukey(scale=0.5),
        th.loss(lambda y, z: np.log(np.cosh((z - y) / 0.1)), name="log_cosh"),
    ],
    ids=lambda loss: loss.name,
)
def test_robust_losses_forget_outliers(loss):
    y = Y.copy()
    y[::8] += 15.0
    plain = th.NonlinearRegression(decay, START).fit(T, y)
    robust = th.NonlinearRegression(decay, TRUTH, loss=loss).fit(T, y)
    assert np.abs(robust.theta_ - TRUTH).max() < 0.35 < np.abs(plain.theta_ - TRUTH).max()
    # optimality in the loss itself
    tangent = th.autodiff.jacobian(lambda theta: decay(T, theta), robust.theta_)
    pull = loss.gradient(y, decay(T, robust.theta_))
    np.testing.assert_allclose(tangent.T @ pull, 0, atol=1e-6)
    assert robust.solution_.value == pytest.approx(loss.value(y, decay(T, robust.theta_)).sum())
    assert robust.sigma_ < 0.3
    assert np.all(robust.standard_errors_ < plain.standard_errors_)


def test_squared_loss_through_the_sandwich_is_near_the_classical():
    wide = fitted(loss=th.losses.Huber(delta=1e6))
    np.testing.assert_allclose(wide.theta_, fitted().theta_, rtol=1e-7)
    np.testing.assert_allclose(wide.standard_errors_, fitted().standard_errors_, rtol=0.5)


def test_robust_losses_claim_no_likelihood():
    summary = fitted(loss=th.losses.Huber(delta=0.1)).summary()
    assert np.isnan([summary.log_likelihood, summary.aic, summary.bic]).all()
    assert "likelihood" not in str(summary)
    assert "log-likelihood" in str(fitted().summary())
    assert np.isfinite(fitted().summary().aic)


@pytest.mark.parametrize("weights", ["frequency", "precision"])
def test_the_sandwich_is_that_of_an_m_estimator(weights):
    """Cov = H⁻¹MH⁻¹·n/(n − p), with M = Σ wψ²ggᵀ of counts, or Σ w²ψ²ggᵀ of precisions."""
    random = np.random.default_rng(8)
    X = random.standard_normal((41, 2))
    weight = random.integers(1, 4, 41).astype(float)
    y = X @ [1.0, -2.0] + 3.0 + random.standard_t(3, 41)
    loss = th.losses.Huber(delta=1.0)
    model = th.NonlinearRegression(loss=loss).fit(X, y, weight)
    design, residual = np.column_stack([X, np.ones(41)]), y - model.predict(X)
    power = 1 if weights == "frequency" else 2
    n = weight.sum() if weights == "frequency" else 41
    bread = np.linalg.inv(design.T @ (design * (weight * (abs(residual) <= 1))[:, None]))
    middle = design.T @ (design * (weight**power * np.clip(residual, -1, 1) ** 2)[:, None])
    expected = bread @ middle @ bread * n / (n - 3)
    summary = model.summary(weights=weights)
    errors = [line.standard_error for line in summary.coefficients]
    np.testing.assert_allclose(errors, np.sqrt(np.diagonal(expected)), rtol=1e-6)
    if weights == "frequency":
        median = np.median(np.repeat(abs(residual), weight.astype(int)))
    else:
        median = np.median(np.sqrt(weight) * abs(residual))
    assert summary.sigma == pytest.approx(1.482602218505602 * median * np.sqrt(n / (n - 3)))
    scaled = th.NonlinearRegression(loss=loss).fit(X, y, 100 * weight).summary(weights=weights)
    ratio = scaled.coefficients[0].standard_error / errors[0]
    # Precisions are relative, counts are not.
    assert ratio == pytest.approx(1.0 if weights == "precision" else 0.1, rel=0.03)


def test_restarts_find_the_better_minimum():
    x = np.linspace(0.0, 10.0, 80)[:, np.newaxis]
    y = np.sin(2.3 * x[:, 0])
    model = th.NonlinearRegression(lambda X, b: np.sin(b[0] * X[:, 0]), [0.5], random_state=0)
    with pytest.warns(ConvergenceWarning, match="fits worse than the constant"):
        model.fit(x, y)
    assert model.solution_.value > 1
    model.set_params(restarts=12).fit(x, y)
    np.testing.assert_allclose(np.abs(model.theta_), 2.3, rtol=1e-8)
    boxed = th.NonlinearRegression(
        lambda X, b: np.sin(b[0] * X[:, 0]), [0.5], bounds=(0, 5), restarts=12, random_state=0
    ).fit(x, y)
    np.testing.assert_allclose(boxed.theta_, 2.3, rtol=1e-8)


def test_float32_in_float32_out():
    model = th.NonlinearRegression(decay, START).fit(T.astype(np.float32), Y.astype(np.float32))
    assert model.predict(T.astype(np.float32)).dtype == np.float32
    assert model.predict_interval(T.astype(np.float32))[0].dtype == np.float32
