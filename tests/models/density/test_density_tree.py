"""Density trees: worked splits, a density that integrates to one, relations, refusals."""

import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal

import thetahat as th
from tests.models.density.density_cases import blobs, integral

WORKED = np.array([[0.1], [0.2], [0.3], [0.9]])

KINDS = {
    "ise": {"criterion": "ise"},
    "uniformity": {"criterion": "uniformity"},
    "entropy": {"criterion": "entropy"},
    "random": {"criterion": "uniformity", "splitter": "random", "random_state": 0},
    "gaussian": {"criterion": "entropy", "leaf": "gaussian"},
    "diagonal": {"criterion": "ise", "leaf": "gaussian", "covariance_type": "diag"},
    "oblique": {
        "criterion": "entropy",
        "leaf": "gaussian",
        "splitter": "oblique",
        "random_state": 0,
    },
}
AXIS_PARALLEL = [name for name in KINDS if name != "oblique"]


def tree(kind, **options):
    return th.DensityTree(**{**KINDS[kind], **options})


def gain_at(threshold, criterion):
    """g of one threshold of the worked rows, found by leaving no other one."""
    side = WORKED <= threshold
    low, high = WORKED[side].max(), WORKED[~side].min()
    assert (low + high) / 2 == pytest.approx(threshold)
    model = th.DensityTree(criterion, min_samples_leaf=1, max_leaf_nodes=2)
    # All rows of a side in one place: only the threshold between the places is left.
    model.set_params(bounds=[(0.1, 0.9)])
    rows = np.where(side, low, high)
    node = model.fit(rows).tree_
    assert node.threshold[0] == pytest.approx(threshold)
    return node.gain[0]


@pytest.mark.parametrize(
    ("criterion", "threshold", "expected"),
    [
        ("ise", 0.15, 0.75),
        ("ise", 0.25, 0.801282),
        ("ise", 0.6, 0.083333),
        ("uniformity", 0.15, 0.1875),
        ("uniformity", 0.25, 0.3125),
        ("uniformity", 0.6, 0.125),
    ],
)
def test_worked_gains_in_the_box_around_the_rows(criterion, threshold, expected):
    assert gain_at(threshold, criterion) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("criterion", "gain"), [("ise", 0.801282), ("uniformity", 0.3125)])
def test_the_best_of_the_worked_thresholds_is_taken(criterion, gain):
    model = th.DensityTree(criterion, min_samples_leaf=1, max_leaf_nodes=2).fit(WORKED)
    np.testing.assert_array_equal(model.box_.ravel(), [0.1, 0.9])
    assert model.tree_.threshold[0] == pytest.approx(0.25)
    assert model.tree_.gain[0] == pytest.approx(gain, abs=1e-6)


def test_the_borders_of_the_box_are_candidates_where_empty_cells_may_be():
    """N + 1 thresholds: the outer ones lie between a border and a row, and leave a cell empty."""
    model = th.DensityTree(min_samples_leaf=0, max_leaf_nodes=2, bounds=[(0, 10)])
    model.fit([[4.0], [7.0]])
    assert model.tree_.threshold[0] == 2.0
    assert model.tree_.gain[0] == pytest.approx(1 / 8 - 1 / 10)
    assert model.tree_.weight[1] == 0
    assert model.log_density([[1.0]]) == -np.inf
    assert model.sample(50, random_state=0).min() > 2.0


def test_splits_at_04_then_07_give_four_bins():
    first, second = np.meshgrid(np.arange(0.02, 1, 0.04), np.arange(0.05, 1, 0.1))
    X = np.column_stack([first.ravel(), second.ravel()])
    left, low = X[:, 0] < 0.4, X[:, 1] < 0.7
    weight = np.select([left & low, left, low], [6.0, 3.0, 1.0], 2.0)
    model = th.DensityTree(max_leaf_nodes=4, bounds=[(0, 1), (0, 1)]).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(model.tree_.feature[:3], [0, 1, 1])
    np.testing.assert_allclose(model.tree_.threshold[:3], [0.4, 0.7, 0.7])
    assert model.n_leaves_ == 4
    corners = np.array([[0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9]])
    volume = np.array([0.4 * 0.7, 0.4 * 0.3, 0.6 * 0.7, 0.6 * 0.3])
    mass = np.array([weight[a & b].sum() for a in (left, ~left) for b in (low, ~low)])
    expected = mass / weight.sum() / volume
    np.testing.assert_allclose(np.exp(model.log_density(corners)), expected)


