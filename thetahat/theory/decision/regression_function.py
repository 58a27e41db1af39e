"""The best predictions under squared loss, from a known joint distribution.

argmin_c E(Y − c)² = E[Y],   argmin_f E(Y − f(X))² = E[Y | X],
E(Y − f(X))² = E Var(Y | X) + E(f(X) − E[Y | X])²
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.theory.decision.bayes_table import BayesTable
from thetahat.theory.decision.grid_posterior import GridPosterior


@dataclass(frozen=True, eq=False)
class RegressionFunction:
    """The function E[Y | X], the best prediction under squared loss, and its risk.

    The risk of any other function is the risk of this one plus the mean squared difference of the
    two. A learner that minimises the empirical risk over a class of functions approaches the
    function of its class that is nearest to E[Y | X].

    Formula: E(Y − f(X))² = E Var(Y | X) + E(f(X) − E[Y | X])². Cost: O(number of values of X).

    Attributes
    ----------
    x : array of shape (m,)
        The values of X that have a positive probability.
    weight : array of shape (m,)
        The probability of each value of X; for densities, its share in integrals.
    mean : array of shape (m,)
        The best prediction E[Y | X] at each value of X.
    variance : array of shape (m,)
        The variance of Y that remains at each value of X.
    constant : float
        The best constant prediction, E[Y].
    constant_risk : float
        The risk of the best constant, Var(Y).
    risk : float
        The risk of the best function, E Var(Y | X), the smallest that any function has.

    Examples
    --------
    >>> import thetahat as th
    >>> joint = th.theory.BayesTable([[0.4, 0.1], [0.1, 0.4]], {"x": [0, 1], "y": [0, 10]})
    >>> found = th.theory.regression_function(joint, "y", given="x")
    >>> found.mean
    array([2., 8.])
    >>> found.constant, found.constant_risk, found.risk
    (5.0, 25.0, 16.0)
    """

    x: Array
    weight: Array
    mean: Array
    variance: Array

    @property
    def constant(self) -> float:
        """The best constant prediction, E[Y]."""
        return float(self.weight @ self.mean)

    @property
    def constant_risk(self) -> float:
        """The risk of the best constant, Var(Y)."""
        return self.risk + float(self.weight @ (self.mean - self.constant) ** 2)

    @property
    def risk(self) -> float:
        """The risk of the best function, E Var(Y | X)."""
        return float(self.weight @ self.variance)

    def risk_of(self, function: Callable[[Array], Any]) -> float:
        """Compute the risk of a function, E(Y − f(X))².

        Parameters
        ----------
        function : callable
            A function that maps the values of X, an array of shape (m,), to predictions; such as
            ``lambda x: model.predict(x[:, None])``.

        Returns
        -------
        float
        """
        return self.risk + self.excess_risk(function)

    def excess_risk(self, function: Callable[[Array], Any]) -> float:
        """Compute by how much the risk of a function exceeds the smallest: E(f(X) − E[Y | X])².

        Parameters
        ----------
        function : callable
            A function that maps the values of X, an array of shape (m,), to predictions.

        Returns
        -------
        float
        """
        predicted = numbers(function(self.x), "function(x)", "RegressionFunction")
        try:
            predicted = np.broadcast_to(predicted, self.mean.shape)
        except ValueError:
            raise DataError(
                f"RegressionFunction: the function returned {predicted.shape} for "
                f"{self.mean.shape} values of X. Return one prediction for each."
            ) from None
        return float(self.weight @ (predicted - self.mean) ** 2)


def regression_function(
    joint: BayesTable | GridPosterior, target: str, given: str
) -> RegressionFunction:
    """Compute the best predictions of Y under squared loss: the constant E[Y], and E[Y | X].

    Formula: E[Y | X = x] = Σ_y y·p(x, y)/p(x), or the integral over a grid. Cost: O(cells).

    Parameters
    ----------
    joint : BayesTable or GridPosterior
        The joint distribution of X and Y, as a table of probabilities or as a density on a grid.
        Other variables are summed over.
    target : str
        The name of the variable to predict (Y). Its values must be numbers.
    given : str
        The name of the variable that is known (X).

    Returns
    -------
    RegressionFunction

    Examples
    --------
    For a normal distribution with correlation 0.6, E[Y | X] is the line 0.6·x:

    >>> import numpy as np
    >>> import thetahat as th
    >>> def density(x, y):
    ...     return np.exp(-(x**2 - 1.2 * x * y + y**2) / (2 * 0.64))
    >>> grid = np.linspace(-6, 6, 241)
    >>> joint = th.theory.GridPosterior({"x": grid, "y": grid}, density)
    >>> found = th.theory.regression_function(joint, "y", given="x")
    >>> np.interp([-1, 0, 2], found.x, found.mean).round(4) + 0.0
    array([-0.6,  0. ,  1.2])
    """
    who = "regression_function"
    if not isinstance(joint, BayesTable | GridPosterior):
        raise ParameterError(f"{who}: joint={joint!r:.60} must be a BayesTable or a GridPosterior.")
    for name in (target, given):
        if name not in joint.axes:
            raise ParameterError(
                f"{who}: there is no variable {name!r}. The variables are {list(joint.axes)}."
            )
    if target == given:
        raise ParameterError(f"{who}: target and given are both {target!r}. Name two variables.")
    y = numbers(joint.axes[target], target, who)
    masses = joint.marginal(given, target).probabilities
    if isinstance(joint, GridPosterior) and list(joint.axes).index(target) < list(joint.axes).index(
        given
    ):
        masses = masses.T
    weight = masses.sum(axis=1)
    possible = weight > 0
    shares = masses[possible] / weight[possible, None]
    mean = shares @ y
    variance = (shares * (y - mean[:, None]) ** 2).sum(axis=1)
    x = np.asarray(joint.axes[given])[possible]
    return RegressionFunction(x, weight[possible], mean, variance)
