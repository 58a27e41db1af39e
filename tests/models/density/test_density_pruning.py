"""Pruned density trees: nested, the least loss first, as many leaves as held-out rows support."""

import numpy as np
import pytest

import thetahat as th
from tests.models.density.density_cases import blobs, integral

CRITERIA = {"ise": "uniform", "uniformity": "uniform", "entropy": "gaussian"}


def fitted(criterion, X, **options):
    model = th.DensityTree(criterion, leaf=CRITERIA[criterion], random_state=0, **options)
    return model.fit(X)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_pruned_trees_are_nested_and_still_densities(criterion):
    X = blobs(400)
    finer = {t for t in fitted(criterion, X, margin=0.1).tree_.threshold}
    for count in (10, 5, 2, 1):
        model = fitted(criterion, X, margin=0.1, pruned_leaf_nodes=count)
        assert model.n_leaves_ == count
        splits = model.tree_.feature >= 0
        assert set(model.tree_.threshold[splits]) <= finer
        finer = set(model.tree_.threshold[splits])
        assert integral(model, *model.box_) == pytest.approx(1.0, abs=0.01)
        assert model.tree_.weight[model.tree_.feature < 0].sum() == 400


def squared_error_up_to_a_constant(model):
    """∫p² − 2·mean p over the training rows, which for a histogram is −Σ p²V."""
    low, high = model.cells()
    p = np.exp(model.tree_.values[model.tree_.feature < 0, 0])
    return float(-(p**2) @ np.prod(high - low, axis=1))


def test_merging_takes_the_least_loss_first():
    X = blobs(300)
    whole = fitted("ise", X).tree_
    pairs = [
        node
        for node in np.flatnonzero(whole.feature >= 0)
        if (whole.feature[whole.left[node] : whole.left[node] + 2] < 0).all()
    ]
    least = min(whole.gain[node] for node in pairs)
    before = squared_error_up_to_a_constant(fitted("ise", X))
    after = squared_error_up_to_a_constant(fitted("ise", X, pruned_leaf_nodes=whole.n_leaves - 1))
    assert after - before == pytest.approx(least, rel=1e-8)


def test_cross_validation_merges_even_rows_and_keeps_heaps_apart():
    even = np.random.default_rng(0).random((600, 2))
    for criterion in ("ise", "uniformity"):
        assert fitted(criterion, even, pruned_leaf_nodes="cv").n_leaves_ <= 2
        model = fitted(criterion, blobs(600), max_leaf_nodes=60, pruned_leaf_nodes="cv")
        assert 10 < model.n_leaves_ <= 60
        assert model.n_leaves_ == model.pruning_counts_[np.argmax(model.pruning_scores_)]
    # Three round heaps are three Gaussians.
    model = fitted("entropy", blobs(600), pruned_leaf_nodes="cv", margin=np.inf)
    assert model.n_leaves_ == 3


def test_pruning_describes_new_rows_better():
    train, test = blobs(300), blobs(2000, seed=1)
    options = {"max_leaf_nodes": 100, "margin": 0.5, "min_samples_leaf": 1}
    whole = fitted("uniformity", train, **options)
    pruned = fitted("uniformity", train, pruned_leaf_nodes="cv", **options)
    assert pruned.score(test) > whole.score(test) + 0.1


def test_folds_may_be_given():
    X = blobs(100)
    folds = [(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))]
    model = fitted("ise", X, pruned_leaf_nodes="cv", cv=folds)
    assert model.n_leaves_ >= 1
    with pytest.raises(ValueError, match="pruned_leaf_nodes='tree'"):
        fitted("ise", X, pruned_leaf_nodes="tree")
