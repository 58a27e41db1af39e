"""Least angle regression: paths of coefficients that are linear between their nodes.

All columns in use have the same absolute correlation with the residual, n·α at penalty α. On the
path of the lasso, a column leaves where its coefficient becomes 0, and the nodes are exact minima
of ½‖y − Xβ‖²/n + α‖β‖₁. The steps are those of native/sparse/least_angle_walk.hpp, on the Gram
matrix or, for many columns, on the columns themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source, row_weights
from thetahat.data.summaries.means import means
from thetahat.data.summaries.moments import Moments, moments
from thetahat.foundation.memory import require_memory
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_gram
from thetahat.mathematics.optimizers.solution import Outcome

LARGEST_GRAM = 5000
"""Columns up to which the Gram matrix is formed."""
SMALL_GRAM = 200
"""Columns up to which the Gram matrix is formed for fewer rows, too."""
OUTCOMES = (Outcome.EXACT, Outcome.STEPS_EXHAUSTED, Outcome.STALLED)


@dataclass(frozen=True)
class PathRules:
    """Where a path ends, and whether it is that of the lasso."""

    lasso: bool = False
    positive: bool = False
    max_iter: float = 500
    alpha_min: float = 0.0
    keep_path: bool = True


@dataclass(frozen=True)
class LeastAnglePath:
    """The nodes of a path; only the last one without ``keep_path``."""

    alphas: Array
    coefs: Array
    """β at each node, (nodes, d)."""
    active: list[int]
    steps: int
    dependent: int
    """Number of columns that were left out because they depend linearly on others."""
    outcome: Outcome


@dataclass(frozen=True)
class LeastAngleProblem:
    """Xᵀy of each target, and XᵀX or the centred columns of X, in units near the data's size."""

    matrix: Array
    by_columns: bool
    correlation: Array
    total: float
    n_rows: int
    x_mean: Array
    y_mean: Array
    x_unit: float = 1.0
    y_unit: float = 1.0
    reason: str = ""
    y_squares: Array = field(default_factory=lambda: np.zeros(0))
    """Σ wy² of each target in the unit of y, about its mean with an intercept."""

    @property
    def n_targets(self) -> int:
        return len(self.correlation)

    @property
    def target_squares(self) -> Array:
        """Σ wy² of each target, about its mean with an intercept."""
        return self.y_squares * self.y_unit**2

    def path(self, rules: PathRules, target: int = 0) -> LeastAnglePath:
        d = self.correlation.shape[1]
        unit = self.x_unit * self.y_unit  # of correlations
        # Far more steps than a path has, where there is no limit.
        most = int(min(rules.max_iter, 100 * (d + 10)))
        largest, coefs, active, steps, dependent, end = _native.least_angle_path(
            self.matrix,
            self.correlation[target],
            self.by_columns,
            most,
            min(d, self.n_rows, most),
            rules.alpha_min * self.total / unit,
            rules.lasso,
            rules.positive,
            rules.keep_path,
        )
        return LeastAnglePath(
            alphas=largest * (unit / self.total),
            coefs=coefs * (self.y_unit / self.x_unit),
            active=active.tolist(),
            steps=steps,
            dependent=dependent,
            outcome=OUTCOMES[end],
        )

    def residual_squares(self, coefs: Array, target: int = 0) -> Array:
        """Σ w(y − xᵀβ − b)² for the coefficients in each row of `coefs`."""
        beta = coefs * (self.x_unit / self.y_unit)
        with one_blas_thread():
            if self.by_columns:
                bent = np.sum((beta @ self.matrix) ** 2, axis=1)
            else:
                bent = np.sum(beta * (beta @ self.matrix), axis=1)
            found = self.y_squares[target] - 2 * (beta @ self.correlation[target]) + bent
        return np.maximum(found, 0.0) * self.y_unit**2


