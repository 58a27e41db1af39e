"""Extremely randomised trees: averages of trees with random thresholds."""

from __future__ import annotations

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.forest.classifier import ForestClassifier
from thetahat.models.ensemble.forest.parameters import RandomThresholdParameters
from thetahat.models.ensemble.forest.regressor import ForestRegressor
from thetahat.models.tree.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor


@with_parameters
class ExtraTreesClassifier(RandomThresholdParameters, ForestClassifier):
    """Extra-trees classifier: the average of many trees with random thresholds.

    Each split draws √d columns and one random threshold per column, uniformly between the smallest
    and the largest value in the node, and takes the best of these splits. Compared with a random
    forest, training is faster and the trees differ more. By default each tree uses all rows.

    Formula: f(x) = (1/M)·Σₘ π_m(x), with π_m(x) the class proportions in the leaf of tree m that
    contains x.

    Cost: O(√d·n log n) per tree, one tree per thread; 16 bytes per node; prediction O(depth) per
    tree and row. Sparse rows stay sparse: a node reads at most the entries of its rows.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeClassifier
        The trees of the forest. Each tree is created when it is accessed; the sequence supports
        ``len`` and indexing like a list.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> forest = th.ExtraTreesClassifier(random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    _kind_of_tree = ExtraTreeClassifier


@with_parameters
class ExtraTreesRegressor(RandomThresholdParameters, ForestRegressor):
    """Extra-trees regressor: the average of many regression trees with random thresholds.

    Each split draws one random threshold per column, uniformly between the smallest and the largest
    value in the node, and takes the best of these splits. Predictions are smoother than those of a
    random forest. By default each tree uses all rows.

    Formula: f(x) = (1/M)·Σₘ v_m(x), with v_m(x) the mean target in the leaf of tree m that contains
    x.

    Cost: O(d·n log n) per tree, one tree per thread; 16 bytes per node; prediction O(depth) per
    tree and row. Sparse rows stay sparse: a node reads at most the entries of its rows.

    Attributes
    ----------
    estimators_ : sequence of ExtraTreeRegressor
        The trees of the forest. Each tree is created when it is accessed; the sequence supports
        ``len`` and indexing like a list.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(20.0)[:, None]
    >>> forest = th.ExtraTreesRegressor(random_state=0).fit(X, np.arange(20.0) > 9)
    >>> forest.predict([[2.0], [17.0]]).round(2).tolist()
    [0.0, 1.0]
    """

    _kind_of_tree = ExtraTreeRegressor
