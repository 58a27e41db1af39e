"""Known noise, unknown noise, noise in X: generalised, reweighted and total least squares."""

import numpy as np
import pytest
import statsmodels.api

import thetahat as th
from tests.repeats import repeated

RANDOM = np.random.default_rng(0)
N = 60
X = np.array([0, 3, -1]) + RANDOM.standard_normal((N, 3))
SIGMA = RANDOM.uniform(0.1, 3.0, N)
Y = X @ [1.0, -2.0, 0.5] + 2.0 + SIGMA * RANDOM.standard_normal(N)
ROOT = RANDOM.standard_normal((N, N)) / 8 + np.eye(N)
COVARIANCE = ROOT @ ROOT.T


def test_weighted_least_squares():
    """ols.wls: (XᵀS⁻¹X)⁻¹XᵀS⁻¹y is ordinary least squares on S^{-1/2}X, S^{-1/2}y."""
    model = th.GeneralizedLeastSquares().fit(X, Y, noise=SIGMA)
    design = np.column_stack([np.ones(N), X])
    expected = np.linalg.lstsq(design / SIGMA[:, None], Y / SIGMA)[0]
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_], expected, rtol=1e-9)
    peer = statsmodels.api.WLS(Y, design, weights=1 / SIGMA**2).fit()
    errors = [c.standard_error for c in model.summary().coefficients]
    np.testing.assert_allclose(errors, peer.bse, rtol=1e-9)
    assert model.summary().aic == pytest.approx(peer.aic)


@pytest.mark.parametrize("intercept", [True, False])
def test_generalized_least_squares(intercept):
    design = statsmodels.api.add_constant(X) if intercept else X
    peer = statsmodels.api.GLS(Y, design, sigma=COVARIANCE).fit()
    model = th.GeneralizedLeastSquares(fit_intercept=intercept).fit(X, Y, noise=COVARIANCE)
    got = np.r_[model.intercept_, model.coef_] if intercept else model.coef_
    np.testing.assert_allclose(got, peer.params, rtol=1e-9)
    errors = [c.standard_error for c in model.summary().coefficients]
    np.testing.assert_allclose(errors, peer.bse, rtol=1e-8)
    assert model.summary().log_likelihood == pytest.approx(peer.llf)


def test_diagonal_covariance_is_weights():
    full = th.GeneralizedLeastSquares().fit(X, Y, noise=np.diag(SIGMA**2))
    diagonal = th.GeneralizedLeastSquares().fit(X, Y, noise=SIGMA)
    np.testing.assert_allclose(full.coef_, diagonal.coef_, rtol=1e-9)
    low, high = full.predict_interval(X[:3])
    expected = diagonal.predict_interval(X[:3])
    np.testing.assert_allclose([low, high], expected, rtol=1e-8)


def test_equal_noise_is_ordinary():
    ordinary = th.LinearRegression().fit(X, Y)
    for noise in (None, np.full(N, 7.0), 3.0 * np.eye(N)):
        model = th.GeneralizedLeastSquares().fit(X, Y, noise=noise)
        np.testing.assert_allclose(model.coef_, ordinary.coef_, rtol=1e-10)
        assert model.summary().bic == pytest.approx(ordinary.summary().bic)


def test_bad_noise():
    fit = th.GeneralizedLeastSquares().fit
    with pytest.raises(th.errors.DataError, match=r"noise\[3\] = 0"):
        fit(X, Y, noise=np.where(np.arange(N) == 3, 0.0, 1.0))
    with pytest.raises(th.errors.DataError, match=r"shape \(5,\)"):
        fit(X, Y, noise=np.ones(5))
    with pytest.raises(th.errors.DataError, match="not positive definite"):
        fit(X, Y, noise=np.ones((N, N)))
    with pytest.raises(th.errors.DataError, match="not symmetric"):
        fit(X, Y, noise=ROOT)
    with pytest.raises(th.errors.DataError, match="cannot be combined"):
        fit(X, Y, np.ones(N), noise=COVARIANCE)


def test_unknown_noise_levels():
    """ols.irls-noise: the first rounds alternate the fit and σᵢ = |rᵢ|, floored."""
    model = th.NoiseReweightedRegression(rounds=2, floor=0.05).fit(X, Y)
    fit = th.LinearRegression().fit(X, Y)
    floor = 0.05 * np.sqrt(((Y - fit.predict(X)) ** 2).mean())
    for _ in range(2):
        sigma = np.maximum(np.abs(Y - fit.predict(X)), floor)
        fit = th.LinearRegression().fit(X, Y, 1 / sigma**2)
    np.testing.assert_allclose(model.coef_, fit.coef_, rtol=1e-9)
    assert model.noise_floor_ == pytest.approx(floor)


