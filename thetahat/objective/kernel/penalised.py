"""Features of a kernel under another quadratic penalty: ½βᵀMβ in the place of ½‖β‖².

With M = CCᵀ, β = C⁻ᵀγ and ψ(x) = C⁻¹φ(x), the function is βᵀφ(x) = γᵀψ(x) and the penalty is
βᵀMβ = ‖γ‖². So the problem is again that of a linear model with a ridge penalty, for every loss. By
the representer theorem γ is a combination of the features ψ of the rows in the loss; if these are
fewer than the centres, coordinates in their span suffice: Ψᵀ = QR, γ = Qδ, and row i has the
features R[:, i].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array, Matrix
from thetahat.objective.kernel.features import KernelFeatures


@dataclass(frozen=True)
class PenalisedFeatures:
    """The features ψ(x) = C⁻¹φ(x), or their coordinates in the span of some rows.

    Cost: O(m³) for m centres, and O(n m²) for the features of n rows.
    """

    features: KernelFeatures
    factor: Array
    """C, lower triangular."""
    basis: Array | None
    """Q, with orthonormal columns; None if all m coordinates are used."""

    @classmethod
    def of(
        cls, features: KernelFeatures, values: Array, M: Array
    ) -> tuple[PenalisedFeatures, Array]:
        """The features for a positive definite M, and their values for rows with the values φ."""
        linalg = scipy_linalg()
        with one_blas_thread():
            C = linalg.cholesky(M, lower=True, check_finite=False)
            warped = linalg.solve_triangular(C, values.T, lower=True, check_finite=False)
            if warped.shape[1] >= warped.shape[0]:
                return cls(features, C, None), np.ascontiguousarray(warped.T)
            Q, R = np.linalg.qr(warped)
        return cls(features, C, Q), np.ascontiguousarray(R.T)

    @property
    def centres(self) -> Matrix:
        """The rows zⱼ, in float64; for a precomputed kernel the numbers of its columns."""
        return self.features.centres

    @property
    def which(self) -> Array:
        """The numbers of these rows among the training rows."""
        return self.features.which

    def coefficients(self, beta: Array) -> Array:
        """α with which Σⱼ αⱼ k(x, zⱼ) is the function. Cost: O(m²) per output."""
        with one_blas_thread():
            whole = beta if self.basis is None else self.basis @ beta
            solve = scipy_linalg().solve_triangular
            inner = solve(self.factor, whole, lower=True, trans="T", check_finite=False)
        return self.features.coefficients(inner)
