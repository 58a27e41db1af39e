"""Kernel ridge regression: f̂ = argmin Σ wᵢ(yᵢ − f(xᵢ))² + α‖f‖², f = Σⱼ cⱼ k(·, xⱼ)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import is_sparse
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.devices.routing import on_devices
from thetahat.estimator.devices.scores import r2_score
from thetahat.estimator.parameters import Range, at_least, non_negative_array
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, IllConditionedWarning
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.given import Precomputed
from thetahat.mathematics.kernels.gram import require_kernel_matrix, require_sparse_symmetric
from thetahat.mathematics.linalg.tiled_cholesky import memory_of_factors
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.kernel import ridge_on_device
from thetahat.models.kernel.parameters import NamedKernel, in_memory, kept_rows
from thetahat.models.kernel.sparse_gram import (
    SPARSE_SHARE,
    expected_share,
    gram_within_reach,
    sparse_ridge_coefficients,
)
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.features import gram_of
from thetahat.objective.kernel.least_squares import KernelRidgePath, ridge_coefficients
from thetahat.objective.predictor import in_double


class KernelRegressor(ScoredRegressor, NamedKernel):
    """A regression f(x) = Σⱼ cⱼ k(x, xⱼ) without an intercept.

    Attributes
    ----------
    dual_coef_ : array of shape (n,) or (n, n_targets)
        The coefficients of the kernel functions of the training rows (c).
    X_fit_ : array or sparse array of shape (n, d)
        The training rows, which predictions need; for a precomputed kernel, its matrix.
    kernel_ : Kernel
        The kernel with all its parameters.
    solution_ : Solution
        Report of the solver; the solution is exact.
    """

    _generative = False
    _parametric = False
    _multi_output = True

    kernel_: Kernel
    X_fit_: Any
    dual_coef_: Array

    @classmethod
    def _example(cls) -> Any:
        """A kernel whose functions need no intercept."""
        return cls(kernel="rbf")

    def predict(self, X: Any) -> Array:
        """Predict ŷ = Σⱼ cⱼ k(x, xⱼ). Cost: O(n m d) for m training rows, without their matrix.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`; for a precomputed kernel, the values
            of the kernel for new rows and training rows.

        Returns
        -------
        array of shape (n,) or (n, n_targets)
            The predicted targets.
        """
        source = self._open_again(X)
        centres = kept_rows(self.kernel_, self.X_fit_)
        return self._expand(source, KernelExpansion(self.kernel_, centres, self.dual_coef_))

    def _keep(
        self, source: InMemory, used: Array, coefficients: Array, solver: str, reason: str
    ) -> None:
        """Store the fit; rows of weight 0 have the coefficient 0."""
        self.X_fit_ = source.X
        whole = np.zeros((source.n_rows, coefficients.shape[1]))
        whole[used] = coefficients
        self.dual_coef_ = whole if source.n_outputs else whole[:, 0]
        self.solution_ = Solution(
            theta=self.dual_coef_,
            outcome=Outcome.EXACT,
            solver=solver,
            reason=reason,
            message=Outcome.EXACT.value,
        )


@on_devices(
    "X_fit_",
    "dual_coef_",
    fit=ridge_on_device.fit,
    predict=ridge_on_device.predict,
    score=r2_score,
)
@with_parameters
class KernelRidge(KernelRegressor):
    """Ridge regression in the feature space of a kernel.

    Formula: f̂ = argmin Σ wᵢ(yᵢ − f(xᵢ))² + α‖f‖² over f(x) = Σⱼ cⱼ k(x, xⱼ), where ‖f‖² = cᵀKc.
    The solution is ĉ = (K + αI)⁻¹y with the Gram matrix K of the training rows; it maximises the
    dual −cᵀKc − α·cᵀc + 2cᵀy, and the residuals are α·ĉ. If α is so small that K + αI is nearly
    singular, parts of ĉ that change no prediction are left out, and the residuals are larger. With
    the linear kernel, the predictions are those of `Ridge` without an intercept, and β̂ = Xᵀĉ.
    Subtract the mean of y first if the kernel has no constant feature.

    Cost: O(n²d + n³/3) time, and one matrix of n² numbers, whose size is checked first. A kernel
    that is 0 beyond a distance (``th.kernels.Wendland``, or its product with others), or a sparse
    precomputed matrix, costs the time and memory of the entries that are not 0. For many rows, use
    `KernelModel` with ``n_components``.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1
        Strength of the penalty (α). Larger values give smoother functions and are less sensitive to
        noise. Must be ≥ 0; 0 interpolates the targets. An array gives each target its own penalty.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]
    >>> model = th.KernelRidge(alpha=1e-9, kernel=th.kernels.Polynomial(degree=2)).fit(X, y)
    >>> abs(model.predict(X).round(4)).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    alpha: Any = 1
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: Any = None
    degree: Any = 3
    coef0: Any = 1
    kernel_params: Any = None

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "alpha": (1e-3, 0.01, 0.1, 1.0, 10.0),
        "kernel": ("linear", "rbf", "laplacian"),
        "gamma": (None, 0.003, 0.01, 0.03, 0.1, 0.3),
    }
    _ranges: ClassVar[dict[str, Range]] = NamedKernel._ranges | {
        "alpha": at_least(0) | non_negative_array
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelRidge:
        """Fit the function to all rows. Cost: O(n²d + n³/3).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows; for a precomputed kernel, the matrix of shape (n, n).
        y : array-like of shape (n,) or (n, n_targets)
            Target values of the training rows.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = in_memory(self._open(X, y, sample_weight), type(self).__name__)
        self.kernel_ = self._kernel(source)
        used, targets, weight = training_rows(source)
        penalties = self._penalties(targets.shape[1])
        if self._fit_sparse(source, used, targets, weight, penalties):
            return self
        n = len(used)
        require_kernel_matrix(n, n, np.float64, beside=memory_of_factors(n))
        is_one = len(set(penalties)) == 1
        if is_one:
            found = ridge_coefficients(self._matrix(source, used), targets, penalties[0], weight)
            if found is not None:
                self._keep(source, used, found.coefficients, found.solver, found.reason)
                return self
        require_kernel_matrix(n, n, np.float64, copies=3)
        path = KernelRidgePath.of(self._matrix(source, used), targets, weight)
        columns = [path.coefficients(tau)[:, [k]] for k, tau in enumerate(penalties)]
        reason = "one eigendecomposition serves all penalties"
        if is_one:
            reason = "K + αI is singular: the solution of least norm from its eigenvalues"
            warn(
                f"KernelRidge: the kernel matrix plus alpha={penalties[0]:g} on its diagonal is "
                "singular up to rounding (equal rows, or more rows than the kernel has features). "
                "The solution of least norm is used. Increase alpha.",
                IllConditionedWarning,
            )
        self._keep(source, used, np.hstack(columns), "eigen", reason)
        return self

    def _fit_sparse(
        self,
        source: InMemory,
        used: Array,
        targets: Array,
        weight: Array | None,
        penalties: list[float],
    ) -> bool:
        """Solve by conjugate gradients where most entries of K are 0; False if they are not."""
        if len(set(penalties)) > 1 or not 0 < penalties[0] < np.inf:
            return False
        X, given = in_double(source.X), isinstance(self.kernel_, Precomputed)
        if given and is_sparse(X):
            if X.nnz > SPARSE_SHARE * X.shape[0] * X.shape[1]:
                return False
            require_sparse_symmetric(X, type(self).__name__)
            K = X.tocsr()[used][:, used]
        elif given or not self.kernel_.reach < np.inf or is_sparse(X):
            return False
        else:
            rows = X[used]
            if expected_share(self.kernel_, rows) > SPARSE_SHARE:
                return False
            K = gram_within_reach(self.kernel_, rows)
        found = sparse_ridge_coefficients(K, targets, penalties[0], weight)
        if found is not None:
            share = K.nnz / max(1, K.shape[0] * K.shape[1])
            self._keep(
                source,
                used,
                found,
                "conjugate_gradient",
                f"{share:.2g} of the kernel matrix is not 0: conjugate gradients",
            )
        return found is not None

    def _matrix(self, source: InMemory, used: Array) -> Array:
        K = gram_of(self.kernel_, in_double(source.X), used)
        return K.copy() if np.shares_memory(K, source.X) else K

    def _penalties(self, n_targets: int) -> list[float]:
        alpha = np.atleast_1d(np.asarray(self.alpha, dtype=float)).ravel()
        if len(alpha) not in (1, n_targets):
            raise DataError(
                f"KernelRidge: alpha has {len(alpha)} entries, but y has {n_targets} "
                f"{'target' if n_targets == 1 else 'targets'}. Give one number, or one per target."
            )
        return [float(each) for each in np.broadcast_to(alpha, n_targets)]


def training_rows(source: InMemory) -> tuple[Array, Array, Array | None]:
    """The rows of positive weight, their targets of shape (n, k), and weights; in float64."""
    assert source.y is not None
    used = np.arange(source.n_rows)
    if source.weight is not None:
        used = np.flatnonzero(source.weight > 0)
    targets = source.y[used].astype(np.float64, copy=False)
    weight = None if source.weight is None else source.weight[used]
    return used, targets.reshape(len(used), -1), weight
