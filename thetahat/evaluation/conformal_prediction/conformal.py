"""Conformal prediction: intervals for numbers and sets of classes that hold at a given rate.

Every row is predicted by a model that was fitted without it. The errors of these predictions show
how far off the model is on new rows, whatever the model and the distribution of the errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from thetahat.data.column_targets import one_column
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.evaluation.conformal_prediction.calibration import calibrated
from thetahat.evaluation.conformal_prediction.result import Conformal
from thetahat.evaluation.evaluate import evaluate


@needs_memory
def conformal(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    random_state: Any = 0,
) -> Conformal:
    """Fit a model, and find intervals or sets that contain the truth at a given rate.

    Formula: with f fitted to all rows, and errors e = (y − ŷ)/σ(ŷ) of cross-validated predictions,
    [f(x) + q₁·σ(f(x)), f(x) + q₂·σ(f(x))], where q₁ and q₂ are the ⌊(m + 1)(1 − level)/2⌋-th
    smallest and largest of the m errors. σ is the mean of |y − ŷ| in bins of the prediction, each
    of at least 50 rows. For classes {c : 1 − p_c(x) ≤ q}, with the ⌈(m + 1)·level⌉-th smallest q of
    the values 1 − p_y; of rows whose probability is exactly at the limit, a random part has the
    class in its set. With groups, the m rows are weighted such that every group has the same
    weight, and m + 1 is the number of groups + 1. Cost: k + 1 fits for k folds.

    The rows must be exchangeable: new rows come from the same distribution as these. The rate then
    holds on average over rows, not for every part of the table. It is nearly exact rather than
    guaranteed, because the model of all rows errs a little less than those of the folds; measured
    rates are on the page "How sure is that?" of the documentation. It does not hold for least
    squares with nearly as many columns as rows, where a few rows more or less change the model.

    Parameters
    ----------
    model : estimator
        A regressor, or a classifier with ``predict_proba`` or ``decision_function``. It is cloned,
        so the object itself stays unfitted.
    X, y : array-like, sparse, table
        The rows and their targets.
    cv : int, splitter or iterable, default=5
        How the rows are split into training rows and held-out rows, as in `evaluate`. More folds
        give slightly narrower intervals and take longer. Of a row that is held out several times,
        the first prediction is used.
    groups : array-like, optional
        The group of each row; rows of a group stay in one fold. Give it if new rows come from new
        groups. Every group then has the same weight, however many rows it has: the rate is that of
        a row of a new group, on average over groups. The possible levels depend on the number of
        groups instead of rows.
    random_state : int, default=0
        Seed for shuffling the rows. The same seed gives the same folds.

    Returns
    -------
    Conformal

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(400, 3, noise=1.0, random_state=0)
    >>> found = th.conformal(th.Ridge(), data.X[:200], data.y[:200])
    >>> 0.8 < found.coverage(data.X[200:], data.y[200:], level=0.9).estimate < 1.0
    True
    """
    held = evaluate(model, X, y, cv=cv, groups=groups, random_state=random_state, keep_models=True)
    fitted = clone(model).fit(X, y)
    return calibrated(fitted, held.fits, np.asarray(one_column(y)), groups)