@repeated(50, 200)
def test_reweighting_helps_where_noise_is_unequal(repeats):
    random, errors = np.random.default_rng(1), []
    for _ in range(repeats):
        x = random.standard_normal((80, 2))
        sigma = np.where(random.random(80) < 0.2, 10.0, 0.2)
        y = x @ [1.0, 2.0] + sigma * random.standard_normal(80)
        errors.append(
            [
                np.linalg.norm(model.fit(x, y).coef_ - [1.0, 2.0])
                for model in (th.NoiseReweightedRegression(), th.LinearRegression())
            ]
        )
    reweighted, ordinary = np.mean(errors, axis=0)
    assert reweighted < 0.5 * ordinary


def test_without_a_floor_the_method_collapses():
    """Iterated far with a tiny floor, it interpolates d + 1 points: why floor and rounds exist."""
    model = th.NoiseReweightedRegression(rounds=200, floor=1e-12).fit(X, Y)
    residual = np.abs(Y - model.predict(X))
    assert np.sort(residual)[3] < 1e-9 < np.sort(residual)[5]


def test_perfect_data_need_no_reweighting():
    exact = X @ [1.0, 2.0, 3.0]
    np.testing.assert_allclose(
        th.NoiseReweightedRegression().fit(X, exact).coef_, [1, 2, 3], rtol=1e-9
    )


def test_total_least_squares():
    """ols.tls: (X + E)β = y + R exactly, ‖[E R]‖² = λ_min², perpendicular corrections."""
    random = np.random.default_rng(1)
    noisy = X + 0.3 * random.standard_normal(X.shape)
    model = th.TotalLeastSquares().fit(noisy, Y)
    moved_x, moved_y = model.correct(noisy, Y)
    np.testing.assert_allclose(model.predict(moved_x), moved_y, atol=1e-9)
    squared = ((moved_x - noisy) ** 2).sum() + ((moved_y - Y) ** 2).sum()
    assert squared == pytest.approx(model.singular_values_[-1] ** 2)
    assert squared == pytest.approx(model.solution_.value)
    joint = np.column_stack([noisy, Y])
    expected = np.linalg.svd(joint - joint.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, expected, rtol=1e-9)
    normal = np.r_[model.coef_, -1.0]
    corrections = np.column_stack([moved_x - noisy, moved_y - Y])
    shadow = np.outer(corrections @ normal / (normal @ normal), normal)
    np.testing.assert_allclose(corrections, shadow, atol=1e-9)


def test_total_least_squares_removes_the_attenuation():
    random = np.random.default_rng(2)
    truth = random.standard_normal((20_000, 1))
    x, y = truth + random.standard_normal(truth.shape), truth[:, 0] * 2.0
    y = y + random.standard_normal(20_000)
    assert th.LinearRegression().fit(x, y).coef_[0] == pytest.approx(1.0, abs=0.05)
    assert th.TotalLeastSquares().fit(x, y).coef_[0] == pytest.approx(2.0, abs=0.1)


def test_total_least_squares_of_several_targets():
    targets = np.column_stack([Y, X[:, 0] - Y])
    model = th.TotalLeastSquares().fit(X, targets)
    moved_x, moved_y = model.correct(X, targets)
    np.testing.assert_allclose(model.predict(moved_x), moved_y, atol=1e-9)


def test_total_least_squares_of_dependent_columns():
    """The same fit as without the copies, shared out evenly; constant columns get nothing."""
    dependent = np.column_stack([X, X[:, 0], np.full(N, 3.0)])
    model, plain = (th.TotalLeastSquares().fit(x, Y) for x in (dependent, X))
    assert model.coef_[0] == pytest.approx(model.coef_[3])
    assert model.coef_[4] == pytest.approx(0.0, abs=1e-10)
    # A column twice is a column of √2 times the length, with errors of that length too.
    root = th.TotalLeastSquares().fit(X * [2**0.5, 1, 1], Y)
    np.testing.assert_allclose(model.predict(dependent), root.predict(X * [2**0.5, 1, 1]))
    assert not np.allclose(model.predict(dependent), plain.predict(X))
    flat = th.TotalLeastSquares().fit(np.zeros((10, 1)), np.arange(10.0))
    assert flat.coef_[0] == 0.0


