"""The compiled sequential minimal optimisation and kernel sums, against plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference.kernels.smo import kernel_matrix, smo
from thetahat import _native

FORMULAS = {"linear": (0, 1.0, 0.0, 1), "poly": (1, 0.5, 1.0, 3), "rbf": (2, 0.3, 0.0, 1),
            "sigmoid": (3, 0.1, 0.2, 1)}  # fmt: skip


def problem(m=67, kink=0.0, split=None, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((m, 5))
    y = np.where(random.random(m) < 0.5, 1.0, -1.0)
    if kink:
        box = -np.ones(m), np.ones(m)
    else:
        box = np.minimum(y, 0.0), np.maximum(y, 0.0)
    return X, -y + (0.3 * random.standard_normal(m) if kink else 0.0), *box, kink, split or m


def cache(m, slots, dtype=np.float64):
    return (
        np.empty((slots, m), dtype),
        np.full(m, -1, dtype=np.int64),
        np.full(slots, -1, dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
    )


def state(linear):
    return np.zeros(len(linear)), linear.copy()


@pytest.mark.parametrize("kink", [0.0, 0.2])
@pytest.mark.parametrize("split", [None, 30])
@pytest.mark.parametrize("formula", FORMULAS)
def test_steps_are_those_of_the_plain_method(formula, split, kink):
    X, linear, lower, upper, kink, split = problem(kink=kink, split=split)
    K = kernel_matrix(X, X, *FORMULAS[formula])
    for steps in (1, 5, 15):
        expected, violation = smo(K, linear, lower, upper, kink, split, 0 * linear, steps, 1e-6)
        beta, G = state(linear)
        found = _native.smo_matrix(
            K, np.diag(K).copy(), lower, upper, kink, split, beta, G, steps, 1e-6
        )
        assert np.abs(beta - expected).max() < 1e-9
        assert found[1] == pytest.approx(violation, abs=1e-8)
        assert np.abs(G - linear - K @ beta).max() < 1e-9


@pytest.mark.parametrize("slots", [3, 67])
@pytest.mark.parametrize("formula", FORMULAS)
def test_all_sources_of_rows_take_the_same_steps(formula, slots):
    X, linear, lower, upper, kink, split = problem()
    kind = FORMULAS[formula]
    K = kernel_matrix(X, X, *kind)
    S = sp.csr_array(X)
    by_column = S.tocsc()
    compressed = [
        np.ascontiguousarray(part, dtype=np.int32 if part.dtype.kind == "i" else float)
        for part in (S.indptr, S.indices, S.data, by_column.indptr, by_column.indices)
    ] + [by_column.data, (X * X).sum(axis=1)]
    columns = np.ascontiguousarray(X.T)
    rest = (np.diag(K).copy(), lower, upper, kink, split)
    m = len(X)
    runs = {
        "columns": lambda *s: _native.smo_columns(columns, *kind, 2, *cache(m, slots), *rest, *s),
        "sparse": lambda *s: _native.smo_sparse(*compressed, *kind, *cache(m, slots), *rest, *s),
        "called": lambda *s: _native.smo_called(lambda i: K[i], *cache(m, slots), *rest, *s),
        "part": lambda *s: _native.smo_part(K, np.arange(m), *cache(m, slots), *rest, *s),
    }
    expected, _ = smo(K, linear, lower, upper, kink, split, 0 * linear, 30, 1e-9)
    for name, run in runs.items():
        beta, G = state(linear)
        run(beta, G, 30, 1e-9)
        assert np.abs(beta - expected).max() < 1e-7, name


@pytest.mark.parametrize("kink", [0.0, 0.2])
@pytest.mark.parametrize("split", [None, 140])
@pytest.mark.parametrize("slots", [3, 300])
def test_steps_of_a_part_of_the_variables_end_at_the_optimum_of_all(slots, split, kink):
    # A linear kernel of few columns leaves few variables between their bounds, so that most of the
    # many steps use only a part of the variables; with 3 slots its rows are computed again.
    X, linear, lower, upper, kink, split = problem(300, kink=kink, split=split)
    X *= np.logspace(-1, 1, X.shape[1])
    K = X @ X.T
    kept = cache(300, slots)
    columns = np.ascontiguousarray(X.T)
    rest = (np.diag(K).copy(), lower, upper, kink, split)
    beta, G = state(linear)
    steps, violation, _, computed = _native.smo_columns(
        columns, *FORMULAS["linear"], 1, *kept, *rest, beta, G, 10**6, 1e-6
    )
    assert steps > 300
    assert computed < steps  # rows of the part are kept, even by a cache of 3 rows
    assert violation <= 1e-6
    assert np.abs(G - linear - K @ beta).max() < 1e-9 * np.abs(K).max()
    for group in (slice(0, split), slice(split, 300)):
        assert abs(beta[group].sum()) < 1e-10
    _, left = smo(K, linear, lower, upper, kink, split, beta, 0, 1e-6)
    assert left < 2e-6
    beta, G = state(linear)
    for limit in (10, 100):
        taken = _native.smo_matrix(K, *rest, beta, G, limit, 1e-9)[0]
        assert taken == limit


def test_single_precision_rows_are_accurate():
    X, linear, lower, upper, kink, split = problem(300)
    K = kernel_matrix(X, X, *FORMULAS["rbf"])
    rest = (np.ones(300), lower, upper, kink, split)
    beta, G = state(linear)
    columns = np.ascontiguousarray(X.T.astype(np.float32))
    kept = cache(300, 300, np.float32)
    _native.smo_columns(columns, *FORMULAS["rbf"], 1, *kept, *rest, beta, G, 10**6, 1e-4)
    rows = np.flatnonzero(kept[1] >= 0)
    assert len(rows) > 50
    assert np.abs(kept[0][kept[1][rows]] - K[rows]).max() < 3e-7
    assert np.abs(G - linear - K @ beta).max() < 1e-5


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("formula", FORMULAS)
def test_kernel_sums_are_those_of_the_matrix(formula, outputs):
    random = np.random.default_rng(0)
    kind = FORMULAS[formula]
    for n, m, d in ((1, 1, 1), (7, 259, 3), (70, 600, 9)):
        X, Z = random.standard_normal((n, d)), random.standard_normal((m, d))
        weights, offsets = random.standard_normal((m, outputs)), random.standard_normal(outputs)
        expected = kernel_matrix(X, Z, *kind) @ weights + offsets
        for threads in (1, 3):
            out = np.empty((n, outputs))
            columns = np.ascontiguousarray(Z.T)
            _native.kernel_sums(columns, *kind, weights, offsets, X, out, threads)
            assert np.allclose(out, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_far_rows_have_the_value_zero():
    out = np.empty((1, 1))
    far = np.array([[1e4]])
    _native.kernel_sums(far, 2, 1.0, 0.0, 1, np.ones((1, 1)), np.zeros(1), -far, out, 1)
    assert out[0, 0] == 0.0


def gaussian_sums(rows, centres, gamma):
    out, weights = np.empty((len(rows), 1)), np.ones((len(centres), 1))
    columns = np.ascontiguousarray(centres.T)
    _native.kernel_sums(columns, 2, gamma, 0.0, 1, weights, np.zeros(1), rows, out, 1)
    return out[:, 0]


@pytest.mark.parametrize("repeated", [1, 4])
def test_values_of_the_gaussian_kernel_are_accurate_to_a_few_units_of_rounding(repeated):
    exponents = np.concatenate([np.linspace(0.0, 3.0, 300), np.linspace(3.0, 708.0, 300)])
    for exponent in exponents.tolist():
        rows = np.full((repeated, 1), np.sqrt(exponent))
        found = gaussian_sums(rows, np.zeros((1, 1)), 1.0)
        expected = np.exp(-(rows[0, 0] ** 2))
        assert np.abs(found / expected - 1).max() < 4 * np.finfo(float).eps
    assert gaussian_sums(np.full((repeated, 1), 27.0), np.zeros((1, 1)), 1.0)[0] == 0.0


@pytest.mark.parametrize("shift", [0.0, 3.0, 1e4, 1e7])
def test_rows_far_from_the_origin_keep_the_accuracy_of_their_differences(shift):
    random = np.random.default_rng(0)
    rows = shift + random.standard_normal((8, 5))
    centres = rows[0] + 1e-3 * random.standard_normal((40, 5))
    gaps = rows[:, None] - centres
    expected = np.exp(-0.2 * (gaps**2).sum(axis=2)).sum(axis=1)
    assert np.abs(gaussian_sums(rows, centres, 0.2) / expected - 1).max() < 1e-13


def test_wrong_sizes_and_indices_are_refused():
    X, linear, lower, upper, kink, split = problem(5)
    K = kernel_matrix(X, X, *FORMULAS["linear"])
    rest = (np.diag(K).copy(), lower, upper, kink, split, *state(linear), 1, 0.1)
    columns = np.ascontiguousarray(X.T)
    with pytest.raises(ValueError, match="one row and one column per variable"):
        _native.smo_matrix(K[:4, :4].copy(), *rest)
    with pytest.raises(ValueError, match="one entry per variable"):
        _native.smo_matrix(K, np.ones(4), *rest[1:])
    with pytest.raises(ValueError, match="split"):
        _native.smo_matrix(K, *rest[:4], 6, *rest[5:])
    with pytest.raises(ValueError, match="at least 3 slots"):
        _native.smo_columns(columns, *FORMULAS["linear"], 1, *cache(5, 2), *rest)
    bad = cache(5, 3)
    bad[1][0] = 7
    with pytest.raises(ValueError, match="slot is out of range"):
        _native.smo_columns(columns, *FORMULAS["linear"], 1, *bad, *rest)
    with pytest.raises(ValueError, match="number of a row is out of range"):
        _native.smo_part(K, np.full(5, 5), *cache(5, 3), *rest)
    with pytest.raises(ValueError, match="one entry per row"):
        _native.smo_called(lambda i: np.zeros(4), *cache(5, 3), *rest)
    with pytest.raises(ValueError, match="columns of the centres"):
        _native.kernel_sums(
            columns, *FORMULAS["rbf"], np.ones((5, 1)), np.zeros(1), X[:, :4].copy(),
            np.empty((5, 1)), 1,
        )  # fmt: skip


def test_errors_of_a_function_reach_the_caller():
    _, linear, lower, upper, kink, split = problem(5)

    def fails(i):
        raise RuntimeError("no row")

    with pytest.raises(RuntimeError, match="no row"):
        _native.smo_called(
            fails, *cache(5, 3), np.ones(5), lower, upper, kink, split, *state(linear), 9, 0.1
        )


def test_pairs_refuse_what_does_not_fit():
    k, n = 3, 6
    ends, pairs = np.array([0, 2, 4, 6]), np.array([[0, 1], [1, 2]])
    good = {
        "ends": ends,
        "pairs": pairs,
        "cost": np.ones(n),
        "limit": 10,
        "tolerance": 1e-3,
        "beta": np.zeros((k - 1, n)),
        "numbers": np.zeros((2, 3)),
        "steps": np.zeros(2, dtype=np.int64),
        "threads": 1,
    }
    columns = np.arange(12.0).reshape(2, n)
    _native.smo_pairs_columns(columns, 2, 0.1, 0.0, 1, **good)
    _native.smo_pairs_matrix(np.eye(n), np.arange(n), **good)
    for name, bad in (
        ("ends", np.array([0, 2, 4, 5])),
        ("ends", np.array([0, 5, 4, 6])),
        ("pairs", np.array([[1, 0], [1, 2]])),
        ("pairs", np.array([[0, 1], [1, 3]])),
        ("pairs", np.array([[-1, 1], [1, 2]])),
        ("beta", np.zeros((k, n))),
        ("numbers", np.zeros((1, 3))),
        ("steps", np.zeros(3, dtype=np.int64)),
    ):
        with pytest.raises(ValueError, match=r"must|needed"):
            _native.smo_pairs_columns(columns, 2, 0.1, 0.0, 1, **{**good, name: bad})
    with pytest.raises(ValueError, match="one entry per row"):
        _native.smo_pairs_columns(columns[:, :5].copy(), 2, 0.1, 0.0, 1, **good)
    with pytest.raises(ValueError, match="out of range"):
        _native.smo_pairs_matrix(np.eye(n), np.arange(1, n + 1), **good)
    with pytest.raises(ValueError, match="unknown kernel"):
        _native.smo_pairs_columns(columns, 7, 0.1, 0.0, 1, **good)
