"""Laplacian support vector machines: mean loss + α/2·‖f‖² + γ/2·(variation of f along a graph)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    at_least,
    boolean,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.given import Precomputed
from thetahat.models.kernel.machine import KernelMachine
from thetahat.models.semi_supervised.machine import PartlyLabelledMachine, PartlyLabelledRows
from thetahat.models.semi_supervised.neighbour_graph import distinct_rows, edge_weights, laplacian
from thetahat.objective.kernel.features import KernelFeatures
from thetahat.objective.kernel.penalised import PenalisedFeatures
from thetahat.objective.predictor import in_double


@with_parameters
class LaplacianSVM(PartlyLabelledMachine):
    """Support vector machine whose function varies little between near rows, labelled or not.

    Formula: f̂, b̂ = argmin (Σ wᵢ ℓ(yᵢ, f(xᵢ) + b))/(Σ wᵢ) over the labelled rows
    + α/2·‖f‖² + γ/2·(Σᵢⱼ Wᵢⱼ (f(xᵢ) − f(xⱼ))²)/(Σᵢⱼ Wᵢⱼ) over the edges of a graph that joins all
    rows with their nearest neighbours. The last term is fᵀLf with the Laplacian L of the graph.
    With ``normalised=True`` it is γ/2·(Σᵢⱼ Wᵢⱼ (f(xᵢ)/√dᵢ − f(xⱼ)/√dⱼ)²)/n, with the degrees
    dᵢ = Σⱼ Wᵢⱼ and the number of rows n.
    Rows without a label have the label −1; they have no loss, but the graph connects them with
    nearby rows. The function is also defined for new rows.

    The hinge loss gives the Laplacian support vector machine, the squared loss of labels ±1
    Laplacian regularised least squares, and every other loss of classes works as well. The problem
    is that of `KernelModel` with other features, solved by the same methods.

    Cost: O(n³) time and three matrices of n² numbers, whose size is checked first; with m centres
    (``n_components``) O(n m²) time and n·m numbers. The search for neighbours takes additional
    time.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        The loss of a labelled row: "hinge", "squared_hinge", "logistic", "squared" (of labels ±1)
        or another loss of classes. More than two classes need "softmax_cross_entropy".
    alpha : float, default=0.001
        Strength of the penalty on the function, alpha/2·‖f‖². Larger values give smoother
        functions. Must be positive.
    graph_alpha : float, default=1.0
        Strength of the penalty on differences along the edges of the graph (γ). Larger values make
        the function more constant within regions of near rows. 0 ignores the unlabelled rows.
    n_neighbors : int, default=10
        Number of nearest neighbours with which every row is joined. More neighbours connect more
        distant regions. With fewer rows, all rows are joined.
    edge_weight : {"heat", "uniform"}, default="heat"
        Weight of an edge of length r: exp(−r²/(2h²)), or 1.
    bandwidth : float or None, default=None
        Length scale of the weights "heat" (h). Larger values make the weights more equal. None
        means the median of the distances of every row from its nearest neighbours; two rows that
        are neighbours of each other count twice.
    normalised : bool, default=False
        Whether to divide the values of the function by the roots of the degrees of the rows, so
        that regions with many edges do not outweigh others. The intercept is not part of the graph
        term in either case.

    Attributes
    ----------
    n_edges_ : int
        Number of edges of the graph.

    References
    ----------
    Belkin, Niyogi and Sindhwani (2006), "Manifold regularization", JMLR 7.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.concatenate([np.linspace(0.0, 1.0, 20), np.linspace(1.5, 6.0, 40)])[:, None]
    >>> y = np.full(60, -1)
    >>> y[0], y[20] = 0, 1
    >>> model = th.LaplacianSVM(kernel=th.kernels.RBF(sigma=0.3), n_neighbors=3).fit(X, y)
    >>> model.predict([[0.9], [5.8]]).tolist()
    [0, 1]
    """

    loss: Any = "hinge"
    kernel: Any = "rbf"
    alpha: float = 1e-3
    graph_alpha: float = 1.0
    _: KW_ONLY
    n_neighbors: int = 10
    edge_weight: str = "heat"
    bandwidth: float | None = None
    normalised: bool = False
    n_components: int | str | None = "auto"
    centers: str = "uniform"
    solver: Any = "auto"
    fit_intercept: bool = True
    max_iter: int | None = None
    tol: float = 1e-8
    random_state: Any = None

    _ranges = KernelMachine._ranges | {
        "alpha": more_than(0, LARGEST_FACTOR),
        "graph_alpha": at_least(0, LARGEST_FACTOR),
        "n_neighbors": whole(1),
        "edge_weight": one_of("heat", "uniform"),
        "bandwidth": more_than(0) | none,
        "normalised": boolean,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LaplacianSVM:
        """Fit the function to labelled and unlabelled rows. Cost: O(n³), or O(n m²).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows with and without labels; for a precomputed kernel, the matrix of shape
            (n, n), whose distances also give the graph.
        y : array-like of shape (n,)
            The labels of the rows, −1 for rows without a label. To mix text labels with −1, use an
            array of objects.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        rows = self._partly_labelled(X, y, sample_weight)
        source = rows.everything
        self.kernel_ = self._kernel(source)
        first, place = distinct_rows(source.X)
        centres = self._centres_among(first, source)
        self._require_features(len(first), len(centres), copies=2, squares=4)
        features = KernelFeatures.of(self.kernel_, source.X, centres)
        values = features(source.X[first])
        M = self._penalty(rows, first, place, values)
        try:
            inner, seen = PenalisedFeatures.of(features, values[place[rows.known]], M)
        except np.linalg.LinAlgError:
            raise ParameterError(
                f"LaplacianSVM: with alpha={self.alpha!r} and graph_alpha="
                f"{self.graph_alpha!r} the penalty of the graph is too large beside that of "
                "the kernel, so that their sum is singular to rounding. Raise alpha, or lower the "
                "other."
            ) from None
        self._fit_features(inner, seen, rows.labelled, rows.n_scores, self.alpha, X, y)
        self._state_centres(self._n_centres(source), source.n_rows)
        self._label_rest(X, y)
        return self

    def _centres_among(self, first: Array, source: Any) -> Array:
        """Centres among distinct rows, in the order of the rows."""
        distinct = np.sort(first)
        return distinct[self._centres(source.take(distinct))]

    def _penalty(
        self, rows: PartlyLabelledRows, first: Array, place: Array, values: Array
    ) -> Array:
        """M = I + (γ/α)·ΦᵀLΦ for the features Φ of the distinct rows."""
        X = in_double(rows.everything.X)
        given = isinstance(self.kernel_, Precomputed)
        points = _distances(X[np.ix_(first, first)]) if given else X[first]
        weight = np.bincount(place, rows.everything.row_weights)
        W = edge_weights(
            points, self.n_neighbors, self.edge_weight == "heat", self.bandwidth, given
        )
        self.n_edges_ = int(W.nnz // 2)
        L = laplacian(W, weight, self.normalised)
        with one_blas_thread():
            M = values.T @ (L @ values)
        M *= self.graph_alpha / self.alpha
        np.einsum("ii->i", M)[:] += 1.0
        return M


def _distances(K: Array) -> Array:
    """The distances of the rows in the feature space of a kernel matrix."""
    size = np.einsum("ii->i", K)
    return np.sqrt(np.maximum(size[:, None] + size - 2 * K, 0.0))
