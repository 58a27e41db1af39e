"""Random projections: distances are kept up to a factor 1 ± ε, whatever the rows are."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import DataDimensionalityWarning

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    boolean,
    more_than,
    one_of,
    positive_fraction,
    whole,
)
from thetahat.estimator.sparsify import in_sparse_interface
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import child_generator
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array, SparseMatrix
from thetahat.models.decomposition.principal.projection import Projection


def johnson_lindenstrauss_min_dim(n_samples: Any, *, eps: Any = 0.1) -> Any:
    """Compute how many random directions keep all distances between n rows up to 1 ± ε.

    Formula: k ≥ 4·log n/(ε²/2 − ε³/3) (Johnson and Lindenstrauss; Dasgupta and Gupta). The bound
    holds for squared Euclidean distances and does not depend on the number of columns. In practice
    fewer directions are often enough. Cost: O(1).

    Parameters
    ----------
    n_samples : int or array-like
        Number of rows (n). Must be positive.
    eps : float or array-like, default=0.1
        Largest relative error of squared distances (ε), strictly between 0 and 1.

    Returns
    -------
    int or array of ints
        The number of directions.

    Examples
    --------
    >>> import thetahat as th
    >>> th.johnson_lindenstrauss_min_dim(1_000_000, eps=0.5)
    663
    """
    count, error = np.asarray(n_samples, dtype=float), np.asarray(eps, dtype=float)
    if not ((error > 0) & (error < 1)).all():
        raise ParameterError(
            "johnson_lindenstrauss_min_dim: The JL bound is defined for eps in ]0, 1[, got "
            f"{eps!r}. Use a number strictly between 0 and 1."
        )
    if not (count > 0).all():
        raise ParameterError(
            "johnson_lindenstrauss_min_dim: The JL bound is defined for n_samples greater than "
            f"zero, got {n_samples!r}. Use the number of rows."
        )
    found = (4.0 * np.log(count) / (error**2 / 2 - error**3 / 3)).astype(np.int64)
    return int(found) if found.ndim == 0 else found


@with_parameters
class RandomProjection(Projection):
    """A projection on random directions; subclasses draw them.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of directions (k). "auto" uses the bound of Johnson and Lindenstrauss for the number
        of training rows and `eps`, which can exceed the number of columns for few rows.
    eps : float, default=0.1
        Largest relative error of squared distances that "auto" allows (ε). Smaller values need
        more directions. Must be positive, and less than 1 with ``n_components="auto"``; it has no
        effect otherwise.
    compute_inverse_components : bool, default=False
        Whether to compute the pseudo-inverse of the directions in `fit`, so that
        `inverse_transform` does not compute it in every call. It is dense.
    random_state : int, Generator or None, default=None
        Seed of the directions. Pass an int for the same result on every call.

    Attributes
    ----------
    components_ : array or sparse matrix of shape (n_components, d)
        The random directions, with squared length d/k on average.
    n_components_ : int
        The number of directions.
    inverse_components_ : array of shape (d, n_components)
        The pseudo-inverse of the directions; only with ``compute_inverse_components=True``.
    """

    n_components: Any = "auto"
    _: KW_ONLY
    eps: float = 0.1
    compute_inverse_components: bool = False
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1) | one_of("auto"),
        "eps": more_than(0),
        "compute_inverse_components": boolean,
    }
    _accepts_sparse = True

    @classmethod
    def _example(cls) -> Any:
        return cls(n_components=2, random_state=0)

    @abstractmethod
    def _draw(self, k: int, d: int, rng: np.random.Generator) -> Any:
        """The directions, (k, d)."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Draw the random directions; only the shape of X is used. Cost: O(k d)."""
        source = self._open(X, supervised=False)
        n, d = source.n_rows, source.n_features
        who, k = type(self).__name__, self.n_components
        if k == "auto":
            k = johnson_lindenstrauss_min_dim(n, eps=self.eps)
            if k <= 0:
                raise ParameterError(
                    f"{who}: eps={self.eps} and n_samples={n} lead to a target dimension of {k}, "
                    "which is invalid. Give n_components, or more rows."
                )
            if k > d:
                raise ParameterError(
                    f"{who}: eps={self.eps:f} and n_samples={n} lead to a target dimension of {k} "
                    f"which is larger than the original space with n_features={d}. Use a larger "
                    "eps, or give n_components."
                )
        elif k > d:
            warn(
                f"{who}: The number of components is higher than the number of features: "
                f"n_features < n_components ({d} < {k}). The dimensionality of the problem will "
                "not be reduced.",
                DataDimensionalityWarning,
            )
        require_memory(8 * k * d, f"{who}: {k} directions of {d} columns", "Use fewer directions.")
        self.n_components_ = k = int(k)
        drawn = self._draw(k, d, child_generator(self.random_state))
        self.components_ = drawn.astype(source.dtype)
        if self.compute_inverse_components:
            self.inverse_components_ = self._pseudo_inverse()
        return self

    def _open_result(self, X: Any) -> Any:
        from scipy.sparse import issparse

        return super()._open_result(X.toarray() if issparse(X) else X)

    def _pseudo_inverse(self) -> Array:
        dense = self.components_
        dense = dense if isinstance(dense, np.ndarray) else dense.toarray()
        with one_blas_thread():
            return scipy_linalg().pinv(dense, check_finite=False).astype(dense.dtype)

    def _transform_block(self, block: Block) -> Any:
        found = block.X @ self.components_.T
        return found if isinstance(found, np.ndarray) else found.toarray()

    def _inverse_block(self, Z: Array) -> Array:
        inverse = self.__dict__.get("inverse_components_")
        return Z @ (self._pseudo_inverse() if inverse is None else inverse).T


