"""Categorical naive Bayes: every column has its own table of probabilities in every class.

log p(x, c) = log π_c + Σ_j log θ_cj(x_j),   θ_cj(k) = (N_cjk + α) / (N_cj + α·K_j)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.columns.schema import Column, Schema
from thetahat.data.source import Source
from thetahat.data.summaries.class_categories import (
    CategoryCounts,
    require_categories,
    require_table_memory,
    summarise_categories,
)
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import GenerativeClassifier
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, none, whole
from thetahat.foundation.cached import cached_property
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.naive_bayes.discrete import DiscreteNB, numbers_per_column
from thetahat.models.generative.naive_bayes.tables import CategoryTables


@with_parameters
class CategoricalNB(DiscreteNB, GenerativeClassifier):
    """Categorical naive Bayes classifier, for columns of categories numbered 0, 1, ....

    Formula: p(x | c) = Π_j θ_cj(x_j) with θ_cj(k) = (N_cjk + α)/(N_cj + α·K_j), the smoothed share
    of category k in column j among the rows of class c; K_j is the number of categories.

    Entries must be whole numbers ≥ 0, for example from scikit-learn's OrdinalEncoder. A category
    beyond those of `fit` is an error in `predict`; set ``min_categories`` if there are more
    categories than the training rows contain. `NaiveBayes` reads text and unseen categories.

    Cost: O(n·d) time for `fit`, memory for classes times categories; O(n·d·C) for predictions.

    Parameters
    ----------
    alpha : float, default=1.0
        Number that is added to every count (α). 1 is add-one smoothing; larger values make the
        probabilities more equal; 0 gives the observed shares. Must not be negative.
    min_categories : int, array-like of shape (d,) or None, default=None
        Smallest number of categories of every column, or of each column. None uses the largest
        category of the training rows plus 1.

    Attributes
    ----------
    category_count_ : list of d arrays of shape (n_classes, n_categories)
        Total weight of the rows with each category, in each class (N_cjk).
    feature_log_prob_ : list of d arrays of shape (n_classes, n_categories)
        Logarithm of the probability of each category, in each class (log θ).
    n_categories_ : array of shape (d,)
        Number of categories of each column (K).

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.CategoricalNB().fit([[0, 2], [1, 2], [1, 0]], ["a", "a", "b"])
    >>> model.n_categories_.tolist()
    [2, 3]
    >>> model.predict([[0, 2]]).tolist()
    ['a']
    """

    _: KW_ONLY
    alpha: float = 1.0
    min_categories: Any = None

    _ranges: ClassVar[dict[str, Range]] = DiscreteNB._ranges | {
        "alpha": at_least(0, LARGEST_FACTOR),
        "min_categories": none | whole(1) | numbers_per_column,
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        return tags

    def _open(self, *given: Any, **options: Any) -> Source:
        with _ordinal_remedy():
            return super()._open(*given, **options)

    def _open_again(self, X: Any) -> Source:
        with _ordinal_remedy():
            return super()._open_again(X)

    def _check_loaded(self) -> None:
        found = vars(self)
        if "feature_log_prob_" not in found:
            return
        tables = found["feature_log_prob_"]
        shapes = [np.shape(each) for each in tables] if isinstance(tables, list) else []
        n_classes = np.size(found.get("classes_", ()))
        check_rule(
            self,
            bool(shapes) and all(len(each) == 2 and each[0] == n_classes for each in shapes),
            "feature_log_prob_ must hold a table with one row per class for each column",
        )
        for name in ("n_categories_", "_sizes"):
            same = np.array_equal(found.get(name, ()), [each[1] for each in shapes])
            check_rule(self, same, f"{name} must hold the widths of the tables")

    def _summarise(self, source: Source) -> CategoryCounts:
        source.require_finite()
        who = type(self).__name__
        return source.reduce(summarise_categories, len(self.classes_), source.schema, None, who)

    def _summary(self) -> CategoryCounts | None:
        if "feature_log_prob_" not in self.__dict__:
            return None
        return CategoryCounts(self.class_count_, tuple(self.category_count_))

    def _conclude(self, summary: CategoryCounts) -> None:
        alpha = self._check_alpha()
        sizes = self._least_sizes(len(summary.columns))
        widths = [
            max(table.shape[1], int(least))
            for table, least in zip(summary.columns, sizes, strict=True)
        ]
        schema = self._schema()
        labels = [schema.label(place) for place in range(len(widths))]
        require_table_memory(widths, len(summary.count), labels, type(self).__name__)
        counts = [_padded(*pair) for pair in zip(summary.columns, sizes, strict=True)]
        self._set_class_prior(summary.count)
        self.category_count_ = counts
        self.n_categories_ = np.array([table.shape[1] for table in counts], dtype=np.int64)
        self._sizes = self.n_categories_.astype(np.uint64)
        self.feature_log_prob_ = [log_shares(table, alpha) for table in counts]
        self.__dict__.pop("_joint_tables", None)
        _ = self._joint_tables  # made now, so that predictions do not change the model

    @cached_property
    def _joint_tables(self) -> CategoryTables:
        """The tables of all columns; that of the first one includes the class probabilities."""
        tables = CategoryTables.of(self.feature_log_prob_)
        tables.table[: self.feature_log_prob_[0].shape[1]] += self.class_log_prior_
        return tables

    def _least_sizes(self, d: int) -> Array:
        """The smallest number of categories of each column."""
        if self.min_categories is None:
            return np.zeros(d, dtype=np.int64)
        given = np.asarray(self.min_categories)
        if given.dtype.kind not in "iu":
            raise ParameterError(
                "CategoricalNB: 'min_categories' should have integral type. Got "
                f"{given.dtype} instead."
            )
        if given.shape not in ((), (d,)):
            raise ParameterError(
                f"CategoricalNB: 'min_categories' should have shape ({d},) when an array-like is "
                f"provided. Got {given.shape} instead."
            )
        return np.broadcast_to(given, d)

    def _joint(self, rows: Matrix) -> Array:
        with np.errstate(invalid="ignore"):  # numbers beyond int64 are refused below
            codes = rows.astype(np.int64)
        # As an unsigned number, a negative one is too large.
        known = (codes.astype(rows.dtype) == rows) & (codes.view(np.uint64) < self._sizes)
        if np.count_nonzero(known) < known.size:
            self._refuse(rows)
        joint = self._joint_tables.sums(codes)
        return joint if rows.dtype.char == "d" else joint.astype(rows.dtype)

    def _refuse(self, rows: Array) -> None:
        """Raise an error for the first entry that is not a category of `fit`."""
        schema = self._schema()
        for place in range(rows.shape[1]):
            require_categories(rows[:, place], place, 0, schema, type(self).__name__)
        row, place = (int(at) for at in np.argwhere(rows >= self.n_categories_)[0])
        raise DataError(
            f"CategoricalNB: column {schema.label(place)} holds category {int(rows[row, place])} "
            f"at row {row}, but fit found only categories 0 to {self.n_categories_[place] - 1}. "
            "Set min_categories to the number of all categories, if they are numbered 0, 1, ... "
            "without gaps, or use NaiveBayes, in which unseen categories have a probability."
        )

    def _schema(self) -> Schema:
        names = getattr(self, "feature_names_in_", ())
        return Schema(tuple(Column(str(name)) for name in names))

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        return np.column_stack(
            [drawn_codes(logs[code], n_samples, rng) for logs in self.feature_log_prob_]
        )


@contextmanager
def _ordinal_remedy() -> Iterator[None]:
    """Name the encoder of this model in errors that explain how to encode text."""
    try:
        yield
    except DataError as failure:
        words = str(failure)
        if "OneHotEncoder" not in words:
            raise
        raise DataError(words.replace("OneHotEncoder", "OrdinalEncoder")) from None


def _padded(table: Array, least: int) -> Array:
    """The counts, with zeros for categories that no row has."""
    more = max(0, int(least) - table.shape[1])
    return np.pad(table, ((0, 0), (0, more))) if more else table


def log_shares(counts: Array, alpha: float) -> Array:
    """log (N_k + α)/Σ(N + α) of every class; equal shares for a class without counts."""
    smoothed = counts + alpha
    total = smoothed.sum(axis=1, keepdims=True)
    empty = ~(total[:, 0] > 0)
    smoothed[empty], total[empty] = 1.0, smoothed.shape[1]
    with np.errstate(divide="ignore"):  # in place, as the tables may be large
        logs = np.log(smoothed, out=smoothed)
    logs -= np.log(total)
    return logs


def drawn_codes(logs: Array, n_samples: int, rng: np.random.Generator) -> Array:
    """Categories drawn with the given log-probabilities, as float64."""
    share = np.exp(logs)
    return rng.choice(len(share), size=n_samples, p=share / share.sum()).astype(np.float64)
