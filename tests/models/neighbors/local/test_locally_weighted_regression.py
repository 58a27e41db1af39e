"""Local least squares: the formula, exact polynomials, leave-one-out, standard errors, low rank."""

import numpy as np
import pytest

import thetahat as th

LWR = th.LocallyWeightedRegression


def table(n=200, d=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((n, d))
    y = np.sin(5 * X[:, 0]) + X[:, -1] ** 2 + 0.1 * random.standard_normal(n)
    return X, y


X, Y = table()
NEW = table(30, seed=1)[0]


def weights_at(x, rows, h, kernel="gaussian"):
    distances = th.distances.Euclidean().pairwise([x], rows)[0]
    return th.smoothing.named(kernel).value(distances / h)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "tricube", "uniform"])
def test_it_is_the_formula_of_the_course(alpha, kernel):
    """β̂(x*) = (XᵀWX + λI)⁻¹XᵀWy for any features, here x and a column of ones."""
    rows, new = (np.column_stack([np.ones(len(x)), x]) for x in (X, NEW))
    model = LWR(bandwidth=0.5, kernel=kernel, alpha=alpha, fit_intercept=False, tolerance=0.0)
    found = model.fit(rows, Y).predict(new)
    for x, value in zip(new, found, strict=True):
        w = weights_at(x, rows, 0.5, kernel)
        beta = np.linalg.solve((rows.T * w) @ rows + alpha * np.eye(3), (rows.T * w) @ Y)
        assert value == pytest.approx(x @ beta, rel=1e-8)


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_the_intercept_is_not_penalised(degree, alpha):
    from sklearn.preprocessing import PolynomialFeatures

    found = LWR(0.4, degree=degree, alpha=alpha, tolerance=0.0).fit(X, Y).predict(NEW)
    for x, value in zip(NEW, found, strict=True):
        root = np.sqrt(weights_at(x, X, 0.4))
        phi = PolynomialFeatures(degree).fit_transform(X - x)
        penalty = np.sqrt(alpha) * np.eye(phi.shape[1])[1:]
        design = np.vstack([root[:, None] * phi, penalty])
        target = np.concatenate([root * Y, np.zeros(len(penalty))])
        expected = np.linalg.lstsq(design, target, rcond=None)[0][0]
        assert value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("kernel", ["gaussian", th.smoothing.Nearest(60, "tricube")])
def test_polynomials_are_reproduced(degree, kernel):
    """A local polynomial has no bias for polynomials up to its degree, also beyond the data."""
    coefficients = np.arange(1.0, degree + 2)
    rows, new = table(150, 1)[0], np.linspace(-0.3, 1.3, 20)[:, None]
    y = np.polynomial.polynomial.polyval(rows[:, 0], coefficients)
    model = LWR(0.3, kernel, degree).fit(rows, y)
    expected = np.polynomial.polynomial.polyval(new[:, 0], coefficients)
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-6)


def test_a_constant_is_the_kernel_average():
    for kernel in ("gaussian", "tricube", th.smoothing.Nearest(9)):
        local = LWR(0.2, kernel, 0).fit(X, Y).predict(NEW)
        average = th.NadarayaWatson(0.2, kernel).fit(X, Y).predict(NEW)
        np.testing.assert_allclose(local, average, rtol=1e-12)


def test_less_bias_at_the_ends_than_a_constant():
    rows = np.linspace(0, 1, 200)[:, None]
    end, y = [[0.0], [1.0]], 3 * rows[:, 0]
    constant = np.abs(th.NadarayaWatson(0.1).fit(rows, y).predict(end) - [0.0, 3.0])
    line = np.abs(LWR(bandwidth=0.1).fit(rows, y).predict(end) - [0.0, 3.0])
    assert constant.min() > 0.1
    assert line.max() < 1e-10


@pytest.mark.parametrize(
    ("degree", "fit_intercept"), [(0, True), (1, True), (1, False), (2, True), (2, False)]
)
@pytest.mark.parametrize("alpha", [0.0, 0.2])
def test_leave_one_out_in_closed_form(degree, alpha, fit_intercept):
    rows, y = table(60)
    make = lambda: LWR(0.4, degree=degree, alpha=alpha, fit_intercept=fit_intercept, tolerance=0.0)  # noqa: E731
    expected = [
        make().fit(np.delete(rows, i, axis=0), np.delete(y, i)).predict(rows[i : i + 1])[0]
        for i in range(60)
    ]
    np.testing.assert_allclose(make().fit(rows, y).leave_one_out(), expected, rtol=1e-7)


