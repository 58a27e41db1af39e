"""The perceptron: on a mistake, w ← w + η y x; else nothing."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.models.linear.stochastic.stochastic_classifier import StochasticClassifier


@with_parameters
class Perceptron(StochasticClassifier):
    """Rosenblatt's perceptron, a linear classifier that learns only from its mistakes.

    Formula: for a row with y·(wᵀx + b) ≤ 0, w ← w + η₀·y·x and b ← b + η₀·y; correctly classified
    rows change nothing. If a unit vector w* separates the rows with margin ρ = min y·(w*ᵀx) and
    ‖x‖ ≤ R, at most R²/ρ² mistakes are made, for any order of the rows (with an intercept, this
    holds for rows with an additional column of ones). More than two classes are fitted one against
    the rest. The updates are stochastic gradient steps of the loss [−m]₊; a penalty also shrinks w
    at every row.

    Cost: O(non-zero entries of X) per epoch and class, O(d) memory per class. Rows of a `Source`
    are shuffled within each block instead of as a whole, so the coefficients from a file differ
    from those in memory unless ``shuffle=False``.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        Penalty on the coefficients. "l2" shrinks all coefficients, "l1" and "elasticnet" also set
        some of them to zero. None adds no penalty, which is the classical perceptron.
    alpha : float, default=0.0001
        Strength of the penalty (α), if `penalty` is used. Larger values shrink the coefficients
        more. Must be ≥ 0.
    eta0 : float, default=1.0
        Learning rate (η₀), the factor of every update. Without a penalty it only scales w and b and
        does not change the predictions. Must be positive.

    Attributes
    ----------
    n_mistakes_ : array of shape (1,) or (n_classes,)
        Number of mistakes during the last fit, for each row of ``coef_``.

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
    eta0: float = 1.0
    random_state: Any = 0

    loss = "perceptron"
    learning_rate = "constant"
    power_t = 0.5
    epsilon = 0.0
    average = False

    def _keep_walks(self, walks: Any, dtype: Any) -> None:
        super()._keep_walks(walks, dtype)
        self.n_mistakes_ = np.array([int(walk.n_moves) for walk in walks])