def least_angle_problem(
    source: Source, *, intercept: bool, precompute: Any, who: str
) -> LeastAngleProblem:
    """What the path needs of the rows: one pass for the Gram matrix, or a copy of the columns.

    `who` names `precompute` in messages. A matrix in it is validated, but computed again.
    """
    if not (precompute is None or isinstance(precompute, bool | np.bool_ | str)):
        as_gram(precompute, source.n_features, who=who)
    if not isinstance(source, InMemory):
        return _by_gram(source, intercept, "reading rows block by block: one pass for XᵀX")
    n, d = source.n_rows, source.n_features
    if isinstance(precompute, str) or precompute is None:
        if d <= min(n, LARGEST_GRAM) or d <= SMALL_GRAM:
            return _by_gram(source, intercept, f"the {d} × {d} Gram matrix is small")
        return _by_columns(source, intercept, f"{d} columns and {n} rows: no Gram matrix")
    given = not isinstance(precompute, bool | np.bool_) or bool(precompute)
    if given:
        return _by_gram(source, intercept, "the Gram matrix was requested by precompute")
    return _by_columns(source, intercept, "precompute=False: no Gram matrix")


def _by_gram(source: Source, intercept: bool, reason: str) -> LeastAngleProblem:
    d = source.n_features
    require_memory(
        3 * 8 * d**2,
        f"The Gram matrix of {d} columns",
        "Use precompute=False, which needs none for rows in memory.",
    )
    return problem_of(moments(source), intercept=intercept, reason=reason)


def problem_of(about: Moments, *, intercept: bool, reason: str) -> LeastAngleProblem:
    """The problem of rows of which the moments are known."""
    d = about.n_features
    about = about if intercept else about.about_zero()
    about.require_squares()
    # One unit for all columns of X, because the path depends on their relative sizes.
    x_unit, y_unit = float(about.unit[:d].max()), float(about.unit[d:].max())
    unit = about.unit / np.repeat([x_unit, y_unit], [d, len(about.unit) - d])
    scatter = about.scatter * unit * unit[:, None]
    return LeastAngleProblem(
        matrix=np.ascontiguousarray(scatter[:d, :d]),
        by_columns=False,
        correlation=np.ascontiguousarray(scatter[d:, :d]),
        total=about.weight,
        n_rows=about.n_rows,
        x_mean=about.x_mean,
        y_mean=about.y_mean,
        x_unit=x_unit,
        y_unit=y_unit,
        reason=reason,
        y_squares=np.diagonal(scatter[d:, d:]).copy(),
    )


def _by_columns(source: InMemory, intercept: bool, reason: str) -> LeastAngleProblem:
    source.require_finite()
    n, d = source.n_rows, source.n_features
    require_memory(2 * 8 * n * d, f"A copy of {n} × {d} numbers", "Use fewer columns.")
    about = means(source)
    X: Any = source.X
    dense = np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
    y = np.asarray(source.y, dtype=np.float64).reshape(n, -1)
    centre = about.mean if intercept else np.zeros(d + y.shape[1])
    root = np.sqrt(row_weights(source.weight, n))
    columns = np.ascontiguousarray(((dense - centre[:d]) * root[:, None]).T)
    y = (y - centre[d:]) * root[:, None]
    x_unit, y_unit = _unit(columns), _unit(y)
    columns /= x_unit
    return LeastAngleProblem(
        matrix=columns,
        by_columns=True,
        correlation=np.ascontiguousarray((columns @ (y / y_unit)).T),
        total=about.weight,
        n_rows=n,
        x_mean=centre[:d],
        y_mean=centre[d:],
        x_unit=x_unit,
        y_unit=y_unit,
        reason=reason,
        y_squares=np.sum((y / y_unit) ** 2, axis=0),
    )


def _unit(numbers: Array) -> float:
    """A power of two near the largest absolute value; 1 if all are 0."""
    largest = float(np.abs(numbers).max(initial=0.0))
    return float(np.ldexp(1.0, np.frexp(largest)[1])) if largest > 0 else 1.0
