"""Trees of gradients against a plain twin; what is done with their leaves."""

import numpy as np
import pytest

import thetahat as th
from tests.reference.trees import gradient_trees as twin
from thetahat import _native
from thetahat.data.bins import Bins, Codes
from thetahat.models.ensemble.gradient_boosting.gradient_trees import Leaves, TreeRules, grow_tree
from thetahat.models.tree.structure import UNDEFINED


def rows(n=300, d=3, max_bins=12, missing=False):
    random = np.random.default_rng(n)
    X = random.standard_normal((n, d))
    if missing:
        X[random.random((n, d)) < 0.2] = np.nan
    bins = Bins.learn(X, max_bins=max_bins)
    return X, bins, bins.codes(X)


def test_codes_by_row_alone_give_the_same_tree():
    X, bins, codes = rows(missing=True)
    X[:, 2] = np.round(2 * np.abs(np.nan_to_num(X[:, 2])))
    bins = Bins.learn(X, max_bins=12, categorical=[2])
    codes = bins.codes(X)
    by_row = Codes(codes.by_row, np.empty((3, 0), dtype=np.uint8))
    g = np.random.default_rng(0).standard_normal(len(X)) + np.nan_to_num(X[:, 0]) + X[:, 2] ** 2
    drawn = np.arange(0, 300, 2, dtype=np.uint32)
    for chosen in ({}, {"rows": drawn}):
        trees = [
            grow_tree(each, bins, g, None, np.abs(g), TreeRules(max_leaves=12), **chosen)
            for each in (codes, by_row)
        ]
        for name in ("feature", "threshold", "left", "values", "weight", "missing_left"):
            ours, theirs = (getattr(tree, name) for tree, _ in trees)
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(trees[0][1].order, trees[1][1].order)
    assert (trees[0][0].category_set >= 0).any()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("rows_by_curvature", [False, True])
def test_the_tree_is_that_of_the_twin(rows_by_curvature, weights, curved, missing):
    random = np.random.default_rng(1)
    X, bins, codes = rows(missing=missing)
    n = len(X)
    g = np.nan_to_num(X[:, 0]) + np.sin(3 * np.nan_to_num(X[:, 1])) + random.standard_normal(n)
    h = random.uniform(0.05, 1.0, n) if curved else np.ones(n)
    w = {"none": np.ones(n), "whole": random.integers(1, 4, n), "real": random.random(n) + 0.2}
    w = w[weights].astype(float)
    rules = {"min_rows": 15.0, "l2": 0.5}
    tree, leaves = grow_tree(
        codes,
        bins,
        g,
        h if curved else None,
        None if weights == "none" else w,
        TreeRules(max_leaves=8, rows_by_curvature=rows_by_curvature, **rules),
    )
    rules["rows_by_curvature"] = rows_by_curvature
    expected = twin.grow(codes.by_column, bins.n_bins, g, h, w, 8, **rules)
    assert tree.feature.tolist() == [UNDEFINED if node[0] < 0 else node[0] for node in expected]
    np.testing.assert_allclose(tree.values[:, 0], [node[3] for node in expected], rtol=1e-10)
    for node, (j, code, missing_left, _) in enumerate(expected):
        if j < 0:
            continue
        cuts = bins.cuts[j]
        assert tree.threshold[node] == (cuts[code] if code < len(cuts) else np.inf)
        if np.isnan(X[:, j]).any() and (tree.threshold[node] == np.inf or missing_left):
            assert tree.missing_left[node] == missing_left
    np.testing.assert_array_equal(tree.apply(X)[leaves.order], leaves.nodes[leaves.of_rows])
    for k in range(len(leaves.nodes)):
        assert np.all(
            np.diff(leaves.order[leaves.bounds[k] : leaves.bounds[k + 1]].astype(int)) > 0
        )


def test_leaves_have_as_many_rows_as_asked_where_hessians_are_no_counts():
    random = np.random.default_rng(2)
    _, bins, codes = rows(2000, 4, 255)
    g = random.standard_normal(2000)
    h = 10.0 ** random.uniform(-6, 0, 2000)  # so that a sum says little of the number of rows
    for least in (1.0, 30.0, 200.0):
        tree, _ = grow_tree(codes, bins, g, h, None, TreeRules(max_leaves=20, min_rows=least))
        assert tree.count[tree.feature < 0].min() >= least
        assert tree.n_leaves > 1


def test_rows_of_large_curvature_may_form_a_leaf_of_few_rows():
    """50 of 1000 rows have half of the curvature, so they count as 500 rows."""
    X = np.repeat([0.0, 1.0], [950, 50])[:, None]
    g, h = np.where(X[:, 0] > 0, -1.0, 1.0), np.where(X[:, 0] > 0, 0.95, 0.05)
    bins = Bins.learn(X, max_bins=12)
    for least, by_curvature, leaves in [(60, False, 1), (60, True, 2), (490, True, 2)]:
        rules = TreeRules(max_leaves=8, min_rows=float(least), rows_by_curvature=by_curvature)
        assert grow_tree(bins.codes(X), bins, g, h, None, rules)[0].n_leaves == leaves