@with_parameters
class GaussianRandomProjection(RandomProjection):
    """A projection on random Gaussian directions, which keeps distances approximately.

    It does not depend on the rows, so it is a baseline for methods that do: with about 100
    directions or more, distances are kept up to some 20%, for any number of columns.

    Formula: z = Rx with independent entries R ~ N(0, 1/k), so that E‖z‖² = ‖x‖² with relative
    standard deviation √(2/k).

    Cost: O(k d) memory, and O(n d k) for `transform`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).normal(size=(20, 1000))
    >>> Z = th.GaussianRandomProjection(400, random_state=0).fit_transform(X)
    >>> ratio = np.linalg.norm(Z[0] - Z[1]) / np.linalg.norm(X[0] - X[1])
    >>> bool(0.9 < ratio < 1.1)
    True
    """

    def _draw(self, k: int, d: int, rng: np.random.Generator) -> Array:
        return rng.standard_normal((k, d)) / np.sqrt(k)


@with_parameters
class SparseRandomProjection(RandomProjection):
    """A projection on sparse random directions, which keeps distances approximately.

    Most entries are 0, so it is faster and smaller than `GaussianRandomProjection`, with the same
    guarantee for rows that are not dominated by a few entries.

    Formula: z = Rx with entries ±√(1/(s·k)) with probability s/2 each, and 0 otherwise, where s is
    the density.

    Cost: O(k d s) memory, and O(n d k s) for `transform`.

    Parameters
    ----------
    density : float or "auto", default="auto"
        Share of entries that are not 0 (s), in (0, 1]. "auto" uses 1/√d. 1/3 gives the projection
        of Achlioptas; larger values suit rows with few entries.
    dense_output : bool, default=False
        Whether `transform` returns a dense array for sparse rows. False keeps them sparse.

    Attributes
    ----------
    density_ : float
        The share of entries that are not 0.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).normal(size=(20, 1000))
    >>> model = th.SparseRandomProjection(400, random_state=0).fit(X)
    >>> model.transform(X).shape, round(model.density_, 4)
    ((20, 400), 0.0316)
    """

    n_components: Any = "auto"
    _: KW_ONLY
    density: Any = "auto"
    eps: float = 0.1
    dense_output: bool = False

    _ranges: ClassVar[dict[str, Range]] = RandomProjection._ranges | {
        "density": positive_fraction | one_of("auto"),
        "dense_output": boolean,
    }

    def _draw(self, k: int, d: int, rng: np.random.Generator) -> Any:
        from scipy.sparse import csr_array

        density = self.density_ = (
            float(1.0 / np.sqrt(d)) if self.density == "auto" else self.density
        )
        if density == 1:
            return rng.choice([-1.0, 1.0], size=(k, d)) / np.sqrt(k)
        counts = rng.binomial(d, density, size=k)
        starts = np.concatenate([[0], np.cumsum(counts)])
        places = np.empty(starts[-1], dtype=np.int32)
        for row, count in enumerate(counts):
            chosen = rng.choice(d, size=count, replace=False, shuffle=False)
            places[starts[row] : starts[row + 1]] = np.sort(chosen)
        size = 1.0 / np.sqrt(density * k)
        entries = rng.choice([-size, size], size=starts[-1])
        found = csr_array((entries, places, starts.astype(np.int32)), shape=(k, d))
        return in_sparse_interface(found)

    def transform(self, X: Any) -> Any:
        """Project every row. Cost: O(n d k s).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        array or sparse matrix of shape (n, n_components)
            The projected rows; sparse for sparse rows unless ``dense_output=True``.
        """
        from scipy.sparse import issparse

        if not issparse(X) or self.dense_output:
            return super().transform(X)
        source = self._open_whole(X)
        found: SparseMatrix = source.X @ self.components_.T
        if not issparse(found):
            return found
        return in_sparse_interface(found.tocsr().astype(source.dtype))
