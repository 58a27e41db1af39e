"""Consistent halfspaces by linear programming: inequalities, margins, and reports of failure."""

import numpy as np
import pytest
import scipy.sparse as sp

import thetahat as th

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def separable(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    z = X @ [1.0, -2.0, 0.5] - 0.3
    keep = np.abs(z) > 0.2
    return X[keep], np.where(z[keep] > 0, "+", "−")


def test_each_example_is_one_inequality():
    X = [[0, 1, 0, 1, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0], [-1, 0.5, 0, 0, 2]]
    model = th.HalfspaceLP().fit(X, [1, 0, 0, 1])
    assert model.inequalities(X, [1, 0, 0, 1]) == [
        "w2 + w4 > θ",
        "w2 + w3 ≤ θ",
        "0 ≤ θ",
        "−w1 + 0.5·w2 + 2·w5 > θ",
    ]
    assert model.inequalities(sp.csr_array(X), [1, 0, 0, 1])[0] == "w2 + w4 > θ"
    homogeneous = th.HalfspaceLP(fit_intercept=False).fit([[1.0], [-1.0]], [1, 0])
    assert homogeneous.inequalities([[1.0]], [1]) == ["w1 > 0"]
    three = th.HalfspaceLP().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(th.errors.DataError, match="two classes, but there are 3"):
        three.inequalities(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize("sparse", [False, True])
def test_separable_examples_are_all_satisfied(sparse):
    X, y = separable()
    model = th.HalfspaceLP(on_inconsistent="raise").fit(sp.csr_array(X) if sparse else X, y)
    assert model.consistent_
    assert model.violation_ == 0.0
    assert model.violated_.size == 0
    np.testing.assert_array_equal(model.predict(X), y)
    signs = np.where(y == model.classes_[1], 1, -1)
    margins = signs * (X @ model.coef_[0] - model.threshold_)
    assert model.margin_[0] > 0
    assert margins.min() == pytest.approx(model.margin_[0])
    assert np.abs(model.coef_).max() == pytest.approx(1.0)


def test_the_margin_is_the_widest_in_the_1_norm():
    """No w with |wⱼ| ≤ 1 does better: shown by its dual, two equal shares of rows 2γ apart."""
    X, y = separable()
    model = th.HalfspaceLP().fit(X, y)
    plus, minus = X[y == model.classes_[1]], X[y == model.classes_[0]]
    p, m = len(plus), len(minus)
    cost = np.concatenate([np.zeros(p + m), np.ones(6)])
    balance = np.block(
        [
            [plus.T, -minus.T, -np.eye(3), np.eye(3)],
            [np.ones((1, p)), np.zeros((1, m + 6))],
            [np.zeros((1, p)), np.ones((1, m)), np.zeros((1, 6))],
        ]
    )
    nearest = th.optimizers.linear_program(
        cost, equalities=(balance, [0.0, 0.0, 0.0, 1.0, 1.0]), lower=0.0
    )
    assert model.margin_[0] == pytest.approx(nearest.value / 2)


def test_without_a_threshold_the_plane_goes_through_the_origin():
    X, y = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -1.0]]), [1, 1, 0]
    model = th.HalfspaceLP(fit_intercept=False).fit(X, y)
    assert model.consistent_
    assert model.intercept_[0] == 0.0
    assert not th.HalfspaceLP(fit_intercept=False).fit([[1.0], [2.0]], [0, 1]).consistent_


def consistent_integers(X, positive, bound):
    """Every (w, θ) of the class that satisfies wᵀx > θ exactly on the positive rows."""
    values = np.arange(-bound, bound + 1)
    grid = np.array(np.meshgrid(*[values] * (X.shape[1] + 1))).reshape(X.shape[1] + 1, -1).T
    above = X @ grid[:, :-1].T > grid[:, -1]
    return grid[(above == np.asarray(positive)[:, None]).all(axis=0)]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_bounded_integer_weights_by_brute_force(bound, sparse):
    """Consistent exactly if one of the (2B + 1)^(n + 1) halfspaces is."""
    outcomes = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, size=(8, 4)).astype(float)
        y = X @ rng.integers(-2, 3, size=4) > rng.integers(-1, 2)
        y[0] ^= seed % 4 == 0 or y.all() or not y.any()
        possible = consistent_integers(X, y, bound)
        model = th.HalfspaceLP(integer_bound=bound).fit(sp.csr_array(X) if sparse else X, y)
        weights = np.append(model.coef_[0], model.threshold_)
        assert np.array_equal(weights, np.round(weights))
        assert np.abs(weights).max() <= bound
        assert model.consistent_ == (len(possible) > 0)
        if model.consistent_:
            assert (possible == weights).all(axis=1).any()
            np.testing.assert_array_equal(model.predict(X), y)
        else:
            assert model.violation_ > 0
            assert model.violated_.size > 0
        outcomes.add(model.consistent_)
    assert outcomes == {True, False}


def test_bounded_integer_weights_need_not_exist_where_real_ones_do():
    X, y = np.array([[3.0, -4.0], [-4.0, 5.0], [0.0, 0.0]]), [1, 1, 0]
    assert th.HalfspaceLP().fit(X, y).consistent_  # for example w = (−9, −7)
    with pytest.raises(th.errors.DataError, match="with integers between −1 and 1 classifies"):
        th.HalfspaceLP(integer_bound=1, on_inconsistent="raise").fit(X, y)