def test_same_bits_on_any_number_of_threads_with_many_rows():
    random = np.random.default_rng(3)
    _, bins, codes = rows(90_000, 8, 255)
    g, h = random.standard_normal(90_000), random.random(90_000)
    grown = []
    for threads in (1, 2, 3):
        with th.config(threads=threads):
            grown.append(grow_tree(codes, bins, g, h, None, TreeRules(max_leaves=31))[0])
    for name in ("feature", "threshold", "values", "gain", "impurity"):
        for other in grown[1:]:
            np.testing.assert_array_equal(getattr(grown[0], name), getattr(other, name))


def test_only_the_rows_named_are_fitted():
    random = np.random.default_rng(4)
    X, bins, codes = rows()
    g = random.standard_normal(300)
    some = np.flatnonzero(random.random(300) < 0.5).astype(np.uint32)
    tree, leaves = grow_tree(codes, bins, g, None, None, TreeRules(max_leaves=6), rows=some)
    part = bins.codes(X[some])
    alone, _ = grow_tree(part, bins, g[some].copy(), None, None, TreeRules(max_leaves=6))
    np.testing.assert_array_equal(tree.threshold, alone.threshold)
    np.testing.assert_array_equal(tree.values, alone.values)
    assert set(leaves.order.tolist()) == set(some.tolist())


def test_zero_gradients_and_one_row_stay_one_leaf():
    _, bins, codes = rows()
    tree, _ = grow_tree(codes, bins, np.zeros(300), None, None, TreeRules())
    assert tree.node_count == 1
    assert tree.values[0, 0] == 0.0
    _, bins, codes = rows(1)
    assert grow_tree(codes, bins, np.ones(1), None, None, TreeRules())[0].node_count == 1


def test_what_is_not_finite_is_refused():
    _, bins, codes = rows()
    with pytest.raises(ValueError, match="finite"):
        grow_tree(codes, bins, np.full(300, np.nan), None, None, TreeRules())
    backwards = np.array([5, 3], dtype=np.uint32)
    with pytest.raises(ValueError, match="ascending"):
        grow_tree(codes, bins, np.ones(300), None, None, TreeRules(), rows=backwards)
    with pytest.raises(ValueError, match="gradient"):
        grow_tree(codes, bins, np.ones(299), None, None, TreeRules())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.75])
def test_leaf_quantiles_are_best_constants(level, weighted):
    random = np.random.default_rng(5)
    from thetahat.mathematics.losses.constants import weighted_quantile

    values = np.round(random.standard_normal(200), 1)
    weight = random.integers(0, 3, 200).astype(float) if weighted else None
    order = random.permutation(200).astype(np.uint32)
    leaves = Leaves(order, np.arange(3), np.array([0, 60, 61, 200]))
    got = leaves.quantiles(values, weight, level)
    for k in (0, 2):
        part = order[leaves.bounds[k] : leaves.bounds[k + 1]]
        w = None if weight is None else weight[part]
        if w is not None:
            part, w = part[w > 0], w[w > 0]
        assert got[k] == pytest.approx(float(weighted_quantile(values[part], w, level)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("delta", [0.05, 1.0, 100.0])
def test_leaf_hubers_are_best_constants(delta, weighted):
    random = np.random.default_rng(6)
    values = random.standard_cauchy(300)
    weight = random.integers(0, 3, 300).astype(float) if weighted else None
    order = random.permutation(300).astype(np.uint32)
    leaves = Leaves(order, np.arange(3), np.array([0, 90, 92, 300]))
    got = leaves.huber_constants(values, weight, delta)
    for k in range(3):
        part = order[leaves.bounds[k] : leaves.bounds[k + 1]]
        w = np.ones(part.size) if weight is None else weight[part]
        slope = th.losses.Huber(delta).gradient(values[part], np.full(part.size, got[k]))
        assert abs(w @ slope) <= 1e-9 * delta * max(w.sum(), 1.0)
    with pytest.raises(ValueError, match="delta"):
        leaves.huber_constants(values, weight, 0.0)


def test_values_are_added_to_the_rows_of_leaves():
    order = np.array([3, 0, 1, 2], dtype=np.uint32)
    out = np.zeros((4, 2))
    _native.add_to_leaves(order, np.array([0, 1, 4]), np.array([5.0, 7.0]), out, 1, 2)
    assert out.tolist() == [[0, 7], [0, 7], [0, 7], [0, 5]]
    with pytest.raises(ValueError, match="numbers of rows"):
        _native.add_to_leaves(order, np.array([0, 1, 4]), np.array([5.0, 7.0]), out[:2], 1, 2)


def test_slopes_and_curvatures_are_those_of_the_losses():
    random = np.random.default_rng(7)
    z = np.concatenate([random.standard_normal(500) * 5, [-800.0, 800.0, 0.0, -37.0]])
    y = random.integers(0, 2, len(z)).astype(float)
    loss = th.losses.Logistic()
    slope, bend = loss.gradient_and_curvature(y, z)
    np.testing.assert_allclose(slope, loss.gradient(y, z), rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(bend, loss.curvature(y, z), rtol=1e-14, atol=1e-300)
    scores, label = random.standard_normal((200, 4)) * 9, random.integers(0, 4, 200).astype(float)
    loss = th.losses.SoftmaxCrossEntropy()
    slope, bend = loss.gradient_and_curvature(label, scores)
    np.testing.assert_allclose(slope, loss.gradient(label, scores), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(bend, loss.curvature(label, scores), rtol=1e-9, atol=1e-14)
