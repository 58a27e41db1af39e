"""Kernel-weighted averages: the formula, bandwidths, truncation, weights, and bad input."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.mathematics.smoothing.base import SmoothingKernel

KERNELS = [
    getattr(th.smoothing, name)()
    for name in th.smoothing.__all__
    if isinstance(getattr(th.smoothing, name), type)
    and issubclass(getattr(th.smoothing, name), SmoothingKernel)
]
METRICS = [
    "euclidean", "sqeuclidean", "manhattan", "chebyshev", "hamming", "cosine", "seuclidean",
    "mahalanobis", th.distances.Minkowski(3), lambda x, y: float(np.abs(x - y).sum()),
]  # fmt: skip


def table(n=200, d=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.random((n, d))
    y = np.sin(5 * X[:, 0]) + X[:, -1] ** 2 + 0.1 * random.standard_normal(n)
    return X, y


X, Y = table()
NEW = table(40, seed=1)[0]


def averages(distances, h, kernel, y, weight=1.0):
    """The formula, for all pairs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(distances == 0, 0.0, distances / np.asarray(h).reshape(-1, 1))
    g = kernel.value(scaled) * weight
    return (g @ y) / g.sum(axis=1).reshape((-1,) + (1,) * (np.ndim(y) - 1))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("d", [1, 2, 9])
def test_it_is_the_formula(kernel, d):
    rows, y = table(d=d)
    new = table(30, d, seed=1)[0]
    model = th.NadarayaWatson(bandwidth=1.1, kernel=kernel, tolerance=0.0).fit(rows, y)
    distances = th.distances.Euclidean().pairwise(new, rows)
    np.testing.assert_allclose(
        model.predict(new), averages(distances, 1.1, kernel, y), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize(
    "metric", METRICS, ids=lambda metric: getattr(metric, "__name__", repr(metric))
)
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "uniform"])
def test_any_distance(metric, kernel):
    rows, new = (table(n, 3, s)[0].round(1) for n, s in ((150, 0), (30, 1)))
    y = table(150)[1]
    model = th.NadarayaWatson(bandwidth=0.9, kernel=kernel, metric=metric).fit(rows, y)
    distances = th.distances.named(metric).fitted(rows)._between_all(new, rows)
    expected = averages(distances, 0.9, th.smoothing.named(kernel), y)
    inside = np.isfinite(expected)
    assert inside.any()
    np.testing.assert_allclose(model.predict(new)[inside], expected[inside], rtol=1e-9)


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel.nonnegative], ids=repr)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-8])
def test_what_is_left_out_is_within_the_tolerance(kernel, tolerance):
    """Also at queries far from all rows, where the weight within reach is small."""
    rows, y = table(600, 1)
    new = np.linspace(-0.4, 1.4, 90)[:, None]
    whole = th.NadarayaWatson(0.02, kernel, tolerance=0.0).fit(rows, y).predict(new)
    short = th.NadarayaWatson(0.02, kernel, tolerance=tolerance).fit(rows, y).predict(new)
    assert np.abs(whole - short).max() <= tolerance * np.ptp(y)
    if kernel == th.smoothing.Gaussian() and tolerance == 1e-2:
        assert np.abs(whole - short).max() > 0  # something was left out


@pytest.mark.parametrize("shape", ["uniform", "tricube"])
def test_width_of_the_kth_neighbour(shape):
    model = th.NadarayaWatson(kernel=th.smoothing.Nearest(12, shape)).fit(X, Y)
    distances = th.distances.Euclidean().pairwise(NEW, X)
    width = np.sort(distances, axis=1)[:, 11]
    expected = averages(distances, width, th.smoothing.named(shape), Y)
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-10)
    if shape == "uniform":
        peer = th.KNeighborsRegressor(12).fit(X, Y).predict(NEW)
        np.testing.assert_allclose(model.predict(NEW), peer, rtol=1e-12)
    assert model.bandwidth_ is None


@pytest.mark.parametrize("kernel", ["gaussian", th.smoothing.Nearest(7, "epanechnikov")])
def test_weights_are_repetition(kernel):
    weight = np.random.default_rng(2).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    weighted = th.NadarayaWatson(kernel=kernel).fit(X, Y, sample_weight=weight)
    repeated = th.NadarayaWatson(kernel=kernel).fit(X[rows], Y[rows])
    if kernel == "gaussian":
        assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-12)
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), rtol=1e-9)


