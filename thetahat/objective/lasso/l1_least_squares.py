"""Least squares under |β|, β² and β ≥ 0, from the rows of a source to the columns of a design.

    F(β, b) = (Σ wᵢ (yᵢ − xᵢᵀβ − b)²)/(2 Σ wᵢ) + Σ_j (l1_j|β_j| + ½ l2_j β_j²)

Many rows and few columns become a Gram matrix in one pass, block by block too; else the columns are
read where they are, and only those of working sets are taken out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.mathematics.optimizers.coordinate.column_designs import (
    FEW_NUMBERS,
    DenseDesign,
    Design,
    GramDesign,
)
from thetahat.mathematics.optimizers.coordinate.gram_descent import Terms
from thetahat.mathematics.optimizers.coordinate.sparse_design import SparseDesign
from thetahat.mathematics.optimizers.coordinate.working_sets import L1LeastSquares
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.objective.predictor import LinearPredictor

if TYPE_CHECKING:
    from thetahat.data.summaries.moments import Moments


WIDEST_GRAM = 500
"""Columns up to which a Gram matrix of all of them costs less than a few passes over the rows."""
WIDEST_SPARSE_GRAM = 20
"""The same for one fit to sparse rows."""
SLIM = 4
"""How many rows for each column of few numbers make a Gram matrix worth its while for one fit."""

SQUARES_ROUNDING, SPARSE_ROUNDING = 1e-26, 1e-14
"""Shares of W·x̄² up to which the squares of a centred column are no more than rounding."""


class L1Rows:
    """The rows of a source, ready for any such penalty and for each of their targets.

    Parameters
    ----------
    source : Source
        The rows.
    intercept : bool
        Whether there is a b.
    precompute : bool, "auto" or array of shape (d, d)
        Whether to form the Gram matrix; or that matrix, of centred columns with an intercept.
    many : bool
        Whether there are many penalties to solve for, over which a Gram matrix pays off.
    """

    def __init__(
        self, source: Source, *, intercept: bool, precompute: Any = "auto", many: bool = True
    ) -> None:
        self.intercept, self.many = intercept, many
        self.n_features, self.n_targets = source.n_features, max(1, source.n_outputs)
        given = None if isinstance(precompute, bool | np.bool_ | str) else precompute
        if given is None and self._wants_gram(source, precompute):
            from thetahat.data.summaries.moments import moments  # many columns do without

            sparse = isinstance(source, InMemory) and source.is_sparse
            self._from_moments(moments(_within_memory(source)), sparse=sparse)
            return
        if not isinstance(source, InMemory):
            raise CapabilityError(
                f"{source.n_features} columns are too many for a Gram matrix, and their rows are "
                "read block by block. Load them first, or choose columns with features=[...]."
            )
        self._from_rows(source)
        if given is not None:
            self._from_given(given)

    @classmethod
    def of(cls, about: Moments, *, intercept: bool, sparse: bool = False) -> L1Rows:
        """From moments that are already known."""
        rows = cls.__new__(cls)
        rows.intercept, rows.n_features = intercept, about.n_features
        rows.n_targets = len(about.mean) - about.n_features
        rows._from_moments(about, sparse=sparse)
        return rows

    def problem(self, target: int = 0) -> L1LeastSquares:
        """The problem of one target, its penalty still to be set."""
        nothing = np.zeros(self.n_features)
        return L1LeastSquares(
            self._design(target),
            Terms(nothing, nothing, nothing - np.inf),
            self.total,
            self.x_mean if self.intercept else None,
            float(self.y_mean[target]),
        )

    def _wants_gram(self, source: Source, precompute: Any) -> bool:
        gram = isinstance(precompute, bool | np.bool_) and bool(precompute)
        if gram or not isinstance(source, InMemory):
            return True
        n, d = source.n_rows, source.n_features
        if source.is_sparse and not self.many and d > WIDEST_SPARSE_GRAM:
            return False  # a sweep over the stored entries costs less than their products
        if source.is_sparse or self.many or n * d > FEW_NUMBERS:
            return d <= min(WIDEST_GRAM, n)
        return SLIM * d <= n

    def _from_moments(self, about: Moments, *, sparse: bool) -> None:
        d = about.n_features
        about.require_squares(may_vanish=True)
        # What centring leaves of a constant column is rounding, which a penalty near 0 would fit;
        # sparse columns are centred only after they are squared.
        noise = (SPARSE_ROUNDING if sparse else SQUARES_ROUNDING) * about.weight * about.x_mean**2
        about = about if self.intercept else about.about_zero()
        scatter = about.scatter * about.unit * about.unit[:, None]
        self.total, self.x_mean, self.y_mean = about.weight, about.x_mean, about.y_mean
        gram = np.ascontiguousarray(scatter[:d, :d])
        constant = np.diagonal(gram) <= noise
        starts = scatter[:d, d:]
        if constant.any():
            gram[constant], gram[:, constant], starts[constant] = 0.0, 0.0, 0.0
        self._designs: list[Design] = [
            GramDesign(gram, starts[:, k], float(scatter[d + k, d + k]))
            for k in range(self.n_targets)
        ]

    def _from_rows(self, source: InMemory) -> None:
        assert source.y is not None
        weight = source.row_weights
        d = source.n_features
        if self.intercept:
            from thetahat.data.summaries.means import means

            at = means(source)
            self.total, self.x_mean, self.y_mean = at.weight, at.mean[:d], at.mean[d:]
        else:  # no pass for means that are not taken off
            self.total = float(weight.sum())
            self.x_mean, self.y_mean = np.zeros(d), np.zeros(self.n_targets)
        root = np.sqrt(weight)
        targets = np.asarray(source.y, dtype=np.float64).reshape(source.n_rows, -1)
        self._targets = root[:, None] * (targets - self.y_mean)
        first = np.ascontiguousarray(self._targets[:, 0])
        if source.is_sparse:
            columns = source.sparse_X.tocsc()
            if source.weight is not None:
                columns.data = columns.data * root[columns.indices]
            self._design_of_rows: Any = SparseDesign(columns, first, self.x_mean, root)
        else:
            self._design_of_rows = DenseDesign(source.X, first, self.x_mean, root, SQUARES_ROUNDING)
        squares = self._design_of_rows.squares
        if not np.isfinite(squares).all():
            source.require_finite()
            worst = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise DataError(
                f"Column {worst} is so large that its squares overflow. Divide it by its size."
            )
        self._designs = []

    def _from_given(self, gram: Any) -> None:
        """Take the caller's Gram matrix, if it is that of these columns."""
        gram, design, d = np.asarray(gram, dtype=np.float64), self._design_of_rows, self.n_features
        if gram.shape != (d, d):
            raise ParameterError(
                f"precompute has shape {gram.shape}; the Gram matrix of {d} columns is ({d}, {d}). "
                "Give X.T @ X of the columns that are fitted, or precompute=True."
            )
        expected = design.squares
        per_row = self.total / len(design.y)
        if np.allclose(np.diagonal(gram) * per_row, expected, rtol=1e-4, atol=0.0):
            gram = gram * per_row  # made with weights whose mean is 1, as in scikit-learn
        wrong = np.abs(np.diagonal(gram) - expected) > 1e-4 * np.maximum(expected, 1e-300)
        asymmetric = not np.allclose(gram, gram.T, rtol=1e-6)
        if wrong.any() or asymmetric:
            where = int(np.flatnonzero(wrong)[0]) if wrong.any() else 0
            raise ParameterError(
                "precompute did not pass validation: "
                + ("it is not symmetric" if asymmetric else f"entry ({where}, {where}) is "
                   f"{gram[where, where]:.6g}, and the columns give {expected[where]:.6g}")
                + ". Give the Gram matrix of X, under the row weights (as they are, or divided by "
                "their mean), its columns centred when an intercept is fitted; or precompute=True."
            )  # fmt: skip
        starts = []
        for k in range(self.n_targets):
            design.aim(np.ascontiguousarray(self._targets[:, k]))
            starts.append((design.start, design.target_squared))
        self._designs = [GramDesign(gram, start, squared) for start, squared in starts]

    def _design(self, target: int) -> Design:
        if self._designs:
            return self._designs[target]
        if self.n_targets > 1:
            self._design_of_rows.aim(np.ascontiguousarray(self._targets[:, target]))
        design: Design = self._design_of_rows
        return design


def l1_problem(
    predictor: LinearPredictor, penalty: Coordinatewise, source: Source
) -> L1LeastSquares:
    """The problem of one target under a penalty of |β| and β², with β ≥ 0 at most."""
    l1, l2, lower, _ = penalty.kernel_terms(predictor.n_features)
    rows = L1Rows(source, intercept=predictor.fit_intercept, many=False)
    return rows.problem().with_terms(Terms(l1, l2, lower))


def _within_memory(source: Source) -> Source:
    require_memory(
        8 * 4 * (source.n_features + max(1, source.n_outputs)) ** 2,
        f"The Gram matrix of {source.n_features} columns",
        "Raise the limit with th.config(memory=...), or use fewer columns.",
    )
    return source
