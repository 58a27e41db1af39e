"""What models of non-negative factors share: parameters, starts, and weights of new rows."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    check_ranges,
    fraction,
    none,
    one_of,
    real,
    whole,
)
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.checked_value import check_arrays, check_columns
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.models.decomposition.factors.nonnegative_entries import require_nonnegative
from thetahat.models.decomposition.factors.nonnegative_problem import NonnegativeFactors, Penalty
from thetahat.models.decomposition.factors.nonnegative_start import (
    given_start,
    nonnegative_start,
)
from thetahat.models.decomposition.factors.nonnegative_steps import best_rows, divergence_rows
from thetahat.models.decomposition.principal.projection import Projection

ORDERS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
MOST_SWEEPS = 1000
"""The most sweeps over the coordinates of a row in `transform`; few rows need more than 20."""


@with_parameters
class NonnegativeModel(Projection):
    """A transformer whose results are weights W ≥ 0 with X ≈ WH, for components H ≥ 0.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of components (k). More components fit the training rows better. "auto" uses the
        number of rows of `H` for `init` "custom"; otherwise "auto" and None use the number of
        columns. Must be at least 1.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        Where the iterations start. "nndsvd" uses the non-negative parts of singular vectors, with
        many entries of 0. "nndsvda" replaces these by √(mean of X / k), and by three times as much
        for multiplicative updates; "nndsvdar" by smaller random numbers. "random" uses random
        numbers, and "custom" the matrices `W` and `H` that are passed to `fit`. None means
        "nndsvda", or "random" if there are more components than rows or columns.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        Divergence of X from WH. A number is its order (β): 2 is "frobenius", 1 is
        "kullback-leibler", which suits counts, and 0 is "itakura-saito". Smaller orders give small
        entries of X more weight. For β ≤ 0 all entries of X must be positive.
    alpha_W : float, default=0.0
        Strength of the penalty of W (a_W). Larger values give smaller weights. Must be at least 0.
    alpha_H : float or "same", default="same"
        Strength of the penalty of H (a_H). Larger values give smaller components. "same" uses
        `alpha_W`. Must be at least 0.
    l1_ratio : float, default=0.0
        Share of the L1 penalty (ρ), which sets entries to 0; the rest is a squared penalty. From 0
        to 1.
    verbose : int, default=0
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        The components (H). Their entries are at least 0.
    n_components_ : int
        The number of components (k).
    reconstruction_err_ : float
        The error √(2·D(X, WH)) of the training rows; for "frobenius" this is ‖X − WH‖.
    """

    n_components: Any = "auto"
    _: KW_ONLY
    init: str | None = None
    beta_loss: Any = "frobenius"
    tol: float = 1e-4
    max_iter: int = 200
    random_state: Any = None
    alpha_W: float = 0.0
    alpha_H: Any = "same"
    l1_ratio: float = 0.0
    verbose: Any = 0

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1) | one_of("auto") | none,
        "init": one_of("random", "nndsvd", "nndsvda", "nndsvdar", "custom") | none,
        "beta_loss": one_of(*ORDERS) | real,
        "tol": at_least(0),
        "max_iter": whole(1),
        "alpha_W": at_least(0),
        "alpha_H": at_least(0) | one_of("same"),
        "l1_ratio": fraction,
    }
    _accepts_sparse = True
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"
    _tried_when_loaded = False  # max_iter may be large

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _check_loaded(self) -> None:
        if self.__sklearn_is_fitted__():
            check_ranges(self)
            check_columns(self)
            is_single = getattr(self.components_, "dtype", None) == np.float32
            dtype = np.float32 if is_single else np.float64
            check_arrays(self, {"components_": (dtype, (None, self.n_features_in_))})

    @property
    def _order(self) -> float:
        return ORDERS[self.beta_loss] if isinstance(self.beta_loss, str) else float(self.beta_loss)

    def _penalties(self, n: int, d: int) -> tuple[Penalty, Penalty]:
        """Of W and of H."""
        share, left = float(self.l1_ratio), float(self.alpha_W)
        right = left if isinstance(self.alpha_H, str) else float(self.alpha_H)
        return (
            Penalty(d * left * share, d * left * (1.0 - share)),
            Penalty(n * right * share, n * right * (1.0 - share)),
        )

    def _factors(self, source: InMemory, H: Any) -> NonnegativeFactors:
        """The rows and the number of components, after all checks."""
        n, d, beta, who = source.n_rows, source.n_features, self._order, type(self).__name__
        smallest = self._require_nonnegative(source)
        if beta <= 0 and smallest == 0:
            raise DataError(
                f"{who}: When beta_loss <= 0 and X contains zeros, the solver may diverge. "
                f"beta_loss={self.beta_loss!r} needs positive entries: add a small number to X, or "
                "use a positive beta_loss, such as 'kullback-leibler'."
            )
        require_squares_of_rows(source, who=who)
        if self.n_components == "auto" and self.init == "custom" and np.ndim(H) == 2:
            k = len(H)
        elif self.n_components is None or self.n_components == "auto":
            k = d
        else:
            k = int(self.n_components)
        if k > min(n, d) and self.init in ("nndsvd", "nndsvda", "nndsvdar"):
            raise ParameterError(
                f"{who}: init = '{self.init}' can only be used when n_components <= min(n_samples, "
                f"n_features), but n_components={k} and X has {n} rows and {d} columns. Use "
                "init='random', or fewer components."
            )
        if self._multiplies and self.init == "nndsvd":
            warn(
                f"{who}: The multiplicative update ('mu') solver cannot update zeros present in "
                "the initialization, of which init='nndsvd' has many. Use init='nndsvda' or "
                "'nndsvdar'.",
                UserWarning,
            )
        require_memory(
            8 * 5 * (n + d) * k,
            f"{who}: {k} components of {n} rows and {d} columns",
            "Use fewer components.",
        )
        X = source.X
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X)
        elif not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return NonnegativeFactors(X, k, beta, *self._penalties(n, d))

    def _start(self, source: InMemory, k: int, W: Any, H: Any) -> tuple[Array, Array]:
        n, d, who = source.n_rows, source.n_features, type(self).__name__
        if self.init == "custom":
            return (
                given_start(W, (n, k), "W", who).astype(source.dtype),
                np.ascontiguousarray(given_start(H, (k, d), "H", who).T, dtype=source.dtype),
            )
        if W is not None or H is not None:
            warn(
                f"{who}: When init!='custom', provided W or H are ignored. Use "
                "init='custom' to start from them.",
                RuntimeWarning,
            )
        init = self.init or ("nndsvda" if k <= min(n, d) else "random")
        return nonnegative_start(source, k, init, self._multiplies, self.random_state)

    def _require_nonnegative(self, source: Source) -> float:
        """The smallest entry of the rows; an error if it is negative."""
        return require_nonnegative(
            source, self._label, who=type(self).__name__, remedy="shift the columns, or use PCA"
        )

    @property
    def _multiplies(self) -> bool:
        """Whether the fit uses multiplicative updates, which cannot leave 0."""
        return True

    @property
    def _most_sweeps(self) -> int:
        """The most sweeps or updates per row of `transform`."""
        return max(MOST_SWEEPS, self.max_iter)

    def _best(self, X: Any, H: Array) -> Array:
        start = np.zeros((X.shape[0], len(H)), dtype=H.dtype)
        penalty, _ = self._penalties(1, self.n_features_in_)
        return best_rows(X, H, penalty, start, self._most_sweeps, self.tol or 0.0)

    def transform(self, X: Any) -> Any:
        """Compute the weights of the components in each row, with the components fixed.

        Formula: w = argmin_{w ≥ 0} D(x, wH) + penalty of w. The weights of a row do not depend on
        other rows. Cost: O(nnz·k + n·k²) per sweep or update.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            Rows to transform, with the same columns as in `fit` and entries that are at least 0.

        Returns
        -------
        array of shape (n, n_components)
            The weights (W), in the precision of X; a table if requested by ``set_output``.
        """
        check_is_fitted(self)
        source = self._open_again(X)
        smallest = self._require_nonnegative(source)
        if self._order <= 0 and smallest == 0:
            raise DataError(
                f"{type(self).__name__}: beta_loss={self.beta_loss!r} needs rows with positive "
                "entries, but X contains zeros. Add a small number to X."
            )
        return super().transform(X)

    def _transform_block(self, block: Block) -> Array:
        H = self.components_.astype(block.X.dtype, copy=False)
        if self._order == 2:
            return self._best(block.X, H)
        penalty, _ = self._penalties(1, self.n_features_in_)
        return divergence_rows(
            block.X, H, penalty, self._order, self._most_sweeps, 0.1 * (self.tol or 0.0)
        )