@pytest.mark.parametrize("mean", [30.0, 100.0])
def test_anscombe_moments(mean):
    """Exact Poisson sums: the variance correction is 1/(16μ²), not of fourth order."""
    from scipy.stats import poisson

    counts = np.arange(0, 2000.0)
    p = poisson.pmf(counts, mean)
    z = th.AnscombeTransform().fit(counts[:, None]).transform(counts[:, None])[:, 0]
    average = (p * z).sum()
    variance = (p * (z - average) ** 2).sum()
    assert variance - 1 == pytest.approx({30.0: 7.68e-5, 100.0: 6.43e-6}[mean], rel=2e-3)
    assert variance - 1 == pytest.approx(1 / (16 * mean**2), rel=0.15)
    assert average == pytest.approx(2 * np.sqrt(mean + 0.375) - 1 / (4 * np.sqrt(mean)), abs=3e-4)
    if mean == 100.0:
        assert average == pytest.approx(20.012496, abs=5e-7)
        assert 2 * np.sqrt(100.375) - 0.025 == pytest.approx(20.012465, abs=5e-7)


def test_anscombe_inverts_and_amplifies():
    counts = np.arange(0.0, 50.0)[:, None]
    plain = th.AnscombeTransform(inverse="algebraic").fit(counts)
    np.testing.assert_allclose(plain.inverse_transform(plain.transform(counts)), counts, atol=1e-12)
    amplified = th.AnscombeTransform(gain=3.0, offset=10.0, inverse="algebraic").fit(
        3 * counts + 10
    )
    np.testing.assert_allclose(amplified.transform(3 * counts + 10), plain.transform(counts))
    np.testing.assert_allclose(
        amplified.inverse_transform(amplified.transform(3 * counts + 10)), 3 * counts + 10
    )
    with pytest.raises(th.errors.DataError, match="column 0, row 1 holds -4"):
        th.AnscombeTransform().fit([[1.0], [-4.0]])


def test_anscombe_then_least_squares():
    from sklearn.compose import TransformedTargetRegressor

    random = np.random.default_rng(0)
    x = random.uniform(1, 5, (3000, 1))
    y = random.poisson((1.0 + x[:, 0]) ** 2).astype(float)
    model = TransformedTargetRegressor(
        th.LinearRegression(), transformer=th.AnscombeTransform(), check_inverse=False
    )
    grid = np.array([[1.5], [3.0], [4.5]])
    np.testing.assert_allclose(model.fit(x, y).predict(grid), (1.0 + grid[:, 0]) ** 2, rtol=0.05)


def smallest_direction(joint):
    """The last eigenvector of the centred Gram matrix, by inverse iteration with 120 digits."""
    from decimal import Decimal, localcontext

    with localcontext() as context:
        context.prec = 120
        columns = [[Decimal(float(value)) for value in column] for column in joint.T]
        columns = [[value - sum(c) / len(c) for value in c] for c in columns]
        gram = [[sum(map(Decimal.__mul__, a, b)) for b in columns] for a in columns]
        vector = [Decimal(1)] * len(columns)
        for _ in range(300):
            vector = solved([[*row, value] for row, value in zip(gram, vector, strict=True)])
            largest = max(map(abs, vector))
            vector = [value / largest for value in vector]
        return [float(-value / vector[-1]) for value in vector[:-1]]


def solved(rows):
    """Gauss's elimination of an augmented matrix; a Gram matrix needs no pivots."""
    for k, pivot in enumerate(rows):
        for row in rows[:k] + rows[k + 1 :]:
            factor = row[k] / pivot[k]
            row[:] = [a - factor * b for a, b in zip(row, pivot, strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


@pytest.mark.parametrize(("x", "y"), [(1e-10, 1.0), (1e20, 1.0), (1e-20, 1.0), (1.0, 1e12)])
def test_total_least_squares_in_any_units(x, y):
    model = th.TotalLeastSquares().fit(X * x, Y * y)
    expected = smallest_direction(np.column_stack([X * x, Y * y]))
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8)


@pytest.mark.parametrize("scale", [1.0, 1e-10, 1e10])
def test_vertical_planes_are_no_total_least_squares(scale):
    rows, target = np.array([[-1.0], [1.0], [0.0], [0.0]]), np.array([0.0, 0.0, -3.0, 3.0])
    with pytest.raises(th.errors.DataError, match="hyperplane is vertical"):
        th.TotalLeastSquares().fit(rows * scale, target * scale)
    with pytest.raises(th.errors.DataError, match="hyperplane is vertical"):
        th.TotalLeastSquares().fit(rows, np.column_stack([target, rows[:, 0] + 2.0]))
    # A direction that is longer than the correction stays, without a part in β.
    level = th.TotalLeastSquares().fit(rows * 10.0, target)
    assert level.coef_[0] == 0.0
    assert level.solution_.value == pytest.approx(18.0)
