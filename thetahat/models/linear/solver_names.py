"""scikit-learn's names of solvers, and the solvers that reach the same optimum here."""

from __future__ import annotations

from thetahat.mathematics.optimizers.loop import Method

LEAST_SQUARES = {
    "augmented": "qr",
    "sparse_cg": "lsqr",
    "sag": "lsqr",
    "saga": "lsqr",
    "lbfgs": "lsqr",
}
GENERALIZED = {
    "lbfgs": "auto",
    "newton-cg": "auto",
    "liblinear": "auto",
    "sag": "auto",
    "saga": "auto",
    "newton-cholesky": "newton",
    "irls": "newton",
}
"""First-order solvers are slow for columns of different size, so "auto" replaces them."""


def least_squares_solver(name: str | Method, *, positive: bool) -> str | Method:
    """The solver for a name; scikit-learn's "lbfgs" means the one that supports β ≥ 0."""
    if isinstance(name, Method):
        return name
    return "auto" if positive and name == "lbfgs" else LEAST_SQUARES.get(name, name)
