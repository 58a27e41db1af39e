"""Every compiled kernel against its plain twin, and its refusals at the boundary."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference import kernels as twin
from thetahat import _native


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("result", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_pack_rows(dtype, result, order, weighted):
    random = np.random.default_rng(1)
    x = random.standard_normal((150, 70)).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    n, d = x.shape
    centre, scale = random.standard_normal(d), 2.0 ** random.integers(-3, 4, d)
    root = random.random(n) if weighted else np.empty(0)
    got, expected = (np.full((n, d + 3), np.nan, dtype=result) for _ in range(2))
    _native.pack_rows(x, centre, scale, root, got, 2)
    twin.pack_rows(x, centre, scale, root, expected, 2)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_gram(dtype, index, weighted):
    random = np.random.default_rng(2)
    x = sp.random_array((40, 12), density=0.3, format="csr", rng=random).astype(dtype)
    indices, indptr = x.indices.astype(index), x.indptr.astype(index)
    weight = random.random(40) if weighted else np.empty(0)
    got, expected = np.ones((12, 12)), np.ones((12, 12))
    _native.sparse_gram(x.data, indices, indptr, weight, got)
    twin.sparse_gram(x.data, indices, indptr, weight, expected)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_quadratic_sweeps():
    random = np.random.default_rng(3)
    root = random.standard_normal((30, 8))
    gram, c = root.T @ root, random.standard_normal(8) * 5
    gram[3], gram[:, 3] = 0.0, 0.0
    l1, l2 = random.random(8), random.random(8) * (np.arange(8) != 3)
    lower, upper = np.full(8, -0.1), np.full(8, np.inf)
    states = []
    for sweeps in (_native.quadratic_sweeps, twin.quadratic_sweeps):
        theta, gradient = np.zeros(8), -c.copy()
        largest = sweeps(gram, l1, l2, lower, upper, theta, gradient, 20)
        np.testing.assert_allclose(gradient, gram @ theta - c, atol=1e-10)
        states.append((theta, largest))
    np.testing.assert_allclose(states[0][0], states[1][0], rtol=1e-12)
    assert states[0][1] == pytest.approx(states[1][1])
    assert states[0][0][3] == 0.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_compensated_gradient_is_exact_to_rounding(dtype, weighted):
    random = np.random.default_rng(4)
    x = (random.standard_normal((25, 4)) * 10.0 ** np.arange(4) + 1e5).astype(dtype)
    y = random.standard_normal((25, 2)) * 1e3
    centre, scale = x.mean(axis=0, dtype=float), 2.0 ** -np.arange(6.0)
    centre = np.r_[centre, 1.0, -2.0]
    weight = random.random(25) if weighted else np.empty(0)
    z = np.c_[(x - centre[:4]) * scale[:4], np.ones(25)]
    target = (y - centre[4:]) * scale[4:]
    root = np.sqrt(weight)[:, None] if weighted else 1.0
    # At the least-squares solution the sums cancel: only extra precision sees what is left.
    gamma = np.linalg.lstsq(z * root, target * root)[0]
    value, error = np.zeros((2, 5)), np.zeros((2, 5))
    _native.compensated_gradient(x, y, weight, centre, scale, gamma, value, error)
    exact = twin.exact_gradient(x, y, weight, centre, scale, gamma)
    np.testing.assert_allclose(value + error, exact, rtol=1e-8)
    plain = (root**2 * (target - z @ gamma)).T @ z
    assert np.abs(plain / exact - 1.0).max() > 1e-4


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_sums(dtype, weighted):
    random = np.random.default_rng(5)
    fitted = random.standard_normal((40, 3)).astype(dtype)
    fit_basis = random.standard_normal((3, 7))
    leverage, basis = random.random((40, 2)).astype(dtype), random.random((2, 7)) / 3
    leverage[5] = 9.0  # a row whose 1 − h is at its floor
    weight = 2 * random.random(40) if weighted else np.empty(0)
    y, totals = random.standard_normal(40), []
    for sums in (_native.leave_one_out_sums, twin.leave_one_out_sums):
        total = np.ones(7)
        sums(y, fitted, fit_basis, leverage, basis, weight, 0.01, 1e-3, total)
        totals.append(total)
    np.testing.assert_allclose(*totals, rtol=1e-10)


def gram_and_targets(n, d, targets):
    random = np.random.default_rng(n)
    x, y = random.standard_normal((n, d)), random.standard_normal((n, targets))
    gram = x.T @ x
    return gram, np.ascontiguousarray(y.T @ x), (y**2).sum(axis=0)


@pytest.mark.parametrize(("most", "tolerance"), [(4, -1.0), (12, 15.0), (12, -1.0)])
def test_matching_pursuit(most, tolerance):
    gram, c, squares = gram_and_targets(30, 12, 5)
    coef, residual = np.zeros_like(c), np.zeros(5)
    steps, path = np.zeros(5, dtype=np.int64), np.zeros((5 * most, 12))
    _native.matching_pursuit(gram, c, squares, most, tolerance, coef, residual, steps, path)
    expected = twin.matching_pursuit(gram, c, squares, most, tolerance)
    np.testing.assert_allclose(coef, expected[0], atol=1e-11)
    np.testing.assert_allclose(residual, expected[1], rtol=1e-9)
    np.testing.assert_array_equal(steps, expected[2])
    for target, taken in enumerate(steps):
        last = path[target * most + taken - 1]
        np.testing.assert_array_equal(last, coef[target])


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("atoms", [8, 15])
def test_sparse_codes(positive, atoms):
    """Fifteen atoms in ten dimensions depend on one another, and a zero atom codes nothing."""
    random = np.random.default_rng(6)
    dictionary = random.standard_normal((atoms, 10))
    dictionary[3] = 0.0
    x = random.standard_normal((3, 10))
    gram, c = dictionary @ dictionary.T, np.ascontiguousarray(x @ dictionary.T)
    codes, violation = random.standard_normal(c.shape), np.full(3, np.nan)
    codes[:, 3] = 0.0
    _native.sparse_codes(gram, 0.7, positive, c, codes, 1e-12, 10_000, violation)
    assert violation.max() <= 1e-12
    expected = twin.sparse_codes(gram, 0.7, positive, c)
    np.testing.assert_allclose(codes, expected, atol=1e-7)
    assert not positive or codes.min() >= 0


@pytest.mark.parametrize("most", [1, 3, 7])
def test_least_angles(most):
    gram, c, _ = gram_and_targets(20, 7, 5)
    coef = np.zeros_like(c)
    _native.least_angles(gram, c, most, coef)
    np.testing.assert_allclose(coef, twin.least_angles(gram, c, most), atol=1e-10)


@pytest.mark.parametrize("most", [1, 3, 7])
@pytest.mark.parametrize("by_columns", [False, True])
def test_least_angle_path(most, by_columns):
    X = np.random.default_rng(3).standard_normal((20, 7))
    c, gram = X.T @ np.arange(20.0), X.T @ X
    matrix = np.ascontiguousarray(X.T) if by_columns else gram
    largest, coefs, active, steps, dependent, end = _native.least_angle_path(
        matrix, c, by_columns, most, 7, 0.0, False, False, True
    )
    expected = [twin.least_angles(gram, c[None], k)[0] for k in range(most + 1)]
    np.testing.assert_allclose(coefs, expected, atol=1e-10)
    slopes = np.abs(c - coefs @ gram).max(axis=1)
    np.testing.assert_allclose(largest, slopes, atol=1e-9)
    assert (steps, dependent, end) == (most, 0, 0 if most == 7 else 1)
    assert len(active) == most
    last = _native.least_angle_path(matrix, c, by_columns, most, 7, 0.0, False, False, False)
    np.testing.assert_array_equal(last[1], coefs[-1:])


@pytest.mark.parametrize("budget", [1, 3, 10**6])
@pytest.mark.parametrize("largest", [1, 4, 9])
def test_best_subsets(budget, largest):
    """However the search is cut into pieces, it finds what trying every subset finds."""
    random = np.random.default_rng(7)
    factor, z = np.triu(random.standard_normal((9, 9))), random.standard_normal(9)
    cursor, best = np.zeros(10, dtype=np.int64), np.full(largest + 1, np.inf)
    members, rss = np.zeros((largest + 1, largest), dtype=np.int64), 2.0
    best[0] = rss + z @ z
    while cursor[0] >= 0:
        assert (
            _native.best_subsets(factor, z, rss, largest, cursor, best, members, budget) <= budget
        )
    np.testing.assert_allclose(best, twin.best_subsets(factor, z, rss, largest), rtol=1e-9)
    for size in range(1, largest + 1):
        chosen = factor[:, members[size, :size]]
        left = z - chosen @ np.linalg.lstsq(chosen, z)[0]
        assert rss + left @ left == pytest.approx(best[size])


SGD_LOSSES = (
    "hinge", "squared_hinge", "logistic", "class_huber", "perceptron", "squared", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
)  # fmt: skip
SGD_SETTINGS = {
    "plain": {},
    "weighted": {"weighted": True, "multiplier": 2.0},
    "ridge": {"l2": 0.3},
    "lasso": {"l1": 0.02},
    "elastic net": {"l2": 0.2, "l1": 0.02},
    "averaged": {"l2": 0.2, "l1": 0.02, "average_from": 30},
    "vanishing": {"l2": 9.0, "average_from": 0},
    "no intercept": {"intercept": False},
    "one class": {"l2": 0.3, "level": 0.3, "average_from": 30},
}


def sgd_arguments(loss, rule=0, *, weighted=False, average_from=None, **settings):
    """Arguments after the rows, and the rows: half of the entries zero."""
    random = np.random.default_rng(loss)
    n, d = 80, 11
    x = np.where(random.random((n, d)) < 0.5, 0.0, random.standard_normal((n, d)))
    x = x.astype(np.float32).astype(float)
    y = np.sign(random.standard_normal(n)) * (1.0 if loss < 5 else random.random(n) * 3)
    options = {"multiplier": 1.0, "l2": 0.0, "l1": 0.0, "level": 0.0, "intercept": True} | settings
    return x, [
        y,
        random.random(n) * 2 if weighted else np.empty(0),
        random.integers(n, size=3 * n),
        0.3 / np.sqrt(np.arange(1.0, 3 * n + 1)),
        loss,
        0.4,
        rule,
        *options.values(),
        random.standard_normal(d),
        np.array([0.3, 0.0, 0.0, 0.0, 0.0]),
        np.zeros(d if options["l1"] else 0),
        np.zeros(0 if average_from is None else d),
        average_from or 0,
    ]


@pytest.mark.parametrize("setting", SGD_SETTINGS)
@pytest.mark.parametrize("loss", range(9), ids=SGD_LOSSES)
def test_sgd_epoch(loss, setting):
    x, expected = sgd_arguments(loss, **SGD_SETTINGS[setting])
    total = twin.sgd_epoch(x, *expected)
    assert expected[12].any()
    for dtype in (np.float64, np.float32):
        _, got = sgd_arguments(loss, **SGD_SETTINGS[setting])
        assert _native.sgd_epoch(x.astype(dtype), *got) == pytest.approx(total, rel=1e-10)
        for ours, plain in zip(got[12:16], expected[12:16], strict=True):
            np.testing.assert_allclose(ours, plain, rtol=1e-9, atol=1e-11)
        for index in (np.int32, np.int64):
            _, same = sgd_arguments(loss, **SGD_SETTINGS[setting])
            rows = csr(x.astype(dtype), index)
            assert _native.sgd_epoch(*rows, *same) == pytest.approx(total, rel=1e-10)
            for ours, dense in zip(same[12:16], got[12:16], strict=True):
                np.testing.assert_allclose(ours, dense, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("rule", [1, 2], ids=["pa1", "pa2"])
@pytest.mark.parametrize("loss", [0, 7], ids=["hinge", "epsilon_insensitive"])
def test_sgd_epoch_passive_aggressive(loss, rule):
    (x, got), (_, expected) = sgd_arguments(loss, rule), sgd_arguments(loss, rule)
    x[x.sum(axis=1) == 0] = 1.0
    total = twin.sgd_epoch(x, *expected)
    assert _native.sgd_epoch(x, *got) == pytest.approx(total)
    np.testing.assert_allclose(got[12], expected[12], rtol=1e-10)
    np.testing.assert_allclose(got[13], expected[13], rtol=1e-10)


def test_sgd_epoch_tells_an_overflow():
    x, arguments = sgd_arguments(5)
    arguments[3] = np.full(240, 1e300)
    assert np.isnan(_native.sgd_epoch(1e10 * x, *arguments))


def test_sgd_epoch_refuses_what_does_not_fit():
    x, good = sgd_arguments(0)
    for place, wrong, rule in (
        (0, np.zeros(3), "y must have"),
        (1, np.zeros(3), "weight must be"),
        (2, np.full(240, 80), "order names"),
        (2, np.full(240, -1), "order names"),
        (3, np.zeros(3), "rates must have"),
        (4, 99, "no loss"),
        (6, 3, "no rule"),
        (12, np.zeros(3), "coef must have"),
        (13, np.zeros(3), "carried must have"),
        (14, np.zeros(3), "paid must have"),
        (15, np.zeros(3), "average must be"),
    ):
        with pytest.raises(ValueError, match=rule):
            _native.sgd_epoch(x, *good[:place], wrong, *good[place + 1 :])
    data, columns, bounds, n_columns = csr(x, np.int32)
    for indices, indptr, rule in (
        (columns + 1, bounds, "column index"),
        (columns - 1, bounds, "column index"),
        (columns, bounds + 1, "past the stored"),
        (columns, bounds[::-1].copy(), r"past|decrease"),
        (columns[1:], bounds, "same length"),
    ):
        with pytest.raises(ValueError, match=rule):
            _native.sgd_epoch(data, indices, indptr, n_columns, *good)


@pytest.mark.parametrize("setting", ["plain", "elastic net", "averaged", "one class"])
def test_sgd_epochs_are_epochs_until_the_objective_stops_falling(setting):
    x, one = sgd_arguments(0, **SGD_SETTINGS[setting])
    _, many = sgd_arguments(0, **SGD_SETTINGS[setting])
    _, l2, l1, level, _ = one[7:12]
    order, rates, average_from = one[2], one[3], one[16]
    progress = np.array([0.0, np.inf, np.inf, np.inf, 0.0, 0.0])
    made = _native.sgd_epochs(x, *many, 80, 80.0, 0.01, 2.0, progress)
    best, idle = np.inf, 0
    for epoch in range(3):
        one[2], one[3] = order[80 * epoch :][:80].copy(), rates[80 * epoch :][:80].copy()
        one[16] = max(average_from - 80 * epoch, 0)
        loss = _native.sgd_epoch(x, *one) / 80
        w, b = one[12], one[13][0]
        value = loss + l2 / 2 * w @ w + l1 * np.abs(w).sum() + level * b
        idle, best = idle + 1 if value > best - 0.01 else 0, min(best, value)
        if idle >= 2:
            break
    assert made == epoch + 1
    for ours, plain in zip(many[12:16], one[12:16], strict=True):
        np.testing.assert_array_equal(ours, plain)
    assert progress[2] == pytest.approx(value)
    assert progress[1] == pytest.approx(best)
    assert progress[4] == idle
    assert progress[5] == (idle >= 2)


def test_sgd_epochs_refuse_parts_of_an_epoch():
    x, good = sgd_arguments(0)
    for visits, progress, rule in ((7, 6, "whole passes"), (0, 6, "whole"), (80, 3, "progress")):
        with pytest.raises(ValueError, match=rule):
            _native.sgd_epochs(x, *good, visits, 80.0, 0.01, 2.0, np.zeros(progress))


def test_sgd_epochs_tell_an_overflow():
    x, arguments = sgd_arguments(5)
    arguments[3] = np.full(240, 1e300)
    progress = np.array([0.0, np.inf, np.inf, np.inf, 0.0, 0.0])
    assert _native.sgd_epochs(1e10 * x, *arguments, 80, 80.0, 0.01, 2.0, progress) == 1
    assert progress[0] == np.inf


def test_shuffled_rows():
    orders = np.empty(3 * 50, dtype=np.int64)
    _native.shuffled_rows(np.array([1, 2, 1], dtype=np.uint64), orders)
    for seed, order in zip((1, 2, 1), orders.reshape(3, 50), strict=True):
        places = list(range(50))
        twin.splitmix_orders(seed)(places, 50)
        np.testing.assert_array_equal(order, places)
    with pytest.raises(ValueError, match="n entries per seed"):
        _native.shuffled_rows(np.array([1, 2], dtype=np.uint64), np.empty(3, dtype=np.int64))


def csr(x, index):
    rows = sp.csr_array(x)
    return rows.data, rows.indices.astype(index), rows.indptr.astype(index), rows.shape[1]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("kink", "curvature", "box"),
    [(0.0, 0.0, (0.0, 1.0)), (0.0, 0.5, (0.0, np.inf)), (0.3, 0.0, (-1.0, 1.0)), (0.3, 1.0, None)],
    ids=["hinge", "squared hinge", "tube", "squared tube"],
)
def test_dual_epochs(dtype, kink, curvature, box):
    random = np.random.default_rng(8)
    x = np.where(random.random((40, 11)) < 0.5, 0.0, random.standard_normal((40, 11))).astype(dtype)
    y, share = random.standard_normal(40), random.random(40) / 20
    share[3] = 0.0
    low, high = box if box is not None else (-np.inf, np.inf)
    lower, upper = np.full(40, low), np.full(40, high)
    kernels = {
        "twin": (twin.dual_epochs, (x,)),
        "dense": (_native.dual_epochs, (x,)),
        "sparse": (_native.dual_epochs, csr(x, np.int32)),
        "long": (_native.dual_epochs, csr(x, np.int64)),
    }
    found = {}
    for name, (epochs, rows) in kernels.items():
        beta, theta = np.zeros(40), np.zeros(12)
        violation = epochs(
            *rows, y, share, lower, upper, kink, curvature, 0.05, 0.7, 0.1, beta, theta, 7, 10, 0.0
        )
        design = np.column_stack([x, np.full(40, 0.7)])
        np.testing.assert_allclose(theta, design.T @ (share * beta) / 0.05, atol=1e-10)
        assert beta.min() >= low
        assert beta.max() <= high
        assert beta[3] == 0.0
        found[name] = np.append(beta, violation)
    for name in ("dense", "sparse", "long"):
        np.testing.assert_allclose(found[name], found["twin"], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("kink", "curvature", "box"), [(0.0, 0.0, 1.0), (0.1, 0.0, 0.5), (0.1, 0.3, 9.0)]
)
def test_conjugate_gradients_climb_the_dual(kink, curvature, box):
    """They come between epochs: the invariants hold, and D is higher than without them."""
    random = np.random.default_rng(8)
    x = np.where(random.random((60, 30)) < 0.5, 0.0, random.standard_normal((60, 30)))
    y, share = random.standard_normal(60), random.random(60) / 20
    share[3] = 0.0
    upper = np.full(60, box)
    design = np.column_stack([x, np.full(60, 0.7)])
    reached = {}
    for name, (epochs, rows) in {
        "twin": (twin.dual_epochs, (x,)),
        "dense": (_native.dual_epochs, (x,)),
        "sparse": (_native.dual_epochs, csr(x, np.int32)),
    }.items():
        beta, theta = np.zeros(60), np.zeros(31)
        epochs(
            *rows, y, share, -upper, upper, kink, curvature, 0.01, 0.7, 0.1, beta, theta, 7, 45, 0.0
        )
        np.testing.assert_allclose(theta, design.T @ (share * beta) / 0.01, atol=1e-9)
        assert np.abs(beta).max() <= box
        assert beta[3] == 0.0
        terms = beta * (y - 0.1) - kink * np.abs(beta) - curvature / 2 * beta**2
        reached[name] = share @ terms - 0.01 / 2 * theta @ theta
    assert reached["sparse"] == pytest.approx(reached["dense"], rel=1e-9)
    assert reached["dense"] > reached["twin"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_class_dual_epochs(dtype):
    random = np.random.default_rng(9)
    x = np.where(random.random((30, 5)) < 0.5, 0.0, random.standard_normal((30, 5))).astype(dtype)
    y, cost = random.integers(0, 4, 30), random.random(30) + 0.1
    kernels = {
        "twin": (twin.class_dual_epochs, (x,)),
        "dense": (_native.class_dual_epochs, (x,)),
        "sparse": (_native.class_dual_epochs, csr(x, np.int32)),
        "long": (_native.class_dual_epochs, csr(x, np.int64)),
    }
    found = {}
    for name, (epochs, rows) in kernels.items():
        alpha, weights = np.zeros((30, 4)), np.zeros((6, 4))
        violation = epochs(*rows, y, cost, 0.7, alpha, weights, 5, 1, 0.0)
        design = np.column_stack([x, np.full(30, 0.7)])
        np.testing.assert_allclose(weights, design.T @ alpha, atol=1e-9)
        np.testing.assert_allclose(alpha.sum(axis=1), 0.0, atol=1e-9)
        assert np.all(alpha <= cost[:, None] * np.eye(4)[y] + 1e-12)
        found[name] = np.append(alpha, violation)
    for name in ("dense", "sparse", "long"):
        np.testing.assert_allclose(found[name], found["twin"], rtol=1e-7, atol=1e-9)


def test_class_dual_epochs_settle():
    random = np.random.default_rng(10)
    x, y = random.standard_normal((60, 3)), random.integers(0, 3, 60)
    alpha, weights = np.zeros((60, 3)), np.zeros((4, 3))
    arguments = (x, y, np.full(60, 0.1), 1.0, alpha, weights)
    first = _native.class_dual_epochs(*arguments, 1, 1, 0.0)
    last = _native.class_dual_epochs(*arguments, 2, 2000, 1e-9)
    assert last <= 1e-9 < first


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "sliced"])
def test_correlate_and_column_squares(dtype, order):
    random = np.random.default_rng(12)
    x = random.standard_normal((150, 70)).astype(dtype)
    x = np.asfortranarray(x) if order == "F" else x[::2, ::3] if order == "sliced" else x
    n, d = x.shape
    r, mean, weight = random.standard_normal(n), random.standard_normal(d), random.random(n)
    slopes, squares = np.full(d + 3, 7.0), np.full(d + 3, 7.0)
    _native.correlate(x, r, slopes, 2)
    _native.column_squares(x, mean, weight, squares, 2)
    wide = x.astype(float)
    np.testing.assert_allclose(slopes[2 : 2 + d], wide.T @ r, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(squares[2 : 2 + d], weight @ (wide - mean) ** 2, rtol=1e-12)
    for out in (slopes, squares):
        assert (out[[0, 1, -1]] == 7.0).all()
    columns = sp.csc_array(np.where(np.abs(x) < 0.5, 0, x))
    sparse = np.zeros(d)
    _native.correlate_sparse(columns.data, columns.indices, columns.indptr, r, sparse, 0)
    np.testing.assert_allclose(sparse, columns.T @ r, rtol=1e-6)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("l2", [0.0, 0.7])
def test_lasso_gap_and_room(nonnegative, l2):
    random = np.random.default_rng(13)
    for _ in range(20):
        beta, slopes = random.standard_normal((2, 6)) * (random.random((2, 6)) < 0.6)
        beta = np.abs(beta) if nonnegative else beta
        squares, room = random.random(6) * (random.random(6) < 0.8), np.empty(6)
        terms = random.random(6) + 0.1, np.full(6, l2), np.full(6, 0.0 if nonnegative else -np.inf)
        for slack in (np.zeros(1), random.random(6)):
            given = beta, slopes, slack, *terms, 3.0, 2.0
            found, expected = _native.lasso_gap(*given), twin.lasso_gap(*given)
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            given = beta, slopes, slack, squares, *terms, 0.7
            _native.lasso_room(*given, room)
            np.testing.assert_allclose(room, twin.lasso_room(*given), rtol=1e-12)
            found, expected = _native.lasso_move(*given[:-1]), twin.lasso_move(*given[:-1])
            np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("kind", ["gram", "sparse", "float32", "wide index"])
def test_descents_reach_the_minimum_of_their_twin(kind, nonnegative):
    """Two ways to hold the residual, one minimum; columns have means that are taken off."""
    random = np.random.default_rng(14)
    x = random.standard_normal((40, 9)) + random.standard_normal(9)
    x = np.where(np.abs(x) < 0.4, 0.0, x)
    x = x.astype(np.float32) if kind == "float32" else x
    mean, y = x.mean(axis=0, dtype=float), random.standard_normal(40) * 3
    y -= y.mean()
    centred = x - mean
    gram, start = centred.T @ centred, centred.T @ y
    terms = np.full(9, 4.0), np.full(9, 0.5), np.full(9, 0.0 if nonnegative else -np.inf)
    expected = np.zeros(9)
    slopes = twin.descend_gram(gram, start, *terms, expected, 500)
    beta, limits = np.zeros(9), (1e-13, 0.0, 10_000)
    order = np.arange(9)[::-1].astype(np.int64)
    if kind == "gram":
        room = np.full((12, 12), np.nan)
        room[:9, :9] = gram
        left, active = np.empty(9), _native.ActiveSet(9)
        sweeps, gap, _ = _native.descend_gram(
            room, start, y @ y, *terms, beta, left, active, *limits
        )
        np.testing.assert_allclose(left, slopes, atol=1e-6)
    else:
        index = np.int64 if kind == "wide index" else np.int32
        columns, part, residual = sp.csc_array(x), np.zeros(9), np.append(y, 0.0)
        sweeps, gap, _ = _native.descend_sparse(
            columns.data, columns.indices.astype(index), columns.indptr.astype(index), mean, 40.0,
            y, order, np.diagonal(gram)[order].copy(), *terms, part, residual, *limits,
        )  # fmt: skip
        beta[order] = part
        np.testing.assert_allclose(residual[:-1] + residual[-1], y - centred @ beta, atol=1e-8)
    assert sweeps < 10_000
    assert gap <= 1e-13
    np.testing.assert_allclose(beta, expected, atol=1e-6)


def test_descend_tasks():
    random = np.random.default_rng(15)
    root = random.standard_normal((30, 7))
    gram, start = root.T @ root, random.standard_normal((7, 3)) * 20
    l1, l2 = np.full(7, 15.0), np.full(7, 0.3)
    expected = np.zeros((7, 3))
    slopes = twin.descend_tasks(gram, start, l1, l2, expected, 500)
    beta, left, by_task = np.zeros((3, 7)), start.T.copy(), start.T.copy()
    yy = float(np.sum(start * np.linalg.solve(gram, start))) + 1.0
    _, gap, _ = _native.descend_tasks(gram, by_task, yy, l1, l2, beta, left, 1e-10, 0.0, 10_000)
    np.testing.assert_allclose(beta.T, expected, atol=1e-7)
    np.testing.assert_allclose(left.T, slopes, atol=1e-5)
    rr = yy - np.sum(beta * (by_task + left))
    again, scale = _native.task_gap(beta, left, l1, l2, rr, yy - np.sum(beta * by_task))
    assert gap == pytest.approx(again, abs=1e-9)
    assert gap <= 1e-10
    assert 0 < scale <= 1 + 1e-9


def test_descents_refuse_wrong_sizes():
    one, two, whole = np.ones(1), np.ones(2), np.zeros(1, dtype=np.int64)
    limits = (0.0, 0.0, 1)
    with pytest.raises(ValueError, match="out of range"):
        _native.descend_sparse(
            one, np.zeros(1, np.int32), np.array([0, 1], np.int32), one, 1.0, np.ones(3),
            whole + 2, one, one, one, one, one.copy(), np.ones(4), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="row index"):
        _native.descend_sparse(
            one, np.full(1, 9, np.int32), np.array([0, 1], np.int32), one, 1.0, np.ones(3), whole,
            one, one, one, one, one.copy(), np.ones(4), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="as large as beta"):
        _native.descend_gram(
            np.ones((1, 1)), two, 1.0, two, two, two, two.copy(), two.copy(),
            _native.ActiveSet(2), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="l1 must be positive"):
        _native.descend_tasks(
            np.ones((1, 1)), np.ones((1, 1)), 1.0, np.zeros(1), np.zeros(1), np.ones((1, 1)),
            np.ones((1, 1)), *limits,
        )  # fmt: skip
    with pytest.raises(ValueError, match="no room"):
        _native.correlate(np.ones((3, 2), order="F"), np.ones(3), two.copy(), 1)
    with pytest.raises(ValueError, match="row indices"):
        _native.correlate_sparse(
            one, np.full(1, 9, np.int32), np.array([0, 1], np.int32), np.ones(3), two.copy(), 0
        )


def test_wrong_sizes_are_refused_and_never_written():
    x, out = np.zeros((3, 2)), np.zeros((3, 2))
    none = np.empty(0)
    with pytest.raises(ValueError, match="centre and scale"):
        _native.pack_rows(x, np.zeros(1), np.zeros(2), none, out, 0)
    with pytest.raises(ValueError, match="room"):
        _native.pack_rows(x, np.zeros(2), np.zeros(2), none, out, 1)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.pack_rows(x, np.zeros(2), np.zeros(2), np.zeros(2), out, 0)
    with pytest.raises(TypeError):
        _native.pack_rows(x.astype(int), np.zeros(2), np.zeros(2), none, out, 0)
    data, indptr = np.ones(2), np.array([0, 2], dtype=np.int32)
    with pytest.raises(ValueError, match="column index"):
        _native.sparse_gram(data, np.array([0, 7], dtype=np.int32), indptr, none, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="past the stored"):
        _native.sparse_gram(
            data,
            np.array([0, 1], dtype=np.int32),
            np.array([0, 5], dtype=np.int32),
            none,
            np.zeros((2, 2)),
        )
    with pytest.raises(ValueError, match="must not decrease"):
        _native.sparse_gram(
            data,
            np.array([0, 1], dtype=np.int32),
            np.array([0, 2, 1, 2], dtype=np.int32),
            none,
            np.zeros((2, 2)),
        )
    one = np.zeros(1)
    with pytest.raises(ValueError, match="square"):
        _native.quadratic_sweeps(np.zeros((1, 2)), one, one, one, one, one.copy(), one.copy(), 1)
    with pytest.raises(ValueError, match="bases"):
        _native.leave_one_out_sums(
            one, np.zeros((1, 1)), np.zeros((2, 1)), np.zeros((1, 1)), np.zeros((1, 1)), none,
            0.0, 0.0, one.copy(),
        )  # fmt: skip
    with pytest.raises(ValueError, match="gamma"):
        _native.compensated_gradient(
            x, np.zeros((3, 1)), none, np.zeros(3), np.ones(3), np.zeros((2, 1)),
            np.zeros((1, 3)), np.zeros((1, 3)),
        )  # fmt: skip


def test_wrong_sizes_are_refused_by_the_sparse_kernels():
    gram, c, out = np.eye(2), np.zeros((3, 2)), np.zeros((3, 2))
    one, steps, none = np.zeros(3), np.zeros(3, dtype=np.int64), np.zeros((0, 2))
    with pytest.raises(ValueError, match="square"):
        _native.matching_pursuit(c, c, one, 1, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="per target"):
        _native.matching_pursuit(gram, c, np.zeros(2), 1, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="more steps"):
        _native.matching_pursuit(gram, c, one, 3, 0.0, out, one, steps, none)
    with pytest.raises(ValueError, match="path"):
        _native.matching_pursuit(gram, c, one, 2, 0.0, out, one, steps, np.zeros((5, 2)))
    with pytest.raises(ValueError, match="rows of correlation"):
        _native.sparse_codes(gram, 1.0, False, c, np.zeros((2, 2)), 0.0, 1, one)
    with pytest.raises(ValueError, match="more steps"):
        _native.least_angles(gram, c, 3, out)
    with pytest.raises(ValueError, match="a row for each entry"):
        _native.least_angle_path(gram, np.zeros(3), False, 1, 1, 0.0, False, False, True)
    with pytest.raises(ValueError, match="no more active columns"):
        _native.least_angle_path(gram, np.zeros(2), False, 1, 3, 0.0, False, False, True)
    cursor, best = np.zeros(3, dtype=np.int64), np.zeros(2)
    members = np.zeros((2, 1), dtype=np.int64)
    with pytest.raises(ValueError, match="between 1"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 3, cursor, best, members, 1)
    with pytest.raises(ValueError, match="one row per size"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 2, cursor, best, members, 1)
    wrong = np.array([1, 9, 0], dtype=np.int64)
    with pytest.raises(ValueError, match="not there"):
        _native.best_subsets(gram, np.zeros(2), 0.0, 1, wrong, best, members, 1)

    rows, shares, theta = np.zeros((2, 3)), np.ones(2), np.zeros(4)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.dual_epochs(
            rows, one, shares, shares, shares, 0.0, 0.0, 1.0, 1.0, 0.0, shares, theta, 0, 1, 0.0
        )
    with pytest.raises(ValueError, match="for the constant"):
        _native.dual_epochs(
            rows, shares, shares, shares, shares, 0.0, 0.0, 1.0, 1.0, 0.0, shares, one, 0, 1, 0.0
        )
    with pytest.raises(ValueError, match="positive"):
        _native.dual_epochs(
            rows, shares, shares, shares, shares, 0.0, 0.0, 0.0, 1.0, 0.0, shares, theta, 0, 1, 0.0
        )
    labels, weights = np.array([0, 2]), np.zeros((4, 2))
    with pytest.raises(ValueError, match="class numbers"):
        _native.class_dual_epochs(rows, labels, shares, 1.0, np.zeros((2, 2)), weights, 0, 1, 0.0)
    with pytest.raises(ValueError, match="classes"):
        _native.class_dual_epochs(rows, labels, shares, 1.0, np.zeros((2, 3)), weights, 0, 1, 0.0)


def test_plane_weights_agree_with_the_reference():
    from tests.reference.plane_weights import pairwise_ascent

    random = np.random.default_rng(11)
    psi, delta = random.standard_normal((12, 3)), random.random(12)
    term = np.repeat(np.arange(4), 3)
    a, shares, alpha = np.tile([0.5, 0.5, 0.0], 4), np.array([0.4, 0.3, 0.2, 0.1]), 0.3
    starts = np.arange(0, 13, 3)
    w = (a * shares[term] / alpha) @ psi
    ours, at = a.copy(), w.copy()
    gap = _native.plane_weights(psi, delta, ours, np.arange(12), starts, shares, alpha, at, 7, 0.0)
    expected, expected_w, expected_gap = pairwise_ascent(psi, delta, a, starts, shares, alpha, w, 7)
    np.testing.assert_allclose(ours, expected, atol=1e-12)
    np.testing.assert_allclose(at, expected_w, atol=1e-12)
    np.testing.assert_allclose(gap, expected_gap, atol=1e-12)
    np.testing.assert_allclose(np.add.reduceat(ours, starts[:-1]), 1.0)
    np.testing.assert_allclose((ours * shares[term] / alpha) @ psi, at, atol=1e-12)
    with pytest.raises(ValueError, match="starts"):
        _native.plane_weights(psi, delta, ours, np.arange(12), starts[:-1], shares, alpha, at, 1, 0)
    wrong = np.arange(12) + 1
    with pytest.raises(ValueError, match="row numbers"):
        _native.plane_weights(psi, delta, ours, wrong, starts, shares, alpha, at, 1, 0)
