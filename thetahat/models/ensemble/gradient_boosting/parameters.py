"""Parameters of the gradient boosting estimators, with their descriptions and ranges."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    at_least,
    boolean,
    from_to,
    infinity,
    inner_fraction,
    more_than,
    none,
    one_of,
    positive_fraction,
    share_of_all,
    whole,
)
from thetahat.models.tree.parameters import some_columns

a_path = Range(lambda value: isinstance(value, str) or hasattr(value, "__fspath__"), "a path")


class BoostingParameters:
    """Descriptions for all gradient boosting estimators, which declare the parameters.

    Parameters
    ----------
    learning_rate : float, default=0.1
        Shrinks the contribution of each tree by this factor (η). Smaller values need more
        iterations and usually generalise better. Must be positive.
    max_depth : int or None, default=None
        Maximum depth of each tree: the number of edges from the root to the deepest leaf. A larger
        depth allows interactions between more columns. Must be at least 1; None means no limit.
    max_bins : int, default=255
        Maximum number of bins per column. Values are grouped into bins before training, and splits
        lie between bins; one more bin holds the missing values. Must lie between 2 and 255.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the trees of the last fit and adds more of them. If
        False, every fit starts from the beginning.
    verbose : int, default=0
        Prints the mean loss and the elapsed time: 0 prints nothing, 1 prints every tenth iteration
        and how the fit ended, and larger values print every iteration.
    leaf_update : {"auto", "newton", "line_search"}, default="auto"
        How the values of the leaves are computed. "newton" takes one Newton step, "line_search"
        minimises the loss in each leaf. "auto" takes Newton steps for losses with positive and
        stable curvature, such as the squared, logistic and Poisson loss, and minimises all others.
    reoptimise : {"last", "all"}, default="last"
        "last" keeps earlier trees as boosting made them. "all" refits the coefficients of all trees
        together with the same loss in every iteration, before the next gradients are computed.
        This fits the training rows more closely, takes longer with each iteration, and needs memory
        for two numbers per row and tree. Staged predictions use the final coefficients, whereas
        ``train_score_`` is that of each iteration with the coefficients it had then: only the last
        ones agree.
    checkpoint : path or None, default=None
        File in which the trees are saved every few seconds during training. If training is
        interrupted, calling `fit` again with the same data and parameters continues from there with
        the same result. The file is deleted when the fit ends. None writes no file.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "learning_rate": more_than(0, LARGEST_FACTOR),
        "max_depth": whole(1) | none,
        "max_leaf_nodes": whole(2) | none,
        "max_bins": whole(2, 255),
        "warm_start": boolean,
        "tol": at_least(0),
        "verbose": at_least(0) | boolean,
        "leaf_update": one_of("auto", "newton", "line_search"),
        "reoptimise": one_of("last", "all"),
        "checkpoint": none | a_path,
    }


