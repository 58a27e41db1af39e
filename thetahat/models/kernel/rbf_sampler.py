"""Random Fourier features: cosines whose inner products are nearly the Gaussian kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, more_than, one_of, whole
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.pairs import inner_products
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class RBFSampler(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer):
    """Random features whose inner products approximate the Gaussian kernel.

    Formula: φⱼ(x) = √(2/m)·cos(wⱼᵀx + bⱼ) with wⱼ ~ N(0, 2γI) and bⱼ uniform on [0, 2π], so that
    the mean of φ(x)ᵀφ(z) over the draws is exp(−γ‖x − z‖²). The error falls as 1/√m, more slowly
    than that of `Nystroem`, but the features do not depend on the rows.

    Cost: O(n d m) for m features, whose memory is checked first.

    Parameters
    ----------
    gamma : float or "scale", default=1.0
        The factor γ of the kernel exp(−γ‖x − z‖²). "scale" means 1/(d·Var(X)) for d columns.
    n_components : int, default=100
        Number of features. A larger number is more accurate and takes longer.
    random_state : int, Generator or None, default=None
        Seed for drawing the features. Pass an int for the same result on every call.

    Attributes
    ----------
    random_weights_ : array of shape (d, n_components)
        The directions and frequencies that were drawn (w).
    random_offset_ : array of shape (n_components,)
        The phases that were drawn (b).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 2.0, 20)[:, None]
    >>> features = th.RBFSampler(gamma=0.5, n_components=2000, random_state=0).fit_transform(X)
    >>> bool(np.abs(features @ features.T - th.kernels.RBF(gamma=0.5)(X)).max() < 0.1)
    True
    """

    _: KW_ONLY
    gamma: Any = 1.0
    n_components: int = 100
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "gamma": more_than(0) | one_of("scale"),
        "n_components": whole(1),
    }
    _accepts_sparse = True
    _too_large = "Use fewer components, or transform fewer rows at a time."

    def fit(self, X: Any, y: Any = None) -> RBFSampler:
        """Draw the features; only the number of columns of X is used, or its variance for "scale".

        Cost: O(d m).
        """
        source = self._open(X, supervised=False)
        random = generator(self.random_state)
        shape = (source.n_features, self.n_components)
        require_memory(
            16 * shape[0] * shape[1] + 16 * shape[1],
            f"RBFSampler: random directions of {shape[0]} × {shape[1]} entries, twice,",
            "Use fewer components.",
        )
        scale = np.sqrt(2.0 * self._exponent(source))
        self.random_weights_ = (scale * random.standard_normal(shape)).astype(source.dtype)
        offset = random.uniform(0.0, 2 * np.pi, self.n_components)
        self.random_offset_ = offset.astype(source.dtype)
        return self

    def _exponent(self, source: Any) -> float:
        if self.gamma != "scale":
            return float(self.gamma)
        count = total = squares = 0.0
        for entries, first, second in source.map_blocks(_powers):
            count, total, squares = count + entries, total + first, squares + second
        variance = squares / count - (total / count) ** 2
        return 1.0 / (source.n_features * variance) if variance > 0 else 1.0

    @property
    def _n_features_out(self) -> int:
        return int(self.random_weights_.shape[1])

    def _transform_block(self, block: Block) -> Array:
        phases = inner_products(block.X, self.random_weights_.T)
        phases += self.random_offset_
        np.cos(phases, out=phases)
        phases *= np.sqrt(2.0 / self._n_features_out)
        return phases


def _powers(block: Block) -> tuple[int, float, float]:
    """The number of entries, their sum and the sum of their squares."""
    X = block.X
    return X.shape[0] * X.shape[1], float(X.sum()), float((X * X).sum())
