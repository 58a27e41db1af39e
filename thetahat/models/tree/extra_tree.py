"""Single trees with random thresholds, the members of extremely randomised forests."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.models.tree.classification import ClassificationTree
from thetahat.models.tree.regression import RegressionTree


@with_parameters
class ExtraTreeClassifier(ClassificationTree):
    """Decision tree classifier with random thresholds.

    Each node draws √d columns and one threshold per column, uniformly between the smallest and the
    largest value in the node, and takes the best of these splits. A single such tree has a high
    variance; use it inside ensembles such as `ExtraTreesClassifier`.

    Formula: the gain of a split is that of `DecisionTreeClassifier`.

    Cost: O(n·√d) per level after one copy of the columns; prediction O(depth) per row.
    Sparse rows stay sparse: the number of their entries takes the place of n·d.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> tree = th.ExtraTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1])
    >>> tree.predict(X).tolist()
    [0, 0, 1, 1]
    """

    _: KW_ONLY
    splitter: str = "random"
    max_features: Any = "sqrt"


@with_parameters
class ExtraTreeRegressor(RegressionTree):
    """Decision tree regressor with random thresholds.

    Each node draws one threshold per column, uniformly between the smallest and the largest value
    in the node, and takes the best of these splits. A single such tree has a high variance; use it
    inside ensembles such as `ExtraTreesRegressor`.

    Formula: the gain of a split is that of `DecisionTreeRegressor`.

    Cost: O(n·d) per level after one copy of the columns; prediction O(depth) per row.
    Sparse rows stay sparse: the number of their entries takes the place of n·d.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> th.ExtraTreeRegressor(random_state=0).fit(X, [1, 2, 3, 4]).predict(X)
    array([1., 2., 3., 4.])
    """

    _: KW_ONLY
    splitter: str = "random"
    max_features: Any = 1.0
