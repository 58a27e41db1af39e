"""Non-negative components from batches of rows: multiplicative updates of sums over batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array, Matrix
from thetahat.models.decomposition.factors.nonnegative_problem import (
    NonnegativeFactors,
    Penalty,
)
from thetahat.models.decomposition.factors.nonnegative_steps import exponent, multiplied

TINY = EPSILON
"""Entries below this times √level are set to 0 for β ≤ 1, whose updates divide by products of both
factors."""


@dataclass
class Batches:
    """The components Hᵀ, and the sums over all batches so far whose quotient they are.

    Every array has one row per column of X.
    """

    beta: float
    keeps: float
    Ht: Array
    numerator: Array
    denominator: Array

    @classmethod
    def begun(cls, problem: NonnegativeFactors, keeps: float, Ht: Array) -> Batches:
        """Before the first batch: the sums hold Hᵀ, with the weight of about one row.

        Sums of 1 would hold the components where they are if X is small. A row of X of the level m
        and factors of √m adds to the denominator what has the units m^(β − ½).
        """
        level, power = problem.rows.level, exponent(problem.beta)
        weight = level ** (problem.beta - 0.5)
        held = weight * level ** (0.5 / power - 0.5)
        dtype = Ht.dtype.type
        return cls(problem.beta, keeps, Ht, Ht * dtype(held), np.full_like(Ht, weight))

    def advance(self, X: Matrix, W: Array, left: Penalty, right: Penalty) -> float:
        """Update the weights W of a batch, in place, and the components; the objective before."""
        problem = NonnegativeFactors(X, W.shape[1], self.beta, left, right)
        if self.beta == 2:
            up, down, value = self._squares(problem, W)
        else:
            up, down, value = self._ratios(problem, W)
        value += problem.penalties(W, self.Ht)
        if right.l1:
            down = down + down.dtype.type(right.l1)
        if right.l2:
            down = down + down.dtype.type(right.l2) * self.Ht
        power = exponent(self.beta)
        whole = self.Ht if power == 1 else self.Ht ** (1.0 / power)
        self.numerator = self.keeps * self.numerator + up * whole
        self.denominator = self.keeps * self.denominator + down
        # An entry without denominator belongs to a component that no row uses.
        found = np.divide(
            self.numerator,
            self.denominator,
            out=np.zeros_like(self.Ht),
            where=self.denominator > 0,
        )
        self.Ht = found if power == 1 else found**power
        if self.beta <= 1:
            self.Ht[self.Ht < TINY * problem.rows.level**0.5] = 0.0
        return value

    def _squares(self, problem: NonnegativeFactors, W: Array) -> tuple[Array, Array, float]:
        gram = self.Ht.T @ self.Ht
        multiplied(W, problem.rows.times(self.Ht), W @ gram, problem.left, 2.0)
        left = W.T @ W
        up = problem.back(W)
        return up, self.Ht @ left, problem.square_value(self.Ht, up, gram, left)

    def _ratios(self, problem: NonnegativeFactors, W: Array) -> tuple[Array, Array, float]:
        parts = problem.rows.parts(W, self.Ht, self.beta, valued=False)
        multiplied(W, parts.numerator, parts.denominator, problem.left, self.beta)
        if self.beta < 1:
            W[W < TINY * problem.rows.level**0.5] = 0.0
        found = problem.right_parts(W, self.Ht)
        return found.numerator, found.denominator, found.value
