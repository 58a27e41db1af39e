"""Lasso and elastic net: optimality first, then relations, scikit-learn, the worked number."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

import thetahat as th
from tests.models.linear.sparse.lasso_data import DATA, TIGHT, WEIGHT, WIDE, WIDE_Y, X, Y, violation
from thetahat.data.validation import as_source
from thetahat.mathematics.optimizers.coordinate.working_sets import WorkingSets
from thetahat.objective.lasso.l1_least_squares import L1Rows
from thetahat.objective.lasso.l1_path import elastic_net_terms


@pytest.mark.parametrize("shape", DATA)
@pytest.mark.parametrize("alpha", [0.01, 0.3])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.05])
@pytest.mark.parametrize("positive", [False, True])
def test_optimality_conditions(shape, alpha, l1_ratio, positive):
    x, y = DATA[shape]
    model = th.ElasticNet(alpha, l1_ratio=l1_ratio, positive=positive, **TIGHT).fit(x, y)
    assert violation(model, x, y, alpha, l1_ratio, positive=positive) < 1e-6
    assert model.solution_.outcome.success
    assert model.solution_.gap_kind == "duality gap"
    assert not positive or (model.coef_ >= 0).all()


@pytest.mark.parametrize("shape", DATA)
def test_the_gap_bounds_the_distance_from_the_minimum(shape):
    x, y = DATA[shape]

    def objective(model):
        residual = y - x @ model.coef_ - model.intercept_
        return np.mean(residual**2) / 2 + 0.1 * np.abs(model.coef_).sum()

    least = objective(th.Lasso(0.1, **TIGHT).fit(x, y))
    scale = np.mean((y - y.mean()) ** 2)
    for tol in (1e-1, 1e-2, 1e-4):
        model = th.Lasso(0.1, tol=tol).fit(x, y)
        assert objective(model) - least <= model.dual_gap_ + 1e-12 <= tol * scale + 1e-12
        assert model.solution_.value == pytest.approx(objective(model))


@pytest.mark.parametrize("alpha", [0.5, 0.05, 0.002])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("positive", [False, True])
def test_sweeps_over_few_numbers_come_within_the_tolerance(alpha, order, weight, positive):
    """At the default tolerance sweeps over all columns do, and what they claim is true."""
    model = th.ElasticNet(alpha, l1_ratio=0.9, positive=positive)
    model.fit(np.array(WIDE, order=order), WIDE_Y, weight)
    exact = th.ElasticNet(alpha, l1_ratio=0.9, positive=positive, **TIGHT).fit(WIDE, WIDE_Y, weight)
    variance = np.average((WIDE_Y - np.average(WIDE_Y, weights=weight)) ** 2, weights=weight)
    assert model.dual_gap_ <= 1e-4 * variance
    assert model.solution_.value - exact.solution_.value <= model.dual_gap_ + 1e-12
    assert model.solution_.value >= exact.solution_.value - 1e-10
    assert not positive or (model.coef_ >= 0).all()


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize(("n", "d"), [(200, 1000), (6, 24), (400, 800), (500, 40)])
def test_coefficients_are_accurate_at_the_default_tolerance(n, d, l1_ratio):
    """A small duality gap alone allowed coefficients that were several per cent off."""
    random = np.random.default_rng(0)
    x = random.standard_normal((n, d))
    y = x[:, :10] @ random.standard_normal(10) + random.standard_normal(n)
    exact = th.ElasticNet(0.1, l1_ratio=l1_ratio, **TIGHT).fit(x, y).coef_
    for rows in (x, sp.csc_array(x)):
        model = th.ElasticNet(0.1, l1_ratio=l1_ratio).fit(rows, y)
        assert np.linalg.norm(model.coef_ - exact) <= 1e-3 * np.linalg.norm(exact)


@pytest.mark.parametrize("name", ["Lasso", "ElasticNet"])
@pytest.mark.parametrize("weight", [False, True])
def test_small_problems_are_the_same_dense_and_sparse(name, weight):
    random = np.random.default_rng(1)
    x = random.standard_normal((6, 24))
    y, w = x[:, 0] + random.standard_normal(6), np.arange(1.0, 7.0) if weight else None
    dense = getattr(th, name)(0.05).fit(x, y, w)
    sparse = getattr(th, name)(0.05).fit(sp.csc_array(x), y, w)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-7, atol=1e-10)


def test_a_gram_matrix_of_weights_with_mean_one():
    """scikit-learn divides row weights by their mean before it forms the Gram matrix."""
    random = np.random.default_rng(2)
    x, y, w = random.standard_normal((50, 8)), random.standard_normal(50), random.random(50) + 0.5
    centred = x - np.average(x, axis=0, weights=w)
    gram = (centred * w[:, None]).T @ centred
    expected = th.ElasticNet(0.01).fit(x, y, w).coef_
    for given in (gram, gram / w.mean()):
        found = th.ElasticNet(0.01, precompute=given).fit(x, y, w).coef_
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_where_sweeps_do_not_arrive_another_way_is_taken():
    """The reported steps are those of the method that found the solution."""
    x = np.cumsum(np.random.default_rng(5).standard_normal((60, 300)), axis=1)  # columns alike
    y = x[:, 40] - x[:, 200] + x[:, 290]
    model = th.Lasso(1e-3, max_iter=2000).fit(x, y)
    assert model.solution_.outcome.success
    problem = L1Rows(as_source(x, y, who="a test"), intercept=True).problem()
    tolerance = 1e-4 * y.var()
    terms = elastic_net_terms(300, 1e-3, 1.0, positive=False)
    method = WorkingSets(first_sweeps=0)
    without = th.minimise(problem.with_terms(terms), method, tolerance=tolerance)
    assert model.n_iter_ == without.steps
    np.testing.assert_array_equal(model.coef_, without.theta[:-1])


@pytest.mark.parametrize("positive", [False, True])
def test_soft_threshold_of_an_orthonormal_design(positive):
    """RSS + τ‖β‖₁ has β_j = sign(z)·max(|z| − τ/2, 0) with z = Xᵀy, and τ = 2nα."""
    random = np.random.default_rng(1)
    q, tau = np.linalg.qr(random.standard_normal((30, 5)))[0], 1.4
    y = q @ [3.0, -2.0, 0.5, -0.1, 1.0]
    z = q.T @ y
    model = th.Lasso(tau / (2 * 30), fit_intercept=False, positive=positive, **TIGHT).fit(q, y)
    expected = np.sign(z) * np.maximum(np.abs(z) - tau / 2, 0.0)
    np.testing.assert_allclose(
        model.coef_, np.maximum(expected, 0.0) if positive else expected, atol=1e-10
    )


@pytest.mark.parametrize("shape", DATA)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("positive", [False, True])
def test_equals_scikit_learn(shape, weighted, intercept, positive):
    random = np.random.default_rng(2)
    x, y = DATA[shape]
    weight = random.random(len(y)) + 0.1 if weighted else None
    options = {"l1_ratio": 0.8, "fit_intercept": intercept, "positive": positive}
    model = th.ElasticNet(0.2, **options, **TIGHT).fit(x, y, weight)
    peer = sklearn.linear_model.ElasticNet(0.2, **options, tol=1e-10, max_iter=100_000)
    peer.fit(x, y, weight)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-6)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, np.asfortranarray])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_layouts_agree(kind, weight):
    """Wide columns are read where they are: by rows, by columns, or sparse, centred implicitly."""
    x = np.where(np.abs(WIDE) < 0.7, 0.0, WIDE)
    expected = th.Lasso(0.1, **TIGHT).fit(x, WIDE_Y, weight)
    model = th.Lasso(0.1, **TIGHT).fit(kind(x), WIDE_Y, weight)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
    assert model.intercept_ == pytest.approx(expected.intercept_)
    single = th.Lasso(0.1).fit(kind(x.astype(np.float32)), WIDE_Y, weight)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, expected.coef_, atol=2e-2)


def test_many_columns_in_use_are_moved_on_the_residual():
    """More columns than rows stay in use: too many for a Gram matrix of working sets."""
    random = np.random.default_rng(3)
    x = random.standard_normal((30, 2600))
    y = x[:, 0] + random.standard_normal(30)
    model = th.ElasticNet(2.0, l1_ratio=1e-4, tol=1e-6, max_iter=5000).fit(x, y)
    assert (model.coef_ != 0).sum() > 2000
    assert violation(model, x, y, 2.0, 1e-4) < 1e-3
    assert model.solution_.outcome.success


def test_gram_and_columns_agree():
    tall = th.Lasso(0.05, **TIGHT).fit(WIDE[:, :60], WIDE_Y, WEIGHT)
    gram = th.Lasso(0.05, precompute=True, **TIGHT).fit(WIDE[:, :60], WIDE_Y, WEIGHT)
    np.testing.assert_allclose(tall.coef_, gram.coef_, atol=1e-9)


def test_weights_are_repetition_in_wide_data():
    rows = np.repeat(np.arange(40), WEIGHT)
    weighted = th.Lasso(0.1, **TIGHT).fit(WIDE, WIDE_Y, WEIGHT)
    repeated = th.Lasso(0.1, **TIGHT).fit(WIDE[rows], WIDE_Y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)


def test_same_bits_for_any_number_of_threads_in_wide_data():
    random = np.random.default_rng(4)
    x = random.standard_normal((50, 3000))
    coefs = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            coefs.append(th.Lasso(0.05).fit(x, x[:, 0]).coef_)
            coefs.append(th.Lasso(0.05).fit(sp.csr_array(x), x[:, 0]).coef_)
    for dense, sparse in ((coefs[2], coefs[3]), (coefs[4], coefs[5])):
        np.testing.assert_array_equal(dense, coefs[0])
        np.testing.assert_array_equal(sparse, coefs[1])


def test_rows_from_a_file(tmp_path):
    np.save(tmp_path / "rows.npy", np.column_stack([X, Y]))
    source = th.scan(tmp_path / "rows.npy", target=6)
    np.testing.assert_allclose(
        th.Lasso(0.1, **TIGHT).fit(source).coef_, th.Lasso(0.1, **TIGHT).fit(X, Y).coef_, atol=1e-9
    )


def test_targets_are_fitted_one_by_one():
    targets = np.column_stack([Y, -2 * Y, X[:, 0]])
    model = th.Lasso(0.1, **TIGHT).fit(X, targets)
    assert model.coef_.shape == (3, 6)
    assert model.sparse_coef_.shape == (3, 6)
    assert len(model.n_iter_) == len(model.dual_gap_) == 3
    for k in range(3):
        alone = th.Lasso(0.1, **TIGHT).fit(X, targets[:, k])
        np.testing.assert_allclose(model.coef_[k], alone.coef_, atol=1e-10)
        assert model.intercept_[k] == pytest.approx(alone.intercept_)
    wide = th.Lasso(0.1, **TIGHT).fit(WIDE, np.column_stack([WIDE_Y, WIDE[:, 0]]))
    np.testing.assert_allclose(wide.coef_[0], th.Lasso(0.1, **TIGHT).fit(WIDE, WIDE_Y).coef_)
    np.testing.assert_array_equal(model.predict(X[:3]).shape, (3, 3))


def test_warm_start_begins_at_the_last_coefficients():
    model = th.Lasso(0.1, warm_start=True).fit(WIDE, WIDE_Y)
    cold, found = model.n_iter_, model.coef_.copy()
    model.fit(WIDE, WIDE_Y)
    assert model.n_iter_ < cold
    np.testing.assert_array_equal(model.coef_, found)


def test_general_form_takes_working_sets_for_many_columns():
    model = th.LinearModel(penalty=th.penalties.L1(0.1), tol=1e-10).fit(WIDE, WIDE_Y)
    assert model.solution_.solver == "working_sets"
    assert "duality gap" in model.solution_.reason
    np.testing.assert_allclose(
        model.coef_, th.Lasso(0.1, **TIGHT).fit(WIDE, WIDE_Y).coef_, atol=1e-6
    )
    boxed = th.penalties.L1(0.1) & th.penalties.Box(-1.0, 1.0)
    with pytest.raises(th.errors.CapabilityError, match="no bounds but θ ≥ 0"):
        th.LinearModel(penalty=boxed, solver="working_sets").fit(WIDE, WIDE_Y)
    with pytest.raises(th.errors.CapabilityError, match="leaves some free"):
        th.LinearModel(penalty="none", solver="working_sets").fit(WIDE, WIDE_Y)


def test_proximal_gradient_finds_the_same():
    """Two ways to one minimum: coordinate descent and FISTA."""
    fista = th.LinearModel(
        penalty=th.penalties.L1(0.3), solver="proximal_gradient", tol=1e-9, max_iter=50_000
    ).fit(WIDE, WIDE_Y)
    np.testing.assert_allclose(
        fista.coef_, th.Lasso(0.3, **TIGHT).fit(WIDE, WIDE_Y).coef_, atol=1e-6
    )


@pytest.mark.parametrize(("shape", "alpha"), [("tall", 0.02), ("wide", 0.8)])
def test_no_sweep_raises_the_objective(shape, alpha):
    """At a penalty that is not reached by larger ones."""
    x, y = DATA[shape]
    values = []
    for sweeps in range(1, 12):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(th.Lasso, "_warn_unless_converged", lambda self: None)
            model = th.Lasso(alpha, tol=1e-12, max_iter=sweeps).fit(x, y)
        values.append(model.solution_.value)
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < values[0]