def test_bounded_integer_weights_on_real_columns_and_weights():
    X, y = separable()
    model = th.HalfspaceLP(integer_bound=4).fit(X, y)
    assert model.consistent_
    np.testing.assert_array_equal(model.predict(X), y)
    flipped = y.copy()
    flipped[0] = "+" if y[0] == "−" else "−"
    weight = np.ones(len(y))
    weight[0] = 0.0
    assert th.HalfspaceLP(integer_bound=4).fit(X, flipped, weight).consistent_
    through = th.HalfspaceLP(integer_bound=2, fit_intercept=False).fit([[1.0], [-1.0]], [1, 0])
    assert through.consistent_
    assert through.intercept_[0] == 0.0


def test_inconsistent_examples_are_reported():
    parity = [0, 1, 1, 0]
    model = th.HalfspaceLP().fit(XOR, parity)
    assert not model.consistent_
    assert model.violation_ == pytest.approx(4.0)
    with pytest.raises(
        th.errors.DataError, match=r"no halfspace classifies all 4.*violation is 4.*Use Lin"
    ):
        th.HalfspaceLP(on_inconsistent="raise").fit(XOR, parity)
    with pytest.warns(UserWarning, match="no halfspace classifies all 4 rows"):
        th.HalfspaceLP(on_inconsistent="warn").fit(XOR, parity)
    twins = th.HalfspaceLP().fit([[1.0], [1.0], [3.0]], [0, 1, 1])
    assert not twins.consistent_
    assert twins.violated_.size >= 1


def test_the_least_total_violation():
    """Hinge loss without a penalty: at most that of any other plane."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1, -1)
    weight = rng.integers(0, 3, 40).astype(float)
    model = th.HalfspaceLP().fit(X, y, sample_weight=weight)

    def total(w, b):
        return np.sum(weight * np.maximum(0, 1 - y * (X @ w + b)))

    assert total(model.coef_[0], model.intercept_[0]) == pytest.approx(model.violation_)
    for _ in range(200):
        w, b = model.coef_[0] + rng.normal(size=2) / 3, model.intercept_[0] + rng.normal() / 3
        assert total(w, b) >= model.violation_ - 1e-9
    repeated = th.HalfspaceLP().fit(
        np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))
    )
    assert repeated.violation_ == pytest.approx(model.violation_)


def test_three_classes_one_against_the_rest():
    X = np.array([[0.0, 5.0], [5.0, 0.0], [-5.0, -5.0], [0.5, 6.0]])
    model = th.HalfspaceLP().fit(X, ["a", "b", "c", "a"])
    assert model.consistent_
    assert model.coef_.shape == (3, 2)
    assert model.predict(X).tolist() == ["a", "b", "c", "a"]


def test_bad_input():
    with pytest.raises(th.errors.DataError, match="one class only"):
        th.HalfspaceLP().fit([[1.0], [2.0]], [1, 1])
    with pytest.raises(th.errors.ParameterError, match=r"on_inconsistent='never'"):
        th.HalfspaceLP(on_inconsistent="never").fit(XOR, [0, 1, 1, 0])
    equal = th.HalfspaceLP().fit(np.ones((4, 2)), [0, 0, 0, 1])
    assert not equal.consistent_
    assert np.all(equal.predict(np.ones((2, 2))) == 0)
    booleans = th.HalfspaceLP().fit(XOR, [False, False, False, True])
    assert booleans.predict(XOR).tolist() == [False, False, False, True]


def with_margin():
    """Two columns that decide with a margin of 0.2, and one that does not."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((150, 3))
    score = rows[:, 0] + rows[:, 1]
    return rows[abs(score) > 0.2], (score[abs(score) > 0.2] > 0).astype(int)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("unit", [1e-20, 1e-10, 1e15, 1e50])
def test_units_change_nothing_but_the_margin(unit, sparse):
    rows, y = with_margin()
    shown = sp.csr_array(rows * unit) if sparse else rows * unit
    model, plain = th.HalfspaceLP().fit(shown, y), th.HalfspaceLP().fit(rows, y)
    assert model.consistent_
    assert model.score(shown, y) == 1.0
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.margin_, plain.margin_ * unit, rtol=1e-6)


@pytest.mark.parametrize(
    "change",
    [lambda X: X + 1e10, lambda X: X * [1, 1, 1e12], lambda X: X * [1e-9, 1, 1] + [1, 1e6, 0]],
    ids=["far", "one large column", "mixed"],
)
def test_columns_of_any_size_and_place_are_separated(change):
    rows, y = with_margin()
    model = th.HalfspaceLP(on_inconsistent="raise").fit(change(rows), y)
    assert model.score(change(rows), y) == 1.0
    assert np.abs(model.coef_).max() == pytest.approx(1.0)
    y[:2] = 1 - y[:2]
    assert not th.HalfspaceLP().fit(change(rows), y).consistent_


def test_the_time_limit_holds_for_linear_programs():
    random = np.random.default_rng(0)
    rows, y = random.standard_normal((1500, 60)), random.integers(0, 2, 1500)
    with th.config(max_time=1e-3), pytest.raises(th.errors.ThetahatError, match="out of time"):
        th.HalfspaceLP().fit(rows, y)