def test_entropy_gain_is_that_of_its_formula():
    X = blobs(300)
    model = th.DensityTree("entropy", max_leaf_nodes=3, prior_weight=1e-9).fit(X)
    nodes, leaf = model.tree_, model.apply(X)

    def entropy(rows):
        return 0.5 * np.linalg.slogdet(2 * np.pi * np.e * np.cov(rows.T, bias=True))[1]

    for node in np.flatnonzero(nodes.feature >= 0):
        below = [node]
        for each in range(node + 1, nodes.node_count):
            below += [each] if any(nodes.left[b] in (each, each - 1) for b in below) else []
        rows = X[np.isin(leaf, below)]
        left = rows[:, nodes.feature[node]] <= nodes.threshold[node]
        share = left.mean()
        gain = entropy(rows) - share * entropy(rows[left]) - (1 - share) * entropy(rows[~left])
        assert nodes.gain[node] == pytest.approx(gain, rel=1e-6)
        assert nodes.impurity[node] == pytest.approx(entropy(rows), rel=1e-6)


@pytest.mark.parametrize("kind", AXIS_PARALLEL)
def test_masses_of_the_cells_sum_to_one(kind):
    model = tree(kind).fit(blobs(500))
    low, high = model.cells()
    assert 8 <= model.n_leaves_ == len(low) <= round(2 * 500 ** (1 / 3))
    volumes = np.prod(high - low, axis=1)
    assert volumes.sum() == pytest.approx(np.prod(model.box_[1] - model.box_[0]))
    if model.leaf == "uniform":
        p = np.exp(model.log_density((low + high) / 2))
        assert p @ volumes == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_density_integrates_to_one(kind):
    model = tree(kind, margin=0.1).fit(blobs(500))
    error = 0.02 if kind == "oblique" else 5e-3
    assert integral(model, *model.box_) == pytest.approx(1.0, abs=error)
    assert integral(model, model.box_[1], model.box_[1] + 1) == 0.0


@pytest.mark.parametrize("kind", ["gaussian", "oblique"])
def test_open_cells_reach_everywhere_and_still_integrate_to_one(kind):
    model = tree(kind, margin=np.inf).fit(blobs(500))
    assert np.isfinite(model.log_density([[30.0, -30.0]]))
    error = 0.02 if kind == "oblique" else 5e-3
    assert integral(model, [-8, -8], [8, 8]) == pytest.approx(1.0, abs=error)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_follow_the_density(kind):
    model = tree(kind, margin=0.1).fit(blobs(500))
    drawn = model.sample(4000, random_state=1)
    assert np.isfinite(model.log_density(drawn)).all()
    # By leaf, against the masses it was drawn with.
    leaf = model.apply(drawn)
    leaves = np.flatnonzero(model.tree_.feature < 0)
    counts = [np.count_nonzero(leaf == each) for each in leaves]
    weight = model.tree_.weight[leaves]
    assert th.statistics.chi_square_fit(counts, weight / weight.sum()).p > 1e-3
    # By a grid, against the integral of the density: what happens inside the leaves.
    low, high = model.box_
    edges = np.linspace(low, high, 5).T
    observed = np.histogram2d(*drawn.T, bins=edges)[0].ravel()
    grid = [(x, y) for x in range(4) for y in range(4)]
    mass = [
        integral(model, (edges[0][x], edges[1][y]), (edges[0][x + 1], edges[1][y + 1]), 100)
        for x, y in grid
    ]
    usual = np.array(mass) * 4000 > 5
    shares = np.array(mass)[usual] / np.array(mass)[usual].sum()
    test = th.statistics.chi_square_fit(observed[usual], shares)
    assert test.p > 1e-3


def test_inside_a_uniform_cell_samples_are_uniform():
    model = th.DensityTree(max_leaf_nodes=2).fit(blobs(500))
    low, high = model.cells()
    drawn = model.sample(3000, random_state=0)
    first = drawn[model.apply(drawn) == np.flatnonzero(model.tree_.feature < 0)[0]]
    for j in range(2):
        assert kstest(first[:, j], "uniform", (low[0, j], high[0, j] - low[0, j])).pvalue > 1e-3


