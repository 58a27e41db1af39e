"""Histogram gradient boosting for classification."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.models.ensemble.gradient_boosting.classifier import BaseBoostingClassifier
from thetahat.models.ensemble.gradient_boosting.hist_gradient_boosting_base import (
    BaseHistGradientBoosting,
)


@with_parameters
class HistGradientBoostingClassifier(BaseHistGradientBoosting, BaseBoostingClassifier):
    """Gradient boosting of classification trees on binned columns, for any loss.

    Columns are grouped into bins before training, so that each split only compares a few hundred
    candidates. This makes the estimator fast on large data sets. Missing values and categories are
    handled without preprocessing.

    Formula: f_m = f_{m−1} + η·tree_m. A split has the gain G_L²/(H_L+λ) + G_R²/(H_R+λ) − G²/(H+λ),
    and a leaf the value −G/(H+λ), where G and H are the sums of ∂ℓ/∂f and ∂²ℓ/∂f² over its rows.

    Cost: O(n·d) bytes for the binned rows and O(iterations · n · d · log leaves) time.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        Loss to minimise. "log_loss" also handles more than two classes; "exponential" and "hinge"
        need two classes, "multiclass_hinge" takes any number. ``th.loss(...)`` makes a loss from a
        function of your own.
    learning_rate : float, default=0.1
        Shrinks the contribution of each tree by this factor (η). Smaller values need more
        iterations and usually generalise better. Must be positive.
    max_iter : int, default=100
        Maximum number of boosting iterations. Each iteration adds one tree, or one tree per class
        for more than two classes. Must be at least 1.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of each tree. More leaves allow more complex trees. Must be at
        least 2; None means no limit.
    max_depth : int or None, default=None
        Maximum depth of each tree: the number of edges from the root to the deepest leaf. A larger
        depth allows interactions between more columns. Must be at least 1; None means no limit.
    min_samples_leaf : int, default=20
        Minimum number of rows in a leaf; with row weights, their minimum total weight. Larger
        values give smoother predictions. Must be at least 1; use a smaller value for small data
        sets.
    l2_regularization : float, default=0.0
        Strength of the L2 penalty on the values of the leaves (λ). Larger values shrink the leaf
        values towards 0. Must be at least 0; 0 means no penalty.
    max_features : float, default=1.0
        Fraction of the columns that are considered for each split, drawn at random for every node.
        Values below 1 make trees more diverse and training faster. Must lie in (0, 1].
    max_bins : int, default=255
        Maximum number of bins per column. Values are grouped into bins before training, and splits
        lie between bins; one more bin holds the missing values. Must lie between 2 and 255.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Columns to treat as unordered categories: a Boolean mask, column numbers or column names.
        Columns of text and of categorical type are always treated as categories; "from_dtype" and
        None add no others.
    monotonic_cst : array-like, dict or None, default=None
        Direction of the effect of each column on the raw prediction: 1 (must not decrease), 0 (no
        constraint) or −1 (must not increase). An array with one entry per column, or a dict from
        column names to directions. Not available for more than two classes. None means no
        constraints.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets or None, default=None
        Groups of columns that may interact, that is, be used together on one path of a tree.
        "no_interactions" allows one column per path, "pairwise" at most two. A sequence of sets of
        column numbers gives the groups; columns in no set form one more group. None allows all
        interactions.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the trees of the last fit and adds more of them. If
        False, every fit starts from the beginning.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the score no longer improves. "auto" stops early if there are more than
        10 000 rows (by total weight).
    scoring : str, callable or None, default="loss"
        Score computed on the held-out rows to decide when to stop early. A name known to
        scikit-learn, a callable with the signature ``scorer(estimator, X, y)``, "loss" for the loss
        being minimised, or None for the `score` method of the estimator. Used only with early
        stopping.
    validation_fraction : float, int or None, default=0.1
        Held-out rows used for early stopping: a fraction between 0 and 1, or a number of rows,
        drawn so that the class frequencies are preserved. None computes the score on the training
        rows. Used only with early stopping.
    n_iter_no_change : int, default=10
        Number of iterations without improvement of the score after which training stops. Must be at
        least 1. Used only with early stopping.
    tol : float, default=1e-7
        Minimum increase of the score that counts as an improvement. Larger values stop earlier.
        Must be at least 0. Used only with early stopping.
    verbose : int, default=0
        Prints the mean loss and the elapsed time: 0 prints nothing, 1 prints every tenth iteration,
        and larger values print every iteration.
    random_state : int, Generator, RandomState or None, default=None
        Seed for choosing the held-out rows and the columns considered for each split. Pass an int
        for the same result on every call.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``; multiplies `sample_weight`. "balanced" sets
        the weights inversely proportional to the class frequencies, so that all classes have the
        same total weight. None gives every class weight 1.
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
        the same result. The file is deleted when the fit ends. None writes no file.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    n_iter_ : int
        Number of boosting iterations of the fitted model.
    train_score_, validation_score_ : array of shape (n_iterations + 1,)
        Scores before the first and after every iteration, on the training rows and on the held-out
        rows. Empty without early stopping, and ``validation_score_`` also without held-out rows.
    feature_importances_ : array of shape (d,)
        Relative importance of each column: its share of the total gain of all splits. The shares
        sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> y = np.where(X[:, 0] % 100 < 50, "low", "high")
    >>> th.HistGradientBoostingClassifier().fit(X, y).predict([[20.0], [70.0]]).tolist()
    ['low', 'high']
    """

    loss: Any = "log_loss"
    _: KW_ONLY
    learning_rate: float = 0.1
    max_iter: int = 100
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    max_features: float = 1.0
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    monotonic_cst: Any = None
    interaction_cst: Any = None
    warm_start: bool = False
    early_stopping: Any = "auto"
    scoring: Any = "loss"
    validation_fraction: Any = 0.1
    n_iter_no_change: int = 10
    tol: float = 1e-7
    verbose: int = 0
    random_state: Any = None
    class_weight: Any = None
    leaf_update: str = "auto"
    reoptimise: str = "last"
    checkpoint: Any = None

    _everyday = "boosted trees"
