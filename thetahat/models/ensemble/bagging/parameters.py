"""Parameters that the bagging estimators share, with their descriptions and ranges."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import MOST_MEMBERS, Range, boolean, none, share_of_all, whole

learner = Range(
    lambda value: hasattr(value, "fit") and hasattr(value, "predict"),
    "an estimator with fit and predict",
)


@with_parameters
class BaggingParameters:
    """How many members there are, and which rows and columns they are fitted to.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The base estimator. None uses a `DecisionTreeClassifier` or a `DecisionTreeRegressor`. Trees
        of thetahat choose at random between columns of equal gain (``ties="random"``).
    n_estimators : int, default=10
        Number of members, that is, of bootstrap samples (M). More members reduce the variance and
        take proportionally longer. Must be at least 1.
    max_samples : int, float or None, default=None
        Number of rows drawn for each member. A float is a fraction of the rows (by weight); None
        draws as many as there are rows.
    max_features : int or float, default=1.0
        Number of columns drawn for each member. A float is a fraction of the columns. Fewer columns
        make the members more diverse.
    bootstrap : bool, default=True
        If True, rows are drawn with replacement, otherwise without.
    bootstrap_features : bool, default=False
        If True, columns are drawn with replacement, otherwise without.
    oob_score : bool, default=False
        If True, estimate the performance from the out-of-bag rows, the rows that a member did not
        draw. Requires ``bootstrap=True`` and ``warm_start=False``.
    warm_start : bool, default=False
        If True, the next call to `fit` keeps the existing members and adds new ones until there are
        ``n_estimators``. If False, every fit starts from the beginning.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    random_state : int, Generator or None, default=None
        Seed for drawing rows and columns, and for members that make random choices. Pass an int for
        the same result on every call.
    verbose : int, default=0
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.
    """

    _ranges: ClassVar[dict[str, Range]] = {
        "estimator": learner | none,
        "n_estimators": whole(1, MOST_MEMBERS),
        "max_samples": whole(1) | share_of_all | none,
        "max_features": whole(1) | share_of_all,
        "bootstrap": boolean,
        "bootstrap_features": boolean,
        "oob_score": boolean,
        "warm_start": boolean,
    }

    estimator: Any = None
    n_estimators: int = 10
    _: KW_ONLY
    max_samples: int | float | None = None
    max_features: int | float = 1.0
    bootstrap: bool = True
    bootstrap_features: bool = False
    oob_score: bool = False
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
