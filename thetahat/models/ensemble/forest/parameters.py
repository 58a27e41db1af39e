"""Parameters that all forests share, with their descriptions and ranges."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    MOST_DRAWS,
    MOST_MEMBERS,
    Range,
    at_least,
    boolean,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.models.tree.parameters import GrowthParameters, some_columns


@with_parameters
class ForestParameters(GrowthParameters):
    """How many trees a forest has, and which rows and columns they are grown on.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees in the forest. More trees reduce the variance of the predictions and take
        proportionally longer. Must be at least 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed for drawing rows, columns and thresholds. Pass an int for the same result on every
        call.
    bootstrap : bool, default=True
        If True, each tree is grown on rows drawn at random, see ``replacement`` and
        ``max_samples``. If False, each tree is grown on all rows.
    oob_score : bool or callable, default=False
        Whether to compute a score from the out-of-bag rows, the rows that a tree did not draw: the
        accuracy of a classifier, R² of a regressor. A function of (y, prediction) replaces this
        score. Requires ``bootstrap=True``.
    max_samples : int, float or None, default=None
        Number of rows drawn for each tree. A float is a fraction of the total weight of the rows,
        with ``replacement=False`` of their number; None draws as many as there are rows. Requires
        ``bootstrap=True``.
    replacement : bool, default=True
        If True, a row can be drawn several times for the same tree. If False, each tree is grown on
        ``max_samples`` distinct rows, drawn with equal probabilities among those of positive
        weight; use it with ``max_samples`` below the number of rows, as all rows are drawn
        otherwise. It has no effect with ``bootstrap=False``.
    max_features_per_tree : int, float, {"sqrt", "log2"} or None, default=None
        Number of columns drawn once for each tree, in the same forms as ``max_features``; the nodes
        of the tree choose among these. None uses all columns. With ``max_features=None``, only the
        trees differ in their columns.
    max_candidates : int or None, default=None
        Maximum number of thresholds tried per column and node, drawn at random among all. Smaller
        values make training faster and trees more diverse. None tries all thresholds.
    splits : {"auto", "histogram", "exact"}, default="auto"
        How thresholds are found. "exact" tries every value of a column; "histogram" groups values
        into at most 255 bins, which is more than twice as fast and slightly less accurate when many
        columns are noise. "auto" is exact in nodes of up to 65,535 rows and uses up to 16,384
        groups of values in larger nodes.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the trees of the last fit and adds new ones until
        there are ``n_estimators``. If False, every fit grows a new forest.
    n_jobs : int or None, default=None
        Maximum number of threads. None and −1 use the threads allowed by
        ``th.config(threads=...)``. The result does not depend on the number of threads.
    verbose : int, default=0
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.
    """

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "max_features": ("sqrt", 0.25, 0.5, 0.75, 1.0),
        "min_samples_leaf": (1, 2, 4, 8, 16),
        "n_estimators": (100, 200),
    }
    _ranges: ClassVar[dict[str, Range]] = {
        **GrowthParameters._ranges,
        "n_estimators": whole(1, MOST_MEMBERS),
        "bootstrap": boolean,
        "oob_score": boolean | Range(callable, "a function of (y, prediction)"),
        "max_samples": more_than(0, MOST_DRAWS) | none,
        "replacement": boolean,
        "max_features_per_tree": some_columns,
        "max_candidates": whole(1) | none,
        "splits": one_of("auto", "histogram", "exact"),
        "warm_start": boolean,
        "n_jobs": whole(-64) | none,
        "verbose": at_least(0) | boolean,
    }

    n_estimators: int = 100
    _: KW_ONLY
    bootstrap: bool = True
    oob_score: Any = False
    max_samples: float | None = None
    replacement: bool = True
    max_features_per_tree: Any = None
    max_candidates: int | None = None
    splits: str = "auto"
    warm_start: bool = False
    n_jobs: int | None = None
    verbose: int = 0


@with_parameters
class RandomThresholdParameters:
    """What differs in forests whose thresholds are drawn at random.

    Parameters
    ----------
    max_candidates : int or None, default=None
        Maximum number of thresholds tried per column and node. It has no effect here: one random
        threshold is always drawn per column.
    splits : {"auto", "histogram", "exact"}, default="auto"
        How thresholds are found. It has no effect in memory, where random thresholds are drawn from
        the values themselves. Rows of a source are grouped into at most 255 bins per column, and
        thresholds are drawn among the ends of these; "exact" does not accept such rows.
    """

    _random_thresholds: ClassVar[bool] = True

    _: KW_ONLY
    bootstrap: bool = False
    max_candidates: int | None = None
    splits: str = "auto"
