"""Classification trees: f(x) = Σⱼ πⱼ·1[x ∈ Rⱼ], with πⱼ the class proportions of region Rⱼ."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.types import Array
from thetahat.models.tree.parameters import ClassificationParameters
from thetahat.models.tree.single import SingleTree
from thetahat.models.tree.tree_classifier import TreeClassifierLearner


class ClassificationTree(SingleTree, TreeClassifierLearner, ClassificationParameters):
    """Tree grown from class counts; predicts class proportions and majority classes."""

    _ranges: ClassVar[dict[str, Range]] = {
        **SingleTree._ranges,
        "criterion": one_of("gini", "entropy", "log_loss", "error"),
    }

    def _opened(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[InMemory, tuple[int, ...]]:
        source = self._open_labels(X, y, sample_weight, class_weight=self.class_weight)
        if self.n_outputs_ > 1:
            self.n_classes_ = np.array(self.n_classes_)
        return source, tuple(np.atleast_1d(self.n_classes_).tolist())

    def _shares(self, X: Any) -> Array:
        rows = self._rows(X)
        return self.tree_.values_of(rows).astype(rows.dtype, copy=False)

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Predict the majority class in the leaf of each row; the first one in case of ties.

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
            The predicted class labels.
        """
        leaves = self.apply(X)
        winners = self.tree_.majority[leaves]
        if self.n_outputs_ == 1:
            return self.classes_.take(winners[:, 0])
        columns = zip(self.classes_, winners.T, strict=True)
        return np.stack([classes.take(codes) for classes, codes in columns], axis=1)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Predict class probabilities: the class proportions in the leaf of each row.

        Cost: O(n · depth).

        Parameters
        ----------
        X : table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        check_input : bool, default=True
            Accepted as in scikit-learn and has no effect: rows are always validated.

        Returns
        -------
        array of shape (n, n_classes), or a list of such arrays for several outputs
            Probabilities in the order of ``classes_``.
        """
        return super().predict_proba(X)


@with_parameters
class DecisionTreeClassifier(ClassificationTree):
    """Decision tree classifier with exact splits.

    The tree splits the rows by one column at a time until its leaves contain (nearly) one class.
    Categories and missing values are handled without preprocessing. The same tree results for any
    number of threads.

    Formula: each node takes the split with the largest gain φ − (w_L·φ_L + w_R·φ_R)/w, where the
    impurity φ of the class proportions π is 1 − Σπ² (Gini), −Σ π·log₂ π (entropy) or 1 − max π
    (training error). Growth is greedy, because finding the best tree is NP-complete.

    Cost: O(n·d) per level and O(n·d) memory; prediction O(depth) per row. Sparse rows stay sparse:
    the number of their entries takes the place of n·d.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tree = th.DecisionTreeClassifier().fit(X, ["no", "yes", "yes", "no"])
    >>> tree.predict([[1, 0], [1, 1]]).tolist()
    ['yes', 'no']
    >>> tree.get_depth(), tree.get_n_leaves()
    (2, 4)
    """

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "max_depth": (None, 3, 5, 8, 12),
        "min_samples_leaf": (1, 2, 5, 10, 20, 50),
        "criterion": ("gini", "entropy"),
    }
