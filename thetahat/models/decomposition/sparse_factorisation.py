"""Factorisation X ≈ UD with sparse U by alternation: the problem, its start and its steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.summaries.moments import moments
from thetahat.foundation.threads import one_blas_thread, ordered_map
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method, State
from thetahat.models.decomposition.sparse_coding import Coder

ROWS_AT_ONCE = 256
"""Number of rows per task; fixed, so that results do not depend on the number of threads."""
ATOM_PASSES = 10
"""Passes over the atoms per iteration; they cost little compared with the codes."""


@dataclass(frozen=True)
class Sums:
    """Sums over all rows needed per iteration: normal equations of the atoms, and the objective."""

    square: Array
    """UᵀU."""
    cross: Array
    """UᵀX."""
    value: float
    misfit: Array
    """‖x − uᵀD‖² of each row."""

    @classmethod
    def over(cls, parts: Iterator[Sums]) -> Sums:
        every = list(parts)
        return cls(
            np.sum([part.square for part in every], axis=0),
            np.sum([part.cross for part in every], axis=0),
            math.fsum(part.value for part in every),
            np.concatenate([part.misfit for part in every]),
        )


@dataclass(frozen=True)
class Factorisation:
    """½‖X − UD‖² + alpha·‖U‖₁ over unit atoms, with U the best codes for D."""

    X: Array
    coder: Coder
    positive_atoms: bool
    callback: Callable[[dict[str, Any]], None] | None = None

    def code(self, dictionary: Array, codes: Array) -> Sums:
        """Best codes of every row, in place, and their sums."""
        with one_blas_thread():
            gram = dictionary @ dictionary.T

        def work(start: int) -> Sums:
            rows = slice(start, start + ROWS_AT_ONCE)
            X, U = self.X[rows], codes[rows]
            self.coder.codes(X, dictionary, gram, start=U)
            misfit = ((X - U @ dictionary) ** 2).sum(axis=1)
            value = 0.5 * float(misfit.sum()) + self.coder.alpha * float(np.abs(U).sum())
            return Sums(U.T @ U, U.T @ X, value, misfit)

        return Sums.over(ordered_map(work, range(0, len(self.X), ROWS_AT_ONCE)))

    def atoms(self, dictionary: Array, codes: Array, sums: Sums) -> Array:
        """Best unit atoms for these codes, one after another; unused atoms are replaced."""
        dictionary, used = dictionary.copy(), np.diagonal(sums.square) > 0
        with one_blas_thread():
            for _ in range(ATOM_PASSES):
                before = dictionary.copy()
                for k in np.flatnonzero(used):
                    step = sums.cross[k] - sums.square[k] @ dictionary
                    dictionary[k] = self._admissible(dictionary[k] + step / sums.square[k, k])
                if np.abs(dictionary - before).max() <= 1e-9:
                    break
            self._replace(dictionary, np.flatnonzero(~used), codes, sums.misfit)
        return dictionary

    def _replace(self, dictionary: Array, unused: Array, codes: Array, misfit: Array) -> None:
        """Replace unused atoms by the rows with the largest errors, each by a different one."""
        if not unused.size:
            return
        worst = np.argsort(-misfit, kind="stable")[: 4 * unused.size]
        left = self.X[worst] - codes[worst] @ dictionary
        floor = 1e-12 * float(misfit.max())
        for k in unused:
            row = int((left**2).sum(axis=1).argmax())
            atom = self._admissible(left[row] / max(float(np.linalg.norm(left[row])), 1e-300))
            size = float(atom @ atom)
            if not float(left[row] @ left[row]) > floor or not size > 0:
                return
            dictionary[k] = atom / math.sqrt(size)
            left = left - np.outer(left @ dictionary[k], dictionary[k])

    def admissible(self, dictionary: Array) -> Array:
        """A start that satisfies the constraints; it is returned if no step improves it."""
        if not self.positive_atoms:
            return dictionary
        return np.array([self._admissible(atom) for atom in dictionary])

    def _admissible(self, atom: Array) -> Array:
        """The nearest admissible atom: norm at most 1, and ≥ 0 if required."""
        atom = np.maximum(atom, 0.0) if self.positive_atoms else atom
        return atom / max(float(np.linalg.norm(atom)), 1.0)


@dataclass(frozen=True, eq=False)
class InTurns(Method):
    """Atoms for fixed codes, then codes for fixed atoms."""

    codes: Array

    name = "alternating_minimisation"
    needs = ("code", "atoms")
    gap_kind = "relative decrease of the objective in the last iteration"

    def start(self, problem: Any, theta: Array) -> State:
        codes = self.codes.copy()
        sums = problem.code(theta, codes)
        return State(theta, sums.value, math.inf, {"codes": codes, "sums": sums, "errors": []})

    def advance(self, problem: Any, state: State) -> State:
        codes, errors = state.memory["codes"].copy(), state.memory["errors"]
        dictionary = problem.atoms(state.theta, codes, state.memory["sums"])
        sums = problem.code(dictionary, codes)
        gap = (state.value - sums.value) / sums.value if sums.value > 0 else 0.0
        errors = [*errors, sums.value]
        if problem.callback is not None and len(errors) % 5 == 1:
            problem.callback({"dictionary": dictionary, "code": codes, "errors": errors})
        return State(dictionary, sums.value, gap, {"codes": codes, "sums": sums, "errors": errors})


def principal_directions(source: InMemory, k: int) -> Array:
    """The k leading right singular vectors of X, with positive largest entries."""
    n, d = source.n_rows, source.n_features
    with one_blas_thread():
        if n < d:
            _, values, rows = np.linalg.svd(source.X.astype(np.float64), full_matrices=False)
        else:
            about = moments(source).about_zero()
            squares, vectors = np.linalg.eigh(about.scatter * about.unit * about.unit[:, None])
            values, rows = np.sqrt(np.maximum(squares[::-1], 0.0)), vectors.T[::-1]
    rows = rows[: min(k, int((values > 1e-7 * max(values[0], 1e-300)).sum()))]
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    dictionary = np.zeros((k, d))
    dictionary[: len(rows)] = rows * np.sign(largest)
    return dictionary