@with_parameters
class HistGradientBoostingParameters(BoostingParameters):
    """Trees on binned columns, and early stopping by any score.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of boosting iterations. Each iteration adds one tree, or one tree per class
        for more than two classes. More iterations fit the training rows more closely. Must be at
        least 1.
    max_leaf_nodes : int or None, default=31
        Maximum number of leaves of each tree. More leaves allow more complex trees. Must be at
        least 2; None means no limit.
    min_samples_leaf : int, default=20
        Minimum number of rows in a leaf; with row weights, their minimum total weight (in units of
        the mean weight, if that is below 1). For three and more classes, rows count by their
        curvature. Larger values give smoother predictions. Must be at least 1; use a smaller value
        for small data sets.
    l2_regularization : float, default=0.0
        Strength of the L2 penalty on the values of the leaves (λ). Larger values shrink the leaf
        values towards 0. Must be at least 0; 0 means no penalty.
    max_features : float, default=1.0
        Fraction of the columns that are considered for each split, drawn at random for every node.
        Values below 1 make trees more diverse and training faster. Must lie in (0, 1].
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Columns to treat as unordered categories: a Boolean mask, column numbers or column names.
        "from_dtype" takes the columns of text and of categorical type, and ordered categories as
        numbers 0, 1, … in their order; None takes no column. All other columns must hold numbers or
        categories that are numbers. The gain of a split by categories is multiplied by the share of
        the differences between the k categories that exceeds chance, 1 − (k − 3 + √(2(k − 1)))·σ²/B
        (at least 0, and 1 for k ≤ 3), where B is the sum of squares between the categories and σ²
        the variance of the gradients within them. So columns with hundreds of random levels do not
        make the model worse.
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
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the score no longer improves. "auto" stops early if there are more than
        10 000 rows (by total weight), or if `fit` receives held-out rows (``X_val``).
    scoring : str, callable or None, default="loss"
        Score computed on the held-out rows to decide when to stop early. A name known to
        scikit-learn, a callable with the signature ``scorer(estimator, X, y)``, "loss" for the loss
        being minimised, or None for the `score` method of the estimator. Used only with early
        stopping.
    validation_fraction : float, int or None, default=0.1
        Held-out rows used for early stopping: a fraction between 0 and 1, or a number of rows. A
        classifier draws them so that the class frequencies are preserved. None computes the score
        on the training rows. Used only with early stopping, and not if `fit` receives ``X_val``.
    n_iter_no_change : int, default=10
        Number of iterations without improvement of the score after which training stops. Must be at
        least 1. Used only with early stopping.
    tol : float, default=1e-7
        Minimum increase of the score that counts as an improvement. Larger values stop earlier.
        Must be at least 0. Used only with early stopping.
    random_state : int, Generator, RandomState or None, default=None
        Seed for choosing the held-out rows and the columns considered for each split. Pass an int
        for the same result on every call.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **BoostingParameters._ranges,
        "max_iter": whole(1),
        "min_samples_leaf": whole(1),
        "l2_regularization": at_least(0),
        "max_features": positive_fraction,
        "early_stopping": one_of("auto")
        | Range(lambda value: isinstance(value, bool | np.bool_), "True or False"),
        "validation_fraction": inner_fraction | whole(1) | none,
        "n_iter_no_change": whole(1),
    }

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
    leaf_update: str = "auto"
    reoptimise: str = "last"
    checkpoint: Any = None


@with_parameters
class GradientBoostingParameters(BoostingParameters):
    """Small trees or any regressor, on all rows or a fraction of them.

    Parameters
    ----------
    n_estimators : int, default=100
        Maximum number of boosting iterations. Each iteration adds one tree, or one tree per class
        for more than two classes. More iterations fit the training rows more closely. Must be at
        least 1.
    subsample : float, default=1.0
        Fraction of the rows used to fit each tree, drawn at random without replacement. Values
        below 1 give stochastic gradient boosting: lower variance, higher bias. Must lie in (0, 1].
    min_samples_split : int or float, default=2
        Minimum number of rows that a node needs to be split; with row weights, their minimum total
        weight. A float is a fraction of the total. Larger values give smaller trees.
    min_samples_leaf : int or float, default=1
        Minimum number of rows in a leaf; with row weights, their minimum total weight (in units of
        the mean weight, if that is below 1). A float is a fraction of the total. Larger values
        give smoother predictions.
    min_weight_fraction_leaf : float, default=0.0
        Minimum fraction of the total weight that a leaf must hold. Must lie between 0 and 0.5.
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
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of each tree. When set, the leaf whose split has the largest gain
        is split first (best-first growth). Must be at least 2; None means no limit.
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
    checkpoint : path or None, default=None
        File in which the trees are saved every few seconds during training. If training is
        interrupted, calling `fit` again with the same data and parameters continues from there with
        the same result. The file is deleted when the fit ends. Cannot be combined with
        ``estimator``. None writes no file.
    criterion : {"friedman_mse", "squared_error"}, default="deprecated"
        Has no effect: "friedman_mse" and "squared_error" give every split the same gain. Accepted
        so that programs written for scikit-learn run unchanged, which will remove it.
    estimator : regressor or None, default=None
        Base estimator that is fitted to the negative gradients in each iteration, for more than two
        classes one copy per class. Any regressor with ``fit(X, y)`` and ``predict(X)`` works. It
        receives X as given; row weights are an error if it does not support them. Parameters of
        trees are then ignored, and ``leaf_update`` and ``reoptimise`` apply to its coefficients.
        None uses regression trees.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        **BoostingParameters._ranges,
        "n_estimators": whole(1),
        "subsample": positive_fraction,
        "min_samples_split": whole(2) | share_of_all,
        "min_samples_leaf": whole(1) | share_of_all,
        "min_weight_fraction_leaf": from_to(0, 0.5),
        "min_impurity_decrease": at_least(0),
        "ccp_alpha": at_least(0) | infinity,
        "criterion": one_of("friedman_mse", "squared_error", "deprecated"),
        "init": one_of("zero")
        | none
        | Range(
            lambda value: hasattr(value, "fit") and not isinstance(value, type), "an estimator"
        ),
        "estimator": none
        | Range(
            lambda value: (
                hasattr(value, "fit") and hasattr(value, "predict") and not is_classifier(value)
            ),
            "a regressor with fit and predict",
        ),
        "max_features": some_columns,
        "validation_fraction": inner_fraction,
        "n_iter_no_change": whole(1) | none,
    }

    _: KW_ONLY
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
    max_bins: int = 255
    leaf_update: str = "auto"
    reoptimise: str = "last"
    checkpoint: Any = None
    criterion: str = "deprecated"
    estimator: Any = None