def test_small_weights_count_as_parts_of_a_neighbour():
    model = th.NadarayaWatson(kernel=th.smoothing.Nearest(2))
    rows, y = [[0.0], [1.0], [2.0], [3.0], [9.0]], [1.0, 2.0, 3.0, 4.0, 5.0]
    found = model.fit(rows, y, sample_weight=[0.5, 0.5, 0.5, 0.5, 3.0]).predict([[0.0]])
    assert found == pytest.approx((1 + 2 + 3 + 4) / 4)
    with pytest.raises(th.errors.DataError, match="sum to 1"):
        model.fit(rows, y, sample_weight=np.full(5, 0.2))


def test_several_targets_and_sparse_rows():
    targets = np.column_stack([Y, -3 * Y, np.ones(len(Y))])
    together = th.NadarayaWatson().fit(X, targets)
    np.testing.assert_allclose(
        together.predict(NEW)[:, 0], th.NadarayaWatson().fit(X, Y).predict(NEW)
    )
    np.testing.assert_allclose(together.predict(NEW)[:, 2], 1.0, rtol=1e-14)
    assert together.n_outputs_ == 3
    rows = np.where(X < 0.4, 0.0, X)
    sparse = th.NadarayaWatson().fit(sp.csr_array(rows), Y)
    dense = th.NadarayaWatson().fit(rows, Y)
    assert sparse.bandwidth_ == pytest.approx(dense.bandwidth_, rel=1e-12)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(NEW)), dense.predict(NEW), rtol=1e-9)


def test_leave_one_out_in_closed_form():
    model = th.NadarayaWatson(0.2, tolerance=0.0).fit(X, Y)
    expected = [
        th.NadarayaWatson(0.2, tolerance=0.0)
        .fit(np.delete(X, i, axis=0), np.delete(Y, i))
        .predict(X[i : i + 1])[0]
        for i in range(len(X))
    ]
    np.testing.assert_allclose(model.leave_one_out(), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "tricube", "silverman"])
def test_leave_one_out_chooses_the_best_bandwidth(kernel):
    rows, y = table(300, 1)
    model = th.NadarayaWatson("leave_one_out", kernel).fit(rows, y)

    def error(h):
        return np.mean((th.NadarayaWatson(h, kernel).fit(rows, y).leave_one_out() - y) ** 2)

    others = [error(model.bandwidth_ * factor) for factor in (0.25, 0.5, 0.8, 1.25, 2.0, 4.0)]
    assert error(model.bandwidth_) <= min(others)


def test_rules_of_thumb():
    """σ·n^{−1/(d+4)}, and other kernels in the ratio of their canonical bandwidths."""
    spread = np.sqrt(X.var(axis=0).mean())
    scott = spread * 200 ** (-1 / 6)
    assert th.NadarayaWatson("scott").fit(X, Y).bandwidth_ == pytest.approx(scott)
    one = table(200, 1)[0]
    silverman = one.std() * (4 / 3 / 200) ** 0.2
    assert th.NadarayaWatson("silverman").fit(one, Y).bandwidth_ == pytest.approx(silverman)
    ratio = 15**0.2 / (4 * np.pi) ** -0.1
    scott = th.NadarayaWatson("scott").fit(one, Y).bandwidth_
    found = th.NadarayaWatson("scott", "epanechnikov").fit(one, Y).bandwidth_
    assert found == pytest.approx(scott * ratio)
    with pytest.raises(th.errors.ParameterError, match="rule for Euclidean distances"):
        th.NadarayaWatson(metric="manhattan").fit(X, Y)
    with pytest.raises(th.errors.ParameterError, match="second moment"):
        th.NadarayaWatson(kernel="silverman").fit(X, Y)


@pytest.mark.parametrize(
    ("kernel", "d", "ratio"),
    [("uniform", 2, 2.0), ("uniform", 4, 2.414), ("tricube", 4, 3.16), ("sigmoid", 4, 0.484)],
)
def test_rules_smooth_equally_in_several_dimensions(kernel, d, ratio):
    """(d·R/μ₂²)^{1/(d+4)} of the kernels' densities on ℝ^d, integrated numerically."""
    rows = np.random.default_rng(0).normal(size=(60, d))
    widths = [
        th.NadarayaWatson("scott", k).fit(rows, Y[:60]).bandwidth_ for k in (kernel, "gaussian")
    ]
    assert widths[0] / widths[1] == pytest.approx(ratio, abs=1e-3)


def test_queries_out_of_reach():
    rows, y = [[0.0], [1.0], [1.0], [9.0]], [0.0, 10.0, 20.0, 50.0]
    far = [[4.0], [100.0], [-1e6]]
    for kernel in ("epanechnikov", "gaussian"):
        model = th.NadarayaWatson(0.01, kernel).fit(rows, y)
        np.testing.assert_array_equal(model.predict(far), [15.0, 50.0, 0.0])
        model = th.NadarayaWatson(0.01, kernel, outside="nan").fit(rows, y)
        with pytest.warns(UserWarning, match=r"3 of 4 rows have no .*\(first at row 1\)"):
            found = model.predict([[1.0], *far])
        np.testing.assert_array_equal(found, [15.0, np.nan, np.nan, np.nan])
        model = th.NadarayaWatson(0.01, kernel, outside="error").fit(rows, y)
        with pytest.raises(th.errors.DataError, match="larger bandwidth"):
            model.predict(far)


