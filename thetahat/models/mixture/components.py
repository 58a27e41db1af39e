"""The parameters of a Gaussian mixture, and one pass of expectation-maximisation over rows.

With P_k upper triangular, Σ_k⁻¹ = P_k P_kᵀ:

    log N(x | μ_k, Σ_k) = log det P_k − ½ d log 2π − ½‖P_kᵀ(x − μ_k)‖²

A pass over the rows gives the log-likelihood Σ wᵢ log Σ_k π_k N(xᵢ | μ_k, Σ_k) of the current
parameters and the sums from which the next ones follow (`MixtureSums`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat import _native
from thetahat.data.on_device import OnDevice
from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.mixture import mixture_sums

NO_VECTOR = np.empty(0)
NO_MATRIX = np.empty((0, 0))
NO_LABELS = np.empty(0, dtype=np.int64)
KINDS = ("full", "tied", "diag", "spherical")


@dataclass(frozen=True)
class MixtureSums:
    """Σ wγ_k, Σ wγ_k(x − c_k) and Σ wγ_k(x − c_k)(x − c_k)ᵀ, with the log-likelihood.

    ``second`` has the shape (k, d, d), or (k, d) if only the diagonals are needed. The centres c
    are the same for all blocks of a pass, so that sums are added.
    """

    log_likelihood: float
    weight: float
    count: Array
    first: Array
    second: Array

    def merge(self, other: MixtureSums) -> MixtureSums:
        return MixtureSums(
            self.log_likelihood + other.log_likelihood,
            self.weight + other.weight,
            self.count + other.count,
            self.first + other.first,
            self.second + other.second,
        )


@dataclass(frozen=True)
class Components:
    """Weights π, means μ and covariances Σ of the kind "full", "tied", "diag" or "spherical".

    ``root`` holds the factors P of the precisions in the shape of the covariances. The standard
    deviations are inverted for the kinds "diag" and "spherical".
    """

    kind: str
    weights: Array
    means: Array
    covariances: Array
    root: Array

    @classmethod
    def of(cls, kind: str, weights: Array, means: Array, covariances: Array) -> Components:
        """The components with these covariances, which must be positive definite."""
        return cls(kind, weights, means, covariances, precision_root(kind, covariances))

    @property
    def theta(self) -> Array:
        """Weights, means and factors of the precisions as one vector."""
        return np.concatenate([self.weights, self.means.ravel(), self.root.ravel()])

    @classmethod
    def at(cls, kind: str, k: int, d: int, theta: Array) -> Components:
        """The components with this vector."""
        shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
        means, root = theta[k : k + k * d].reshape(k, d), theta[k + k * d :].reshape(shape)
        return cls(kind, theta[:k], means, covariances_of(kind, root), root)

    def moved(self, theta: Array) -> Components:
        """Components of the same kind with another vector."""
        k, d = self.means.shape
        return Components.at(self.kind, k, d, theta)

    def terms(self) -> tuple[Array, Array, Array]:
        """The arguments of a pass over rows: log-scales, centres and factors."""
        return terms_of(self.kind, self.weights, self.means, self.root)


def terms_of(kind: str, weights: Array, means: Array, root: Array) -> tuple[Array, Array, Array]:
    """Log-scales log π_k + log det P_k − ½ d log 2π, means, and the factors as a matrix."""
    k, d = means.shape
    if kind == "full":
        logs = np.log(root.diagonal(0, 1, 2)).sum(axis=1)
        factors = root.reshape(k * d, d)
    elif kind == "tied":
        logs = np.log(root.diagonal()).sum()
        factors = np.tile(root, (k, 1))
    elif kind == "diag":
        logs, factors = np.log(root).sum(axis=1), root
    else:
        logs = d * np.log(root)
        factors = np.repeat(root[:, None], d, axis=1)
    with np.errstate(divide="ignore"):
        scale = np.log(weights) + logs - 0.5 * d * np.log(2 * np.pi)
    return (
        np.ascontiguousarray(scale, dtype=np.float64),
        np.ascontiguousarray(means, dtype=np.float64),
        np.ascontiguousarray(factors, dtype=np.float64),
    )


def precision_root(kind: str, covariances: Array) -> Array:
    """P with Σ⁻¹ = PPᵀ, upper triangular; 1/σ for diagonals. Cost: O(k d³)."""
    if kind in ("diag", "spherical"):
        if not (covariances > 0).all():
            raise _collapsed()
        return 1.0 / np.sqrt(covariances)
    if kind == "tied":
        return precision_root("full", covariances[None])[0]
    lapack = scipy_linalg().lapack
    with one_blas_thread():
        try:
            lower = np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError:
            raise _collapsed() from None
        found = np.stack([lapack.dtrtri(each, lower=1)[0].T for each in lower])
    if not np.isfinite(found).all():
        raise _collapsed()
    return found


class CollapsedComponents(DataError):
    """A covariance is not positive definite."""


def _collapsed() -> DataError:
    return CollapsedComponents(
        "Fitting the mixture model failed because some components have ill-defined empirical "
        "covariance (for instance caused by singleton or collapsed samples). Try to decrease the "
        "number of components, increase reg_covar, or scale the input data."
    )


def precisions_of(kind: str, root: Array) -> Array:
    """Σ⁻¹ = PPᵀ in the shape of the covariances."""
    if kind in ("diag", "spherical"):
        return root**2
    with one_blas_thread():
        return root @ np.swapaxes(root, -1, -2)


def covariances_of(kind: str, root: Array) -> Array:
    """Σ = P⁻ᵀP⁻¹ in the shape of the factors."""
    if kind in ("diag", "spherical"):
        return 1.0 / root**2
    with one_blas_thread():
        inverse = np.linalg.inv(root)
        return np.swapaxes(inverse, -1, -2) @ inverse


def pass_over(
    source: Source,
    terms: tuple[Array, Array, Array],
    *,
    labels: Array | None = None,
    shares: Any = None,
) -> MixtureSums:
    """The sums of all rows. Cost: O(n k d²), or O(n k d) for diagonals.

    ``labels`` holds the known component of every row, −1 where it is not known. ``shares(block)``
    gives the responsibilities, which are computed from the components otherwise.
    """
    if isinstance(source, OnDevice):
        return MixtureSums(*mixture_sums(source.X, source.weight, terms))
    return source.reduce(sums_of_block, terms, labels, shares)


def sums_of_block(
    block: Block, terms: tuple[Array, Array, Array], labels: Array | None, shares: Any
) -> MixtureSums:
    """The sums of one block; see `pass_over`."""
    _, means, factors = terms
    k, d = means.shape
    count, first, second = np.zeros(k), np.zeros((k, d)), np.zeros(factors.shape)
    weight = NO_VECTOR if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    known = NO_LABELS if labels is None else labels[block.start : block.start + block.n_rows]
    given = NO_MATRIX
    if shares is not None:
        given = shares(block)
        if given.ndim == 1:  # labels of all rows
            known, given = given, NO_MATRIX
    value = _native.mixture_pass(
        dense_rows(block),
        weight,
        known,
        given,
        *terms,
        count,
        first,
        second,
        NO_VECTOR,
        NO_MATRIX,
        False,
    )
    total = float(weight.sum()) if weight.size else float(block.n_rows)
    shape = (k, d) if len(factors) == k else (k, d, d)
    return MixtureSums(value, total, count, first, second.reshape(shape))


def row_terms(
    X: Array, terms: tuple[Array, Array, Array], *, posterior: bool
) -> tuple[Array, Array]:
    """log p(x) of every row, and γ_k(x), or log π_k N(x | μ_k, Σ_k), of every component."""
    n, k = X.shape[0], len(terms[0])
    logs, rows = np.empty(n), np.empty((n, k))
    _native.mixture_pass(
        X,
        NO_VECTOR,
        NO_LABELS,
        NO_MATRIX,
        *terms,
        NO_VECTOR,
        NO_MATRIX,
        NO_MATRIX,
        logs,
        rows,
        posterior,
    )
    return logs, rows


def maximised(
    kind: str,
    sums: MixtureSums,
    centres: Array,
    reg_covar: float,
    before: Components | None = None,
) -> Components:
    """The parameters that maximise the expected log-likelihood of the sums (the M step).

    π_k = N_k/W, μ_k = c_k + Σγ(x − c_k)/N_k, Σ_k = Σγ(x − c_k)(x − c_k)ᵀ/N_k − δδᵀ + reg_covar·I.
    A component without rows keeps its mean and its covariance, with weight 0.
    """
    weights = sums.count / sums.count.sum()
    means, spread = moments_of(kind, sums, centres)
    empty = sums.count <= 0
    covariances = _pooled(kind, weights, spread, reg_covar)
    if empty.any() and kind != "tied":
        if before is not None:
            covariances[empty] = before.covariances[empty]
        else:
            covariances[empty] = _pooled(kind, weights, spread, reg_covar)[~empty].mean(axis=0)
    return Components.of(kind, weights, means, covariances)


def moments_of(kind: str, sums: MixtureSums, centres: Array) -> tuple[Array, Array]:
    """Mean and covariance of the rows of every component: (k, d), and (k, d, d) or (k, d)."""
    held = np.where(sums.count > 0, sums.count, 1.0)[:, None]
    moved = sums.first / held
    if sums.second.ndim == 2:
        spread = np.maximum(sums.second / held - moved**2, 0.0)
        return centres + moved, spread if kind in ("diag", "spherical") else spread[:, :, None]
    spread = sums.second / held[:, :, None] - moved[:, :, None] * moved[:, None, :]
    diagonal = np.einsum("kii->ki", spread)
    np.maximum(diagonal, 0.0, out=diagonal)
    return centres + moved, spread


def _pooled(kind: str, weights: Array, spread: Array, reg_covar: float) -> Array:
    """The covariances of the kind, from those of every component's rows."""
    if kind == "diag":
        return spread + reg_covar
    if kind == "spherical":
        return spread.mean(axis=1) + reg_covar
    found = np.tensordot(weights, spread, axes=1) if kind == "tied" else spread.copy()
    np.einsum("...ii->...i", found)[...] += reg_covar
    return found


def count_parameters(kind: str, k: int, d: int) -> int:
    """The number of free parameters: covariances, means, and k − 1 weights."""
    free = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}
    return free[kind] + k * d + k - 1
