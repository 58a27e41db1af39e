"""The Anscombe transform: Poisson counts become values of variance about 1."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import LARGEST_FACTOR, from_to, one_of, real
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


@with_parameters
class AnscombeTransform(RowwiseTransformer):
    """Anscombe transform: stabilises the variance of Poisson counts.

    After the transformation, least squares weights all counts correctly. Use it as the transformer
    of scikit-learn's ``TransformedTargetRegressor`` (with ``check_inverse=False``, because the
    unbiased inverse is not the algebraic one) to fit counts with any regressor.

    Formula: z = 2√((y − offset)/gain + 3/8). For y ~ Poisson(μ), z has mean 2√(μ + 3/8) − 1/(4√μ)
    and variance 1 + 1/(16μ²) + ….

    Cost: O(size of y).

    Parameters
    ----------
    gain : float, default=1.0
        Factor by which the counts were amplified: the data are y = gain·count + offset. Must be
        positive.
    offset : float, default=0.0
        Constant that was added to the amplified counts.
    inverse : {"unbiased", "algebraic"}, default="unbiased"
        Which inverse to use: that of the mean of z, count = z²/4 − 1/8, or that of the formula,
        count = z²/4 − 3/8.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> transform = th.AnscombeTransform(inverse="algebraic").fit([[0.0], [4.0]])
    >>> z = transform.transform([[0.0], [4.0]])
    >>> np.allclose(transform.inverse_transform(z), [[0.0], [4.0]])
    True
    """

    _: KW_ONLY
    gain: float = 1.0
    offset: float = 0.0
    inverse: str = "unbiased"

    _ranges = {  # noqa: RUF012
        "gain": from_to(1 / LARGEST_FACTOR, LARGEST_FACTOR),
        "offset": real,
        "inverse": one_of("unbiased", "algebraic"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any = None) -> AnscombeTransform:
        """Check that the values are counts; nothing is estimated. Cost: O(size of X).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Counts, or amplified counts, that are at least 0 after removing gain and offset.
        """
        source = self._open(X, supervised=False)
        for _ in source.map_blocks(self._require_counts):
            pass
        return self

    def _require_counts(self, block: Block) -> None:
        self._counts(block.X)

    def inverse_transform(self, X: Any) -> Array:
        """Compute counts from z by the unbiased or the algebraic inverse. Cost: O(size of z).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Transformed rows, as returned by `transform`.

        Returns
        -------
        array of shape (n, d)
            The counts, in the units of the data.
        """
        shift = 0.125 if self.inverse == "unbiased" else 0.375
        return self._open_result(X).map_rows(
            lambda block: np.maximum((block.X / 2.0) ** 2 - shift, 0.0) * self.gain + self.offset
        )

    def _transform_block(self, block: Block) -> Array:
        return 2.0 * np.sqrt(self._counts(block.X) + 0.375)

    def _counts(self, y: Array) -> Array:
        counts = (y - self.offset) / self.gain
        if (counts < -0.375).any():
            row, column = (int(where[0]) for where in np.nonzero(counts < -0.375))
            raise DataError(
                "Negative values in data passed to AnscombeTransform: column "
                f"{column}, row {row} holds {y[row, column]:g}, a count of "
                f"{counts[row, column]:g} with gain={self.gain:g} and "
                f"offset={self.offset:g}. Counts must be ≥ 0; check gain and offset."
            )
        return counts
