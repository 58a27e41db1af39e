"""Kernel ridge regression with penalty and kernel chosen by leaving out one row at a time."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_target
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.models.kernel.kernel_ridge import KernelRegressor, training_rows
from thetahat.models.kernel.parameters import NamedKernel, in_memory, kernel_of
from thetahat.objective.kernel.features import gram_of
from thetahat.objective.kernel.least_squares import KernelRidgePath
from thetahat.objective.predictor import in_double


def _is_positive(value: Any) -> bool:
    numbers = np.atleast_1d(np.asarray(value, dtype=float))
    return bool(numbers.size and np.isfinite(numbers).all() and (numbers > 0).all())


@with_parameters
class KernelRidgeCV(KernelRegressor):
    """Kernel ridge regression that chooses its penalty, and its kernel, by cross-validation.

    Formula: every row is left out once. With G = (K + αI)⁻¹ and ĉ = Gy, the fit without row i
    misses its target by yᵢ − f₋ᵢ(xᵢ) = ĉᵢ/Gᵢᵢ, so no model has to be refitted. The pair of kernel
    and α with the smallest mean squared error is kept. A row is left out with all its weight, and
    its squared error counts with it.

    Cost: one eigendecomposition, O(n³), for each kernel and any number of penalties, and two
    matrices of n² numbers, whose size is checked first.

    Parameters
    ----------
    alphas : array-like, default=(0.1, 1.0, 10.0)
        Values of the penalty strength α to try. Larger values give smoother functions. All must be
        positive.
    kernel : str, Kernel, callable or list of them, default="linear"
        The kernel, as in `KernelRidge`, or a list of kernels of which the best is chosen, such as
        ``[th.kernels.RBF(sigma=h) for h in (0.5, 1.0, 2.0)]``, which chooses the bandwidth.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty strength.
    best_score_ : float
        The negative mean squared error of the left-out rows for the chosen pair.
    scores_ : array of shape (n_kernels, n_alphas)
        The negative mean squared error of every pair, in the order of `kernel` and `alphas`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> widths = [th.kernels.RBF(sigma=sigma) for sigma in (0.01, 1.0, 100.0)]
    >>> th.KernelRidgeCV(alphas=[1e-4, 1.0], kernel=widths).fit(X, y).kernel_
    RBF(sigma=1.0)
    """

    alphas: Any = (0.1, 1.0, 10.0)
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: Any = None
    degree: Any = 3
    coef0: Any = 1
    kernel_params: Any = None

    _ranges: ClassVar[dict[str, Range]] = NamedKernel._ranges | {
        "alphas": Range(_is_positive, "one or more finite numbers > 0")
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelRidgeCV:
        """Choose the penalty and the kernel, and fit to all rows. Cost: O(n³) for each kernel.

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
        require_squares_of_target(source, who=type(self).__name__)
        require_kernel_matrix(source.n_rows, source.n_rows, np.float64, copies=3)
        used, targets, weight = training_rows(source)
        if len(used) < 2:
            raise DataError(
                f"KernelRidgeCV: n_samples = {len(used)}, but at least two rows of positive weight "
                "are needed to leave one out. Use KernelRidge for a single row."
            )
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=float))
        kernels = self._kernels(source)
        scores, best = np.empty((len(kernels), len(alphas))), -np.inf
        for k, kernel in enumerate(kernels):
            path = KernelRidgePath.of(self._matrix(kernel, source, used), targets, weight)
            for a, alpha in enumerate(alphas):
                errors = (path.left_out_residuals(float(alpha)) ** 2).mean(axis=1)
                scores[k, a] = -np.average(errors, weights=weight)
                if scores[k, a] > best:
                    best, self.kernel_, self.alpha_ = scores[k, a], kernel, float(alpha)
                    coefficients = path.coefficients(float(alpha))
        self.scores_, self.best_score_ = scores, float(best)
        reason = "one eigendecomposition serves all penalties"
        self._keep(source, used, coefficients, "eigen", reason)
        return self

    def _kernels(self, source: Source) -> list[Kernel]:
        several = self.kernel if isinstance(self.kernel, list | tuple) else [self.kernel]
        if not several:
            raise ParameterError("KernelRidgeCV: kernel is an empty list. Give at least one.")
        found = [
            kernel_of(
                kernel, source.n_features, self.gamma, self.degree, self.coef0, self.kernel_params
            )
            for kernel in several
        ]
        return found

    def _matrix(self, kernel: Kernel, source: InMemory, used: Array) -> Array:
        K = gram_of(kernel, in_double(source.X), used)
        return K.copy() if np.shares_memory(K, source.X) else K
