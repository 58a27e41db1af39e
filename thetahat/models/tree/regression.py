"""Regression trees: f(x) = Σⱼ vⱼ·1[x ∈ Rⱼ], with vⱼ the mean (or median) of the targets in Rⱼ."""

from __future__ import annotations

from typing import Any, ClassVar

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.likelihood import Poisson
from thetahat.mathematics.losses.targets import check_targets
from thetahat.models.tree.parameters import RegressionParameters
from thetahat.models.tree.single import SingleTree


class RegressionTree(ScoredRegressor, SingleTree, RegressionParameters):
    """Tree grown from sums of targets; predicts the mean or median of the leaf."""

    _ranges: ClassVar[dict[str, Range]] = {
        **SingleTree._ranges,
        "criterion": one_of("squared_error", "friedman_mse", "absolute_error", "poisson"),
    }

    def _opened(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[InMemory, tuple[int, ...]]:
        source = self._open(X, y, sample_weight)
        if self.criterion == "poisson":
            check_targets(Poisson(), source.y, who=type(self).__name__)
        assert source.y is not None
        self.n_outputs_ = 1 if source.y.ndim == 1 else source.y.shape[1]
        return source, ()

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Predict the value of the leaf of each row.

        Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        check_input : bool, default=True
            Accepted as in scikit-learn and has no effect: rows are always validated.

        Returns
        -------
        array of shape (n,) or (n, n_outputs)
            The predicted targets.
        """
        rows = self._rows(X)
        values = self.tree_.values_of(rows).astype(rows.dtype, copy=False)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values


@with_parameters
class DecisionTreeRegressor(RegressionTree):
    """Decision tree regressor with exact splits.

    The tree splits the rows by one column at a time and predicts a constant in each leaf.
    Categories and missing values are handled without preprocessing. The same tree results for any
    number of threads.

    Formula: each node takes the split with the smallest Σ_L (y − c_L)² + Σ_R (y − c_R)², where c_L
    and c_R are the means of the two sides (or the smallest absolute error with medians, or the
    smallest Poisson deviance). All splits of a sorted column together cost O(n).

    Cost: O(n·d) per level and O(n·d) memory; prediction O(depth) per row. Sparse rows stay sparse:
    the number of their entries takes the place of n·d. The absolute error costs O(n·log n·d) per
    level, for sparse rows O(n) for each column.

    Examples
    --------
    >>> import thetahat as th
    >>> tree = th.DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [1, 3, 9, 0])
    >>> tree.tree_.threshold[0], tree.predict([[0], [5]])
    (np.float64(3.5), array([4.33333333, 0.        ]))
    """

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "max_depth": (None, 3, 5, 8, 12),
        "min_samples_leaf": (1, 2, 5, 10, 20, 50),
    }
