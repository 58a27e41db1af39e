"""The sigmoid function of an inner product, which support vector machines accept as a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import array_namespace

from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.pairs import inner_products, squared_norms
from thetahat.mathematics.parts import number


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """The function tanh(γ·xᵀz + c), which is not positive semi-definite for most γ and c."""

    gamma: float = number(1.0, above=0)
    coef0: float = 0.0

    name = "sigmoid"

    def block(self, X: Matrix, Z: Matrix) -> Array:
        """tanh(γ·xᵀz + c)."""
        return self._curve(inner_products(X, Z))

    def diagonal(self, X: Matrix) -> Array:
        """tanh(γ·‖x‖² + c)."""
        return self._curve(squared_norms(X))

    def _curve(self, products: Array) -> Array:
        return array_namespace(products).tanh(self.gamma * products + self.coef0)
