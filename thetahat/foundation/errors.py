"""Errors and warnings.

Each message names the rule, the offender, its value and the remedy. The classes derive from the
built-in that a caller would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "CapabilityError",
    "DataError",
    "IllConditionedWarning",
    "MemoryBudgetError",
    "MissingExtraError",
    "ParameterError",
    "ReuseWarning",
    "SeparationWarning",
    "ThetahatError",
]


class ThetahatError(Exception):
    """Anything thetahat refuses on purpose.

    Cost: O(1). Every refusal of the library derives from it, so one ``except`` catches them all.

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.DataError, th.errors.ThetahatError)
    True
    """


class DataError(ThetahatError, ValueError):
    """The data break a rule: the message names column, row, value and remedy.

    Formula: raised when a row (xᵢ, yᵢ, wᵢ) lies outside the domain of ℓ(yᵢ, f(xᵢ)). Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> try:
    ...     th.LinearRegression().fit([[1.0], [float("nan")]], [1.0, 2.0])
    ... except th.errors.DataError as error:
    ...     print(str(error)[:30])
    Input X contains NaN: column 0
    """


class ParameterError(ThetahatError, ValueError):
    """A constructor or call parameter is out of its declared range.

    Formula: raised when a parameter of ℓ, R or the solver leaves its set. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.ParameterError, ValueError)
    True
    """


class CapabilityError(ThetahatError, TypeError, ValueError):
    """A solver needs what a loss, penalty or source cannot give; the message names a way out.

    Formula: raised when no step of the solver is defined for this ℓ and R. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.CapabilityError, TypeError)
    True
    """


class MemoryBudgetError(ThetahatError, MemoryError):
    """An allocation was estimated before it was taken, and it does not fit.

    Formula: raised when estimated bytes > ``th.config(memory=...)``. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.MemoryBudgetError, MemoryError)
    True
    """


class MissingExtraError(ThetahatError, ImportError):
    """An optional dependency is not installed; the message gives the pip command. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.MissingExtraError, ImportError)
    True
    """


class IllConditionedWarning(UserWarning):
    """The answer has fewer correct digits than the data suggest: κ(X)·ε is not small. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.IllConditionedWarning, UserWarning)
    True
    """


class SeparationWarning(UserWarning):
    """A hyperplane separates the classes, so that an unpenalised likelihood has no maximum.

    Formula: some θ has yᵢ·xᵢᵀθ ≥ 0 for every row and > 0 for one, with yᵢ = ±1; along it the
    likelihood rises for ever and the coefficients grow without bound. So it does for counts where
    xᵢᵀθ ≤ 0 for every row with yᵢ = 0, < 0 for one, and 0 for all others. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.SeparationWarning, UserWarning)
    True
    """


class ReuseWarning(UserWarning):
    """Rows that were held back are asked again: each further answer is less sure. Cost: O(1).

    Formula: the best of k models on the same rows looks better than it is, by about
    √(log k/(2n)) even when all are alike.

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.ReuseWarning, UserWarning)
    True
    """
