"""Automatic differentiation of ordinary functions of arrays.

Write functions with NumPy (or an array-API namespace) as usual. `jvp` computes derivatives in
forward mode, `vjp` in reverse mode, and the other functions are built from these two. x may be an
array, or nested lists, tuples and dictionaries of arrays. `operations` lists what can be
differentiated.
"""

import thetahat.mathematics.autodiff.products  # noqa: F401  # fills the table
from thetahat.mathematics.autodiff.derivatives import hessian, hessian_product, jacobian
from thetahat.mathematics.autodiff.forward import jvp
from thetahat.mathematics.autodiff.functions import operations
from thetahat.mathematics.autodiff.reverse import gradient, layer_gradients, value_and_gradient, vjp

__all__ = [
    "gradient",
    "hessian",
    "hessian_product",
    "jacobian",
    "jvp",
    "layer_gradients",
    "operations",
    "value_and_gradient",
    "vjp",
]


def __dir__() -> list[str]:
    return sorted(__all__)