def test_one_open_leaf_is_one_gaussian():
    random = np.random.default_rng(1)
    X = random.standard_normal((400, 3)) @ random.standard_normal((3, 3))
    model = th.DensityTree(
        "entropy", leaf="gaussian", margin=np.inf, max_leaf_nodes=1, prior_weight=1e-12
    ).fit(X)
    expected = multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True)).logpdf(X)
    np.testing.assert_allclose(model.log_density(X), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["uniformity", "gaussian"])
def test_many_heaps_are_described_better_than_by_one_gaussian(kind):
    options = {"margin": np.inf} if kind == "gaussian" else {"margin": 0.5}
    train, test = blobs(3000), blobs(3000, seed=1)
    one = multivariate_normal(train.mean(axis=0), np.cov(train.T)).logpdf(test).mean()
    model = tree(kind, **options).fit(train)
    assert model.score(test) > one + 0.8
    assert model.score(test) < model.score(train) + 0.05


@pytest.mark.parametrize("kind", AXIS_PARALLEL)
def test_weights_count_rows(kind):
    random = np.random.default_rng(2)
    X, weight = blobs(200), random.integers(0, 3, 200)
    weighted = tree(kind).fit(X, sample_weight=weight)
    repeated = tree(kind).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.tree_.threshold, repeated.tree_.threshold, rtol=1e-12)
    np.testing.assert_allclose(
        weighted.log_density(X), repeated.log_density(X), rtol=1e-8, atol=1e-8
    )
    assert weighted.score(X, sample_weight=weight) == pytest.approx(
        weighted.score(np.repeat(X, weight, axis=0))
    )


@pytest.mark.parametrize("kind", AXIS_PARALLEL)
def test_the_order_of_rows_does_not_matter(kind):
    random = np.random.default_rng(3)
    X, order = blobs(300), random.permutation(300)
    expected = tree(kind).fit(X).log_density(X)
    np.testing.assert_allclose(tree(kind).fit(X[order]).log_density(X), expected, rtol=1e-8)


@pytest.mark.parametrize("kind", [name for name in AXIS_PARALLEL if name != "random"])
def test_the_order_of_columns_does_not_matter(kind):
    X = blobs(300)
    expected = tree(kind).fit(X).log_density(X)
    got = tree(kind).fit(X[:, ::-1]).log_density(X[:, ::-1])
    # The mass of a correlated Gaussian in a box comes from random points, in the columns' order.
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=5e-3 if kind == "gaussian" else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_other_units_change_the_density_by_their_factor(kind):
    X = blobs(300)
    scale, shift = np.array([1024.0, 0.125]), np.array([64.0, -8.0])
    model, other = tree(kind).fit(X), tree(kind).fit(X * scale + shift)
    inside = np.isfinite(other.log_density(X * scale + shift)) & np.isfinite(model.log_density(X))
    assert inside.mean() > 0.99
    expected = model.log_density(X) - np.log(scale).sum()
    got = other.log_density(X * scale + shift)
    np.testing.assert_allclose(got[inside], expected[inside], rtol=1e-6, atol=1e-6)


def test_volumes_of_many_columns_neither_vanish_nor_overflow():
    random = np.random.default_rng(4)
    for unit in (1e-9, 1e9):
        X = unit * random.standard_normal((200, 300))
        for criterion in ("ise", "uniformity"):
            model = th.DensityTree(criterion, min_samples_leaf=20).fit(X)
            assert model.n_leaves_ > 3
            logs = model.log_density(X)
            assert np.isfinite(logs).all()
            assert abs(logs.mean() / 300 + np.log(unit)) < 5


def test_growth_stops_at_the_given_limits():
    X = blobs(500)
    assert th.DensityTree(max_leaf_nodes=1).fit(X).tree_.node_count == 1
    assert th.DensityTree(max_depth=2).fit(X).tree_.max_depth == 2
    assert th.DensityTree(tau=1.0).fit(X).n_leaves_ == round(500 ** (1 / 3))
    assert th.DensityTree(min_samples_leaf=60, max_leaf_nodes=99).fit(X).tree_.count.min() >= 60
    few = th.DensityTree("uniformity", min_gain=0.15, max_leaf_nodes=99).fit(X).tree_
    assert 1 < few.n_leaves < 60
    assert few.gain[few.feature >= 0].min() > 0.15
    # In units of the box "ise" has none: the same tree for the same rows on another scale.
    sizes = [th.DensityTree(min_gain=0.1).fit(X * 4.0**k).n_leaves_ for k in (-3, 0, 3)]
    assert len(set(sizes)) == 1