def test_leave_one_out_chooses_the_best_bandwidth():
    rows, y = table(100, 1)
    model = LWR(bandwidth="leave_one_out").fit(rows, y)

    def error(h):
        return np.mean((LWR(bandwidth=h).fit(rows, y).leave_one_out() - y) ** 2)

    others = [error(model.bandwidth_ * factor) for factor in (0.25, 0.5, 0.8, 1.25, 2.0, 4.0)]
    assert error(model.bandwidth_) <= min(others)


def test_standard_errors_are_those_of_repeated_samples():
    """The deviation of predictions over new noise, and the noise itself."""
    random = np.random.default_rng(0)
    rows, new = table(100, 1)[0], np.array([[0.05], [0.5], [0.9]])
    model = LWR(bandwidth=0.1)
    truth = np.sin(3 * rows[:, 0])
    found, said = [], []
    for _ in range(200):
        y = truth + 0.2 * random.standard_normal(100)
        value, std = model.fit(rows, y).predict(new, return_std=True)
        found.append(value)
        said.append(std)
    np.testing.assert_allclose(np.mean(said, axis=0), np.std(found, axis=0), rtol=0.15)


def test_standard_errors_with_weights_are_those_of_repetition():
    weight = np.random.default_rng(2).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    for kernel in ("gaussian", th.smoothing.Nearest(40, "tricube")):
        weighted = LWR(kernel=kernel, alpha=0.1).fit(X, Y, sample_weight=weight)
        repeated = LWR(kernel=kernel, alpha=0.1).fit(X[rows], Y[rows])
        for one, other in zip(
            weighted.predict(NEW, return_std=True), repeated.predict(NEW, return_std=True),
            strict=True,
        ):  # fmt: skip
            np.testing.assert_allclose(one, other, rtol=1e-7)


def test_the_global_fit_is_the_limit_of_wide_kernels():
    targets = np.column_stack([Y, -Y])
    model = LWR(bandwidth=1e4).fit(X, targets)
    np.testing.assert_allclose(
        model.predict(NEW), th.LinearRegression().fit(X, targets).predict(NEW), rtol=1e-5
    )
    _, std = model.predict(NEW, return_std=True)
    design = np.column_stack([np.ones(len(X)), X])
    beta = np.linalg.lstsq(design, Y, rcond=None)[0]
    variance = ((Y - design @ beta) ** 2).sum() / (len(X) - 3)
    at = np.column_stack([np.ones(len(NEW)), NEW])
    inverse = np.linalg.inv(design.T @ design)
    expected = np.sqrt(variance * np.einsum("ij,jk,ik->i", at, inverse, at))
    np.testing.assert_allclose(std, np.column_stack([expected, expected]), rtol=1e-5)


def test_designs_of_low_rank_have_the_smallest_slopes():
    """One row, rows on a line, repeated columns, and columns that do not vary nearby."""
    one = LWR(bandwidth=1.0).fit([[2.0, 3.0]], [5.0])
    assert one.predict([[2.0, 3.0], [2.5, 3.0]]).tolist() == [5.0, 5.0]
    t = np.linspace(0, 1, 30)
    line = np.column_stack([t, 2 * t])
    found = LWR(bandwidth=0.3).fit(line, 3 * t).predict(line)
    np.testing.assert_allclose(found, 3 * t, atol=1e-9)
    twice = np.column_stack([X, X[:, 0], np.full(len(X), 7.0)])
    new = np.column_stack([NEW, NEW[:, 0], np.full(len(NEW), 7.0)])
    scale = np.array([1.0, 1.0, 0.0, 1.0])
    narrow = LWR(bandwidth=0.5, metric=lambda x, y: float(np.linalg.norm((x - y) * scale)))
    expected = LWR(bandwidth=0.5).fit(X, Y).predict(NEW)
    np.testing.assert_allclose(narrow.fit(twice, Y).predict(new), expected, rtol=1e-7)
    wide = LWR(bandwidth=0.5).fit(twice, Y).predict(new)
    assert np.isfinite(wide).all()
    equal = LWR().fit(np.ones((4, 2)), [1.0, 2.0, 3.0, 6.0])
    assert equal.predict([[1.0, 1.0]]).tolist() == [3.0]


