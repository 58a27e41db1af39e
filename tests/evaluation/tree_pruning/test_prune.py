"""Pruning to a level that is given or chosen by held-out rows."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.model_selection import KFold

import thetahat as th
from tests.models.tree.test_pruning import all_prunings
from thetahat.models.tree.pruning import error_risk

matplotlib.use("Agg")

GROWN = th.DecisionTreeClassifier(random_state=0)
REGRESSION = th.DecisionTreeRegressor(random_state=0, min_samples_leaf=5)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :8], y


def noisy(n=150, seed=0):
    return make_classification(n, 5, n_informative=3, flip_y=0.2, random_state=seed)


@pytest.mark.parametrize("alpha", [0.0, 0.003, 0.02, 10.0])
def test_alpha_of_weakest_links_is_that_of_the_estimator(alpha):
    X, y = cancer()
    result = th.prune(GROWN, X, y, alpha=alpha)
    direct = clone(GROWN).set_params(ccp_alpha=alpha).fit(X, y)
    np.testing.assert_array_equal(result.model.predict_proba(X), direct.predict_proba(X))
    again = clone(result.model).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), result.model.predict_proba(X))
    assert result.model.tree_.n_leaves == result.n_leaves[result.best]


@pytest.mark.parametrize("max_nodes", [1, 2, 7, 10_000])
@pytest.mark.parametrize("method", ["weakest_link", "impact", "complexity", "mdl"])
def test_no_more_nodes_than_asked_for(method, max_nodes):
    X, y = noisy()
    result = th.prune(GROWN, X, y, method=method, max_nodes=max_nodes)
    assert result.model.tree_.node_count <= max_nodes
    if method == "impact":
        whole = clone(GROWN).fit(X, y).tree_.node_count
        assert result.model.tree_.node_count == min(max_nodes - (max_nodes % 2 == 0), whole)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_the_complexity_potential_is_least(alpha):
    """Φ(T) = training error + α·size(T)/|S|."""
    X, y = noisy(seed=1)
    model = th.DecisionTreeClassifier(max_leaf_nodes=9, random_state=0)
    tree = clone(model).fit(X, y).tree_
    risk = error_risk(tree)
    least = min(
        risk[leaves].sum() + alpha * (len(kept) + len(leaves)) / len(y)
        for kept, leaves in all_prunings(tree)
    )
    pruned = th.prune(model, X, y, method="complexity", alpha=alpha).model
    error = np.mean(pruned.predict(X) != y)
    assert error + alpha * pruned.tree_.node_count / len(y) == pytest.approx(least)


def test_errors_on_held_back_rows_are_those_of_refitted_trees():
    X, y = noisy(seed=2)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    result = th.prune(GROWN, X, y, cv=folds)
    levels = result.levels
    between = np.append(np.sqrt(levels[:-1] * levels[1:]), np.inf)
    for step, alpha in enumerate(between):
        wrong = np.zeros(len(y))
        for train, test in folds:
            fold = clone(GROWN).set_params(ccp_alpha=alpha).fit(X[train], y[train])
            wrong[test] = fold.predict(X[test]) != y[test]
        assert result.errors[step].estimate == pytest.approx(wrong.mean())
        spread = wrong.std() / np.sqrt(wrong.size)
        assert result.standard_errors[step] == pytest.approx(spread)
        learned = clone(GROWN).set_params(ccp_alpha=levels[step]).fit(X, y).score(X, y)
        assert result.training_errors[step] == pytest.approx(1 - learned)
    best = min(interval.estimate for interval in result.errors)
    assert result.errors[result.best].estimate == best


def test_errors_of_regression_by_size():
    X, y = load_diabetes(return_X_y=True)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    result = th.prune(REGRESSION, X, y, method="impact", cv=folds)
    for step in (0, 5, result.best, -1):
        squared = np.zeros(len(y))
        for train, test in folds:
            fold = th.prune(
                REGRESSION, X[train], y[train], method="impact", max_nodes=result.n_nodes[step]
            )
            squared[test] = (fold.model.predict(X[test]) - y[test]) ** 2
        assert result.errors[step].estimate == pytest.approx(squared.mean())
    assert result.errors[result.best].estimate < result.errors[0].estimate


@pytest.mark.parametrize("method", ["weakest_link", "impact", "complexity", "mdl"])
def test_one_standard_error_takes_a_smaller_tree(method):
    X, y = cancer()
    best = th.prune(GROWN, X, y, method=method, cv=5)
    small = th.prune(GROWN, X, y, method=method, cv=5, one_standard_error=True)
    assert small.model.tree_.n_leaves <= best.model.tree_.n_leaves
    limit = best.errors[best.best].estimate + best.standard_errors[best.best]
    assert small.errors[small.best].estimate <= limit
    beyond = [error.estimate for error in small.errors[small.best + 1 :]]
    assert all(error > limit for error in beyond)


def test_pruning_predicts_better_than_the_whole_tree_on_noise():
    X, y = make_classification(600, 8, n_informative=3, flip_y=0.3, random_state=0)
    train, test = slice(0, 300), slice(300, None)
    whole = clone(GROWN).fit(X[train], y[train])
    pruned = th.prune(GROWN, X[train], y[train]).model
    assert pruned.score(X[test], y[test]) > whole.score(X[test], y[test])


def test_weights_count_rows():
    X, y = noisy()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    for method, options in {
        "weakest_link": {"alpha": 0.01},
        "complexity": {"alpha": 1.0},
        "mdl": {},
        "impact": {"max_nodes": 9},
    }.items():
        weighted = th.prune(GROWN, X, y, method=method, sample_weight=weight, **options)
        repeated = th.prune(GROWN, X[rows], y[rows], method=method, **options)
        np.testing.assert_allclose(
            weighted.model.predict_proba(X), repeated.model.predict_proba(X), atol=1e-12
        )


def test_several_outputs():
    X, y = noisy()
    both = np.column_stack([y, X[:, 0] > 0])
    result = th.prune(GROWN, X, both, cv=KFold(3))
    assert result.model.predict(X).shape == both.shape
    assert result.model.tree_.n_leaves < clone(GROWN).fit(X, both).tree_.n_leaves


def test_tables_and_text_labels():
    import pandas as pd

    X, y = noisy()
    frame = pd.DataFrame(X, columns=list("abcde")).assign(sign=np.where(X[:, 0] > 0, "+", "-"))
    labels = np.array(["no", "yes"])[y]
    result = th.prune(GROWN, frame, labels, method="mdl")
    assert set(result.model.predict(frame)) <= {"no", "yes"}
    assert th.prune(GROWN, frame, labels, cv=3).model.score(frame, labels) > 0.6


def test_results_print_and_plot():
    X, y = cancer()
    result = th.prune(GROWN, X, y, cv=3)
    text = str(result)
    assert text.startswith("Pruning by weakest_link: ")
    assert "held out" in text
    assert text.count("→") == 1
    assert len(text.splitlines()) <= 16
    figure, axes = plt.subplots()
    assert result.plot(axes) is axes
    assert axes.get_xlabel() == "leaves"
    plt.close(figure)
    assert "held out" not in str(th.prune(GROWN, X, y, alpha=0.01))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "chainsaw"}, "method='chainsaw' must be one of 'weakest_link'"),
        ({"alpha": -1.0}, "alpha=-1.0 must be ≥ 0"),
        ({"method": "impact", "alpha": 1.0}, "has no alpha"),
        ({"max_nodes": 0}, "max_nodes=0 must be ≥ 1"),
        ({"alpha": 1.0, "cv": 5}, "Give only one"),
        ({"level": 1.5}, "level=1.5"),
    ],
    ids=["method", "negative", "impact", "nodes", "both", "level"],
)
def test_what_makes_no_sense_is_refused(options, message):
    X, y = noisy()
    with pytest.raises(th.errors.ParameterError, match=message):
        th.prune(GROWN, X, y, **options)


def test_what_is_no_tree_is_refused():
    X, y = noisy()
    with pytest.raises(th.errors.CapabilityError, match="Ridge is not a single tree"):
        th.prune(th.Ridge(), X, y)
    with pytest.raises(th.errors.CapabilityError, match="misclassified labels"):
        th.prune(REGRESSION, X, y.astype(float), method="mdl")


def test_a_root_stays_a_root():
    X, y = np.zeros((10, 2)), np.array([0, 1] * 5)
    for method in ("weakest_link", "impact", "complexity", "mdl"):
        assert th.prune(GROWN, X, y, method=method, cv=2).model.tree_.node_count == 1


def two_heaps():
    random = np.random.default_rng(0)
    return np.concatenate([random.normal(0, 1, (150, 2)), random.normal(4, 0.5, (150, 2))])


@pytest.mark.parametrize("method", ["weakest_link", "impact", "complexity"])
def test_density_trees_are_pruned_by_the_log_likelihood(method):
    X = two_heaps()
    grown = th.DensityTree(max_leaf_nodes=40, min_samples_leaf=2, random_state=0)
    result = th.prune(grown, X, method=method, cv=5)
    model = result.model
    assert 1 < model.n_leaves_ < 40
    assert model.score(X) == pytest.approx(-result.risks[result.best])
    assert result.errors[result.best].estimate < result.errors[0].estimate
    low, high = model.cells()
    volumes = (high - low).prod(axis=1)
    inside = np.exp(model.tree_.values[model.tree_.feature < 0, 0])
    assert (volumes * inside).sum() == pytest.approx(1.0)


def test_the_potential_of_a_density_tree_is_least():
    """Φ(T) = −mean log p + α·size(T)/|S|."""
    X = two_heaps()
    grown = th.DensityTree(max_leaf_nodes=9, random_state=0)
    tree = clone(grown).fit(X).tree_
    risk = -tree.weight / len(X) * tree.values[:, 0]
    for alpha in (0.0, 5.0, 30.0):
        least = min(
            risk[leaves].sum() + alpha * (len(kept) + len(leaves)) / len(X)
            for kept, leaves in all_prunings(tree)
        )
        model = th.prune(grown, X, method="complexity", alpha=alpha).model
        size = model.tree_.node_count
        assert -model.score(X) + alpha * size / len(X) == pytest.approx(least)


def test_gaussian_leaves_are_not_joined():
    with pytest.raises(th.errors.CapabilityError, match="pruned_leaf_nodes"):
        th.prune(th.DensityTree(leaf="gaussian"), two_heaps())
    with pytest.raises(th.errors.CapabilityError, match="misclassified labels"):
        th.prune(th.DensityTree(), two_heaps(), method="mdl")
