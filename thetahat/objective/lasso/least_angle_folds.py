"""Held-out errors along paths of least angles, for every fold.

Coefficients are linear in α between two nodes, so that a held-out residual is, too, and the mean
squared error at the share t of the way from node k to the next is

    (1 − t)²·a_k + 2t(1 − t)·c_k + t²·a_{k+1},

with a_k the mean of r_k² and c_k that of r_k·r_{k+1}. Only the nodes are evaluated, from held-out
rows or from their moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.summaries.moments import Moments
from thetahat.foundation.threads import one_blas_thread, ordered_map
from thetahat.foundation.types import Array
from thetahat.objective.lasso.fold_rows import FoldRows
from thetahat.objective.lasso.least_angle import (
    LeastAngleProblem,
    PathRules,
    least_angle_problem,
    problem_of,
)


@dataclass(frozen=True)
class HeldOutPath:
    """The nodes of one fold's path, and its held-out errors."""

    alphas: Array
    """Descending."""
    squares: Array
    """Mean squared residual at each node (a)."""
    products: Array
    """Mean product of the residuals of a node and the next (c)."""

    def errors(self, alphas: Array) -> Array:
        """The error at any points; beyond the ends of the path, that of its first or last node."""
        nodes = self.alphas
        last = len(nodes) - 1
        if last == 0:
            return np.full(len(alphas), self.squares[0])
        k = np.clip(np.searchsorted(-nodes, -alphas, side="right") - 1, 0, last - 1)
        width = nodes[k] - nodes[k + 1]
        t = np.where(width > 0, (nodes[k] - alphas) / np.where(width > 0, width, 1.0), 1.0)
        t = np.clip(t, 0.0, 1.0)
        a, b, c = self.squares[k], self.squares[k + 1], self.products[k]
        return np.maximum((1 - t) ** 2 * a + 2 * t * (1 - t) * c + t**2 * b, 0.0)


@dataclass(frozen=True)
class LeastAngleFolds(FoldRows):
    """The rows, their folds, and how every path is computed."""

    intercept: bool
    precompute: Any
    rules: PathRules

    def all_rows(self) -> LeastAngleProblem:
        """The problem of all rows."""
        return least_angle_problem(
            self.source, intercept=self.intercept, precompute=self.precompute, who="precompute"
        )

    def paths(self) -> list[HeldOutPath]:
        """The path of every fold with its held-out errors."""
        self.require_served()
        by_columns = self.precompute is False and isinstance(self.source, InMemory)
        if self.has_few_columns and not by_columns:
            learned, held = self.learned(), self.held

            def path(fold: int) -> HeldOutPath:
                reason = "moments of the other folds"
                problem = problem_of(learned[fold], intercept=self.intercept, reason=reason)
                return _from_moments(problem, self.rules, held[fold])

            return list(ordered_map(path, range(len(self.folds))))
        return [self._by_rows(fold) for fold in range(len(self.folds))]

    def _by_rows(self, fold: int) -> HeldOutPath:
        train, test = (self.rows(each) for each in self.folds[fold])
        problem = least_angle_problem(
            train, intercept=self.intercept, precompute=self.precompute, who="precompute"
        )
        assert isinstance(test, InMemory)
        assert test.y is not None
        found = problem.path(self.rules)
        offset = problem.y_mean[0] - found.coefs @ problem.x_mean
        with one_blas_thread():
            residual = test.y[:, None] - (test.X @ found.coefs.T + offset)
        weight = np.ones(len(residual)) if test.weight is None else np.asarray(test.weight)
        share = (weight / weight.sum())[:, None]
        weighted = residual * share
        return HeldOutPath(
            found.alphas,
            np.sum(weighted * residual, axis=0),
            np.sum(weighted[:, :-1] * residual[:, 1:], axis=0),
        )


def _from_moments(problem: LeastAngleProblem, rules: PathRules, held: Moments) -> HeldOutPath:
    found = problem.path(rules)
    spread = held.covariance()
    # A residual is y − βᵀx − b: the form of (−β, 1) and the distance of the two means.
    form = np.column_stack([-found.coefs, np.ones(len(found.coefs))])
    with one_blas_thread():
        image = form @ spread
        offset = (held.y_mean[0] - problem.y_mean[0]) - found.coefs @ (held.x_mean - problem.x_mean)
    return HeldOutPath(
        found.alphas,
        np.maximum(np.sum(image * form, axis=1), 0.0) + offset**2,
        np.sum(image[:-1] * form[1:], axis=1) + offset[:-1] * offset[1:],
    )
