"""Components of partial least squares from sums of products.

For each component, w and c are the first singular vectors of the deflated cross products
C = XᵀY. The score t = Xr is the part of Xw that is orthogonal to all earlier scores, and

    r = w − Σ_j (p_jᵀw) r_j,   p = XᵀXr/‖t‖²,   q = Yᵀt/‖t‖²,   C ← C − p(tᵀY).

Only C is deflated, never the rows (Dayal and MacGregor, 1997): the scores are those of the
textbook algorithm that subtracts tpᵀ from X. "regression" explains Y by the scores of X;
"canonical" deflates Y by scores of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.scatter import PassScatter, Scatter


@dataclass(frozen=True)
class Components:
    """Weights, loadings and rotations as columns; zeros from `count` on."""

    x_weights: Array
    y_weights: Array
    x_loadings: Array
    y_loadings: Array
    x_rotations: Array
    y_rotations: Array
    n_iter: tuple[int, ...]
    count: int
    """Number of components until nothing was left to explain."""
    converged: bool

    def coefficients(self, k: int | None = None) -> Array:
        """The coefficients of scaled columns with the first k components, (d, q)."""
        return self.x_rotations[:, :k] @ self.y_loadings[:, :k].T


def components_of(
    about: Scatter | PassScatter,
    k: int,
    *,
    canonical: bool = False,
    power: bool = False,
    max_iter: int = 500,
    tol: float = 1e-6,
) -> Components:
    """The first k components; fewer, with zeros behind them, if less can be explained."""
    cross = about.cross.copy()
    d, q = cross.shape
    W, P, R = np.zeros((d, k)), np.zeros((d, k)), np.zeros((d, k))
    V, Q, S = np.zeros((q, k)), np.zeros((q, k)), np.zeros((q, k))
    size = float(np.sqrt(about.size * np.trace(about.y_square)))
    n_iter, count, converged = list[int](), 0, True
    with one_blas_thread():
        for a in range(k):
            if not np.linalg.norm(cross) > 32 * EPSILON * size:
                break
            w, c, steps, settled = _first_pair(cross, power, max_iter, tol, canonical)
            r = w.copy()
            for _ in range(2 if a else 0):  # the second time removes the rounding errors
                r -= R[:, :a] @ (P[:, :a].T @ r)
            image, square = about.times(r)
            if not square > 32 * EPSILON * float(r @ r) * about.size:
                break
            if canonical:
                s = c.copy()
                for _ in range(2 if a else 0):
                    s -= S[:, :a] @ (Q[:, :a].T @ s)
                y_image = about.y_square @ s
                if not s @ y_image > 32 * EPSILON * (s @ s) * np.trace(about.y_square):
                    break
                V[:, a], S[:, a], Q[:, a] = c, s, y_image / float(s @ y_image)
            W[:, a], R[:, a], P[:, a] = w, r, image / square
            along = r @ cross
            cross -= np.outer(P[:, a], along)
            if canonical:
                cross -= np.outer(cross @ s, Q[:, a])
            else:
                V[:, a] = Q[:, a] = along / square
            n_iter.append(steps)
            count, converged = a + 1, converged and settled
        if not canonical and count:
            S = V @ scipy_linalg().pinv(Q.T @ V, check_finite=False)
    return Components(W, V, P, Q, R, S, tuple(n_iter), count, converged)


def _first_pair(
    cross: Array, power: bool, max_iter: int, tol: float, unit: bool
) -> tuple[Array, Array, int, bool]:
    """The first singular vectors of C, the entry of the largest size of the left one positive.

    The power method starts from the first column of Y that is not 0 and stops when the left vector
    changes by less than the tolerance, as NIPALS does on the rows.
    """
    d, q = cross.shape
    steps, settled = 1, True
    if q == 1:
        w = cross[:, 0]
    elif power:
        column = int(np.argmax(np.abs(cross).max(axis=0) > 0))
        w, steps, settled = _power(cross, cross[:, column], max_iter, tol)
    else:
        _, vectors = scipy_linalg().eigh(
            cross.T @ cross if q <= d else cross @ cross.T, check_finite=False
        )
        w = cross @ vectors[:, -1] if q <= d else vectors[:, -1]
    w = w / np.linalg.norm(w)
    w = w if w[np.abs(w).argmax()] >= 0 else -w
    c = cross.T @ w
    return w, c / np.linalg.norm(c), steps, settled


def _power(cross: Array, w: Array, max_iter: int, tol: float) -> tuple[Array, int, bool]:
    w = w / np.linalg.norm(w)
    for step in range(2, max_iter + 1):
        before, w = w, cross @ (cross.T @ w)
        w = w / np.linalg.norm(w)
        if float((w - before) @ (w - before)) < tol:
            return w, step, True
    return w, max_iter, False
