"""Greedy sparse regression: min ‖y − Xβ‖² with few non-zero β, one column at a time."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.summaries.means import means
from thetahat.data.summaries.moments import moments
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear import LinearRegressor
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.matching_pursuit import Pursuit, pursue, pursue_rows
from thetahat.mathematics.optimizers.solution import Outcome, Solution

LARGEST_GRAM = 5000
"""Columns up to which the Gram matrix is formed."""
GRAM_IS_CHEAPER = 20
"""One column of a matrix product costs about this many times less than one product Xᵀr."""

precomputed: Range = one_of("auto") | boolean


@with_parameters
class OrthogonalMatchingPursuit(LinearRegressor):
    """Orthogonal matching pursuit: greedy selection of a given number of columns.

    Formula: start with A = ∅ and r = y, then repeat: j = argmax_{j ∉ A} |xⱼᵀr|, A ← A ∪ {j},
    β_A = argmin ‖y − X_A β_A‖², r = y − X_A β_A. In words, each iteration adds the column that is
    most correlated with the residual and refits all selected columns, so that r is orthogonal to
    X_A. With ``positive=True``, j = argmax xⱼᵀr and the refit has β ≥ 0; a column whose coefficient
    becomes 0 leaves A, may enter again, and is not counted.

    The method finds the true support if X is orthonormal or if its columns are nearly uncorrelated.
    `BestSubset` searches all subsets instead.

    Cost: O(n d²) for the Gram matrix, in memory or block by block, and O(s d) per iteration with s
    selected columns; or O(n d) per iteration without the Gram matrix. Memory O(d²), or O(n s).

    Parameters
    ----------
    n_nonzero_coefs : int or None, default=None
        Number of columns to select, at most d. None selects a tenth of the columns, at least one.
        Ignored if `tol` is given.
    tol : float or None, default=None
        Select columns until the squared norm of the residual, ‖r‖², is at most this value.
        Overrides `n_nonzero_coefs`.
    precompute : bool or "auto", default="auto"
        Whether to form the Gram matrix XᵀX. It makes each iteration faster and pays off for many
        selected columns. "auto" chooses by the size of X.

    Attributes
    ----------
    n_nonzero_coefs_ : int or None
        Number of columns that were requested; None if `tol` is given.
    n_iter_ : int or array of shape (n_targets,)
        Number of selected columns: the non-zero coefficients of each target.
    solution_ : Solution
        Report of the solver: how the selection ended, and ‖r‖² as ``solution_.value``.
        ``solution_.steps`` counts the refits; with ``positive=True`` they can be more than the
        selected columns, because columns may leave again.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.eye(4)
    >>> model = th.OrthogonalMatchingPursuit(n_nonzero_coefs=2, fit_intercept=False)
    >>> model.fit(X, [0.5, -3.0, 0.0, 2.0]).coef_.tolist()
    [0.0, -3.0, 0.0, 2.0]
    """

    _: KW_ONLY
    n_nonzero_coefs: int | None = None
    tol: float | None = None
    fit_intercept: bool = True
    precompute: Any = "auto"
    positive: bool = False

    _flattens_one_column = True
    _why_no_errors = "they would be too small, because the same rows selected the columns"
    _ranges = {  # noqa: RUF012
        "n_nonzero_coefs": whole(1) | none,
        "tol": at_least(0) | none,
        "fit_intercept": boolean,
        "precompute": precomputed,
        "positive": boolean,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> OrthogonalMatchingPursuit:
        source = self._open(X, y, sample_weight, check_finite=False)
        d = source.n_features
        most = steps_allowed(self.n_nonzero_coefs, self.tol, d, who=type(self).__name__)
        self.n_nonzero_coefs_ = most if self.tol is None else None
        found, theta, reason = pursuit_of(
            source,
            most,
            -1.0 if self.tol is None else float(self.tol),
            intercept=self.fit_intercept,
            positive=self.positive,
            precompute=self.precompute,
        )
        self._keep(theta, source)
        self.n_iter_ = found.columns if source.n_outputs > 1 else int(found.columns[0])
        short = _shortfall(found, most, self.tol, positive=self.positive)
        self.solution_ = Solution(
            theta=theta,
            outcome=Outcome.STALLED if short else Outcome.EXACT,
            solver="matching_pursuit",
            reason=reason,
            steps=int(found.steps.max()),
            value=float(found.residual.sum()),
            message=short or Outcome.EXACT.value,
        )
        if short and not self.positive and found.columns.min() < most:
            # As in scikit-learn: columns remain, but none is correlated with the residual.
            warn(f"{type(self).__name__}: {short}.", RuntimeWarning)
        return self


def steps_allowed(n_nonzero_coefs: int | None, tol: float | None, d: int, *, who: str) -> int:
    """Maximum number of columns: the requested number, all with a tolerance, otherwise a tenth."""
    if tol is not None:
        return d
    if n_nonzero_coefs is None:
        return max(d // 10, 1)
    if n_nonzero_coefs > d:
        raise ParameterError(
            f"{who}: n_nonzero_coefs={n_nonzero_coefs} is more than the number of columns of X, "
            f"{d}. Use n_nonzero_coefs={d} or fewer."
        )
    return int(n_nonzero_coefs)


def pursuit_of(
    source: Source,
    most: int,
    tolerance: float,
    *,
    intercept: bool,
    positive: bool = False,
    precompute: Any = "auto",
    keep_path: bool = False,
) -> tuple[Pursuit, Array, str]:
    """The pursuit, [β; b] of shape (d + 1, k), and the reason for the choice of method."""
    by_gram, reason = _by_gram(source, most, tolerance, positive, precompute)
    if by_gram:
        require_memory(
            # The sums of a block are held next to those of the blocks before it.
            3 * 8 * source.n_features**2,
            f"The Gram matrix of {source.n_features} columns",
            "Leave precompute='auto' and positive=False, which need none for rows in memory.",
        )
        about = moments(source)
        about = about if intercept else about.about_zero()
        about.require_squares()
        # X and y are scaled first, because the pursuit squares sums of products.
        d, x_unit = source.n_features, float(about.unit[: source.n_features].max())
        y_unit = float(about.unit[d:].max())
        unit = about.unit / np.repeat([x_unit, y_unit], [d, len(about.unit) - d])
        scatter = about.scatter * unit * unit[:, None]
        found = pursue(
            scatter[:d, :d],
            scatter[d:, :d],
            np.diagonal(scatter)[d:],
            most,
            tolerance / y_unit / y_unit,
            positive=positive,
            keep_path=keep_path,
        )
        found = _in_data_units(found, x_unit, y_unit)
        x_mean, y_mean = about.x_mean, about.y_mean
    else:
        assert isinstance(source, InMemory)
        source.require_finite()
        X, d = source.X.astype(np.float64, copy=False), source.n_features
        y = np.asarray(source.y, dtype=np.float64).reshape(source.n_rows, -1)
        centre = means(source).mean if intercept else np.zeros(d + y.shape[1])
        x_mean, y_mean = centre[:d], centre[d:]
        root = None if source.weight is None else np.sqrt(source.weight)
        found = pursue_rows(X, y - y_mean, root, x_mean, most, tolerance, keep_path=keep_path)
    return found, np.vstack([found.coef.T, y_mean - found.coef @ x_mean]), reason


def _in_data_units(found: Pursuit, x_unit: float, y_unit: float) -> Pursuit:
    """The pursuit of X/x_unit and y/y_unit in the units of X and y; exact for powers of two."""
    ratio = y_unit / x_unit
    return replace(
        found,
        coef=found.coef * ratio,
        residual=found.residual * y_unit * y_unit,
        path=None if found.path is None else found.path * ratio,
    )


def _by_gram(
    source: Source, most: int, tolerance: float, positive: bool, precompute: Any
) -> tuple[bool, str]:
    d = source.n_features
    if not isinstance(source, InMemory) or positive:
        who = "reading rows block by block" if not positive else "positive=True"
        if not precompute:
            raise CapabilityError(
                f"OrthogonalMatchingPursuit: {who} needs the Gram matrix, but precompute=False. "
                "Use precompute='auto'."
            )
        return True, f"{who}: one pass for the {d} × {d} Gram matrix"
    if precompute != "auto":
        return bool(precompute), f"precompute={precompute}"
    steps = most if tolerance < 0 else max(1, min(source.n_rows, d) // 10)
    work = GRAM_IS_CHEAPER * steps * max(1, source.n_outputs)
    if d <= min(work, LARGEST_GRAM):
        return True, f"{steps} iterations: the {d} × {d} Gram matrix costs less than products Xᵀr"
    return False, f"about {steps} iterations: products Xᵀr cost less than a {d} × {d} Gram matrix"


def _shortfall(found: Pursuit, most: int, tol: float | None, *, positive: bool) -> str:
    """Which request was not met; empty if all were."""
    correlated = "positively correlated" if positive else "correlated"
    if tol is not None and np.any(found.residual > tol):
        return (
            f"‖r‖² = {found.residual.max():.3g} is above tol={tol:g}, and none of the remaining "
            f"columns is {correlated} with the residual. Raise tol, or add columns"
        )
    if tol is None and np.any((found.columns < most) & (found.residual > 0)):
        count = int(found.columns.min())
        remedy = "Lower n_nonzero_coefs, or drop columns that are linearly dependent"
        if positive:
            remedy = "This is the non-negative least-squares fit; lower n_nonzero_coefs"
        return (
            f"only {count} of {most} columns {'was' if count == 1 else 'were'} selected, because "
            f"none of the others is {correlated} with the residual. {remedy}"
        )
    return ""
