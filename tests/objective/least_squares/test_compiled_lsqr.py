"""LSQR on sparse rows: columns of length one save steps and do not change the solution."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th
from thetahat.objective.least_squares import compiled_lsqr


def unequal_rows(n, d, dtype=np.float64):
    """Frequent and rare columns, as of words."""
    random = np.random.default_rng(0)
    columns = np.minimum(random.pareto(0.7, (n, 30)) * 10, d - 1).astype(np.int32)
    columns[:, 0] = random.integers(0, d, n)  # no column is empty
    X = sp.csr_array((random.random(n * 30), columns.ravel(), np.arange(n + 1) * 30), (n, d))
    X.sum_duplicates()
    y = X @ random.standard_normal(d) + random.standard_normal(n)
    return X.astype(dtype), y.astype(dtype)


def categories(n, *sizes):
    """All categories of several variables: dependent columns, whose numbers of rows differ."""
    random = np.random.default_rng(0)
    parts = []
    for size in sizes:
        which = np.minimum(random.pareto(0.8, n) * 5, size - 1).astype(int)
        which[:size] = np.arange(size)
        parts.append(np.eye(size)[which])
    X = np.hstack(parts)
    return sp.csr_array(X), X @ random.standard_normal(X.shape[1]) + random.standard_normal(n)


def least_norm(X, y):
    """The solution of least norm on dense centred rows."""
    dense = X.toarray()
    return np.linalg.lstsq(dense - dense.mean(axis=0), y - y.mean(), rcond=1e-10)[0]


def never_scaled(monkeypatch):
    monkeypatch.setattr(compiled_lsqr, "UNEQUAL", np.inf)
    monkeypatch.setattr(compiled_lsqr, "VERY_UNEQUAL", np.inf)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ridge_takes_fewer_steps_to_the_same_solution(monkeypatch, weighted, dtype):
    X, y = unequal_rows(1500, 700, dtype)
    weight = np.random.default_rng(1).random(1500) + 0.5 if weighted else None
    scaled = th.Ridge().fit(X, y, sample_weight=weight)
    dense = th.Ridge().fit(X.toarray(), y, sample_weight=weight)
    np.testing.assert_allclose(scaled.coef_, dense.coef_, rtol=1e-3, atol=1e-4)
    never_scaled(monkeypatch)
    plain = th.Ridge().fit(X, y, sample_weight=weight)
    assert scaled.solution_.steps < plain.solution_.steps / 1.5
    assert scaled.solution_.value <= plain.solution_.value * (1 + 1e-9)


def test_independent_columns_take_fewer_steps_to_the_same_solution(monkeypatch):
    X, y = unequal_rows(3000, 600)
    scaled = th.LinearRegression().fit(X, y)
    assert scaled.solution_.solver == "lsqr"
    np.testing.assert_allclose(scaled.coef_, least_norm(X, y), rtol=1e-6, atol=1e-7)
    never_scaled(monkeypatch)
    plain = th.LinearRegression(solver="lsqr").fit(X, y)
    assert scaled.solution_.steps < plain.solution_.steps / 2


@pytest.mark.parametrize("sizes", [(40, 20), (400, 150)])
def test_dependent_columns_have_the_solution_of_least_norm(sizes):
    X, y = categories(3000, *sizes)
    model = th.LinearRegression().fit(X, y)
    assert model.solution_.solver == "lsqr"
    assert model.solution_.outcome.success
    np.testing.assert_allclose(model.coef_, least_norm(X, y), rtol=1e-5, atol=1e-6)
    if X.shape[1] <= 500:
        assert model.rank_ == X.shape[1] - 2
        dense = th.LinearRegression(solver="svd").fit(X.toarray(), y)
        np.testing.assert_allclose(model.singular_, dense.singular_, atol=1e-9)
        with pytest.raises(th.errors.CapabilityError, match=f"rank {model.rank_}"):
            model.summary()


def test_a_combination_of_two_columns_is_found_to_be_dependent():
    X, y = unequal_rows(3000, 600)
    both = sp.csr_array(X[:, [0]] + X[:, [599]])
    X = sp.csr_array(sp.hstack([X, both]))
    model = th.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, least_norm(X, y), rtol=1e-4, atol=1e-5)


def test_several_targets_are_those_of_one_each():
    X, y = unequal_rows(3000, 600)
    several = th.LinearRegression().fit(X, np.column_stack([y, -2 * y[::-1]]))
    for j, target in enumerate((y, -2 * y[::-1])):
        one = th.LinearRegression().fit(X, target)
        np.testing.assert_allclose(several.coef_[j], one.coef_, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_empty_and_constant_columns_are_allowed(constant):
    X, y = unequal_rows(2000, 600)
    X = sp.csr_array(sp.hstack([X, sp.csr_array(np.full((2000, 1), constant))]))
    for model in (th.LinearRegression(), th.Ridge()):
        found = model.fit(X, y).coef_
        assert abs(found[-1]) <= 1e-6
        assert np.isfinite(found).all()
