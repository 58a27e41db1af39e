"""Random forests: averages of trees grown on random rows and columns."""

from __future__ import annotations

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.forest.classifier import ForestClassifier
from thetahat.models.ensemble.forest.regressor import ForestRegressor
from thetahat.models.tree.classification import DecisionTreeClassifier
from thetahat.models.tree.regression import DecisionTreeRegressor


@with_parameters
class RandomForestClassifier(ForestClassifier):
    """Random forest classifier: the average of many trees grown on random rows and columns.

    Each tree is grown on n rows drawn with replacement, and each split considers √d columns drawn
    at random. The trees then make different errors, which averaging reduces.

    Formula: f(x) = (1/M)·Σₘ π_m(x), with π_m(x) the class proportions in the leaf of tree m that
    contains x.

    Cost: O(√d·n log n) per tree, one tree per thread; 16 bytes per node; prediction O(depth) per
    tree and row. Sparse rows stay sparse: a node reads at most the entries of its rows.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeClassifier
        The trees of the forest. Each tree is created when it is accessed; the sequence supports
        ``len`` and indexing like a list.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["low", "low", "low", "high", "high", "high"]
    >>> forest = th.RandomForestClassifier(random_state=0).fit(X, y)
    >>> forest.predict([[0.5], [4.5]]).tolist()
    ['low', 'high']
    """

    _everyday = "random forest"
    _draws_rows = True
    _kind_of_tree = DecisionTreeClassifier


@with_parameters
class RandomForestRegressor(ForestRegressor):
    """Random forest regressor: the average of many regression trees grown on random rows.

    Each tree is grown on n rows drawn with replacement. With ``max_features`` below 1, each split
    considers only some of the columns, drawn at random.

    Formula: f(x) = (1/M)·Σₘ v_m(x), with v_m(x) the mean target in the leaf of tree m that contains
    x. Averaging M trees of variance σ² and correlation ρ gives the variance ρσ² + (1 − ρ)σ²/M.

    Cost: O(d·n log n) per tree, one tree per thread; 16 bytes per node; prediction O(depth) per
    tree and row. Sparse rows stay sparse: a node reads at most the entries of its rows.

    Attributes
    ----------
    estimators_ : sequence of DecisionTreeRegressor
        The trees of the forest. Each tree is created when it is accessed; the sequence supports
        ``len`` and indexing like a list.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(20.0)[:, None]
    >>> forest = th.RandomForestRegressor(random_state=0).fit(X, np.arange(20.0) > 9)
    >>> forest.predict([[2.0], [17.0]]).round(2).tolist()
    [0.0, 1.0]
    """

    _everyday = "random forest"
    _draws_rows = True
    _kind_of_tree = DecisionTreeRegressor
