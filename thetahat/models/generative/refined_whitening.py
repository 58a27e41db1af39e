"""Whitening of nearly singular classes to more digits than their covariances hold.

A covariance with the relative standard deviation e in some direction stores its variance with a
relative error of ε/e², because squares are added to squares. The rows themselves, whitened by the
root A of that covariance, have a covariance S near I, which is known to ε/e. With S = LLᵀ, the
matrix A L⁻ᵀ whitens the rows. This is the second step of Cholesky QR.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_moments import ClassMoments, codes_of
from thetahat.foundation.products import product
from thetahat.foundation.threads import scipy_linalg
from thetahat.foundation.types import Array
from thetahat.models.generative.class_model import dense_float64
from thetahat.models.generative.gaussian import Whitening

NEARLY_SINGULAR = 1e6
"""Sum of the inverse relative variances above which a second pass over the rows is made."""


@dataclass(frozen=True)
class _Whitened:
    """Σ w z and Σ w zzᵀ of the whitened rows z of some classes."""

    sums: dict[int, Array]
    squares: dict[int, Array]

    def merge(self, other: _Whitened) -> _Whitened:
        return _Whitened(
            {code: each + other.sums[code] for code, each in self.sums.items()},
            {code: each + other.squares[code] for code, each in self.squares.items()},
        )


def refined_whitenings(
    model: Any, found: list[Whitening], spread: Array, moments: ClassMoments, source: Source
) -> list[Whitening]:
    """The whitenings of the classes; those of nearly singular ones from a second pass.

    Directions whose variance was raised stay as they are. Cost: O(n d²) for the rows of these
    classes.
    """
    if not _is_of_rows(model):
        return found
    roots = {
        code: one.root
        for code, one in enumerate(found)
        if moments.weight[code] > 0 and _is_nearly_singular(one, spread)
    }
    result = list(found)
    for code, covariance in _covariances(roots, moments, source).items():
        result[code] = _refined(found[code], covariance)
    return result


def refined_together(
    model: Any,
    found: Whitening,
    spread: Array,
    shares: Array,
    moments: ClassMoments,
    source: Source,
) -> Whitening:
    """The same for the covariance Σ_c share_c Σ_c that all classes have in common."""
    is_full = moments.kind != "diagonal" and _is_of_rows(model)
    if not (is_full and _is_nearly_singular(found, spread)):
        return found
    roots = {code: found.root for code in np.flatnonzero(moments.weight).tolist()}
    covariances = _covariances(roots, moments, source)
    together = sum((shares[code] * each for code, each in covariances.items()), np.zeros(()))
    return _refined(found, together)


def _is_of_rows(model: Any) -> bool:
    """Whether the covariances are those of the rows, without any change."""
    changed = model.shrinkage or model.covariance_estimator is not None
    return not (changed or getattr(model, "reg_param", 0))


def _is_nearly_singular(one: Whitening, spread: Array) -> bool:
    relative = one.root * spread[:, None]
    return one.rank > 0 and bool(np.vdot(relative, relative) > NEARLY_SINGULAR)


def _covariances(
    roots: dict[int, Array], moments: ClassMoments, source: Source
) -> dict[int, Array]:
    """The covariances of the whitened rows of some classes. Cost: one pass."""
    if not roots:
        return {}
    whole = source.reduce(_of_block, roots, moments.means)
    found = {}
    for code in roots:
        mean = whole.sums[code] / moments.weight[code]
        found[code] = whole.squares[code] / moments.weight[code] - mean * mean[:, None]
    return found


def _refined(one: Whitening, covariance: Array) -> Whitening:
    """The whitening, with the given covariance of the rows that it whitened."""
    lapack = scipy_linalg().lapack
    first = one.root.shape[1] - one.rank  # raised directions come first: values ascend
    factor, failed = lapack.dpotrf(covariance[first:, first:], lower=1, clean=1)
    if failed:  # the rows do not vary in a direction that was only rounding errors
        return one
    inverse, _ = lapack.dtrtri(factor, lower=1)
    root = one.root.copy()
    root[:, first:] = product(root[:, first:], inverse.T)
    log_det = one.log_det + 2.0 * float(np.log(factor.diagonal()).sum())
    return replace(one, root=root, log_det=log_det)


def _of_block(block: Block, roots: dict[int, Array], means: Array) -> _Whitened:
    codes, weight = codes_of(block), block.row_weights
    sums, squares = {}, {}
    for code, root in roots.items():
        rows = np.flatnonzero(codes == code)
        z = product(dense_float64(block.X[rows]) - means[code], root)
        weighted = z * weight[rows, None]
        sums[code], squares[code] = weighted.sum(axis=0), product(weighted.T, z)
    return _Whitened(sums, squares)
