"""Best subsets: against trying them all, in every form, and what is refused."""

from itertools import combinations

import numpy as np
import pytest

import thetahat as th

D = 8


def problem(seed=0, n=50):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, D)) @ random.standard_normal((D, D)) + 1.0
    y = X @ np.array([2.0, 0.0, -1.5, 0.0, 0.0, 1.0, 0.0, 0.0]) + 3.0
    return X, y + 2.0 * random.standard_normal(n)


def brute_force(X, y):
    """(RSS, members) of the best subset of each size, every one of them tried."""
    X, y = X - X.mean(axis=0), y - y.mean()
    best = [(float(y @ y), ())]
    for size in range(1, X.shape[1] + 1):
        tried = []
        for members in combinations(range(X.shape[1]), size):
            columns = X[:, members]
            residual = y - columns @ np.linalg.lstsq(columns, y)[0]
            tried.append((float(residual @ residual), members))
        best.append(min(tried))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_finds_what_trying_every_subset_finds(seed):
    X, y = problem(seed)
    best = brute_force(X, y)
    model = th.BestSubset().fit(X, y)
    np.testing.assert_allclose(model.rss_, [rss for rss, _ in best], rtol=1e-9)
    assert [tuple(subset.tolist()) for subset in model.subsets_] == [m for _, m in best]
    assert model.solution_.outcome.success
    assert model.n_iter_ < 2**D


@pytest.mark.parametrize("size", [1, 3, 5])
def test_constrained_form(size):
    X, y = problem()
    rss, members = brute_force(X, y)[size]
    model = th.BestSubset(max_features=size).fit(X, y)
    assert model.criterion_ == "rss"
    assert tuple(np.flatnonzero(model.coef_)) == members
    assert np.sum((y - model.predict(X)) ** 2) == pytest.approx(rss)
    least_squares = th.LinearRegression().fit(X[:, list(members)], y)
    np.testing.assert_allclose(model.coef_[list(members)], least_squares.coef_, rtol=1e-9)
    assert model.intercept_ == pytest.approx(least_squares.intercept_)


@pytest.mark.parametrize("tau", [0.0, 5.0, 30.0, 1e4])
def test_penalised_form_minimises_its_objective(tau):
    X, y = problem()
    objective, members = min((rss + tau * len(m), m) for rss, m in brute_force(X, y))
    model = th.BestSubset(tau=tau).fit(X, y)
    assert tuple(np.flatnonzero(model.support_)) == members
    count = np.count_nonzero(model.coef_)
    reached = np.sum((y - model.predict(X)) ** 2) + tau * count
    assert reached == pytest.approx(objective)


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_information_criteria(criterion):
    """The same choice as the criteria of the summaries of all best subsets make."""
    X, y = problem(n=80)
    model = th.BestSubset(criterion=criterion).fit(X, y)
    values = [
        getattr(th.LinearRegression().fit(X[:, subset], y).summary(), criterion)
        for subset in model.subsets_[1:]
    ]
    assert model.n_nonzero_coefs_ == 1 + int(np.argmin(values))
    # Constants that no choice depends on aside, they are the same numbers.
    np.testing.assert_allclose(np.diff(model.criterion_values_[1:]), np.diff(values), rtol=1e-8)


def test_cross_validation_chooses_what_predicts():
    X, y = problem(n=100)
    model = th.BestSubset(criterion="cv", cv=4).fit(X, y)
    errors = np.zeros(D + 1)
    for fold in np.split(np.arange(100), 4):
        rest = np.setdiff1d(np.arange(100), fold)
        for size in range(1, D + 1):
            part = th.BestSubset(max_features=size).fit(X[rest], y[rest])
            errors[size] += np.mean((y[fold] - part.predict(X[fold])) ** 2) / 4
    np.testing.assert_allclose(model.criterion_values_[1:], errors[1:], rtol=1e-9)
    assert model.n_nonzero_coefs_ == int(model.criterion_values_.argmin())


def test_weights_count_rows():
    X, y = problem()
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = th.BestSubset().fit(X, y, sample_weight=weight)
    repeated = th.BestSubset().fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.criterion_values_, repeated.criterion_values_, rtol=1e-9)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)