def test_deep_trees_are_grown_without_recursion():
    X = 2.0 ** np.arange(-500, 500)[:, None]
    model = th.DensityTree(min_samples_leaf=1, max_leaf_nodes=900).fit(X)
    assert model.tree_.max_depth > 400
    assert np.isfinite(model.log_density(X)).all()


def test_ties_and_few_distinct_values():
    random = np.random.default_rng(5)
    X = random.integers(0, 3, (300, 2)).astype(float)
    for kind in KINDS:
        model = tree(kind).fit(X)
        assert np.isfinite(model.score(X))


def test_outside_the_box_the_density_is_zero():
    X = blobs(300)
    model = th.DensityTree().fit(X)
    assert np.isfinite(model.score(X))
    assert model.log_density(X.max(axis=0, keepdims=True) + 0.1)[0] == -np.inf
    assert model.novelty([[99.0, 0.0]])[0] == np.inf
    assert model.apply([[99.0, 0.0]])[0] == -1
    wider = th.DensityTree(margin=0.25).fit(X)
    width = X.max(axis=0) - X.min(axis=0)
    np.testing.assert_allclose(wider.box_[0], X.min(axis=0) - 0.25 * width)
    given = th.DensityTree(bounds=[(-9, 9), (-8, 8)]).fit(X)
    np.testing.assert_array_equal(given.box_, [[-9, -8], [9, 8]])


def test_float32_rows_stay_float32():
    X = blobs(300).astype(np.float32)
    model = th.DensityTree().fit(X)
    assert model.log_density(X).dtype == np.float32
    assert model.sample(3, random_state=0).dtype == np.float32
    assert np.isfinite(model.log_density(X)).all()


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([[0.0, 1.0], [0.0, 2.0]], {}, "column 0 holds the single value 0"),
        ([[0.0, 1.0]], {}, "one sample"),
        ([[0.0], [np.nan]], {}, "NaN"),
        ([[0.0], [np.inf]], {}, "infinity"),
        ([[-1e308], [1e308]], {}, "too large for float64"),
        ([[0.0], [5.0]], {"bounds": [(0, 1)]}, "outside the bounds .first at row 1"),
        ([[0.0], [5.0]], {"bounds": [(0, 1), (0, 1)]}, "one .low, high. per column"),
        ([[0.0], [5.0]], {"bounds": [(6, 6)]}, "low < high"),
        ([[0.0], [5.0]], {"margin": np.inf}, "margin=inf makes unbounded cells"),
        ([[0.0], [5.0]], {"splitter": "oblique"}, "unknown with splitter"),
        ([[0.0], [5.0]], {"criterion": "gini"}, "one of 'ise'"),
        ([[0.0], [5.0]], {"min_samples_leaf": -1}, "min_samples_leaf=-1"),
        ([[0.0], [5.0]], {"pruned_leaf_nodes": "cv"}, "5 folds need at least 5 rows"),
    ],
)
def test_refusals_name_the_rule_and_the_remedy(rows, options, message):
    with pytest.raises(ValueError, match=message):
        th.DensityTree(**options).fit(rows)


def test_constant_columns_are_named_and_bounds_are_the_remedy():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1.0, 2.0, 3.0], "site": [7.0, 7.0, 7.0]})
    with pytest.raises(th.errors.DataError, match="column 'site' holds the single value 7"):
        th.DensityTree().fit(frame)
    model = th.DensityTree(bounds=[(0, 5), (0, 10)]).fit(frame)
    assert np.isfinite(model.score(frame))


def test_cells_of_oblique_splits_are_no_boxes():
    model = tree("oblique").fit(blobs(100))
    with pytest.raises(th.errors.DataError, match="not boxes"):
        model.cells()
    with pytest.raises(th.errors.ParameterError, match="n_samples=0"):
        model.sample(0)
