"""Kernel ridge regression of rows on a device: one Cholesky factor of K + αI, in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import to_host
from thetahat.estimator.devices.rows import (
    rows_of_model,
    rows_to_fit,
    targets_to_fit,
    weights_to_fit,
)
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.cholesky import NotPositiveDefinite
from thetahat.mathematics.devices.kernel_system import kernel_coefficients
from thetahat.mathematics.devices.memory import row_blocks
from thetahat.mathematics.kernels.given import Precomputed
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.kernel.parameters import kernel_of


def fit(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fit the coefficients of all rows. Cost: O(n²d + n³/3)."""
    X = rows_to_fit(model, X)
    y = targets_to_fit(model, y, X)
    weight = weights_to_fit(model, sample_weight, X)
    xp, n = array_namespace(X), int(X.shape[0])
    kernel = _device_kernel(model, X)
    columns = y[:, None] if y.ndim == 1 else y
    penalties = model._penalties(int(columns.shape[1]))
    if len(set(penalties)) > 1 or not 0 < penalties[0] < np.inf:
        raise CapabilityError(
            f"KernelRidge: alpha={model.alpha!r} needs the CPU, because on {device(X)} all targets "
            "share one positive alpha. Use one number > 0, or pass X.cpu().numpy()."
        )
    used = None
    if weight is not None and bool(xp.any(weight == 0)):
        used = xp.nonzero(weight > 0)[0]
    some: Any = (X, columns, weight)
    if used is not None:
        some = tuple(None if each is None else xp.take(each, used, axis=0) for each in some)
    try:
        found = kernel_coefficients(kernel, some[0], some[1], penalties, some[2])
    except NotPositiveDefinite:
        raise DataError(
            f"KernelRidge: the kernel matrix plus alpha={penalties[0]:g} on its diagonal is not "
            f"positive definite in {X.dtype}. Increase alpha, or pass float64 rows."
        ) from None
    found = xp.astype(found, X.dtype)
    if used is not None:
        whole = xp.zeros((n, int(found.shape[1])), dtype=X.dtype, device=device(X))
        whole[used, :] = found
        found = whole
    model.kernel_, model.X_fit_ = kernel, X
    model.dual_coef_ = found[:, 0] if y.ndim == 1 else found
    model.solution_ = Solution(
        theta=np.asarray(to_host(model.dual_coef_)),
        outcome=Outcome.EXACT,
        solver="cholesky",
        reason=f"squared loss with one penalty: one Cholesky factor of K + αI on {device(X)}",
        message=Outcome.EXACT.value,
    )
    return model


def predict(model: Any, X: Any) -> Array:
    """Σⱼ cⱼ k(x, xⱼ) of every row, block by block. Cost: O(n m d)."""
    centres = model.X_fit_
    X = rows_of_model(model, X, centres)
    parts = [
        model.kernel_.block(X[rows, :], centres) @ model.dual_coef_
        for rows in row_blocks(X, 16 * int(centres.shape[0]))
    ]
    return parts[0] if len(parts) == 1 else array_namespace(X).concat(parts)


def _device_kernel(model: Any, X: Array) -> Any:
    """The kernel, if it is written for other arrays than NumPy's."""
    kernel = kernel_of(
        model.kernel,
        int(X.shape[1]),
        model.gamma,
        model.degree,
        model.coef0,
        model.kernel_params,
    )
    try:
        if isinstance(kernel, Precomputed):
            raise TypeError
        kernel.block(X[:1, :], X[:1, :]) + kernel.diagonal(X[:1, :])
    except (TypeError, AttributeError):
        raise CapabilityError(
            f"KernelRidge: the kernel {model.kernel!r} runs on NumPy arrays only, but X is on "
            f"{device(X)}. Pass X.cpu().numpy(), or use the kernel 'rbf', 'polynomial' or 'linear'."
        ) from None
    return kernel
