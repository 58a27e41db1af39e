"""Density forests: averages of densities, smoother than their trees, interruptible."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import thetahat as th
from tests.models.density.density_cases import blobs, integral
from thetahat.models.density.average import AverageDensity
from thetahat.models.density.density_tree import DensityTree
from thetahat.models.density.uniform_cells import UniformCells

KINDS = {
    "gaussian": {},
    "diagonal": {"covariance_type": "diag"},
    "oblique": {"splitter": "oblique"},
    "uniform": {"criterion": "uniformity", "leaf": "uniform", "margin": 0.2},
    "best": {"criterion": "ise", "leaf": "uniform", "splitter": "best", "margin": 0.2},
    "part": {"bootstrap": False, "max_samples": 0.5},
}


def forest(kind, n_estimators=10, **options):
    return th.DensityForest(n_estimators, random_state=0, **{**KINDS[kind], **options})


@pytest.mark.parametrize("kind", KINDS)
def test_the_density_is_the_average_of_the_trees(kind):
    X = blobs(300)
    model = forest(kind).fit(X)
    each = [np.exp(part.log_density(X)) for part in model.density_.trees]
    assert len(each) == len(model.trees_) == 10
    np.testing.assert_allclose(np.exp(model.log_density(X)), np.mean(each, axis=0), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_density_integrates_to_one(kind):
    model = forest(kind).fit(blobs(300))
    low, high = model.box_ if np.isfinite(model.box_).all() else ([-8, -8], [8, 8])
    assert integral(model, low, high) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_follow_the_density(kind):
    model = forest(kind).fit(blobs(300))
    drawn = model.sample(3000, random_state=1)
    edges = np.linspace([-4, -5], [4, 4], 5).T
    observed = np.histogram2d(*drawn.T, bins=edges)[0].ravel()
    mass = np.array(
        [
            integral(model, (edges[0][x], edges[1][y]), (edges[0][x + 1], edges[1][y + 1]), 60)
            for x in range(4)
            for y in range(4)
        ]
    )
    usual = mass * 3000 > 5
    shares = mass[usual] / mass[usual].sum()
    assert th.statistics.chi_square_fit(observed[usual], shares).p > 1e-3


def test_a_forest_describes_new_rows_better_than_a_tree():
    train, test = blobs(1000), blobs(2000, seed=1)
    for options in (KINDS["uniform"], {"criterion": "entropy", "leaf": "gaussian"}):
        grown = {"margin": np.inf, **options}
        alone = DensityTree(**grown).fit(train).score(test)
        together = th.DensityForest(30, random_state=0, **grown).fit(train).score(test)
        assert together > alone + 0.02


def test_densities_too_small_for_a_float_are_averaged_by_logarithms():
    """Beside a leaf of e²⁰⁰⁰ times its density, a leaf's share in the direct sum is zero."""
    X = blobs(100)
    tree = DensityTree(max_leaf_nodes=2).fit(X)
    cells, leaf = tree.density_.cells, tree.apply(X)
    parts = []
    for low in (-2000.0, -2001.0):
        values = np.array([[0.0], [0.0], [low]])
        parts.append(UniformCells(replace(cells, tree=replace(cells.tree, values=values))))
    logs = AverageDensity(tuple(parts)).log_density(X)
    np.testing.assert_allclose(logs[leaf == 1], 0.0, atol=1e-12)
    expected = np.logaddexp(-2000.0, -2001.0) - np.log(2)
    np.testing.assert_allclose(logs[leaf == 2], expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["gaussian", "uniform"])
def test_weights_count_rows(kind):
    X, weight = blobs(200), np.random.default_rng(1).integers(0, 3, 200)
    weighted = forest(kind).fit(X, sample_weight=weight)
    repeated = forest(kind).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.log_density(X), repeated.log_density(X), rtol=1e-6)


def test_same_seed_same_forest():
    X = blobs(200)
    first, second = (forest("gaussian").fit(X).log_density(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = th.DensityForest(10, random_state=1).fit(X).log_density(X)
    assert not np.array_equal(first, other)


def test_what_has_grown_is_kept_when_time_is_up():
    X = blobs(300)
    with th.config(max_time=1e-9), pytest.warns(ConvergenceWarning, match="out of time after 1 of"):
        model = forest("gaussian").fit(X)
    assert len(model.trees_) == 1
    assert np.isfinite(model.score(X))


def test_what_has_grown_is_kept_on_an_interrupt():
    class Interrupting:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context):
            if context.task_name == "step" and context.task_id >= 2:
                raise KeyboardInterrupt

    model = forest("gaussian").set_callbacks(Interrupting())
    X = blobs(300)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert len(model.trees_) == 3
    assert np.isfinite(model.score(X))


def test_refusals():
    X = blobs(50)
    with pytest.raises(th.errors.ParameterError, match="margin=inf makes unbounded cells"):
        th.DensityForest(criterion="ise", leaf="uniform").fit(X)
    with pytest.raises(th.errors.ParameterError, match="n_estimators=0"):
        th.DensityForest(0).fit(X)
    with pytest.raises(th.errors.ParameterError, match="max_samples=0"):
        th.DensityForest(max_samples=0).fit(X)
    with pytest.raises(th.errors.DataError, match="column 1 holds the single value"):
        th.DensityForest().fit(np.column_stack([X[:, 0], np.ones(50)]))