def test_few_rows_in_reach_and_none():
    rows, y = [[0.0], [1.0], [1.2], [9.0]], [0.0, 10.0, 12.0, 50.0]
    model = LWR(bandwidth=0.5, kernel="epanechnikov").fit(rows, y)
    np.testing.assert_allclose(
        model.predict([[1.1], [0.1], [5.6], [70.0]]), [11.0, 0.0, 50.0, 50.0]
    )
    model = LWR(bandwidth=0.5, kernel="epanechnikov", outside="nan").fit(rows, y)
    with pytest.warns(UserWarning, match="NaN"):
        assert np.isnan(model.predict([[5.0]])[0])


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "mahalanobis", "custom"])
def test_any_distance(metric):
    distance = (lambda x, y: float(np.abs(x - y).sum())) if metric == "custom" else metric
    model = LWR(bandwidth=0.5, metric=distance, tolerance=0.0).fit(X, Y)
    pairs = th.distances.named(distance).fitted(X)._between_all(NEW, X)
    for x, line, value in zip(NEW, pairs, model.predict(NEW), strict=True):
        root = np.sqrt(th.smoothing.Gaussian().value(line / 0.5))
        phi = np.column_stack([np.ones(len(X)), X - x])
        expected = np.linalg.lstsq(root[:, None] * phi, root * Y, rcond=None)[0][0]
        assert value == pytest.approx(expected, rel=1e-8)


def test_agrees_with_lowess():
    """statsmodels' lowess without robust steps: a tricube line over the nearest share of rows."""
    from statsmodels.nonparametric.smoothers_lowess import lowess

    rows, y = table(120, 1)
    expected = lowess(y, rows[:, 0], frac=0.3, it=0, return_sorted=False)
    found = LWR(kernel=th.smoothing.Nearest(36, "tricube")).fit(rows, y).predict(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.filterwarnings("ignore:After 0.17:FutureWarning")
def test_agrees_with_kernel_regression():
    """statsmodels' KernelReg with a Gaussian kernel, constant and linear."""
    from statsmodels.nonparametric.kernel_regression import KernelReg

    rows, y = table(80, 1)
    for degree, kind in ((0, "lc"), (1, "ll")):
        peer = KernelReg(y, rows, var_type="c", reg_type=kind, bw=[0.1])
        found = LWR(0.1, degree=degree, tolerance=0.0).fit(rows, y).predict(rows)
        np.testing.assert_allclose(found, peer.fit(rows)[0], rtol=1e-8)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"degree": -1}, "degree=-1 must be"),
        ({"degree": 11}, "degree=11 must be"),
        ({"bandwidth": 0}, "bandwidth=0 must be"),
        ({"alpha": -1.0}, "alpha=-1.0 must be"),
        ({"degree": 0, "fit_intercept": False}, "degree=0 is a constant"),
        ({"kernel": th.smoothing.Nearest(1000)}, "1000 neighbours were requested"),
    ],
)
def test_refusals(parameters, message):
    with pytest.raises(ValueError, match=message):
        LWR(**parameters).fit(X, Y)


def test_refusals_by_the_data():
    with pytest.raises(th.errors.ParameterError, match="5456 monomials of 30 columns"):
        LWR(degree=3).fit(np.random.default_rng(0).random((50, 30)), np.ones(50))
    with pytest.raises(ValueError, match="X has 3 features"):
        LWR().fit(X, Y).predict(np.ones((2, 3)))
    with pytest.raises(th.errors.DataError, match="no residual is left"):
        LWR(bandwidth=1e-3, kernel="uniform").fit(X, Y).predict(NEW, return_std=True)


def test_leave_one_out_finds_a_low_point_of_a_rough_curve():
    for seed in range(2):
        random = np.random.default_rng(seed)
        rows = random.random((80, 1))
        y = np.sin(9 * rows[:, 0]) + 0.3 * random.standard_normal(80)

        def error(bandwidth, rows=rows, y=y):
            return ((LWR(bandwidth, "uniform").fit(rows, y).leave_one_out() - y) ** 2).sum()

        chosen = LWR("leave_one_out", "uniform").fit(rows, y).bandwidth_
        assert error(chosen) <= 1.02 * min(map(error, np.geomspace(0.02, 1, 40)))
