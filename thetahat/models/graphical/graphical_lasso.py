"""The graphical lasso: a sparse precision matrix by penalised maximum likelihood.

Q̂ = argmin_Q −log det Q + tr(SQ) + α Σ_{i≠j} |q_ij|
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, none, one_of
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import DataError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.square import as_symmetric
from thetahat.models.graphical.precision_block import log_determinant
from thetahat.models.graphical.sparse_precision import SparsePrecision

INDEFINITE = 1e-8
"""Negative eigenvalues of the correlations up to this size count as rounding errors."""


@with_parameters
class GraphicalLasso(SparsePrecision):
    """Graphical lasso: a Gaussian with a sparse precision matrix.

    Entries of the precision matrix Q = Σ⁻¹ that are zero mean conditional independence: q_ij = 0 ⇔
    x_i ⟂ x_j, given all other columns. The penalty makes many entries exactly zero, so that the
    pairs that remain form a Markov graph (see `MarkovGraph`) that can be read.

    Formula: Q̂ = argmin_Q −log det Q + tr(SQ) + α Σ_{i≠j} |q_ij|, with S the covariance of the rows
    (divided by n). Maximising the log-likelihood of n rows minus λ Σ_{i≠j} |q_ij| is the same
    problem with α = 2λ/n. With the number of edges in the place of Σ|q_ij| (an L0 penalty), the
    problem would need a search over all graphs; ``n_edges_`` is that number for the solution.

    The columns are first divided into the connected components of |s_ij| > α, which are those of
    the solution. Each component is solved by Newton steps on its sparse entries. The duality gap in
    ``solution_`` bounds the distance of the objective from its minimum. Columns are not
    standardised: divide them by their standard deviations if their units differ.

    Cost: O(n d²) for the covariance; each iteration O(c³ + c·k·m) for a component of c columns with
    k free pairs and m inner products. Memory O(d²).

    Parameters
    ----------
    alpha : float, default=0.01
        Strength of the penalty (α). Larger values give fewer edges; from the largest |s_ij| on, the
        precision matrix is diagonal. 0 gives S⁻¹, which exists only if S is not singular. Must be
        at least 0.
    covariance : "precomputed" or None, default=None
        With "precomputed", X in `fit` is the covariance matrix S itself, and ``location_`` is 0.
        None computes it from the rows of X.

    Examples
    --------
    >>> import thetahat as th
    >>> S = [[1.0, 0.6], [0.6, 1.0]]
    >>> model = th.GraphicalLasso(alpha=0.2, covariance="precomputed").fit(S)
    >>> model.covariance_.round(6).tolist()
    [[1.0, 0.4], [0.4, 1.0]]
    >>> model.precision_.round(6).tolist()
    [[1.190476, -0.47619], [-0.47619, 1.190476]]
    """

    alpha: float = 0.01
    _: KW_ONLY
    covariance: str | None = None

    _ranges: ClassVar[dict[str, Range]] = SparsePrecision._ranges | {
        "alpha": at_least(0, LARGEST_FACTOR),
        "covariance": none | one_of("precomputed"),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> GraphicalLasso:
        """Estimate the precision matrix.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows with finite numbers, of which no column is constant. With
            ``covariance="precomputed"``, the covariance matrix of shape (d, d).
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        if self.covariance == "precomputed":
            covariance = self._given_covariance(source)
            location = np.zeros(len(covariance))
        else:
            location, covariance = self._about_several_rows(source)
        self._solve(source, location, covariance, float(self.alpha), X, y)
        return self

    def _given_covariance(self, source: Source) -> Array:
        who = f"{type(self).__name__}(covariance='precomputed')"
        if not isinstance(source, InMemory) or source.is_sparse or source.weight is not None:
            raise DataError(
                f"{who}: X must be a dense covariance matrix without row weights. Use "
                "covariance=None to fit rows."
            )
        covariance = as_symmetric(source.X, who=who)
        self._require_variances(covariance, source)
        scale = np.sqrt(np.einsum("ii->i", covariance))
        correlation = covariance / scale / scale[:, None]
        np.fill_diagonal(correlation, 1.0 + INDEFINITE)
        if log_determinant(correlation) is None:
            lowest = float(np.linalg.eigvalsh(correlation)[0]) - INDEFINITE
            raise DataError(
                f"{who}: the matrix must be positive semi-definite, but its correlations have the "
                f"eigenvalue {lowest:.3g}. Pass a covariance matrix, or use covariance=None to fit "
                "rows."
            )
        return covariance


def graphical_lasso(
    emp_cov: Any,
    alpha: float,
    *,
    mode: str = "cd",
    tol: float = 1e-4,
    enet_tol: float = 1e-4,
    max_iter: int = 100,
    verbose: Any = False,
    return_costs: bool = False,
    eps: float = EPSILON,
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """Compute the sparse precision matrix of a covariance matrix.

    Formula: Q̂ = argmin_Q −log det Q + tr(SQ) + α Σ_{i≠j} |q_ij|, as in `GraphicalLasso`. Cost: at
    least O(c³) per iteration for each connected component of c columns; memory O(d²).

    Parameters
    ----------
    emp_cov : array-like of shape (d, d)
        The empirical covariance matrix (S): symmetric and positive semi-definite.
    alpha : float
        Strength of the penalty (α). Larger values give fewer entries that are not zero. Must be at
        least 0.
    mode : {"cd", "lars"}, default="cd"
        Has no effect. Accepted for compatibility with scikit-learn.
    tol : float, default=1e-4
        The solver stops when the duality gap is at most this value. Must be positive.
    enet_tol : float, default=1e-4
        Has no effect. Accepted for compatibility with scikit-learn.
    max_iter : int, default=100
        Maximum number of iterations of the solver.
    verbose : bool, default=False
        Has no effect. Accepted for compatibility with scikit-learn.
    return_costs : bool, default=False
        Whether to return the objective and the duality gap of each iteration, too.
    eps : float, default=2.22e-16
        Has no effect. Accepted for compatibility with scikit-learn.
    return_n_iter : bool, default=False
        Whether to return the number of iterations, too.

    Returns
    -------
    covariance : ndarray of shape (d, d)
        Estimated covariance matrix, the inverse of the precision matrix.
    precision : ndarray of shape (d, d)
        Estimated precision matrix.
    costs : list of (float, float)
        The objective and the duality gap of each iteration, with ``return_costs=True``.
    n_iter : int
        Number of iterations, with ``return_n_iter=True``.

    Examples
    --------
    >>> import thetahat as th
    >>> covariance, precision = th.graphical_lasso([[1.0, 0.6], [0.6, 1.0]], alpha=0.6)
    >>> precision.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    model = GraphicalLasso(
        alpha,
        mode=mode,
        covariance="precomputed",
        tol=tol,
        enet_tol=enet_tol,
        max_iter=max_iter,
        verbose=verbose,
        eps=eps,
    ).fit(emp_cov)
    found: list[Any] = [model.covariance_, model.precision_]
    if return_costs:
        found.append(model.costs_)
    if return_n_iter:
        found.append(model.n_iter_)
    return tuple(found)
