"""Bias and variance by simulation: fit to many training sets, and compare with the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from thetahat.data.column_targets import one_column
from thetahat.estimator.parameters import check_value, whole
from thetahat.evaluation.statistics_of_models import statistic_of
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """Bias², variance and mean squared error of each learner; prints as a table.

    Formula: E(t̂ − t)² = Var t̂ + (E t̂ − t)². Cost: O(training sets) memory for each number.

    Attributes
    ----------
    learners : tuple of str
        The names of the learners.
    bias2, variance, mse : array of shape (n_learners,)
        Bias², variance and mean squared error, summed over the entries of the statistic.
        ``mse = variance + bias2`` up to rounding.
    mse_error : array of shape (n_learners,)
        Standard error of ``mse``, due to the finite number of training sets.
    mean : array of shape (n_learners, \\*shape)
        The mean estimate (E t̂). ``mean - truth`` is the bias of each entry.
    variances : array of shape (n_learners, \\*shape)
        The variance of each entry.
    truth : array
        The true value of the statistic (t).
    n_datasets : int
        The number of simulated training sets.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> def simulate(random):
    ...     X = random.standard_normal((20, 2))
    ...     return X, X @ [1.0, -1.0] + random.standard_normal(20)
    >>> found = th.bias_variance(
    ...     th.LinearRegression(fit_intercept=False), simulate, truth=[1.0, -1.0],
    ...     statistic=lambda model: model.coef_, n_datasets=50, random_state=0,
    ... )
    >>> bool(np.allclose(found.mse, found.variance + found.bias2))
    True
    """

    learners: tuple[str, ...]
    bias2: Array
    variance: Array
    mse: Array
    mse_error: Array
    mean: Array = field(repr=False)
    variances: Array = field(repr=False)
    truth: Array = field(repr=False)
    n_datasets: int

    def __str__(self) -> str:
        width = max(10, *(len(name) for name in self.learners))
        heads = ("bias²", "variance", "MSE", "± std. error")
        lines = [
            f"{self.n_datasets} training sets: MSE = variance + bias²",
            " " * width + "".join(f"{head:>14}" for head in heads),
        ]
        columns = zip(self.bias2, self.variance, self.mse, self.mse_error, strict=True)
        for name, row in zip(self.learners, columns, strict=True):
            lines.append(f"{name:<{width}}" + "".join(f"{number:14.5g}" for number in row))
        return "\n".join(lines)


def bias_variance(
    learners: Any,
    simulate: Callable[[np.random.Generator], tuple[Any, Any]],
    *,
    truth: Any,
    statistic: str | Callable[[Any], Any] | None = None,
    n_datasets: int = 500,
    random_state: RandomState = None,
) -> BiasVariance:
    """Decompose the error of learners into bias² and variance, by fits to simulated training sets.

    Formula: E(t̂ − t)² = Var t̂ + (E t̂ − t)², with expectations over training sets. The statistic
    t may be the coefficients, or the true function at some points.

    Cost: one fit per learner and training set, run in parallel; the result does not depend on the
    number of threads. All learners are fitted to the same training sets, so that differences
    between learners are more accurate than the values themselves.

    Parameters
    ----------
    learners : estimator, function, or a sequence or mapping of them
        Estimators, which are cloned before each fit, or functions without arguments that return a
        new estimator. Use a mapping to name them.
    simulate : callable
        A function ``simulate(random)`` that draws a training set (X, y) with the given generator.
    truth : array-like
        The true value of the statistic (t), in the same shape.
    statistic : "coef", callable or None
        The quantity computed from each fitted model (t̂). "coef" and None stand for the intercept
        and the coefficients. A function takes the fitted model and returns a number or an array,
        such as ``lambda model: model.predict(X_new)``.
    n_datasets : int, default=500
        The number of training sets, at least 2. More training sets give more accurate results.
    random_state : int, Generator or None
        Seed or generator for the training sets. The same seed gives the same result.

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> def simulate(random):
    ...     X = random.standard_normal((15, 8))
    ...     return X, X.sum(axis=1) + 3 * random.standard_normal(15)
    >>> found = th.bias_variance(
    ...     {"least squares": th.LinearRegression(), "ridge": th.Ridge(alpha=5.0)},
    ...     simulate,
    ...     truth=np.ones(8),
    ...     statistic=lambda model: model.coef_,
    ...     n_datasets=100,
    ...     random_state=0,
    ... )
    >>> bool(found.variance[1] < found.variance[0] and found.bias2[1] > found.bias2[0])
    True
    """
    named = _named(learners)
    check_value(n_datasets, whole(2), "n_datasets", "bias_variance")
    measure, target = statistic_of(statistic), np.asarray(truth, dtype=np.float64)
    seeds = generator(random_state).integers(2**63, size=n_datasets)

    def estimates(seed: int) -> Array:
        X, y = simulate(np.random.default_rng(seed))
        targets = one_column(y)
        return np.stack([measure(make().fit(X, targets))[0] for make in named.values()])

    found = []
    for number, one in enumerate(parallel_map(estimates, (int(seed) for seed in seeds))):
        if isinstance(one, Failure):
            raise DataError(
                f"bias_variance: the fit to training set {number} failed ({one.reason}). All "
                "learners must be able to fit all training sets."
            ) from one.error
        if one.shape[1:] != target.shape:
            raise DataError(
                f"bias_variance: the statistic has shape {one.shape[1:]}, but truth has shape "
                f"{target.shape}. Give the true value of the same statistic."
            )
        found.append(one)
    return _split(tuple(named), np.stack(found), target)


def _split(names: tuple[str, ...], estimates: Array, truth: Array) -> BiasVariance:
    """Means over training sets, with one divisor for both terms so that they add up exactly."""
    mean = estimates.mean(axis=0)
    entries = tuple(range(1, mean.ndim))
    variances = ((estimates - mean) ** 2).mean(axis=0)
    errors = ((estimates - truth) ** 2).sum(axis=tuple(axis + 1 for axis in entries))
    return BiasVariance(
        learners=names,
        bias2=((mean - truth) ** 2).sum(axis=entries),
        variance=variances.sum(axis=entries),
        mse=errors.mean(axis=0),
        mse_error=errors.std(axis=0, ddof=1) / np.sqrt(len(errors)),
        mean=mean,
        variances=variances,
        truth=truth,
        n_datasets=len(errors),
    )


def ridge_bias_variance(X: Any, coef: Any, sigma: float, alphas: Any) -> tuple[Array, Array]:
    """Compute bias² and variance of ridge regression in closed form, for fixed rows X.

    Formula: with y = Xβ + ε, Var ε = σ²I and S = XᵀX, the estimate (S + αI)⁻¹Xᵀy has the bias
    −α(S + αI)⁻¹β and the covariance σ²(S + αI)⁻¹S(S + αI)⁻¹; along an eigenvector of S with
    eigenvalue λ these are α²β²/(λ + α)² and σ²λ/(λ + α)². α = 0 is least squares.

    Cost: O(n d² + d³) once, O(d) per α.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows. They are fixed, and the model has no intercept.
    coef : array-like of shape (d,)
        The true coefficients of the model (β).
    sigma : float
        Standard deviation of the noise (σ). Must be ≥ 0.
    alphas : float or array-like
        Strength or strengths of the ridge penalty (α). Must be ≥ 0.

    Returns
    -------
    bias2, variance : array in the shape of alphas
        Bias² and variance, summed over the coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> bias2, variance = th.ridge_bias_variance(np.eye(2), [2.0, 0.0], 1.0, [0.0, 1.0])
    >>> bias2.tolist(), variance.tolist()
    ([0.0, 1.0], [2.0, 0.5])
    """
    who = "ridge_bias_variance"
    rows, beta = numbers(X, "X", who), numbers(coef, "coef", who)
    penalty = numbers(alphas, "alphas", who)
    if rows.ndim != 2 or beta.shape != rows.shape[1:]:
        raise DataError(
            f"ridge_bias_variance: X has shape {rows.shape} and coef {beta.shape}. Give X of shape "
            "(n, d) and coef of shape (d,)."
        )
    if not (numbers(sigma, "sigma", who) >= 0 and np.all(penalty >= 0)):
        raise ParameterError(
            f"ridge_bias_variance: sigma={sigma!r} and all values of alphas must be numbers ≥ 0."
        )
    _, s, Vt = np.linalg.svd(rows, full_matrices=True)
    eigenvalues = np.zeros(len(beta))
    eigenvalues[: len(s)] = s**2
    along = (Vt @ beta) ** 2
    lifted = eigenvalues + penalty[..., None]
    # Where both are 0, the least-norm estimate is 0 in this direction: all of it is bias.
    dead = lifted <= EPSILON * eigenvalues.max() * len(beta)
    share = np.where(dead, 1.0, penalty[..., None] / np.where(dead, 1.0, lifted))
    spread = np.where(dead, 0.0, eigenvalues / np.where(dead, 1.0, lifted) ** 2)
    return (share**2 * along).sum(axis=-1), sigma**2 * spread.sum(axis=-1)


def _named(learners: Any) -> dict[str, Callable[[], Any]]:
    """For each learner, its name and a function that makes a new one."""
    if isinstance(learners, Mapping):
        pairs = [(str(name), learner) for name, learner in learners.items()]
    elif isinstance(learners, Sequence):
        pairs = [(f"{place}: {_label(learner)}", learner) for place, learner in enumerate(learners)]
    else:
        pairs = [(_label(learners), learners)]
    if not pairs:
        raise ParameterError("bias_variance: no learner was given. Give at least one estimator.")
    return {name: _maker(name, learner) for name, learner in pairs}


def _label(learner: Any) -> str:
    return str(getattr(learner, "__name__", None) or type(learner).__name__)


def _maker(name: str, learner: Any) -> Callable[[], Any]:
    if isinstance(learner, BaseEstimator) or (hasattr(learner, "fit") and not callable(learner)):
        return lambda: clone(learner)
    if callable(learner):
        return learner
    raise ParameterError(
        f"bias_variance: the learner {name!r} is {learner!r}. Give an estimator, or a function "
        "without arguments that returns one."
    )