def test_one_row_equal_rows_and_infinite_distances():
    assert th.NadarayaWatson().fit([[3.0]], [7.0]).predict([[3.0], [1e9]]).tolist() == [7.0, 7.0]
    model = th.NadarayaWatson().fit(np.ones((5, 2)), np.arange(5.0))
    assert model.predict([[1.0, 1.0], [4.0, 2.0]]) == pytest.approx(2.0)
    assert th.NadarayaWatson("leave_one_out").fit(np.ones((5, 2)), np.arange(5.0)).bandwidth_ == 1
    # All ten neighbours of the query are equal: their width is 0.
    model = th.NadarayaWatson(kernel=th.smoothing.Nearest(3, "tricube"))
    assert model.fit([[0.0]] * 4 + [[1.0]], [1.0, 2.0, 3.0, 4.0, 9.0]).predict([[0.0]]) == 2.5
    model = th.NadarayaWatson(
        1.0, metric=lambda x, y: np.inf if x[0] * y[0] < 0 else abs(x[0] - y[0])
    )
    model.fit([[-1.0], [1.0], [2.0]], [5.0, 1.0, 3.0])
    assert model.predict([[-9.0]]) == 5.0
    assert 1.0 < model.predict([[1.2]])[0] < 2.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bandwidth": 0.0}, "bandwidth=0.0 must be"),
        ({"bandwidth": -1}, "bandwidth=-1 must be"),
        ({"bandwidth": np.nan}, "bandwidth=nan must be"),
        ({"bandwidth": "scot"}, "Did you mean 'scott'"),
        ({"kernel": "gausian"}, "Did you mean 'gaussian'"),
        ({"kernel": th.smoothing.Nearest(201)}, "201 neighbours were requested"),
        ({"outside": "zero"}, "outside='zero' must be"),
        ({"tolerance": 0.5}, "tolerance=0.5 must be"),
        ({"metric": "precomputed"}, "not supported"),
        ({"metric": "euclid"}, "Did you mean 'euclidean'"),
    ],
)
def test_refusals(parameters, message):
    with pytest.raises(th.errors.ParameterError if "201" not in message else th.errors.DataError,
                       match=message):  # fmt: skip
        th.NadarayaWatson(**parameters).fit(X, Y)


def test_a_query_of_other_width_is_refused():
    with pytest.raises(ValueError, match="X has 3 features"):
        th.NadarayaWatson().fit(X, Y).predict(np.ones((2, 3)))


