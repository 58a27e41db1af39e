"""Gradient boosting for classification, with the parameters of scikit-learn."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.gradient_boosting.classifier import BaseBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.gradient_boosting_base import BaseGradientBoosting


@with_parameters
class GradientBoostingClassifier(BaseGradientBoosting, BaseBoostingClassifier):
    """Gradient boosting for classification, with small trees or any regressor, for any loss.

    Each iteration fits a tree to the negative gradients of the loss and adds it to the model.
    ``max_depth=1`` boosts decision stumps. Prefer `HistGradientBoostingClassifier` for large data
    sets.

    Formula: f₀ = argmin_c Σ ℓ(y, c) and r = −∂ℓ/∂f. A tree is fitted to r by least squares, its
    leaf values are set to argmin_c Σ ℓ(y, f + c), and f ← f + η·tree. Splits are found on at most
    255 bins per column. Another base estimator h is fitted to r in the same way: f ← f + η·α·h with
    α = argmin Σ ℓ(y, f + α·h).

    Cost: O(iterations · n · d · depth) time, or that of fitting the base estimators.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        Loss to minimise. "log_loss" also handles more than two classes; "exponential" and "hinge"
        need two classes, "multiclass_hinge" takes any number. ``th.loss(...)`` makes a loss from a
        function of your own.
    learning_rate : float, default=0.1
        Shrinks the contribution of each tree by this factor (η). Smaller values need more
        iterations and usually generalise better. Must be positive.
    n_estimators : int, default=100
        Maximum number of boosting iterations. Each iteration adds one tree, or one tree per class
        for more than two classes. Must be at least 1.
    subsample : float, default=1.0
        Fraction of the rows used to fit each tree, drawn at random without replacement. Values
        below 1 give stochastic gradient boosting: lower variance, higher bias. Must lie in (0, 1].
    min_samples_split : int or float, default=2
        Minimum number of rows that a node needs to be split; with row weights, their minimum total
        weight. A float is a fraction of the total. Larger values give smaller trees.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf; with row weights, their minimum total weight. A float is a
        fraction of the total. Larger values give smoother predictions.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight that a leaf must hold. Must lie between 0 and 0.5.
    max_depth : int or None, default=3
        Maximum depth of each tree: the number of edges from the root to the deepest leaf. A larger
        depth allows interactions between more columns. Must be at least 1; None means no limit.
    min_impurity_decrease : float, default=0.0
        Minimum decrease of the squared error, per row, that a split must achieve. Larger values
        give smaller trees. Must be at least 0.
    init : estimator, "zero" or None, default=None
        Model for the initial predictions. An estimator is fitted first, and boosting corrects it;
        "zero" starts from 0; None starts from the constant with the smallest loss.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing rows and columns and for choosing the held-out rows. Pass an int for the
        same result on every call.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns considered for each split, drawn at random for every node. An int is a
        number of columns, a float a fraction of them; "sqrt" and "log2" are functions of the number
        of columns; None considers all of them. Fewer columns make trees more diverse.
    verbose : int, default=0
        Prints the mean loss and the elapsed time: 0 prints nothing, 1 prints every tenth iteration,
        and larger values print every iteration.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of each tree. When set, the leaf whose split has the largest gain
        is split first (best-first growth). Must be at least 2; None means no limit.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the trees of the last fit and adds more of them. If
        False, every fit starts from the beginning.
    validation_fraction : float, default=0.1
        Fraction of the rows held out for early stopping. Must lie between 0 and 1. Used only if
        ``n_iter_no_change`` is set.
    n_iter_no_change : int or None, default=None
        Number of iterations without improvement of the loss on the held-out rows after which
        training stops. None never stops early.
    tol : float, default=1e-4
        Minimum decrease of the held-out loss that counts as an improvement. Larger values stop
        earlier. Must be at least 0. Used only if ``n_iter_no_change`` is set.
    ccp_alpha : float, default=0.0
        Strength of minimal cost-complexity pruning, applied to every tree (α). Larger values prune
        more. Must be at least 0; 0 means no pruning.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``; multiplies `sample_weight`. "balanced" sets
        the weights inversely proportional to the class frequencies, so that all classes have the
        same total weight. None gives every class weight 1.
    max_bins : int, default=255
        Maximum number of bins per column. Values are grouped into bins before training, and splits
        lie between bins; one more bin holds the missing values. Must lie between 2 and 255.
    leaf_update : {"auto", "newton", "line_search"}, default="auto"
        How the values of the leaves are computed. "newton" takes one Newton step, "line_search"
        minimises the loss in each leaf. "auto" takes Newton steps for losses with positive and
        stable curvature, such as the squared, logistic and Poisson loss, and minimises all others.
    reoptimise : {"last", "all"}, default="last"
        "last" keeps the trees as boosting made them. "all" refits the coefficients of all trees
        together under the same loss after the last iteration; this needs memory for one number per
        row and tree.
    checkpoint : path or None, default=None
        File in which the trees are saved every few seconds during training. If training is
        interrupted, calling `fit` again with the same data and parameters continues from there with
        the same result. The file is deleted when the fit ends. Cannot be combined with
        ``estimator``. None writes no file.
    estimator : regressor or None, default=None
        Base estimator that is fitted to the negative gradients in each iteration, one copy per
        class. Any regressor with ``fit(X, y)`` and ``predict(X)`` works. It receives X as given;
        row weights are an error if it does not support them. Parameters of trees are then ignored,
        and ``leaf_update`` and ``reoptimise`` apply to its coefficients. None uses regression
        trees.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    estimators_ : array of shape (n_iterations, n_trees_per_iteration)
        The fitted trees or base estimators, one row per iteration.
    estimator_weights_ : array of shape (n_iterations, n_trees_per_iteration)
        Factor of each base estimator in the prediction (η·α). It is 1 for trees, whose leaf values
        include it.
    n_estimators_ : int
        Number of boosting iterations of the fitted model.
    init_ : array or estimator
        The initial raw predictions, or the fitted model that makes them.
    train_score_ : array of shape (n_iterations,)
        Loss on the training rows after each iteration.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total gain of all splits. With a base
        estimator, the weighted mean of the importances that it provides.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] % 20 < 10, "low", "high")
    >>> model = th.GradientBoostingClassifier(max_depth=2).fit(X, y)
    >>> model.predict([[4.0], [16.0]]).tolist()
    ['low', 'high']
    """

    _: KW_ONLY
    loss: Any = "log_loss"
    learning_rate: float = 0.1
    n_estimators: int = 100
    subsample: float = 1.0
    min_samples_split: Any = 2
    min_samples_leaf: Any = 1
    min_weight_fraction_leaf: float = 0.0
    max_depth: int | None = 3
    min_impurity_decrease: float = 0.0
    init: Any = None
    random_state: Any = None
    max_features: Any = None
    verbose: int = 0
    max_leaf_nodes: int | None = None
    warm_start: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int | None = None
    tol: float = 1e-4
    ccp_alpha: float = 0.0
    class_weight: Any = None
    max_bins: int = 255
    leaf_update: str = "auto"
    reoptimise: str = "last"
    checkpoint: Any = None
    estimator: Any = None
