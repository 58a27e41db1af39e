"""Columns that gain alike: the first of them divides a node, or any one."""

import numpy as np
import pytest

import thetahat as th

RANDOM = np.random.default_rng(0)
SINGLE = RANDOM.standard_normal(300)
TWINS = np.column_stack([SINGLE] * 4)
Y = np.sin(3 * SINGLE) + 0.3 * RANDOM.standard_normal(300)


def divided(tree):
    """How often each column divides a node."""
    feature = tree.tree_.feature
    return np.bincount(feature[feature >= 0], minlength=4)


@pytest.mark.parametrize("kind", [th.DecisionTreeRegressor, th.DecisionTreeClassifier])
def test_any_of_equal_columns_divides(kind):
    y = Y if kind is th.DecisionTreeRegressor else Y > 0
    first, any_one = (kind(ties=ties, random_state=0).fit(TWINS, y) for ties in ("first", "random"))
    assert (divided(first)[1:] == 0).all()
    counts = divided(any_one)
    assert counts.sum() == divided(first)[0]
    assert (np.abs(counts - counts.sum() / 4) < 4 * np.sqrt(counts.sum())).all()
    np.testing.assert_array_equal(first.predict(TWINS), any_one.predict(TWINS))


def test_the_choice_depends_on_the_seed_alone():
    trees = []
    for threads in (1, 3):
        with th.config(threads=threads):
            trees.append(th.DecisionTreeRegressor(ties="random", random_state=1).fit(TWINS, Y))
    np.testing.assert_array_equal(trees[0].tree_.feature, trees[1].tree_.feature)
    other = th.DecisionTreeRegressor(ties="random", random_state=2).fit(TWINS, Y)
    assert (other.tree_.feature != trees[0].tree_.feature).any()


def test_more_gain_comes_before_any_tie():
    better = np.column_stack([np.round(SINGLE), SINGLE, np.round(SINGLE)])
    first, any_one = (
        th.DecisionTreeRegressor(ties=ties, max_depth=2, random_state=0).fit(better, Y)
        for ties in ("first", "random")
    )
    np.testing.assert_array_equal(first.tree_.feature, any_one.tree_.feature)


def test_unknown_rule():
    with pytest.raises(
        th.errors.ParameterError, match="ties='last' must be one of 'first', 'random'"
    ):
        th.DecisionTreeRegressor(ties="last").fit(TWINS, Y)