def test_classes_are_the_shares_of_the_weights():
    labels = np.array(["a", "b", "c"])[np.digitize(Y, [0.5, 1.0])]
    model = th.NadarayaWatsonClassifier(0.2, "tricube").fit(X, labels)
    distances = th.distances.Euclidean().pairwise(NEW, X)
    onehot = (labels[:, None] == model.classes_).astype(float)
    expected = averages(distances, 0.2, th.smoothing.Tricube(), onehot)
    np.testing.assert_allclose(model.predict_proba(NEW), expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(model.predict(NEW), model.classes_[expected.argmax(axis=1)])


def test_classes_at_the_edges():
    one = th.NadarayaWatsonClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert one.predict([[5.0]]).tolist() == ["a"]
    single = th.NadarayaWatsonClassifier(0.1, "uniform").fit([[0.0], [0.1], [5.0]], ["a", "a", "b"])
    assert single.predict([[4.95], [80.0]]).tolist() == ["b", "b"]
    with pytest.raises(th.errors.ParameterError, match="negative probabilities"):
        th.NadarayaWatsonClassifier(1.0, "silverman").fit(X, Y > 1)
    far = th.NadarayaWatsonClassifier(0.1, "uniform", outside="error").fit(X, Y > 1)
    with pytest.raises(th.errors.DataError, match="no training row"):
        far.predict([[50.0, 50.0]])


def test_float32_and_threads():
    rows = table(3000, 3)[0]
    y = table(3000, 3)[1]
    bits = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            bits.append(th.NadarayaWatson().fit(rows, y).predict(rows))
    np.testing.assert_array_equal(bits[0], bits[1])
    np.testing.assert_array_equal(bits[0], bits[2])
    single = th.NadarayaWatson().fit(rows.astype(np.float32), y).predict(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, bits[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bandwidth", [0.3, 2.0, 100.0])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_products_of_blocks_are_the_formula(bandwidth, offset):
    """Where most rows are in reach, distances come from matrix products."""
    rows, y = table(700, 3)
    new = table(300, 3, seed=1)[0]
    distances = th.distances.Euclidean().pairwise(new, rows)
    expected = averages(distances, bandwidth, th.smoothing.Gaussian(), y)
    model = th.NadarayaWatson(bandwidth).fit(rows + offset, y)
    np.testing.assert_allclose(model.predict(new + offset), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "sqeuclidean"])
def test_widths_on_a_line_are_those_of_the_search(metric):
    rows = np.random.default_rng(0).integers(0, 40, 100)[:, None] / 7.0
    new = np.concatenate([rows[:30], rows[:30] + 1 / 3, [[-5.0], [50.0]]])
    for k in (1, 2, 9, 99, 100):
        model = th.NadarayaWatson(kernel=th.smoothing.Nearest(k), metric=metric)
        model.fit(rows, rows[:, 0])
        expected = model._index.nearest(new, k).distance[:, -1]
        np.testing.assert_array_equal(model._widths(new), expected)


def test_widths_are_found_in_parts(monkeypatch):
    from thetahat.models.neighbors.local import base

    model = th.NadarayaWatson(kernel=th.smoothing.Nearest(12)).fit(X, Y)
    whole = model.predict(NEW)
    monkeypatch.setattr(base, "NEIGHBORS_AT_ONCE", 12 * 7)
    np.testing.assert_array_equal(model.predict(NEW), whole)


@pytest.mark.parametrize("kernel", ["gaussian", "exponential", "logistic", "sigmoid"])
def test_averages_stay_exact_where_the_kernel_underflows(kernel):
    random = np.random.default_rng(0)
    rows, y = random.random((60, 1)), random.random(60)
    far = np.array([[3.0], [4.6], [5.0], [50.0], [57.0], [59.0], [1e3]])
    s = np.abs(far - rows.T) / 0.1
    s0 = s.min(axis=1, keepdims=True)
    logs = -0.5 * (s - s0) * (s + s0) if kernel == "gaussian" else s0 - s
    expected = (np.exp(logs) @ y) / np.exp(logs).sum(axis=1)
    found = th.NadarayaWatson(0.1, kernel).fit(rows, y).predict(far)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    shares = th.NadarayaWatsonClassifier(0.1, kernel).fit(rows, y > 0.5).predict_proba(far)
    np.testing.assert_allclose(
        shares[:, 1], (np.exp(logs) @ (y > 0.5)) / np.exp(logs).sum(axis=1), rtol=1e-8
    )


@pytest.mark.parametrize("kernel", ["gaussian", "uniform", "epanechnikov", "exponential"])
@pytest.mark.parametrize("bandwidth", [1e-9, 1e-3, 0.01, 0.3])
@pytest.mark.parametrize("degree", [None, 0, 1])
def test_leaving_a_row_out_is_a_fit_without_it_also_where_no_other_is_near(
    degree, bandwidth, kernel
):
    random = np.random.default_rng(0)
    rows, y, weight = random.random((30, 1)), random.random(30), random.integers(1, 4, 30)
    rows[:4] = rows[4]  # equal rows, too

    def made():
        if degree is None:
            return th.NadarayaWatson(bandwidth, kernel, tolerance=0)
        return th.LocallyWeightedRegression(bandwidth, kernel, degree, tolerance=0)

    expected = []
    for i in range(30):
        rest = [np.delete(each, i, axis=0) for each in (rows, y, weight)]
        expected.extend(made().fit(*rest).predict(rows[i : i + 1]))
    found = made().fit(rows, y, weight).leave_one_out()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_leaving_a_row_out_treats_rows_outside_as_predict_does():
    rows, y = [[0.0], [0.1], [9.0]], [1.0, 2.0, 30.0]
    assert th.NadarayaWatson(0.5, "uniform").fit(rows, y).leave_one_out().tolist() == [2, 1, 2]
    model = th.NadarayaWatson(0.5, "uniform", outside="nan").fit(rows, y)
    with pytest.warns(UserWarning, match=r"1 of 3 rows .*first at row 2"):
        np.testing.assert_array_equal(model.leave_one_out(), [2, 1, np.nan])
    model = th.LocallyWeightedRegression(0.5, "uniform", outside="error").fit(rows, y)
    with pytest.raises(th.errors.DataError, match="first at row 2"):
        model.leave_one_out()
    assert th.NadarayaWatson().fit([[1.0]], [7.0]).leave_one_out().tolist() == [7.0]
