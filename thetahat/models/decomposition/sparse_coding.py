"""Sparse codes: rows x ≈ uᵀD as combinations of few atoms, the rows of a dictionary D.

Every coder works from DDᵀ and Dx, on one thread, for a block of rows. Each row is coded
independently, so blocks can run in parallel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat import _native
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.matching_pursuit import pursue_piece

TIGHT = 1e-10
"""Tolerance of the lasso codes: violation of the optimality conditions over max |Dx|."""
LOOSE = 1e-6
"""Violation above which codes that did not converge cause a warning."""
ALGORITHMS = ("lasso_lars", "lasso_cd", "lars", "omp", "threshold")


@dataclass(frozen=True)
class Coder:
    """A method that computes codes of rows for a dictionary.

    ============  =====================================================================
    lasso         argmin ½‖x − uᵀD‖² + alpha·‖u‖₁ ("lasso_cd", "lasso_lars": the same optimum)
    omp           orthogonal matching pursuit, `most` atoms
    lars          least angle regression, `most` steps
    threshold     sign(Dx)·[|Dx| − alpha]₊
    ============  =====================================================================
    """

    algorithm: str = "lasso_cd"
    alpha: float = 1.0
    most: int = 1
    positive: bool = False
    max_sweeps: int = 1000

    def __post_init__(self) -> None:
        if self.positive and self.algorithm == "lars":
            raise CapabilityError(
                "transform_algorithm='lars' does not support positive_code=True. Use 'lasso_cd', "
                "or positive_code=False."
            )

    def codes(self, X: Array, dictionary: Array, gram: Array, start: Array | None = None) -> Array:
        """Codes of some rows, (n, k) in float64; `gram` is DDᵀ, `start` the initial lasso codes."""
        correlation = np.ascontiguousarray(X @ dictionary.T, dtype=np.float64)
        if self.algorithm == "threshold":
            codes = np.sign(correlation) * np.maximum(np.abs(correlation) - self.alpha, 0.0)
            return np.maximum(codes, 0.0) if self.positive else codes
        if self.algorithm == "omp":
            squares = np.einsum("ij,ij->i", X, X, dtype=np.float64)
            return pursue_piece(gram, correlation, squares, self.most, positive=self.positive).coef
        if self.algorithm == "lars":
            codes = np.zeros_like(correlation)
            _native.least_angles(gram, correlation, self.most, codes)
            return codes
        codes = np.zeros_like(correlation) if start is None else start
        violation = np.empty(len(codes))
        _native.sparse_codes(
            gram,
            self.alpha,
            bool(self.positive),
            correlation,
            codes,
            TIGHT,
            self.max_sweeps,
            violation,
        )
        rough = violation > LOOSE
        if rough.any():
            warn(
                f"{rough.sum()} of {len(codes)} codes are not optimal after transform_max_iter="
                f"{self.max_sweeps} (violation {violation.max():.2g} of max |Dx|). Increase "
                "transform_max_iter or alpha.",
                ConvergenceWarning,
            )
        return codes
