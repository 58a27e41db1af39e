"""Metrics that are shares of counts: balanced accuracy, precision, recall, F₁ and Jaccard's index.

The score of a fold is the mean over K strata of Σp/Σq, where p and q are counts of single rows. A
row contributes, to first order,

    φᵢ = s̄ + (pᵢ − s·qᵢ)·m/(K·Σq),    Σq over the rows of its stratum in its fold,

with the share s of its stratum over all folds. The share of a fold alone is fitted to a few rows of
a rare class, and contributions around it vary too little: a class with one row in each fold would
not vary at all.

With u units that have q > 0 in a stratum, the variance of the mean score is at least that of one
more success and one more failure among them (Agresti and Caffo):

    Σ over strata of (q₊·(1 − s)² + s²)/(K·u·q̄)²

where q̄ is the mean of the positive q, and q₊ their largest value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Shares:
    """The counts p and q of the held-out rows of a fold, and the stratum of each row."""

    part: Array
    whole: Array
    strata: Array

    @property
    def score(self) -> float:
        """The mean over strata of Σp/Σq; NaN where a stratum has no count."""
        codes = np.unique(self.strata, return_inverse=True)[1].ravel()
        wholes = np.bincount(codes, self.whole)
        if not (wholes > 0).all():
            return float("nan")
        return float((np.bincount(codes, self.part) / wholes).mean())


def pooled(folds: Sequence[Shares], units: Array) -> tuple[Array, float]:
    """The contributions of all held-out rows, and the variance of what was not seen.

    `units` are the units of sampling of the rows, in the order of the folds.
    """
    part = np.concatenate([each.part for each in folds])
    whole = np.concatenate([each.whole for each in folds])
    strata = np.concatenate([each.strata for each in folds])
    labels, codes = np.unique(strata, return_inverse=True)
    codes = codes.ravel()
    shares = np.bincount(codes, part) / np.bincount(codes, whole)
    apart = part - shares[codes] * whole
    values, begin = np.empty(part.size), 0
    for each in folds:
        own = slice(begin, begin + each.part.size)
        begin = own.stop
        wholes = np.bincount(codes[own], whole[own], minlength=labels.size)
        held = wholes > 0
        scale = each.part.size / (held.sum() * wholes[codes[own]])
        values[own] = shares[held].mean() + apart[own] * scale
    unseen = 0.0
    for code, share in enumerate(shares):
        counted = (codes == code) & (whole > 0)
        weight = 1 / (labels.size * np.unique(units[counted]).size * whole[counted].mean())
        unseen += weight**2 * (whole[counted].max() * (1 - share) ** 2 + share**2)
    return values, float(unseen)


def _balanced(called: Array, y: Array, positive: Any) -> Shares | None:
    return Shares((called == y).astype(np.float64), np.ones(y.size), y)


def _ratio(kind: str) -> Callable[[Array, Array, Any], Shares | None]:
    def shares(called: Array, y: Array, positive: Any) -> Shares | None:
        if np.unique(y).size > 2:
            return None
        found, true = (called == positive).astype(np.float64), (y == positive).astype(np.float64)
        both = found * true
        part, whole = {
            "f1": (2 * both, found + true),
            "jaccard": (both, found + true - both),
            "precision": (both, found),
            "recall": (both, true),
        }[kind]
        return Shares(part, whole, np.zeros(y.size, dtype=np.int8))

    return shares


SHARES: dict[str, Callable[[Array, Array, Any], Shares | None]] = {
    "balanced_accuracy": _balanced,
    **{kind: _ratio(kind) for kind in ("f1", "jaccard", "precision", "recall")},
}
"""By the metric's name in scikit-learn: the counts, from predictions, targets and a label."""
