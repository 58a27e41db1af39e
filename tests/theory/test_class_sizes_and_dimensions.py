"""Sizes of finite classes by enumeration, and the curse of dimensionality by simulation."""

from itertools import product

import numpy as np
import pytest

import thetahat as th

theory = th.theory


@pytest.mark.parametrize("n", [1, 2, 3])
def test_disjunctions_by_enumeration(n):
    plain = list(product((False, True), repeat=n))
    signed = list(product(("in", "negated", "out"), repeat=n))
    assert theory.disjunction_class_size(n) == len(plain)
    assert theory.disjunction_class_size(n, negations=True) == len(signed)
    inputs = list(product((False, True), repeat=n))
    functions = {
        tuple(any(bit for bit, used in zip(x, chosen, strict=True) if used) for x in inputs)
        for chosen in plain
    }
    assert len(functions) == theory.disjunction_class_size(n)  # all are different functions


def all_trees(n, tests):
    """Every tree with exactly so many tests: a label, or (variable, tree, tree)."""
    if not tests:
        return [0, 1]
    return [
        (variable, no, yes)
        for variable in range(n)
        for left in range(tests)
        for no in all_trees(n, left)
        for yes in all_trees(n, tests - 1 - left)
    ]


@pytest.mark.parametrize(("n", "size"), [(1, 0), (1, 3), (2, 2), (3, 2), (2, 3)])
def test_trees_by_enumeration(n, size):
    trees = [tree for tests in range(size + 1) for tree in all_trees(n, tests)]
    assert theory.tree_class_size(n, size) == len(trees)


def test_a_tree_of_many_tests_is_any_function():
    """With 2ⁿ − 1 tests a tree can follow any of the 2^(2ⁿ) functions: |C| is no smaller."""
    for n in (1, 2, 3):
        assert theory.tree_class_size(n, 2**n - 1) >= 2 ** (2**n)


@pytest.mark.parametrize(("n", "bound"), [(1, 1), (2, 1), (2, 2)])
def test_halfspaces_by_enumeration(n, bound):
    values = range(-bound, bound + 1)
    assert theory.halfspace_class_size(n, bound) == len(list(product(values, repeat=n + 1)))
    through_origin = theory.halfspace_class_size(n, bound, threshold=False)
    assert through_origin == len(list(product(values, repeat=n)))


def test_sizes_give_sample_sizes():
    """Worked: 2¹⁰ = 1024 disjunctions, ε = .1, δ = .05 need 100 rows."""
    assert theory.pac_sample_size(theory.disjunction_class_size(10), 0.1, 0.05) == 100
    large = theory.tree_class_size(1000, 200)
    assert theory.pac_sample_size(large, 0.1, 0.05) > 10_000  # no overflow


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.disjunction_class_size(0),
        lambda: theory.tree_class_size(3, -1),
        lambda: theory.halfspace_class_size(3, 0),
        lambda: theory.curse_of_dimensionality([]),
        lambda: theory.curse_of_dimensionality([0]),
        lambda: theory.curse_of_dimensionality(share=1.5),
    ],
)
def test_bad_sizes_are_named(call):
    with pytest.raises(th.errors.ParameterError, match=r"(class_size|curse_of_dimensionality): "):
        call()


def test_bins_multiply_with_dimensions():
    """10^D cells, and the share of them that rows fill, as drawn."""
    found = theory.curse_of_dimensionality([1, 2, 3, 4], bins=10, n=500, share=0.05)
    assert found.cells == (10, 100, 1000, 10_000)
    random = np.random.default_rng(0)
    for d, cells, filled in zip(found.dimensions, found.cells, found.filled, strict=True):
        drawn = [
            len(np.unique((10 * random.random((500, d))).astype(int), axis=0)) / cells
            for _ in range(50)
        ]
        assert np.mean(drawn) == pytest.approx(filled, rel=0.02)
    assert np.all(np.diff(found.filled) < 1e-9)


def test_neighbourhoods_shells_and_balls_as_drawn():
    found = theory.curse_of_dimensionality([1, 2, 5], share=0.1)
    random = np.random.default_rng(1)
    for d, edge, shell, ball in zip(
        found.dimensions, found.edge, found.shell, found.ball, strict=True
    ):
        rows = random.random((200_000, d))
        inside = np.mean((rows < edge).all(axis=1))
        near = np.mean(((rows < 0.05) | (rows > 0.95)).any(axis=1))
        round_ = np.mean(((rows - 0.5) ** 2).sum(axis=1) < 0.25)
        assert (inside, near, round_) == pytest.approx((0.1, shell, ball), abs=0.005)


def test_the_picture_shows_the_four_shares():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = theory.curse_of_dimensionality([1, 2, 6])
    axes = found.plot(axes=pyplot.figure().subplots())
    shares = [found.filled, found.edge, found.shell, found.ball]
    np.testing.assert_array_equal([line.get_ydata() for line in axes.lines], shares)
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [1, 2, 6])
    assert len(axes.get_legend().get_texts()) == 4
    pyplot.close(axes.figure)


def test_many_dimensions_do_not_overflow():
    found = theory.curse_of_dimensionality([400], n=10**6)
    assert found.cells == (10**400,)
    assert found.filled[0] == 0.0
    assert found.edge[0] == pytest.approx(0.01 ** (1 / 400))
    assert "10^400" in str(found)
    one = theory.curse_of_dimensionality([3], bins=1, n=0)
    assert (one.cells, one.filled[0]) == ((1,), 0.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.disjunction_class_size(10**12),
        lambda: theory.disjunction_class_size(10**12, negations=True),
        lambda: theory.tree_class_size(10**9, 10**9),
        lambda: theory.halfspace_class_size(10**9, 10**9),
        lambda: theory.curse_of_dimensionality([10**9]),
        lambda: theory.curse_of_dimensionality([10**6], bins=10**6),
    ],
)
def test_sizes_that_cannot_be_computed_are_refused(call):
    with pytest.raises(th.errors.ParameterError, match=r"too large to compute; the limit is 2\^"):
        call()
