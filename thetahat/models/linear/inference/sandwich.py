"""Robust (sandwich) covariances, which remain valid if the noise model is wrong.

With z = xᵀθ, slopes gᵢ = ∂ℓ/∂zᵢ, curvatures cᵢ and H = Σ wcxxᵀ, the covariance of a fit is

    H⁻¹ (Σ w gᵢ² aᵢ xᵢxᵢᵀ) H⁻¹,     hᵢ = cᵢ xᵢᵀH⁻¹xᵢ,

with aᵢ = 1 for HC0, n/(n − p) for HC1, 1/(1 − hᵢ) for HC2 and 1/(1 − hᵢ)² for HC3. The rows are
first transformed to v = Fx with FᵀF = H⁻¹, so that H becomes the identity and is inverted only
once. One pass, O(n d²).

A row with h = 1 determines a coefficient by itself. Its residual is 0, and 0/0 in HC2 and HC3, so
it is left out of the sum, which then does not contain the noise of that row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array

Influence = Callable[[Block], tuple[Array, Array, Array]]
"""Gives the rows v, the slopes g and the leverages h of a block."""

ROBUST = ("HC0", "HC1", "HC2", "HC3")
_POWER = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}
ALONE = 1e-10
"""Value of 1 − h up to which a row alone determines a coefficient, so that it has no residual."""


@dataclass(frozen=True)
class Meat:
    """Σ w a g² vvᵀ, and Σ wℓ, which shows whether the rows are those of the fit."""

    squares: Array
    weight: float
    value: float
    alone: Array
    """Σ vvᵀ of the rows that alone determine a coefficient."""
    n_alone: int

    def merge(self, other: Meat) -> Meat:
        """The sums over both sets of rows."""
        return Meat(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(Meat))
        )

    def warn_of_lone_rows(self, names: list[str], back: Array, who: str) -> None:
        """Warn if some of the coefficients, θ = back·v, are determined by single rows."""
        if not self.n_alone:
            return
        share = np.einsum("ij,jk,ik->i", back, self.alone, back)
        touched = np.flatnonzero(share > ALONE * np.einsum("ij,ij->i", back, back))
        few = ", ".join(repr(names[index]) for index in touched[:5])
        warn(
            f"{who}: {self.n_alone} row(s) alone determine a coefficient (leverage 1), so their "
            "residual is 0 and robust standard errors do not contain their noise. Those of "
            f"{few}{', …' if len(touched) > 5 else ''} are too small: use covariance='model' for "
            "them, or drop the column that only one row has."
        )


def meat(
    source: Source,
    influence: Influence,
    values: Callable[[Block], Array],
    kind: str,
    importance: Callable[[Block], Array] | None = None,
) -> Meat:
    """The middle matrix of the sandwich, without the factor of HC1.

    A row of weight 2 counts as two rows, or with importance 2 as one row whose slope counts twice.
    """

    def summarise(block: Block) -> Meat:
        rows, slope, leverage = influence(block)
        weight = count = np.asarray(block.row_weights, dtype=np.float64)
        if importance is not None:
            share = np.asarray(importance(block), dtype=np.float64)
            slope, leverage = share * slope, share * leverage
            count = np.divide(weight, share, out=np.zeros(len(share)), where=share > 0)
        alone = count * leverage >= 1.0 - ALONE
        kept = np.where(alone, 1.0, 1.0 - leverage)
        if _POWER[kind] and (kept[count > 0] <= 0).any():
            raise _of_fractions(kind, count[(count > 0) & (kept <= 0)][0])
        squares = np.divide(count, kept ** _POWER[kind], out=np.zeros(len(kept)), where=count > 0)
        scaled = rows * (np.sqrt(np.where(alone, 0.0, squares)) * slope)[:, None]
        return Meat(
            squares=scaled.T @ scaled,
            weight=float(weight.sum()),
            value=float(weight @ values(block)),
            alone=rows[alone].T @ rows[alone],
            n_alone=int(alone.sum()),
        )

    return source.reduce(summarise)


def _of_fractions(kind: str, weight: float) -> CapabilityError:
    return CapabilityError(
        f"covariance={kind!r} needs row weights that count rows, but a row of weight {weight:g} "
        "has a leverage above 1, as if it were counted less than once. Use covariance='HC1', or, "
        "for least squares whose weights are precisions, weights='precision'."
    )


def check_kind(covariance: str) -> None:
    """Raise an error for unknown names of covariances."""
    if covariance != "model" and covariance not in ROBUST:
        raise ParameterError(
            f"covariance={covariance!r} must be 'model' or a robust covariance: "
            f"{', '.join(map(repr, ROBUST))}."
        )


def require_rows(covariance: str, X: Any) -> None:
    """Raise an error if the rows, which a robust covariance needs, are not given."""
    if X is None:
        raise CapabilityError(
            f"covariance={covariance!r} needs the rows, which a fitted model does not keep. Pass "
            f"them again: summary(X, y, covariance={covariance!r})."
        )


def require_same_rows(weight: float, value: float, of_fit: tuple[float, float]) -> None:
    """Raise an error if the total loss of the rows differs from that in `fit`."""
    was_weight, was_value = of_fit
    near = abs(value - was_value) <= 1e-6 * (abs(was_value) + 1e-9 * was_weight)
    if not (np.isclose(weight, was_weight, rtol=1e-9) and near):
        raise DataError(
            f"These are not the rows of fit: their total weight is {weight:g} and their loss "
            f"{value:.6g}, but in fit they were {was_weight:g} and {was_value:.6g}. Pass the same "
            "X, y and sample_weight to summary as to fit."
        )
