"""Linear algebra: products and norms, covariances, condition numbers, whitening, derivatives."""

from thetahat.mathematics.linalg.condition import condition_number, digits_lost, effective_rank
from thetahat.mathematics.linalg.conjugate_gradient import conjugate_gradient
from thetahat.mathematics.linalg.covariance import (
    correlation,
    covariance,
    cross_covariance,
    scatter,
)
from thetahat.mathematics.linalg.lsqr import lsqr
from thetahat.mathematics.linalg.matrix_calculus import (
    log_determinant_gradient,
    quadratic_form,
    quadratic_form_gradient,
)
from thetahat.mathematics.linalg.rotation import rotation_matrix
from thetahat.mathematics.linalg.vectors import (
    frobenius_norm,
    inner_product,
    norm,
    outer_product,
    trace,
    unit_vector,
)
from thetahat.mathematics.linalg.whitening import (
    mahalanobis_distance,
    matrix_square_root,
    whitening_matrix,
)

__all__ = [
    "condition_number",
    "conjugate_gradient",
    "correlation",
    "covariance",
    "cross_covariance",
    "digits_lost",
    "effective_rank",
    "frobenius_norm",
    "inner_product",
    "log_determinant_gradient",
    "lsqr",
    "mahalanobis_distance",
    "matrix_square_root",
    "norm",
    "outer_product",
    "quadratic_form",
    "quadratic_form_gradient",
    "rotation_matrix",
    "scatter",
    "trace",
    "unit_vector",
    "whitening_matrix",
]


def __dir__() -> list[str]:
    return sorted(__all__)
