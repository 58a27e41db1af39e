"""Kernel PCA: the directions of largest variance in the feature space of a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import NotFittedError

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import interruptible, one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.linalg.tiled_cholesky import memory_of_factors
from thetahat.models.kernel.parameters import (
    NamedKernel,
    around,
    far_middle,
    in_memory,
    kept_rows,
)
from thetahat.models.preprocessing.rowwise import RowwiseTransformer
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.features import gram_of, not_a_kernel
from thetahat.objective.kernel.least_squares import ridge_coefficients
from thetahat.objective.predictor import in_double

FEW = 20
MANY = 250
"""Lanczos iterations are faster for so many rows per component, and for so many rows in all."""
ROWS = 256
"""Rows that are centred at once."""


@with_parameters
class KernelPCA(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer, NamedKernel):
    """Principal components in the feature space of a kernel.

    Formula: with the centred Gram matrix K̃ = (I − 11ᵀ/n)K(I − 11ᵀ/n) and K̃vⱼ = λⱼvⱼ, component j of
    a row x, also of a new one, is zⱼ(x) = Σᵢ vⱼᵢ k̃(xᵢ, x)/√λⱼ, where k̃ is the kernel centred over
    the training rows. The components of the training rows have the squared lengths λⱼ. With the
    linear kernel they are those of principal component analysis; with ``th.kernels.FeatureMap``
    those of its features.

    Cost: O(n²d) for the matrix of n² numbers, whose size is checked first, and O(n²) per iteration
    for few components or O(n³) and two matrices more for many.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components. None keeps all that have a positive variance.
    alpha : float, default=1.0
        Penalty of the kernel ridge regression that finds the inverse. Larger values give smoother
        inverses. Only used with ``fit_inverse_transform=True``.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from components to rows, which `inverse_transform` needs.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        Solver for the eigenvalues: "dense" computes them directly, "arpack" by Lanczos iterations,
        which are faster for few components. "auto" chooses by the sizes; "randomized" is accepted
        for compatibility with scikit-learn and runs Lanczos iterations, which are as fast and
        exact.
    tol : float, default=0
        Relative accuracy of the Lanczos iterations. 0 means machine precision.
    max_iter : int or None, default=None
        Maximum number of Lanczos iterations. None uses the default of the solver.
    iterated_power : int or "auto", default="auto"
        Has no effect. Accepted for compatibility with scikit-learn.
    remove_zero_eig : bool, default=False
        Whether to drop components without variance. They are always dropped if `n_components` is
        None; otherwise they are columns of zeros.
    random_state : int, Generator or None, default=None
        Has no effect, because the start of the iterations is fixed. Accepted for compatibility with
        scikit-learn.
    copy_X : bool, default=True
        Whether to keep a copy of X for new rows. Set it to False to save memory if X is not changed
        after `fit`.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components,)
        The eigenvalues of the centred matrix in descending order (λ).
    eigenvectors_ : array of shape (n, n_components)
        The eigenvectors of length 1, one in each column (v).
    X_fit_ : array or sparse array of shape (n, d)
        The training rows, which new rows are compared with.
    gamma_ : float
        The factor γ of the kernel, or 1/d if `gamma` is None.
    kernel_ : Kernel
        The kernel with all its parameters.
    dual_coef_ : array of shape (n, d)
        The coefficients of the inverse; only with ``fit_inverse_transform=True``.
    X_transformed_fit_ : array of shape (n, n_components)
        The components of the training rows; only with ``fit_inverse_transform=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> angle = np.linspace(0.0, 2 * np.pi, 40)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> rings = np.vstack([circle, 3 * circle])
    >>> first = th.KernelPCA(1, kernel=th.kernels.RBF(sigma=1.0)).fit_transform(rings)[:, 0]
    >>> bool((first[:40] > 0).all() and (first[40:] < 0).all())
    True
    """

    n_components: int | None = None
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: Any = None
    degree: Any = 3
    coef0: Any = 1
    kernel_params: Any = None
    alpha: float = 1.0
    fit_inverse_transform: bool = False
    eigen_solver: str = "auto"
    tol: float = 0
    max_iter: int | None = None
    iterated_power: Any = "auto"
    remove_zero_eig: bool = False
    random_state: Any = None
    copy_X: bool = True
    n_jobs: Any = None

    _ranges: ClassVar[dict[str, Range]] = NamedKernel._ranges | {
        "n_components": whole(1) | none,
        "alpha": at_least(0),
        "fit_inverse_transform": boolean,
        "eigen_solver": one_of("auto", "dense", "arpack", "randomized"),
        "tol": at_least(0),
        "max_iter": whole(1) | none,
        "iterated_power": whole(0) | one_of("auto"),
        "remove_zero_eig": boolean,
        "copy_X": boolean,
    }
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Compute the components of the training rows. Cost: O(n²d), and O(n²) per iteration.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows; for a precomputed kernel, the matrix of shape (n, n).
        """
        source = in_memory(self._open(X, supervised=False), type(self).__name__)
        self.kernel_, n = self._kernel(source), source.n_rows
        if self.fit_inverse_transform and type(self.kernel_).rows is not Kernel.rows:
            raise CapabilityError(
                "Cannot fit_inverse_transform with a precomputed kernel: KernelPCA needs the rows, "
                "which are not given. Use fit_inverse_transform=False, or a kernel of rows."
            )
        self.gamma_ = 1.0 / source.n_features if self.gamma is None else self.gamma
        k = min(n, self.n_components or n)
        krylov = 8 * n * max(3 * k + 1, 20 + k)  # the vectors of ARPACK and those that are kept
        few = self._is_iterative(n, k)
        require_kernel_matrix(n, n, np.float64, 1 if few else 3, krylov if few else 0)
        self._middle = far_middle(self.kernel_, source.X)
        rows = around(self._middle, in_double(source.X))
        K = gram_of(self.kernel_, rows, np.arange(n))
        means = K.mean(axis=1)
        rounding = 10 * n * EPSILON * max(float(K.max()), -float(K.min()))
        for start in range(0, n, ROWS):  # centred in place
            some = slice(start, start + ROWS)
            K[some] -= means[some, None] + means
            K[some] += means.mean()
        values, vectors = self._eigen(K, k)
        del K
        if float(values.min()) < -rounding:
            raise not_a_kernel(self.kernel_, gram_of(self.kernel_, rows, np.arange(n)))
        values = np.where(values > rounding, values, 0.0)
        if self.n_components is None or self.remove_zero_eig:
            values, vectors = values[values > 0], vectors[:, values > 0]
        self.X_fit_ = source.X.copy() if self.copy_X else source.X
        self.eigenvalues_, self.eigenvectors_ = values, vectors
        self._means = means
        if self.fit_inverse_transform:
            self._fit_inverse(in_double(source.X))
        return self

    def _is_iterative(self, n: int, k: int) -> bool:
        if self.eigen_solver == "auto":
            return n > max(FEW * k, MANY)
        return self.eigen_solver != "dense" and k < n

    def _eigen(self, K: Array, k: int) -> tuple[Array, Array]:
        """The k largest eigenvalues in descending order and their vectors, with fixed signs.

        K is overwritten.
        """
        n = len(K)
        if self._is_iterative(n, k):
            with one_blas_thread():
                values, vectors = _lanczos(K, k, self.tol, self.max_iter)
        else:
            values, vectors = interruptible(partial(_largest, K, k), float(n) ** 3)
        values, vectors = values[::-1], vectors[:, ::-1]
        largest = np.abs(vectors).argmax(axis=0)
        return values, vectors * np.sign(vectors[largest, np.arange(k)])

    def _fit_inverse(self, rows: Any) -> None:
        """Kernel ridge regression from the components to the rows."""
        self.X_transformed_fit_ = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        n = len(self.X_transformed_fit_)
        require_kernel_matrix(n, n, np.float64, beside=memory_of_factors(n))
        K = self.kernel_.gram(self.X_transformed_fit_)
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        found = ridge_coefficients(K, dense, self.alpha)
        if found is None:
            require_kernel_matrix(n, n, np.float64, copies=2)
            K = self.kernel_.gram(self.X_transformed_fit_)
            np.einsum("ii->i", K)[:] += self.alpha
            with one_blas_thread():
                self.dual_coef_ = scipy_linalg().lstsq(K, dense, overwrite_a=True)[0]
        else:
            self.dual_coef_ = found.coefficients

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _transform_block(self, block: Block) -> Array:
        middle = vars(self).get("_middle")  # older files have none
        return self._projection()(around(middle, in_double(block.X)))

    def _projection(self) -> KernelExpansion:
        """x ↦ Σᵢ k̃(x, xᵢ)vᵢ/√λ; the vectors sum to 0, so that only their constant is left."""
        roots = np.sqrt(self.eigenvalues_)
        scaled = self.eigenvectors_ / np.where(roots > 0, roots, np.inf)
        scaled = scaled - scaled.mean(axis=0)
        constant = -(self._means[:, None] * scaled).sum(axis=0)
        centres = around(vars(self).get("_middle"), kept_rows(self.kernel_, self.X_fit_))
        return KernelExpansion(self.kernel_, centres, scaled, constant)

    def inverse_transform(self, X: Any) -> Array:
        """Find rows with the given components, by kernel ridge regression. Cost: O(n m d).

        Formula: x̂ = Σᵢ cᵢ k(z, zᵢ) with coefficients that map the components zᵢ of the training
        rows to these rows. In general no row has exactly these components.

        Parameters
        ----------
        X : array-like or table of shape (n, n_components)
            Components, as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            The rows in the original columns.
        """
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "KernelPCA: the way back was not learned in fit, so that inverse_transform is not "
                "available. Use fit_inverse_transform=True."
            )
        source = self._open_result(X)
        expansion = KernelExpansion(self.kernel_, self.X_transformed_fit_, self.dual_coef_)
        return source.map_rows(lambda block: expansion(block.X).astype(block.X.dtype, copy=False))


