"""Graphical lasso: worked numbers, optimality, relations, bad input."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import GraphicalLasso as Theirs
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import thetahat as th

TWO = [[1.0, 0.6], [0.6, 1.0]]


def correlated_rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    chain = np.eye(d) + np.diag(np.full(d - 1, 0.45), 1) + np.diag(np.full(d - 1, 0.45), -1)
    return rng.multivariate_normal(np.arange(d), np.linalg.inv(chain), size=n)


def objective(S, Q, alpha):
    off = np.abs(Q).sum() - np.abs(np.diag(Q)).sum()
    return -np.linalg.slogdet(Q)[1] + np.sum(S * Q) + alpha * off


def precision_of(S, alpha, **options):
    return th.GraphicalLasso(alpha, covariance="precomputed", **options).fit(S).precision_


def test_worked_numbers_of_two_columns():
    model = th.GraphicalLasso(0.2, covariance="precomputed").fit(TWO)
    np.testing.assert_allclose(model.covariance_, [[1.0, 0.4], [0.4, 1.0]], atol=1e-9)
    np.testing.assert_allclose(
        model.precision_, [[1.190476, -0.476190], [-0.476190, 1.190476]], atol=1e-6
    )
    assert model.n_edges_ == 1


@pytest.mark.parametrize("alpha", [0.6, 0.7, 5.0])
def test_from_the_largest_covariance_on_the_precision_is_diagonal(alpha):
    np.testing.assert_array_equal(precision_of(TWO, alpha), np.eye(2))
    X = correlated_rows(50, 4)
    S = np.cov(X.T, bias=True)
    largest = np.abs(S - np.diag(np.diag(S))).max()
    model = th.GraphicalLasso(largest).fit(X)
    np.testing.assert_allclose(model.precision_, np.diag(1 / np.diag(S)), rtol=1e-12)
    assert model.n_edges_ == 0
    assert th.GraphicalLasso(0.99 * largest).fit(X).n_edges_ >= 1


def test_without_penalty_it_is_the_inverse():
    np.testing.assert_allclose(precision_of(TWO, 0), np.linalg.inv(TWO), rtol=1e-12)
    X = correlated_rows(50, 4)
    model = th.GraphicalLasso(0).fit(X)
    np.testing.assert_allclose(model.precision_, np.linalg.inv(np.cov(X.T, bias=True)), rtol=1e-9)
    assert model.solution_.outcome.value.startswith("solved directly")


def test_the_lecture_maximises_the_likelihood_with_lambda():
    """max Σ_k(−½xᵀQx + ½ log det Q) − λΣ_{i≠j}|q_ij| with ρ = 2λ/n."""
    X = correlated_rows(40, 3)
    X -= X.mean(axis=0)
    lam, n = 4.0, len(X)
    Q = th.GraphicalLasso(2 * lam / n, tol=1e-10, assume_centered=True).fit(X).precision_

    def likelihood(Q):
        off = np.abs(Q).sum() - np.abs(np.diag(Q)).sum()
        distances = np.einsum("ki,ij,kj->k", X, Q, X)
        return np.sum(-0.5 * distances + 0.5 * np.linalg.slogdet(Q)[1]) - lam * off

    rng = np.random.default_rng(1)
    for _ in range(50):
        step = rng.normal(size=(3, 3)) * 1e-3
        assert likelihood(Q + step + step.T) < likelihood(Q)


@pytest.mark.parametrize(("n", "d", "alpha"), [(100, 10, 0.05), (20, 30, 0.1), (8, 12, 0.01)])
def test_optimality_conditions_and_the_certificate(n, d, alpha):
    """W − S is α·sign(q) where q ≠ 0 and at most α elsewhere; the diagonals are equal."""
    X = correlated_rows(n, d)
    S = np.cov(X.T, bias=True)
    model = th.GraphicalLasso(alpha, tol=1e-9).fit(X)
    Q, W = model.precision_, model.covariance_
    off = ~np.eye(d, dtype=bool)
    active = off & (Q != 0)
    np.testing.assert_allclose(W @ Q, np.eye(d), atol=1e-8)
    np.testing.assert_allclose(np.diag(W), np.diag(S), rtol=1e-5)
    np.testing.assert_allclose((W - S)[active], alpha * np.sign(Q[active]), atol=1e-5)
    assert np.abs((W - S)[off]).max() <= alpha + 1e-5
    assert model.solution_.gap <= 1e-9
    assert model.solution_.value == pytest.approx(objective(S, Q, alpha), rel=1e-9)


def test_the_gap_bounds_the_distance_from_the_minimum_at_every_step():
    X = correlated_rows(40, 30)
    S = np.cov(X.T, bias=True)
    best = objective(S, th.GraphicalLasso(0.05, tol=1e-11).fit(X).precision_, 0.05)
    for steps in range(6):
        with pytest.warns(ConvergenceWarning, match="maximum number of iterations"):
            model = th.GraphicalLasso(0.05, max_iter=steps, tol=1e-14).fit(X)
        assert model.n_iter_ == steps
        value = objective(S, model.precision_, 0.05)
        assert best - 1e-9 <= value <= best + model.solution_.gap + 1e-9


def test_no_step_raises_the_objective():
    costs = np.array(th.GraphicalLasso(0.02, tol=1e-8).fit(correlated_rows(40, 30)).costs_)
    assert len(costs) > 3
    assert (np.diff(costs[:, 0]) <= 1e-12 * np.abs(costs[0, 0])).all()


def test_components_are_solved_exactly_for_themselves():
    X = np.hstack([correlated_rows(100, 6, seed) * (1 + seed) for seed in range(3)])
    S = np.cov(X.T, bias=True)
    alpha = np.abs(np.triu(S, 1)[:6, 6:]).max() * 1.01
    blocks = [slice(0, 6), slice(6, 12), slice(12, 18)]
    for block in blocks:
        for other in blocks:
            if block != other:
                S[block, other] = np.clip(S[block, other], -alpha, alpha)
    joint = precision_of(S, alpha, tol=1e-9)
    for block in blocks:
        alone = precision_of(S[block, block], alpha, tol=1e-9)
        np.testing.assert_allclose(joint[block, block], alone, rtol=1e-6, atol=1e-8)
        outside = np.ones(18, dtype=bool)
        outside[block] = False
        assert not joint[block][:, outside].any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_objective_is_at_most_that_of_scikit_learn(alpha):
    X = correlated_rows(200, 20)
    S = np.cov(X.T, bias=True)
    ours, theirs = th.GraphicalLasso(alpha).fit(X), Theirs(alpha, tol=1e-7, enet_tol=1e-12).fit(X)
    np.testing.assert_allclose(ours.precision_, theirs.precision_, atol=2e-3)
    assert objective(S, ours.precision_, alpha) <= objective(S, theirs.precision_, alpha) + 1e-7


def test_methods_agree_with_scikit_learn():
    X = load_iris().data
    ours, theirs = th.GraphicalLasso(0.1).fit(X), Theirs(0.1, tol=1e-9, max_iter=1000)
    theirs.location_, theirs.covariance_, theirs.precision_ = (
        ours.location_,
        ours.covariance_,
        ours.precision_,
    )
    theirs.n_features_in_ = 4
    np.testing.assert_allclose(ours.mahalanobis(X), theirs.mahalanobis(X), rtol=1e-9)
    assert ours.score(X) == pytest.approx(theirs.score(X))
    for norm in ("frobenius", "spectral"):
        for scaling in (True, False):
            for squared in (True, False):
                args = (np.eye(4), norm, scaling, squared)
                assert ours.error_norm(*args) == pytest.approx(theirs.error_norm(*args))
    assert ours.get_precision() is ours.precision_


def test_density_and_samples():
    from scipy.stats import multivariate_normal

    model = th.GraphicalLasso(0.1).fit(correlated_rows(300, 3))
    drawn = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.covariance_, atol=0.05)
    np.testing.assert_allclose(drawn.mean(axis=0), model.location_, atol=0.05)
    expected = multivariate_normal(model.location_, model.covariance_).logpdf(drawn[:50])
    np.testing.assert_allclose(model.log_density(drawn[:50]), expected, rtol=1e-9)


def test_weights_count_rows_and_blocks_of_rows_merge():
    X = correlated_rows(60, 5)
    weight = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = th.GraphicalLasso(0.1).fit(X, sample_weight=weight)
    repeated = th.GraphicalLasso(0.1).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.precision_, repeated.precision_, atol=1e-8)
    single = th.GraphicalLasso(0.1).fit(X.astype(np.float32))
    np.testing.assert_allclose(
        single.precision_, th.GraphicalLasso(0.1).fit(X).precision_, atol=1e-4
    )


def test_threads_do_not_change_a_bit():
    X = np.hstack([correlated_rows(60, 40, seed) for seed in range(2)])
    found = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            found.append(th.GraphicalLasso(0.3).fit(X).precision_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_units_of_all_columns_only_change_the_unit_of_alpha():
    X = correlated_rows(100, 6)
    first = th.GraphicalLasso(0.1).fit(X)
    for factor in (1e-3, 1e3, 1e40):
        other = th.GraphicalLasso(0.1 * factor**2).fit(X * factor)
        np.testing.assert_allclose(other.precision_ * factor**2, first.precision_, rtol=1e-6)


def test_one_column_and_fewer_rows_than_columns():
    model = th.GraphicalLasso(0.1).fit([[1.0], [2.0], [4.0]])
    np.testing.assert_allclose(model.precision_, [[1 / np.var([1, 2, 4])]])
    wide = th.GraphicalLasso(0.1).fit(correlated_rows(5, 20))
    assert (np.linalg.eigvalsh(wide.precision_) > 0).all()


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([[1.0, 0.5], [0.2, 1.0]], dict(covariance="precomputed"), "must be symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], dict(covariance="precomputed"), "positive semi-definite.*-1"),
        ([[1.0, 0.5]], dict(covariance="precomputed"), "as many rows as columns"),
        ([[1.0, 0.0], [0.0, 0.0]], dict(covariance="precomputed"), "column 1 has a variance of 0"),
        ([[1.0, 0.0], [0.0, -1.0]], dict(covariance="precomputed"), "column 1 has a variance of 0"),
        ([[1.0, 2.0], [1.0, 3.0]], {}, "column 0 has a variance of 0.*Drop constant columns"),
        ([[1.0, 2.0]], {}, "n_samples=1"),
        ([[1.0, np.nan], [2.0, 1.0]], {}, "NaN|nan|missing"),
        ([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], dict(alpha=0), "singular.*alpha > 0"),
        ([[1.0, 2.0], [2.0, 1.0]], dict(alpha=-1.0), "alpha=-1.0 must be a number ≥ 0"),
        ([[1.0, 2.0], [2.0, 1.0]], dict(tol=0.0), "tol=0.0 must be"),
        ([[1.0, 2.0], [2.0, 1.0]], dict(mode="x"), "mode='x' must be one of"),
        ([[1.0, 2.0], [2.0, 1.0]], dict(covariance="given"), "covariance='given' must be"),
    ],
)
def test_bad_input(X, options, words):
    with pytest.raises(ValueError, match=words):
        th.GraphicalLasso(**options).fit(X)


def test_weights_of_a_covariance_are_refused():
    with pytest.raises(ValueError, match="without row weights"):
        th.GraphicalLasso(covariance="precomputed").fit(TWO, sample_weight=[1.0, 2.0])


def test_error_norm_checks_the_other_matrix():
    model = th.GraphicalLasso(0.1, covariance="precomputed").fit(TWO)
    with pytest.raises(NotImplementedError, match="norm='other' must be one of"):
        model.error_norm(np.eye(2), norm="other")
    with pytest.raises(ValueError, match=r"shape \(3, 3\)"):
        model.error_norm(np.eye(3))


def test_out_of_time_keeps_the_best_so_far():
    X = correlated_rows(60, 60)
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time"):
        model = th.GraphicalLasso(0.01).fit(X)
    assert np.isfinite(model.precision_).all()
    assert model.solution_.gap > 1e-4


def test_the_function_returns_what_the_model_finds():
    covariance, precision, costs, n_iter = th.graphical_lasso(
        TWO, 0.2, return_costs=True, return_n_iter=True
    )
    model = th.GraphicalLasso(0.2, covariance="precomputed").fit(TWO)
    np.testing.assert_array_equal(covariance, model.covariance_)
    np.testing.assert_array_equal(precision, model.precision_)
    assert (costs, n_iter) == (model.costs_, model.n_iter_)
    assert clone(model).get_params() == model.get_params()


def test_a_source_read_in_blocks_gives_the_same_model(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = correlated_rows(500, 4)
    path = tmp_path / "rows.csv"
    pandas.DataFrame(X, columns=list("abcd")).to_csv(path, index=False)
    model = th.GraphicalLasso(0.1).fit(th.scan(path))
    np.testing.assert_allclose(
        model.precision_, th.GraphicalLasso(0.1).fit(X).precision_, atol=1e-8
    )
    assert list(model.feature_names_in_) == list("abcd")


def test_variances_whose_ratio_underflows_are_refused():
    with pytest.raises(th.errors.DataError, match=r"variance of column 1 is 1e-300.*Standardise"):
        th.graphical_lasso(np.diag([1e300, 1e-300]), 0.1)
    precision = th.graphical_lasso(np.diag([1e150, 1e-150]), 0.1)[1]
    np.testing.assert_allclose(np.diag(precision), [1e-150, 1e150])


@pytest.mark.parametrize("alpha", [0.01, 0.1])
def test_few_columns_take_few_exact_steps(alpha):
    """Each step costs more in calls than in arithmetic, so its direction is found exactly."""
    X = load_iris().data
    model = th.GraphicalLasso(alpha=alpha).fit(X)
    assert model.n_iter_ <= 5
    assert model.solution_.gap < 1e-9
    gap = np.linalg.inv(model.precision_) - np.cov(X.T, bias=True)
    off = ~np.eye(4, dtype=bool)
    assert np.abs(gap[off]).max() <= alpha * (1 + 1e-6)
    held = off & (model.precision_ != 0)
    np.testing.assert_allclose(gap[held], alpha * np.sign(model.precision_[held]), rtol=1e-5)


def test_collinear_columns_take_few_steps():
    """Steps whose model is not solved well enough are too short."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 5)) @ rng.standard_normal((5, 90))
    X += 0.01 * rng.standard_normal(X.shape)
    model = th.GraphicalLasso(alpha=0.3).fit(X)
    assert model.n_iter_ <= 20
    assert model.solution_.gap <= 1e-4
    gap = np.linalg.inv(model.precision_) - np.cov(X.T, bias=True)
    assert np.abs(gap).max() <= 0.3 * (1 + 1e-5)
