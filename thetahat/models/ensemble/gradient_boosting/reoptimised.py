"""Refit the coefficients of all members of a boosted model after each iteration.

    c = argmin Σ w·ℓ(y, b + Σ_m c_m·h_m(x)) + (λ/2)·‖c − 1‖²,    λ tiny

Plain boosting sets the coefficient of a member when it is added and never changes it. Here the
members are the columns of a linear model with the same loss, which is fitted before the next
residuals are taken. It starts from the members as they are, c = 1, and the current constant b. A
tiny penalty makes the solution unique for collinear members.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.data.source import row_weights
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.models.ensemble.gradient_boosting.members import Member, basis_of, output_of, times
from thetahat.models.ensemble.gradient_boosting.rounds import Boosting, scores_of

PULL = 1e-6


@dataclass
class AllCoefficients:
    """Refits the constant and the coefficients of all members of a fit in progress."""

    boosting: Boosting
    constant: Array
    """The part of f₀ that is the same for all rows, one number per column of raw predictions."""
    no_sign_changes: bool = False
    """Whether coefficients must stay ≥ 0, as monotonic constraints require."""
    bases: list[Array] = field(default_factory=list)
    """What the output of each member is computed from; see `basis_of`."""

    def refit(self) -> Array:
        """Multiply the members by their best coefficients; return the best constant.

        The raw predictions follow. Cost: O(n·M) memory, and time per step, for M members; a few
        dozen steps of L-BFGS.
        """
        boosting, k = self.boosting, self.boosting.plan.n_columns
        before = self.constant
        self.constant, factors = self._best(self._outputs(boosting.members))
        boosting.members[:] = [
            times(each, by) for each, by in zip(boosting.members, factors, strict=True)
        ]
        boosting.start = boosting.start - before + self.constant
        # Summed in the order of later predictions, so that a continued fit has equal bits.
        boosting.raw[:] = boosting.start
        for number, (member, basis) in enumerate(zip(boosting.members, self.bases, strict=True)):
            boosting.raw[:, number % k] += output_of(member, basis)
        return self.constant

    def _outputs(self, members: list[Member]) -> Array:
        """The prediction of each member for each row, of shape (n, n_members)."""
        rows = self.boosting.rows
        n, n_members = len(rows.y), len(members)
        require_memory(
            16 * n * n_members,
            f"Re-optimising {n_members} coefficients on {n} rows",
            "Use reoptimise='last', fewer iterations, or fewer rows.",
        )
        self.bases += basis_of(members[len(self.bases) :], rows.X, n)
        outputs = np.empty((n, n_members), order="F")
        for number, (member, basis) in enumerate(zip(members, self.bases, strict=True)):
            outputs[:, number] = output_of(member, basis)
        return outputs

    def _best(self, outputs: Array) -> tuple[Array, Array]:
        """The constant and the coefficients with the smallest loss."""
        from scipy.optimize import minimize

        boosting = self.boosting
        rows, loss, k = boosting.rows, boosting.loss, boosting.plan.n_columns
        n, n_members = outputs.shape
        # Columns of equal scale make the problem well conditioned.
        scale = np.sqrt(np.mean(outputs**2, axis=0))
        scale = np.where(scale > 0, scale, 1.0)
        outputs /= scale
        share = row_weights(rows.weight, n)
        share = share / share.sum()
        first = boosting.start - self.constant  # 0 unless ``init`` is a model

        def risk(theta: Array) -> tuple[float, Array]:
            steps = theta[k:]
            raw = first + theta[:k]
            for column in range(k):
                raw[:, column] += np.einsum("nm,m->n", outputs[:, column::k], steps[column::k])
            value, slope = loss.value_and_gradient(
                rows.y, np.ascontiguousarray(scores_of(loss, raw))
            )
            slope = share[:, None] * slope.reshape(n, k)
            away = steps - scale
            by_member = np.empty(n_members)
            for column in range(k):
                by_member[column::k] = np.einsum("nm,n->m", outputs[:, column::k], slope[:, column])
            return (
                float(share @ value + PULL / 2 * away @ away),
                np.concatenate([slope.sum(axis=0), by_member + PULL * away]),
            )

        least = 0.0 if self.no_sign_changes else None
        found: Any = minimize(
            risk,
            np.concatenate([self.constant, scale]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(None, None)] * k + [(least, None)] * n_members,
            options={"maxiter": 500, "maxcor": 20, "ftol": 1e-12},
        )
        return found.x[:k], found.x[k:] / scale
