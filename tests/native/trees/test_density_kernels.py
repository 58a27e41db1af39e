"""The compiled density kernels against their plain twins, and their refusals at the boundary."""

import numpy as np
import pytest

from tests.reference.trees import density as twin
from thetahat import _native
from thetahat.models.density.growing import CRITERIA


def grown(
    x,
    weight,
    low,
    high,
    criterion,
    exact=True,
    oblique=False,
    full=True,
    min_weight=2.0,
    max_leaves=8,
    threads=1,
    candidates=20,
    seed=0,
):
    mean = np.average(x, axis=0, weights=weight)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weight))
    return _native.grow_density(
        np.ascontiguousarray(x.T),
        np.ascontiguousarray((x - mean) / scale),
        weight,
        low,
        high,
        CRITERIA.index(criterion),
        full,
        exact,
        oblique,
        candidates,
        seed,
        1.0,
        min_weight,
        0.0,
        max_leaves,
        100,
        threads,
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("data", ["smooth", "ties", "weighted"])
def test_exact_growth_is_that_of_trying_everything(criterion, full, data):
    random = np.random.default_rng(1)
    x = random.standard_normal((60, 3)) @ random.standard_normal((3, 3)) + [0.0, 5.0, -3.0]
    x = np.round(x) if data == "ties" else x
    weight = random.integers(1, 4, 60).astype(float) if data == "weighted" else np.ones(60)
    low, high = x.min(axis=0) - 0.5, x.max(axis=0) + 0.25
    min_weight = 0.0 if criterion == "uniformity" else 3.0
    expected = twin.grow_density(x, weight, low, high, criterion, min_weight, 8, 1.0, full)
    nodes, _ = grown(x, weight, low, high, criterion, full=full, min_weight=min_weight)
    feature, threshold, gain, node_weight = nodes[0], nodes[2], nodes[5], nodes[7]
    # Children are numbered in the order of the splits, which is that of their parents' choice.
    inner = np.flatnonzero(feature >= 0)
    inner = inner[np.argsort(nodes[1][inner])]
    np.testing.assert_array_equal(feature[inner], [f for f, _, _ in expected])
    np.testing.assert_allclose(threshold[inner], [t for _, t, _ in expected], rtol=1e-14)
    share = node_weight[inner] / node_weight[0]
    volume = np.exp(twin.log_volume(low, high))
    unit = volume if criterion == "ise" else share
    expected_gain = np.array([g for _, _, g in expected])
    np.testing.assert_allclose(gain[inner], expected_gain * unit, rtol=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_random_candidates_gain_what_the_formula_says(criterion):
    random = np.random.default_rng(1)
    x = random.standard_normal((80, 3))
    weight, low, high = np.ones(80), x.min(axis=0), x.max(axis=0)
    nodes, _ = grown(x, weight, low, high, criterion, exact=False, max_leaves=2)
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    _, order = twin.gain(
        criterion, x, standard, weight, 80.0, low, high, nodes[0][0], nodes[2][0], 1.0
    )
    unit = np.exp(twin.log_volume(low, high)) if criterion == "ise" else 1.0
    assert nodes[5][0] == pytest.approx(order * unit, rel=1e-9)
    assert nodes[7][1] == np.sum(x[:, nodes[0][0]] <= nodes[2][0])


@pytest.mark.parametrize("full", [True, False])
def test_oblique_splits_part_the_rows_along_their_direction(full):
    random = np.random.default_rng(2)
    x = random.standard_normal((200, 3)) @ random.standard_normal((3, 3))
    open_box = np.full(3, np.inf)
    nodes, directions = grown(
        x, np.ones(200), -open_box, open_box, "entropy", exact=False, oblique=True, full=full
    )
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0)
    assert sorted(nodes[0][nodes[0] >= 0]) == list(range(3, 3 + len(directions)))
    standard = (x - x.mean(axis=0)) / x.std(axis=0)
    left = standard @ directions[nodes[0][0] - 3] <= nodes[2][0]
    assert nodes[7][1] == left.sum()
    h = [twin.entropy(standard[side], np.ones(side.sum()), 1.0, full) for side in (left, ~left)]
    whole = twin.entropy(standard, np.ones(200), 1.0, full)
    gain = whole - left.mean() * h[0] - (1 - left.mean()) * h[1]
    assert nodes[5][0] == pytest.approx(gain, rel=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("exact", [True, False])
def test_same_bits_for_any_number_of_threads(criterion, exact):
    random = np.random.default_rng(3)
    x = random.standard_normal((6000, 4))
    weight, low, high = random.random(6000) + 0.5, x.min(axis=0), x.max(axis=0)
    one, _ = grown(x, weight, low, high, criterion, exact, max_leaves=30, threads=1)
    many, _ = grown(x, weight, low, high, criterion, exact, max_leaves=30, threads=3)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("n_trees", [1, 3])
def test_gaussian_leaves(dtype, full, n_trees):
    random = np.random.default_rng(4)
    x = random.standard_normal((700, 3)).astype(dtype)
    leaf = random.integers(-1, 4, (n_trees, 700)).astype(np.int32)
    means, scale = random.standard_normal((4, 3)), 500 * random.standard_normal(4)
    factors = np.tril(random.standard_normal((4, 3, 3)), -1) + np.eye(3) * 0.7
    factors = factors if full else np.array([np.diag(np.diag(each)) for each in factors])
    held = factors.reshape(4, 9) if full else np.diagonal(factors, axis1=1, axis2=2).copy()
    out = np.empty(700)
    _native.gaussian_leaves(x, leaf, means, held, scale, out, 2)
    each = [twin.gaussian_leaves(x, of_tree, means, factors, scale) for of_tree in leaf]
    np.testing.assert_allclose(out, np.logaddexp.reduce(each, axis=0))


def test_refusals_at_the_boundary():
    x, ones, box = np.ones((1, 4)), np.ones(4), np.ones(1)
    rest = (True, True, False, 1, 0, 1.0, 0.0, 0.0, 2, 2, 1)
    nothing = np.empty((0, 1))
    with pytest.raises(ValueError, match="one entry per row"):
        _native.grow_density(x, nothing, np.ones(3), box, box, 0, *rest)
    with pytest.raises(ValueError, match="one side per column"):
        _native.grow_density(x, nothing, ones, np.ones(2), box, 0, *rest)
    with pytest.raises(ValueError, match="three scores"):
        _native.grow_density(x, nothing, ones, box, box, 3, *rest)
    with pytest.raises(ValueError, match="columns by rows"):
        _native.grow_density(x, nothing, ones, box, box, 2, *rest)
    with pytest.raises(ValueError, match="prior"):
        _native.grow_density(x, nothing, ones, box, box, 0, *rest[:5], 0.0, *rest[6:])
    with pytest.raises(ValueError, match="row of the means"):
        _native.gaussian_leaves(
            np.ones((1, 1)),
            np.array([[1]], np.int32),
            np.ones((1, 1)),
            np.ones((1, 1)),
            ones[:1],
            np.empty(1),
            1,
        )
