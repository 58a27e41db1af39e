"""Principal components of rows that come in batches, in memory for k directions only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import in_type_of_rows, require_squares_of_rows
from thetahat.data.source import Source, blocks_of
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, none, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.lowrank.decompositions import with_fixed_signs
from thetahat.models.decomposition.principal.gaussian_view import GaussianView


@with_parameters
class IncrementalPCA(GaussianView):
    """Principal component analysis of batches of rows, with memory for k directions only.

    After each batch only the first k directions are kept, so the result is an approximation that
    depends on the batches if more than k directions vary. `PCA` is exact and also reads files and
    batches (`PCA.partial_fit`); it keeps d² numbers instead of k·d, so this class suits very many
    columns.

    Formula: with the kept values s and directions V of m rows with mean μ, a batch of b rows with
    mean ν gives the singular values of the stack [diag(s)V; X − 1νᵀ; √(mb/(m + b))(μ − ν)ᵀ].

    Cost: O((k + b)² d) time and O((k + b) d) memory per batch.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components (k). None keeps as many as the first batch allows, min(b, d).
    whiten : bool, default=False
        Whether to divide each component by its standard deviation, so that all have variance 1.
    copy : bool, default=True
        Has no effect, because rows are never overwritten. Accepted for compatibility with
        scikit-learn.
    batch_size : int or None, default=None
        Number of rows per batch in `fit`. Larger batches are more accurate and need more memory.
        None uses 5 times the number of columns.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The principal directions, in order of decreasing variance.
    explained_variance_ : array of shape (n_components,)
        The variance of each component.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each component in the total variance.
    singular_values_ : array of shape (n_components,)
        The singular values of the kept directions.
    mean_ : array of shape (d,)
        The mean of each column of all rows so far.
    var_ : array of shape (d,)
        The variance of each column of all rows so far, with divisor n.
    noise_variance_ : float
        The mean variance of the directions that were left out in the last batch.
    n_components_ : int
        The number of components that are kept.
    n_samples_seen_ : int
        The number of rows so far.
    batch_size_ : int
        The number of rows per batch of `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]])
    >>> model = th.IncrementalPCA(n_components=1, batch_size=3).fit(X)
    >>> model.components_.round(2).tolist()
    [[0.84, 0.54]]
    """

    n_components: int | None = None
    _: KW_ONLY
    whiten: bool = False
    copy: bool = True
    batch_size: int | None = None

    _ignores_weights = True
    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1) | none,
        "whiten": boolean,
        "copy": boolean,
        "batch_size": whole(1) | none,
    }
    _accepts_sparse = True
    _visits_rows_in_order = True

    def fit(self, X: Any, y: Any = None) -> IncrementalPCA:
        """Compute the principal directions batch by batch. Cost: O(n (k + b) d)."""
        source = self._open(X, supervised=False)
        if source.n_rows < 2:
            raise DataError(
                f"IncrementalPCA: n_samples = {source.n_rows}, but a variance needs at least 2 "
                "rows. Add rows."
            )
        require_squares_of_rows(source, who=type(self).__name__)
        size = self.batch_size or 5 * source.n_features
        # The batches so far are a value of this fit, because several threads may fit one model.
        found: dict[str, Any] = {}
        for rows in _batches(source, size, self.n_components or 0):
            found = self._absorbed(found, rows, size)
        self.__dict__.update(found, batch_size_=size)
        return self

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> IncrementalPCA:
        """Update the principal directions with one batch. Cost: O((k + b)² d).

        Parameters
        ----------
        X : array-like or table of shape (b, d)
            The rows of the batch; all of them are used at once.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        check_input : bool, default=True
            Has no effect, because rows are always checked. Accepted for compatibility with
            scikit-learn.

        Returns
        -------
        self
            The fitted transformer.
        """
        first = not hasattr(self, "components_")
        source = self._open(X, supervised=False) if first else self._open_again(X)
        require_squares_of_rows(source, who=type(self).__name__)
        rows = np.concatenate([dense_rows(block) for block in source.blocks()])
        self.__dict__.update(self._absorbed({} if first else self.__dict__, rows))
        return self

    def _absorbed(
        self, before: dict[str, Any], rows: Array, batch_size: int | None = None
    ) -> dict[str, Any]:
        """Attributes of the batches before and these rows; nothing before means a new start."""
        b, d = rows.shape
        seen = before.get("n_samples_seen_", 0)
        first = seen == 0
        k = self._count(b, d, None if first else len(before["components_"]), batch_size)
        mean = rows.mean(axis=0, dtype=np.float64)
        centred = (rows - mean).astype(rows.dtype, copy=False)
        spread = np.square(centred, dtype=np.float64).sum(axis=0)
        total = seen + b
        if not first:
            gap = mean - before["mean_"]
            spread += before["var_"].astype(np.float64) * seen + gap**2 * (seen * b / total)
            centred = np.vstack(
                [
                    before["singular_values_"][:, None] * before["components_"],
                    centred,
                    -np.sqrt(seen * b / total) * gap[None],
                ]
            )
            mean = before["mean_"] + gap * (b / total)
        variance = in_type_of_rows(spread / total, rows.dtype, "var_", "IncrementalPCA")
        with one_blas_thread():
            _, s, V = scipy_linalg().svd(centred, full_matrices=False, check_finite=False)
        variances = s.astype(np.float64) ** 2 / max(total - 1, 1)
        everything, left = float(spread.sum()), variances[k:]
        share = variances[:k] * (max(total - 1, 1) / everything if everything > 0 else 0.0)
        return {
            "n_samples_seen_": total,
            "n_components_": k,
            "mean_": mean.astype(rows.dtype),
            "var_": variance,
            "components_": with_fixed_signs(V[:k]).astype(rows.dtype),
            "singular_values_": s[:k].astype(rows.dtype),
            "explained_variance_": in_type_of_rows(
                variances[:k], rows.dtype, "explained_variance_", "IncrementalPCA"
            ),
            "explained_variance_ratio_": share.astype(rows.dtype),
            "noise_variance_": float(left.mean()) if k not in (b, d) and left.size else 0.0,
        }

    def _count(self, b: int, d: int, before: int | None, batch_size: int | None) -> int:
        """The number of components, where there were so many ``before`` these b rows."""
        k, first = self.n_components, before is None
        if k is None:
            return min(b, d) if before is None else before
        if k > d:
            raise ParameterError(
                f"IncrementalPCA: n_components={k} invalid for n_features={d}: it must be at most "
                "the number of columns. Use a smaller number."
            )
        if first and k > b and batch_size is not None:
            raise ParameterError(
                f"IncrementalPCA: n_components={k} must be at most the number of rows of the first "
                f"batch, {b}, with batch_size={batch_size}. Increase batch_size, add rows, "
                "or use fewer components."
            )
        if first and k > b:
            raise ParameterError(
                f"IncrementalPCA: n_components={k} must be less or equal to the batch number of "
                f"samples {b} for the first partial_fit call. Give a larger first batch."
            )
        if not first and k != before:
            raise ParameterError(
                f"IncrementalPCA: n_components changed from {before} to {k} between calls of "
                "partial_fit. Set it back, or call fit."
            )
        return k

    def _offset(self) -> Array:
        return self.mean_


def _batches(source: Source, size: int, least: int) -> Iterator[Array]:
    """Batches of `size` rows; the last one is larger if fewer than `least` rows would be left."""
    before = None
    for block in blocks_of(source, size):
        rows = dense_rows(block)
        if before is not None and len(rows) < min(size, least):
            rows = np.concatenate([before, rows])
        elif before is not None:
            yield before
        before = rows
    if before is not None:
        yield before
