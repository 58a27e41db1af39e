"""The perceptron: on a mistake, w ← w + η y x; else nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.stochastic import RANGES
from thetahat.estimator.stochastic_classifier import StochasticClassifier


@with_parameters
class Perceptron(StochasticClassifier):
    """Rosenblatt's perceptron, a linear classifier that learns only from its mistakes.

    Formula: for a row with y·(wᵀx + b) ≤ 0, w ← w + η₀·y·x and b ← b + η₀·y; correctly classified
    rows change nothing. If a unit vector w* separates the rows with margin ρ = min y·(w*ᵀx) and
    ‖x‖ ≤ R, at most R²/ρ² mistakes are made, for any order of the rows (with an intercept, this
    holds for rows with an additional column of ones). More than two classes are fitted one against
    the rest. The updates are stochastic gradient steps of the loss [−m]₊; a penalty also shrinks w
    at every row.

    Cost: O(non-zero entries of X) per epoch and class, O(d) memory per class.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        Penalty on the coefficients. "l2" shrinks all coefficients, "l1" and "elasticnet" also set
        some of them to zero. None adds no penalty, which is the classical perceptron.
    alpha : float, default=0.0001
        Strength of the penalty (α), if `penalty` is used. Larger values shrink the coefficients
        more. Must be ≥ 0.
    l1_ratio : float, default=0.15
        Share of the L1 norm in the "elasticnet" penalty (ρ), between 0 and 1. 1 is the L1 penalty,
        0 the L2 penalty. Other penalties ignore it.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b). If False, the intercept is 0 and the data are expected to
        be centred. The intercept is never penalised.
    max_iter : int, default=1000
        Maximum number of epochs, which are passes over the training rows. Only used by `fit`;
        `partial_fit` always runs one epoch.
    tol : float or None, default=1e-3
        Tolerance of the stopping rule. The fit stops if the mean loss of an epoch (with
        `early_stopping`, the score on held-out rows) has not improved by at least `tol` for
        `n_iter_no_change` epochs in a row. None runs all `max_iter` epochs.
    shuffle : bool, default=True
        Whether to shuffle the rows before each epoch.
    verbose : int, default=0
        Has no effect. Accepted for compatibility with scikit-learn; use ``set_callbacks`` to follow
        the progress of a fit.
    eta0 : float, default=1.0
        Learning rate (η₀), the factor of every update. Without a penalty it only scales w and b and
        does not change the predictions. Must be positive.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; the classes are fitted in
        parallel on the threads set by ``th.config(threads=...)``.
    random_state : int, RandomState, Generator or None, default=0
        Seed for shuffling the rows. Pass an int for the same result on every call.
    early_stopping : bool, default=False
        Whether to stop when the score on held-out rows no longer improves. If True, the share
        `validation_fraction` of the training rows of each class is held out, and the epochs are
        compared by the accuracy on these rows.
    validation_fraction : float, default=0.1
        Share of the training rows that is held out for `early_stopping`. Must be between 0 and 1.
        Only used if ``early_stopping=True``.
    n_iter_no_change : int, default=5
        Number of epochs in a row without improvement after which the fit stops.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``; multiplies `sample_weight`. "balanced" sets
        the weights inversely proportional to the class frequencies, so that all classes have the
        same total weight. None gives every class weight 1.
    warm_start : bool, default=False
        Whether to start from the solution of the previous call to `fit`, if there is one. If False,
        the previous solution is ignored.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    coef_ : array of shape (1, d) or (n_classes, d)
        Estimated coefficients (β̂): one row for two classes, otherwise one row per class.
    intercept_ : array of shape (1,) or (n_classes,)
        Estimated intercepts (b̂), one for each row of ``coef_``; 0 if ``fit_intercept=False``.
    n_iter_ : int
        Number of epochs that were run, for the class that needed the most.
    t_ : float
        Number of steps (rows visited) during the fit, plus one.
    loss_ : Loss
        The loss that was used.
    n_mistakes_ : array of shape (1,) or (n_classes,)
        Number of mistakes during the last fit, for each row of ``coef_``.
    solution_ : Solution
        Report of the fit: how it stopped, the number of epochs and the last mean loss.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[2.0, 1.0], [1.0, 2.0], [-1.0, -2.0], [-2.0, -1.0]])
    >>> model = th.Perceptron(fit_intercept=False, shuffle=False).fit(X, [1, 1, 0, 0])
    >>> model.coef_, model.n_mistakes_
    (array([[2., 1.]]), array([1]))
    """

    _: KW_ONLY
    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    verbose: int = 0
    eta0: float = 1.0
    n_jobs: int | None = None
    random_state: Any = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    warm_start: bool = False

    _ranges = RANGES

    loss = "perceptron"
    learning_rate = "constant"
    power_t = 0.5
    epsilon = 0.0
    average = False

    def _keep_walks(self, walks: Any, dtype: Any) -> None:
        super()._keep_walks(walks, dtype)
        self.n_mistakes_ = np.array([int(walk.n_moves) for walk in walks])