def _largest(K: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues and their vectors, in rising order. Cost: O(n³)."""
    n, eigh = len(K), partial(scipy_linalg().eigh, check_finite=False)
    with one_blas_thread():
        # The transpose has the memory order of LAPACK. One triangle of it is overwritten, and the
        # diagonal.
        diagonal = np.einsum("ii->i", K).copy()
        values, vectors = eigh(K.T, subset_by_index=[n - k, n - 1], overwrite_a=True)
        if vectors.shape[1] < k:  # some clusters of equal eigenvalues defeat this driver
            np.einsum("ii->i", K)[:] = diagonal
            values, vectors = eigh(K.T, lower=False, driver="evd", overwrite_a=True)
            values, vectors = values[n - k :], vectors[:, n - k :]
    return values, vectors


def _lanczos(K: Array, k: int, tol: float, max_iter: int | None) -> tuple[Array, Array]:
    """The k largest eigenvalues in ascending order, from a fixed start.

    Products read one triangle of K: they wait for memory, and take half the time.
    """
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    start = np.random.default_rng(0).uniform(-1.0, 1.0, len(K))
    product = scipy_linalg().get_blas_funcs("symv", (K,))
    operator = LinearOperator(K.shape, lambda v: product(1.0, K.T, v), dtype=K.dtype)
    try:
        values, vectors = eigsh(operator, k=k, which="LA", v0=start, tol=tol, maxiter=max_iter)
    except ArpackNoConvergence:
        n = len(K)
        values, vectors = scipy_linalg().eigh(K, subset_by_index=[n - k, n - 1])
    order = np.argsort(values)
    return values[order], vectors[:, order]
