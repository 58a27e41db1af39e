"""What a prediction by neighbours keeps beside the rows: class labels, or targets."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from thetahat.data.arrays import as_array
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.validation import require_dense_target
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.parameters import Range
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.foundation.checked_value import check_arrays, check_rule
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array, Matrix
from thetahat.models.neighbors.base import NeighborModel
from thetahat.models.neighbors.queries import Weighted


class NeighborsClassifier(Classifier, Weighted, NeighborModel):
    """A classifier by votes of neighbours, of one label or several.

    Attributes
    ----------
    classes_ : array of shape (n_classes,), or list of such arrays
        The class labels, in sorted order; one array per column if y has several.
    outputs_2d_ : bool
        Whether y has several columns of labels.
    """

    _parametric = False
    _ranges: ClassVar[dict[str, Range]] = NeighborModel._ranges | Weighted._ranges
    _multi_output = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Any:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
        y : array-like of shape (n,) or (n, n_outputs)
            Class label of each training row, or one label per column.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        columns = _label_columns(y, type(self).__name__)
        first = y if columns is None else columns[0]
        finite = not self._accepts_missing()
        source = self._open_classes(X, first, least=1, check_finite=finite)
        assert isinstance(source, InMemory)
        assert source.y is not None
        codes = [source.y.astype(np.intp)]
        classes = [self.classes_]
        for column in [] if columns is None else columns[1:]:
            labels = self._labels(column)
            encoding = LabelEncoding.of(labels)
            codes.append(encoding.encode(labels).astype(np.intp))
            classes.append(encoding.classes)
        self._keep_rows(source)
        self.outputs_2d_ = columns is not None
        if columns is not None:
            self.classes_ = classes  # type: ignore[assignment]
        self._codes = codes[0] if columns is None else np.stack(codes, axis=1)
        return self

    @property
    def _outputs(self) -> list[tuple[Array, Array]]:
        """Codes of the training rows and classes, per column of labels."""
        if not self.outputs_2d_:
            return [(self._codes, self.classes_)]
        return list(zip(self._codes.T, self.classes_, strict=True))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "_index" not in vars(self):
            return
        n, state = self.n_samples_fit_, vars(self)
        classes, codes = state.get("classes_"), state.get("_codes")
        several = state.get("outputs_2d_")
        lists = classes if several is True and isinstance(classes, list) else [classes]
        check_rule(
            self,
            isinstance(several, bool)
            and len(lists) > 0
            and all(
                isinstance(each, np.ndarray) and each.ndim == 1 and each.size for each in lists
            ),
            "classes_ must be an array of labels, or a list of such arrays",
        )
        shape = (n, len(lists)) if several else (n,)
        check_rule(
            self,
            isinstance(codes, np.ndarray)
            and codes.shape == shape
            and codes.dtype.kind == "i"
            and all(
                0 <= each.min() and each.max() + 1 == len(labels)
                for each, labels in zip(codes.reshape(n, -1).T, lists, strict=True)
            ),
            f"the codes of the labels must be {n} numbers of classes",
        )

    def _votes(self, rows: Matrix | None) -> list[Array]:
        raise NotImplementedError

    def _map_votes(self, X: Any) -> tuple[list[Array], Any]:
        """The votes of all queries, per column of labels, and the dtype of the queries."""
        if isinstance(X, Source) and not isinstance(X, InMemory):
            parts = [self._votes(block.X) for block in self._queries(X).blocks()]
            return [np.concatenate(each) for each in zip(*parts, strict=True)], np.float64
        votes, dtype = self._map_queries(X, self._votes)
        return votes, dtype

    def _first_labels(self, votes: list[Array]) -> Array:
        """The labels with the most votes, the first ones in case of ties."""
        found = [
            classes[each.argmax(axis=1)]
            for each, (_, classes) in zip(votes, self._outputs, strict=True)
        ]
        return np.stack(found, axis=1) if self.outputs_2d_ else found[0]

    def _votes_of(self, query: Array, row: Array, weight: Array | None, m: int) -> list[Array]:
        """The weight of each class among the neighbours, (m, n_classes), per column of labels."""
        found = []
        for codes, classes in self._outputs:
            size = classes.shape[0]
            require_memory(
                16 * m * size,
                f"{type(self).__name__}: the votes of {m} rows for {size} classes",
                "Predict fewer rows at a time.",
            )
            place = codes[row] if m == 1 else query * size + codes[row]
            votes = np.bincount(
                place.ravel(), None if weight is None else weight.ravel(), minlength=m * size
            )
            found.append(votes.reshape(m, size).astype(np.float64, copy=False))
        return found


def _label_columns(y: Any, who: str) -> list[Any] | None:
    """The columns of labels where there are several, else None."""
    require_dense_target(y, who)
    given = as_array(y, "y", who) if isinstance(y, list | tuple) else y
    if y is None or getattr(given, "ndim", 1) != 2:
        return None
    if hasattr(y, "iloc"):
        return [y.iloc[:, j] for j in range(y.shape[1])] if y.shape[1] > 1 else None
    y = np.asarray(given)
    return list(y.T) if y.shape[1] > 1 else None


class NeighborsRegressor(ScoredRegressor, Weighted, NeighborModel):
    """A regressor by averages over neighbours, of one target or several."""

    _generative = False
    _parametric = False
    _ranges: ClassVar[dict[str, Range]] = NeighborModel._ranges | Weighted._ranges
    _multi_output = True

    def fit(self, X: Any, y: Any = None) -> Any:
        """Keep the rows and build the search structure. Cost: O(n log n · d) with a kd-tree.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or all their distances if ``metric="precomputed"``.
        y : array-like of shape (n,) or (n, n_targets)
            Target of each training row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        source = self._open(X, y, check_finite=not self._accepts_missing())
        assert isinstance(source, InMemory)
        assert source.y is not None
        self._keep_rows(source)
        self._targets = np.array(source.y, dtype=np.float64)
        return self

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "_index" in vars(self):
            n, targets = self.n_samples_fit_, vars(self).get("_targets")
            is_matrix = isinstance(targets, np.ndarray) and targets.ndim == 2
            several = (targets.shape[1],) if targets is not None and is_matrix else ()
            check_arrays(self, {"_targets": (np.float64, (n, *several))})
            check_rule(self, bool(np.isfinite(self._targets).all()), "targets must be finite")
