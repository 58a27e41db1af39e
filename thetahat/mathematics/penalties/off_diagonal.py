"""An L1 penalty on a matrix that leaves the diagonal unpenalised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.mathematics.parts import number
from thetahat.mathematics.penalties.coordinatewise import CoordinateTerms, Coordinatewise


@dataclass(frozen=True)
class OffDiagonalL1(Coordinatewise):
    """The penalty of the graphical lasso, R(Θ) = alpha·Σ_{i≠j} |Θ_ij|, for a square matrix Θ.

    A zero off the diagonal of a precision matrix means that the graph of conditional dependences
    has no edge between the two variables. Cost: O(d²).

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty. Larger values set more entries to zero; 0 removes the penalty.
        Must be non-negative.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.penalties.OffDiagonalL1(alpha=0.5).value(np.array([[9.0, 1.0], [-1.0, 9.0]]))
    1.0
    """

    alpha: float = number(1.0, at_least=0)

    name = "off_diagonal_l1"

    def terms(self, shape: tuple[int, ...]) -> CoordinateTerms:
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ParameterError(
                f"OffDiagonalL1 needs a square matrix; θ has shape {shape}. Use L1 for a vector of "
                f"coefficients."
            )
        return CoordinateTerms(l1=self.alpha * (1 - np.eye(shape[0])))
