"""A Mahalanobis metric from pairs of similar and dissimilar rows.

M̂, b̂ = argmin_{M ⪰ 0, b} Σ_p w_p log(1 + exp(y_p·(d_M(p)² − b)))/Σ_p w_p + α·Σ_j s_j² M_jj.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.estimator.classifier import LabelledEstimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, more_than, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.proximal.proximal_gradient import ProximalGradient
from thetahat.models.metric.learned_metric import LearnedMetric
from thetahat.models.metric.pair_risk import ZERO, PairRisk
from thetahat.models.metric.pairs import (
    Pairs,
    count_of_pairs,
    given_pairs,
    pairs_of_classes,
)


@with_parameters
class PairwiseMetricLearner(LearnedMetric, LabelledEstimator):
    """Learn a Mahalanobis metric from pairs of similar and dissimilar rows.

    It is logistic regression on pairs: the probability that two rows are similar decreases with
    their squared distance. Pairs are given by row numbers, or made from class labels: two rows of
    one class are similar. The problem is convex, and the penalty makes the metric low in rank.

    Formula: P(similar) = σ(b − (x − x')ᵀM(x − x')), and M̂, b̂ = argmin over M ⪰ 0 and b of
    Σ_p w_p log(1 + exp(−y_p·(b − δ_pᵀMδ_p)))/Σ_p w_p + alpha·Σ_j s_j² M_jj, with the differences
    δ_p of the pairs, y_p = +1 for similar pairs and −1 for others, and the standard deviations s_j
    of the columns, so that the units of the columns have no influence.

    Cost: O(m d² + d³) per iteration for m pairs; memory O(m d).

    Parameters
    ----------
    alpha : float, default=0.01
        Strength of the penalty on the trace of M. Larger values give fewer components and smaller
        distances. Must be positive.
    n_pairs : int, default=20000
        Number of pairs that are drawn from class labels, half of them similar. If there are fewer
        pairs, all of them are used, and both kinds have the same total weight. Has no effect if
        pairs are given. Must be at least 2.
    max_iter : int, default=1000
        Maximum number of iterations. Raise it if the fit warns that it did not converge.
    tol : float, default=1e-5
        Tolerance: the fit stops when the optimality gap, the distance from zero to the
        subdifferential of the objective, is at most this value. Smaller values need more
        iterations. Must be at least 0.
    random_state : int, Generator, RandomState or None, default=None
        Seed for the pairs that are drawn. An int gives the same result in every call.

    Attributes
    ----------
    components_ : array of shape (k, d)
        The learned linear map (A) with M = AᵀA, one component per row, in the order of decreasing
        influence. The number of components (k) is the rank of M, at least 1.
    intercept_ : float
        Squared distance at which two rows are similar with probability 1/2 (b).
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order. Defined only if `fit` got labels.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0, 0.0], [0.1, 5.0], [1.0, 0.2], [1.1, 5.1]]
    >>> metric = th.PairwiseMetricLearner()
    >>> metric = metric.fit(X, similar=[[0, 1], [2, 3]], dissimilar=[[0, 2], [1, 3]])
    >>> search = th.NearestNeighbors(n_neighbors=1, metric=metric.metric_).fit(X)
    >>> search.kneighbors(return_distance=False).ravel().tolist()
    [1, 0, 3, 2]
    """

    _: KW_ONLY
    alpha: float = 0.01
    n_pairs: int = 20_000
    max_iter: int = 1000
    tol: float = 1e-5
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "alpha": more_than(0, 1e100),
        "n_pairs": whole(2),
        "max_iter": whole(1),
        "tol": at_least(0),
    }
    _draws_rows = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, similar: Any = None, dissimilar: Any = None
    ) -> PairwiseMetricLearner:
        """Find the metric. Cost: O(m d² + d³) per iteration for m pairs.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.
        y : array-like of shape (n,), optional
            Class label of each row, from which pairs are made. Leave it out if pairs are given.
        similar : array-like of shape (m, 2), optional
            Row numbers of pairs that are similar. All pairs have the same weight.
        dissimilar : array-like of shape (m, 2), optional
            Row numbers of pairs that are not similar.

        Returns
        -------
        self
            The fitted estimator.
        """
        rows, pairs, dtype = self._read(X, y, similar, dissimilar)
        scale = rows.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        differences = (rows[pairs.first] - rows[pairs.second]) / scale
        problem = PairRisk(differences, pairs.signs, pairs.weights, float(self.alpha))

        def attributes(theta: Array) -> dict[str, Any]:
            components = _factor(problem.matrix(theta)) / scale
            return {"components_": components.astype(dtype), "intercept_": float(theta[-1])}

        with self._watching(self.max_iter, attributes, X, y) as watch:
            solution = minimise(
                problem,
                ProximalGradient(),
                tolerance=float(self.tol),
                max_steps=int(self.max_iter),
                watch=watch,
                reason="a smooth loss, and a penalty with a proximal step in closed form",
            )
        self._keep(solution, attributes(solution.theta))
        self._warn_unless_converged()
        if not self.components_.any():
            warn(
                f"{type(self).__name__}: alpha={self.alpha:g} is so large that all distances are "
                "0. Use a smaller alpha.",
                UserWarning,
            )
        return self

    def _read(self, X: Any, y: Any, similar: Any, dissimilar: Any) -> tuple[Array, Pairs, Any]:
        """The rows as float64, the pairs, and the dtype of the components."""
        who, given = type(self).__name__, similar is not None or dissimilar is not None
        if given and y is not None:
            raise DataError(
                f"{who}: class labels y and pairs are both given. Pass y, or similar and "
                "dissimilar."
            )
        source = self._open(X, supervised=False) if given else self._open_classes(X, y, least=1)
        assert isinstance(source, InMemory)
        require_squares_of_rows(source, who=who)
        rows = np.array(source.X, dtype=np.float64, order="C")
        if given:
            if hasattr(self, "classes_"):
                del self.classes_
            pairs = given_pairs(similar, dissimilar, len(rows), who)
            self._require_pairs(len(pairs.signs), rows.shape[1])
            return rows, pairs, source.dtype
        assert source.y is not None
        random = generator(self.random_state)
        codes = source.y.astype(np.intp)
        self._require_pairs(count_of_pairs(len(codes), int(self.n_pairs)), rows.shape[1])
        return rows, pairs_of_classes(codes, int(self.n_pairs), random, who), source.dtype

    def _require_pairs(self, m: int, d: int) -> None:
        """Check the memory for the row numbers of the pairs, and for their differences."""
        require_memory(
            8 * m * (10 + 4 * d) + 10 * 8 * d * d,
            f"{type(self).__name__}: {m} pairs of rows with {d} columns",
            "Use fewer pairs (n_pairs), or fewer columns.",
        )


def _factor(M: Array) -> Array:
    """A with M = AᵀA and as many rows as M has positive eigenvalues, at least 1."""
    values, vectors = np.linalg.eigh(M)
    k = max(1, int((values > ZERO * max(float(values[-1]), 1e-300)).sum()))
    A = (vectors[:, ::-1][:, :k] * np.sqrt(np.maximum(values[::-1][:k], 0.0))).T
    largest = np.take_along_axis(A, np.abs(A).argmax(axis=1)[:, None], axis=1)
    return A * np.where(largest < 0, -1.0, 1.0)