def test_without_intercept():
    X, y = problem()
    model = th.BestSubset(max_features=2, fit_intercept=False).fit(X, y)
    tried = []
    for members in combinations(range(D), 2):
        columns = X[:, members]
        tried.append(float(np.sum((y - columns @ np.linalg.lstsq(columns, y)[0]) ** 2)))
    assert model.rss_[2] == pytest.approx(min(tried))
    assert model.intercept_ == 0.0


def test_zero_duplicate_and_dependent_columns():
    X, y = problem()
    X[:, 1], X[:, 3], X[:, 4] = 0.0, X[:, 2], X[:, 0] + X[:, 5]
    model = th.BestSubset().fit(X, y)
    expected = [rss for rss, _ in brute_force(np.delete(X, 1, axis=1), y)]
    np.testing.assert_allclose(model.rss_, expected, rtol=1e-8)
    assert not any(1 in subset for subset in model.subsets_)
    assert np.isfinite(model.coef_).all()


def test_targets_of_zeros_need_no_column():
    X, y = problem()
    for model in (th.BestSubset(), th.BestSubset(max_features=3), th.BestSubset(tau=1.0)):
        assert not model.fit(X, np.zeros_like(y)).support_.any()


def test_fewer_rows_than_columns():
    X, y = problem()
    model = th.BestSubset(max_features=3).fit(X[:5], y[:5])
    assert model.rss_[3] == pytest.approx(brute_force(X[:5], y[:5])[3][0], rel=1e-6)


def test_more_columns_than_rows_stop_at_a_third_of_the_rank_by_default():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((13, 20)), random.standard_normal(13)
    assert len(th.BestSubset().fit(X, y).rss_) == 1 + 12 // 3
    assert len(th.BestSubset(max_features=6).fit(X, y).rss_) == 1 + 6
    for _ in range(20):
        X = random.standard_normal((30, 10))  # rows enough: no residual means that y is linear
        assert th.BestSubset().fit(X, X[:, :8] @ np.ones(8)).n_nonzero_coefs_ == 8


def test_out_of_time_keeps_the_best_so_far():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((100, 38)), random.standard_normal(100)
    with (
        th.config(max_time=1e-4),
        pytest.warns(Warning, match="branch_and_bound"),
    ):
        model = th.BestSubset().fit(X, y)
    assert model.solution_.outcome is th.results.Outcome.OUT_OF_TIME
    assert model.solution_.gap > 0
    assert np.isfinite(model.coef_).all()


def test_too_many_columns_are_refused_with_their_number_and_a_remedy():
    X, y = np.random.default_rng(0).standard_normal((90, 60)), np.arange(90.0)
    with pytest.raises(
        th.errors.CapabilityError,
        match=r"1\.2e\+18 subsets of at most 60 of 60 columns.*Orthogonal",
    ):
        th.BestSubset().fit(X, y)
    assert th.BestSubset(max_features=2).fit(X, y).n_nonzero_coefs_ == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_features": 9}, "more than the number of columns of X, 8"),
        ({"max_features": 0}, "whole number ≥ 1"),
        ({"tau": -1.0}, "tau=-1.0"),
        ({"tau": 1.0, "criterion": "aic"}, "Give only one of them"),
        ({"criterion": "cp"}, "one of"),
    ],
)
def test_refusals(options, words):
    X, y = problem()
    with pytest.raises(th.errors.ParameterError, match=words):
        th.BestSubset(**options).fit(X, y)


@pytest.mark.parametrize("criterion", ["auto", "cv"])
def test_an_interrupt_keeps_the_best_so_far(monkeypatch, criterion):
    random = np.random.default_rng(0)
    x = random.standard_normal((60, 12))
    y = x[:, :3] @ [3.0, -2.0, 1.0] + 0.1 * random.standard_normal(60)
    monkeypatch.setattr("thetahat.mathematics.linalg.best_subsets.NODES_AT_ONCE", 20)

    def interrupted(self, step, theta, value):
        raise KeyboardInterrupt

    monkeypatch.setattr("thetahat.foundation.watch.Watch.__call__", interrupted)
    model = th.BestSubset(criterion=criterion)
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y)
    assert model.solution_.outcome is th.results.Outcome.INTERRUPTED
    assert model.support_[:3].all()
    assert model.score(x, y) > 0.99
    assert len(model.rss_) == len(model.subsets_) == len(model.criterion_values_)
