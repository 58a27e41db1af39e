"""Tensor sketches: random sums of products whose inner products are nearly a polynomial kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.source import Block
from thetahat.data.validation import is_sparse
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, whole
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer

ENTRIES = 1 << 18
"""Entries of the sketches of some rows at once: their transforms stay in the cache."""


@with_parameters
class PolynomialCountSketch(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """Random features whose inner products approximate the polynomial kernel.

    Formula: the mean of φ(x)ᵀφ(z) over the draws is (γ·xᵀz + c₀)^p. A count sketch adds each column
    √γ·xⱼ, and the constant √c₀, with a random sign to one of m random places. φ(x) is the circular
    convolution of p independent sketches of x, computed as a product of Fourier transforms, so that
    the O(dᵖ) products of columns are never formed. The error falls as 1/√m.

    Cost: O(n p(d + m log m)) for m features, whose memory is checked first.

    Parameters
    ----------
    gamma : float, default=1.0
        The factor γ of the inner product in the kernel (γ·xᵀz + coef0)^degree. Must be ≥ 0.
    degree : int, default=2
        The degree of the kernel (p). Larger values give more flexible functions, and need more
        features for the same accuracy. Must be at least 1.
    coef0 : float, default=0
        The constant term of the kernel (c₀). Positive values add products of fewer than `degree`
        columns. Must be ≥ 0.
    n_components : int, default=100
        Number of features. A larger number is more accurate and takes longer. Ten times the number
        of columns is a usual choice.
    random_state : int, Generator or None, default=None
        Seed for drawing the places and signs. Pass an int for the same result on every call.

    Attributes
    ----------
    indexHash_ : array of shape (degree, d) or (degree, d + 1)
        The place of each column in each sketch. The last column belongs to `coef0` if it is not 0.
    bitHash_ : array of shape (degree, d) or (degree, d + 1)
        The sign of each column in each sketch, 1 or −1.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> model = th.PolynomialCountSketch(degree=2, coef0=1.0, n_components=4000, random_state=0)
    >>> features, K = model.fit_transform(X), th.kernels.Polynomial(degree=2, coef0=1.0)(X)
    >>> bool(np.abs(features @ features.T - K).max() < 0.1 * K.max())
    True
    """

    _: KW_ONLY
    gamma: float = 1.0
    degree: int = 2
    coef0: float = 0
    n_components: int = 100
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "gamma": at_least(0),
        "degree": whole(1),
        "coef0": at_least(0),
        "n_components": whole(1),
    }
    _accepts_sparse = True
    _too_large = "Use fewer components, or transform fewer rows at a time."

    def fit(self, X: Any, y: Any = None) -> PolynomialCountSketch:
        """Draw the places and signs; only the number of columns of X is used. Cost: O(p d)."""
        source = self._open(X, supervised=False)
        random = generator(self.random_state)
        shape = (self.degree, source.n_features + (self.coef0 != 0))
        require_memory(
            16 * shape[0] * shape[1],
            f"PolynomialCountSketch: places and signs of {shape[0]} × {shape[1]} columns",
            "Use a smaller degree, or fewer columns.",
        )
        self.indexHash_ = random.integers(0, self.n_components, shape)
        self.bitHash_ = 2 * random.integers(0, 2, shape) - 1
        return self

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def _transform_block(self, block: Block) -> Array:
        from scipy import fft

        X, m = block.X, self._n_features_out
        n, d = X.shape
        found = np.empty((n, m), dtype=X.dtype)
        sketches = [self._sketch(which, d, X.dtype) for which in range(self.degree)]
        constants = [self._constant(which, d) for which in range(self.degree)]
        step = max(16, ENTRIES // m)
        for start in range(0, n, step):
            rows = X[start : start + step]
            product: Any = None
            for sketch, constant in zip(sketches, constants, strict=True):
                # Transposed, so that the sparse matrix of places is on the left.
                counts = (rows @ sketch.T).toarray() if is_sparse(rows) else (sketch @ rows.T).T
                transformed = fft.rfft(counts + constant.astype(X.dtype), axis=1)
                with np.errstate(over="ignore", invalid="ignore"):
                    product = transformed if product is None else product * transformed
            if not np.isfinite(product).all():
                raise DataError(
                    f"{type(self).__name__}: products of {self.degree} columns are too large for "
                    f"{X.dtype}. Rescale the columns, or use a smaller gamma or degree."
                )
            found[start : start + step] = fft.irfft(product, m, axis=1)
        return found

    def _sketch(self, which: int, d: int, dtype: Any) -> Any:
        """The sparse matrix of shape (m, d) that adds the columns with their signs."""
        from scipy.sparse import csr_array

        values = np.sqrt(float(self.gamma)) * self.bitHash_[which, :d]
        places = (self.indexHash_[which, :d], np.arange(d))
        return csr_array((values.astype(dtype), places), shape=(self._n_features_out, d))

    def _constant(self, which: int, d: int) -> Array:
        """The sketch of √c₀, which all rows have in common."""
        found = np.zeros(self._n_features_out)
        if self.indexHash_.shape[1] > d:
            found[self.indexHash_[which, d]] = np.sqrt(float(self.coef0)) * self.bitHash_[which, d]
        return found
