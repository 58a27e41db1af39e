"""Errors and warnings.

Each message names the rule, the offender, its value and the remedy. The classes derive from the
built-in that a caller would expect, so ``except ValueError`` keeps working.
"""

from __future__ import annotations

__all__ = [
    "CapabilityError",
    "ClusterError",
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
    """Base class of all errors that thetahat raises on purpose.

    Catch it to catch all of them with one ``except``. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.DataError, th.errors.ThetahatError)
    True
    """


class DataError(ThetahatError, ValueError):
    """Invalid data. The message names the column, the row, the value and a remedy.

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


class ParameterError(ThetahatError, ValueError, TypeError):
    """Invalid parameter of a constructor or a function.

    It is a ValueError and a TypeError, as scikit-learn's error of invalid parameters is.
    Formula: raised when a parameter of ℓ, R or the solver lies outside its allowed set. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> [issubclass(th.errors.ParameterError, each) for each in (ValueError, TypeError)]
    [True, True]
    """


class CapabilityError(ThetahatError, TypeError, ValueError):
    """Unsupported combination, such as a solver that needs a property the loss does not have.

    The message names an alternative. Formula: raised when a step of the solver is not defined for
    this ℓ and R. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.CapabilityError, TypeError)
    True
    """


class ClusterError(ThetahatError, RuntimeError):
    """The cluster that computes a fit was lost. The message says what to start again. Cost: O(1).

    A lost worker is not an error: its partitions are computed again by the others.

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.ClusterError, RuntimeError)
    True
    """


class MemoryBudgetError(ThetahatError, MemoryError):
    """Not enough memory: the estimated size of an array exceeds the limit.

    Formula: raised when estimated bytes > ``th.config(memory=...)``, before anything is allocated.
    Cost: O(1).

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
    """The problem is ill-conditioned: κ(X)·ε is not small, so few digits are correct. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.IllConditionedWarning, UserWarning)
    True
    """


class SeparationWarning(UserWarning):
    """A hyperplane separates the classes, so that an unpenalised likelihood has no maximum.

    Formula: for some θ, yᵢ·xᵢᵀθ ≥ 0 for all rows and > 0 for at least one, with yᵢ = ±1. Along this
    θ the likelihood always increases and the coefficients grow without bound. The same holds for
    counts if xᵢᵀθ ≤ 0 for all rows with yᵢ = 0, < 0 for at least one of them, and xᵢᵀθ = 0 for all
    other rows. Cost: O(1).

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.SeparationWarning, UserWarning)
    True
    """


class ReuseWarning(UserWarning):
    """Held-out rows are used again, so that each further estimate is less certain. Cost: O(1).

    Formula: the best of k models on the same rows looks better than it is, by about
    √(log k/(2n)) even if all are equally good.

    Examples
    --------
    >>> import thetahat as th
    >>> issubclass(th.errors.ReuseWarning, UserWarning)
    True
    """
