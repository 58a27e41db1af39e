"""Nyström's approximation: features whose inner products are nearly those of a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.validation import as_source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, more_than, none, one_of, real, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import interruptible, one_blas_thread
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels import named as named_kernel
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.given import Precomputed
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.kernels.names import is_scikit_learns
from thetahat.models.kernel.parameters import NamedKernel, in_memory, is_name, kept_rows, kernel_of
from thetahat.models.preprocessing.rowwise import RowwiseTransformer
from thetahat.objective.kernel.centres import RULES, choose_centres, sample_of_rows
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.features import gram_of, not_a_kernel
from thetahat.objective.predictor import in_double

LEAST_EIGENVALUE = 1e-12
"""Smaller eigenvalues of the matrix of the centres count as this, as in scikit-learn."""


@with_parameters
class Nystroem(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer, NamedKernel):
    """Features whose inner products approximate a kernel, from a sample of the rows.

    Formula: φ(x) = K_zz^{−1/2}·(k(z₁, x), …, k(z_m, x)) for centres zⱼ that are drawn from the
    rows, so that φ(x)ᵀφ(x′) = k(x, x′) if one of the two is a centre. A linear model on these
    features is a kernel model with m centres; `KernelModel` with ``n_components`` does both.

    Rows of a `Source` are read block by block: one pass draws the centres, and the features are
    computed as the rows are read, so that a pipeline with `LinearModel` fits a kernel model to a
    file of any size.

    Cost: O(m³) for the fit and O(n m²) for the features, whose memory is checked first.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel to approximate, by its name or as a value; see `KernelRidge`.
    gamma : float or None, default=None
        The factor γ of a kernel that is given by name; see `KernelRidge`. None means 1/d for d
        columns.
    coef0 : float or None, default=None
        The constant term of the "polynomial" kernel. None means 1.
    degree : float or None, default=None
        The degree of the "polynomial" kernel. None means 3.
    n_components : int, default=100
        Number of centres, which is the number of features. A larger number is more accurate and
        takes longer.
    centers : {"uniform", "kmeans++", "leverage"}, default="uniform"
        How the centres are drawn. "uniform" gives every row the same chance, as in scikit-learn.
        "kmeans++" draws rows far from each other, and "leverage" prefers rows with a high leverage
        score: both represent small groups of rows that lie apart, and take a little longer.
    random_state : int, Generator or None, default=None
        Seed for drawing the centres. Pass an int for the same result on every call.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    components_ : array or sparse array of shape (n_components, d)
        The rows that were drawn as centres.
    component_indices_ : array of shape (n_components,)
        The numbers of these rows among those of `fit`.
    normalization_ : array of shape (n_components, n_components)
        The inverse root of the kernel matrix of the centres.
    kernel_ : Kernel
        The kernel with all its parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 1.0, 30)[:, None]
    >>> features = th.Nystroem(gamma=1.0, n_components=10, random_state=0).fit_transform(X)
    >>> bool(np.abs(features @ features.T - th.kernels.RBF(gamma=1.0)(X)).max() < 1e-4)
    True
    """

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: Any = None
    coef0: Any = None
    degree: Any = None
    kernel_params: Any = None
    n_components: int = 100
    centers: str = "uniform"
    random_state: Any = None
    n_jobs: Any = None

    _ranges: ClassVar[dict[str, Range]] = NamedKernel._ranges | {
        "gamma": more_than(0) | none,
        "degree": at_least(1) | none,
        "coef0": real | none,
        "n_components": whole(1),
        "centers": one_of(*RULES),
    }
    _streams = True
    _for_few_rows = False
    _draws_rows = True
    _too_large = "Use fewer components, or transform fewer rows at a time."

    def _kernel(self, source: Source) -> Kernel:
        if isinstance(self.kernel, Kernel):
            return self.kernel
        given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        given = {name: value for name, value in given.items() if value is not None}
        if is_scikit_learns(self.kernel):
            return named_kernel(self.kernel)
        complete = callable(self.kernel) or is_name(self.kernel, "precomputed")
        if complete and given:
            raise ParameterError(
                f"Don't pass gamma, coef0 or degree to Nystroem if the kernel is a function or a "
                f"precomputed matrix, but {', '.join(given)} is given. Leave it out; arguments of "
                "a function are passed in kernel_params."
            )
        if callable(self.kernel):
            return kernel_of(self.kernel, source.n_features, None, 3, 1, self.kernel_params)
        known = {"gamma": None, "degree": 3, "coef0": 1} | (self.kernel_params or {}) | given
        if unknown := set(known) - {"gamma", "degree", "coef0"}:
            raise ParameterError(
                f"Nystroem: kernel_params has {', '.join(sorted(unknown))}, but a kernel that is "
                "given by name has gamma, degree and coef0 only."
            )
        return kernel_of(self.kernel, source.n_features, **known)

    def fit(self, X: Any, y: Any = None) -> Nystroem:
        """Draw the centres and factor their kernel matrix. Cost: O(m² d + m³)."""
        source = self._open(X, supervised=False)
        self.kernel_ = self._kernel(source)
        count = min(self.n_components, source.n_rows)
        if count < self.n_components:
            warn(
                f"Nystroem: n_components={self.n_components} exceeds the number of rows, "
                f"{count}. All rows are used, and the kernel matrix is exact."
            )
        require_kernel_matrix(count, count, np.float64, copies=5)
        numbers, rows = self._candidates(source, count, random := generator(self.random_state))
        chosen = choose_centres(
            self.kernel_, rows, np.arange(len(numbers)), None, count, self.centers, random
        )
        self.component_indices_ = numbers[chosen]
        self.components_ = kept_rows(self.kernel_, rows, chosen)
        K = gram_of(self.kernel_, in_double(rows), chosen)

        def decompose() -> Any:
            with one_blas_thread():
                return np.linalg.eigh(K)

        values, vectors = interruptible(decompose, float(count) ** 3)
        with one_blas_thread():
            if values[0] < -1e-9 * max(abs(values[0]), values[-1]):
                raise not_a_kernel(self.kernel_, K)
            scaled = vectors / np.sqrt(np.maximum(values, LEAST_EIGENVALUE))
            self.normalization_ = scaled @ vectors.T
        return self

    def _candidates(
        self, source: Source, count: int, random: np.random.Generator
    ) -> tuple[Array, Matrix]:
        """The numbers and values of the rows among which the centres are drawn."""
        if isinstance(source, InMemory):
            return np.arange(source.n_rows), in_memory(source, type(self).__name__).X
        if isinstance(self.kernel_, Precomputed):
            raise CapabilityError(
                "Nystroem: a precomputed kernel matrix must be in memory, but its rows are read "
                "block by block. Give the rows themselves and the name of the kernel, or load the "
                "matrix with X, y, sample_weight = source.arrays()."
            )
        numbers, rows, _ = sample_of_rows(source, count, self.centers, random)
        require_squares_of_rows(as_source(rows), who=type(self).__name__)
        return numbers, rows

    @property
    def _n_features_out(self) -> int:
        return len(self.normalization_)

    def _transform_block(self, block: Block) -> Array:
        return KernelExpansion(self.kernel_, self.components_, self.normalization_)(block.X)
