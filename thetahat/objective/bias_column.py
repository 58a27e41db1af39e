"""f_θ(x) = xᵀβ + s·c: a bias that is the coefficient c of a constant column s, penalised like β.

Support vector machines solved in the dual often use this bias, because it needs no equality
constraint on the dual variables. A larger s shrinks b = s·c less. The column is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from thetahat.data.arrays import namespace
from thetahat.foundation.products import product
from thetahat.foundation.types import Array, Matrix
from thetahat.objective.predictor import LinearPredictor, in_double


@dataclass(frozen=True)
class BiasColumn(LinearPredictor):
    """z = Xβ + s·c with θ = (β, c); ``n_features`` counts the constant column, ``scaling`` is s.

    Cost: as `LinearPredictor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thetahat.objective.bias_column import BiasColumn
    >>> BiasColumn(n_features=2, scaling=10.0).raw(np.array([[1.0]]), np.array([2.0, 0.5]))
    array([7.])
    """

    fit_intercept: bool = False
    scaling: float = 1.0

    @property
    def constant(self) -> float:
        """s."""
        return self.scaling

    def raw(self, X: Matrix, theta: Array) -> Array:
        """z = Xβ + s·c."""
        coef = self.split(theta)[0]
        z = product(in_double(X), coef[:-1])
        z += self.scaling * coef[-1]
        return z

    def pullback(self, X: Matrix, slope: Array, theta: Array | None = None) -> Array:
        """(Xᵀslope, s·Σ slope)."""
        total = namespace(slope).sum(slope, axis=0)
        return np.concatenate(
            [product(in_double(X).T, slope).reshape(-1), np.atleast_1d(self.scaling * total)]
        )

    def gram(self, X: Matrix, weight: Array) -> Array:
        """Σ_i weight_i x̃_i x̃_iᵀ with x̃ = (x, s)."""
        whole = LinearPredictor(self.n_features - 1).gram(X, weight)
        whole[-1] *= self.scaling
        whole[:, -1] *= self.scaling
        return whole

    def restricted(self, X: Matrix, columns: Array) -> tuple[LinearPredictor, Matrix]:
        """The predictor of these columns and the constant one, and the part of X that it uses."""
        held = columns[columns < self.n_features - 1]
        if len(held) < len(columns):
            return replace(self, n_features=len(columns)), X[:, held]
        return LinearPredictor(len(held), self.n_outputs, fit_intercept=False), X[:, held]

    def design(self, X: Matrix) -> Array:
        """[X, s] itself, dense."""
        rows = LinearPredictor(self.n_features - 1).design(X)
        rows[:, -1] *= self.scaling
        return rows

    def bias(self, theta: Array) -> tuple[Array, Array]:
        """β and b = s·c."""
        coef = self.split(theta)[0]
        return coef[:-1], self.scaling * coef[-1]
