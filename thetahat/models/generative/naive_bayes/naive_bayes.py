"""Naive Bayes with a likelihood of choice for every column.

log p(x, c) = log π_c + Σ_j log p_j(x_j | c),   ĉ = argmax_c log p(x, c)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.columns.schema import Kind
from thetahat.data.source import Source
from thetahat.data.summaries.class_sums import ClassMoments
from thetahat.data.summaries.counts import counts
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import class_shares
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, more_than, one_of, whole
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.naive_bayes.binned import MOST_BINS
from thetahat.models.generative.naive_bayes.learning import (
    category_columns,
    category_counts,
    gaussian_columns,
    gaussian_moments,
    learn_histograms,
    learn_kernels,
)
from thetahat.models.generative.naive_bayes.level_counts import LevelCounts
from thetahat.models.generative.naive_bayes.likelihoods import ColumnLikelihoods, RowLikelihoods
from thetahat.models.generative.naive_bayes.table_reader import TableReader, joined_columns
from thetahat.models.neighbors.search.kernel_sums import density_kernel
from thetahat.models.tree.growth.columns import TreeColumns

LIKELIHOODS = ("gaussian", "bernoulli", "categorical", "histogram", "kernel")
_OF_KIND = {
    Kind.NUMERIC: "gaussian",
    Kind.DISCRETE: "gaussian",
    Kind.BOOLEAN: "bernoulli",
    Kind.ORDINAL: "categorical",
    Kind.CATEGORICAL: "categorical",
}


@with_parameters
class NaiveBayes(TableReader):
    """Naive Bayes classifier with a likelihood of choice for every column, in any mixture.

    Formula: p(x | c) = Π_j p_j(x_j | c) and p(c | x) = π_c·p(x | c) / Σ_k π_k·p(x | k), with

    =============  ==================================================================
    likelihood     p_j(x | c)
    =============  ==================================================================
    "gaussian"     N(x; μ, σ²) with the mean and variance of the class
    "bernoulli"    θ = (N₁ + α)/(N + 2α) for x = 1, and 1 − θ for x = 0
    "categorical"  (N_x + α)/(N + α·K) for K categories: text, or numbers as labels
    "histogram"    (N_b + α)/((N + α·(B + 2))·h) in bin b of B bins of width h
    "kernel"       Σ K((x − xᵢ)/h)/(N·h) over the rows xᵢ of the class
    =============  ==================================================================

    D histograms of B bins need D·B numbers per class, where one histogram of all columns would need
    B^D. The bins of a column are the same for all classes. With α > 0, a histogram has an
    exponential tail of scale h on both sides that together hold the share of two bins without rows;
    with α = 0 its density is 0 outside the bins. A category that was not seen in `fit` has the
    probability α/(N + α·K). A missing value (NaN, None) is left out: of the sums of its column in
    `fit`, and of the product in predictions. Row weights count as numbers of rows.

    Cost: O(n·d) for `fit`, O(n log n) per column of histograms; O(n·d·C) for predictions. The rows
    are read block by block. Kernels store the distinct values of their columns and cost O(n) per
    row and column in predictions.

    Parameters
    ----------
    likelihoods : str, list or dict, default="auto"
        The likelihood of the columns: one name for all columns, a list with one name per column, or
        a dictionary from column names or numbers to names, in which other columns are "auto".
        "auto" takes the kind of the column: categories and text are "categorical", Booleans
        "bernoulli", and numbers "gaussian".
    priors : {"estimated", "uniform"} or array-like of shape (n_classes,), default="estimated"
        Class probabilities (π): the shares of the training rows, equal ones, or given numbers that
        sum to 1, in the order of the sorted labels.
    alpha : float, default=1.0
        Number that is added to the counts of Bernoulli columns, categories and bins (α). 1 is
        add-one smoothing, which for a Bernoulli column is the most probable θ under the prior
        Beta(2, 2); 0 gives the observed shares. Must not be negative.
    var_smoothing : float, default=1e-9
        Share of the largest variance of all Gaussian columns that is added to every variance. Must
        not be negative; with 0, no Gaussian column may be constant in a class.
    bins : {"freedman_diaconis", "scott"} or int, default="freedman_diaconis"
        Rule for the bins of histograms, or their number. The rules choose the width 2·IQR/n^{1/3}
        and 3.49·σ/n^{1/3} from the rows of all classes, with at most 10,000 bins.
    kernel : str or smoothing kernel, default="gaussian"
        Kernel of the columns with kernel estimates (K), for example "epanechnikov".
    bandwidth : {"scott", "silverman"} or float, default="scott"
        Bandwidth of the kernel estimates (h). The rules choose σ·n^{−1/5} and 1.06·σ·n^{−1/5} for
        the Gaussian kernel from the rows of each class. Larger values make the density smoother.

    Attributes
    ----------
    likelihoods_ : list of str
        Name of the likelihood of each column.
    class_count_ : array of shape (n_classes,)
        Total weight of the rows of each class.
    class_prior_ : array of shape (n_classes,)
        Probability of each class (π).
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import pandas as pd
    >>> import thetahat as th
    >>> X = pd.DataFrame({"size": [1.0, 1.2, 3.0, 3.3], "colour": ["red", "red", "blue", "red"]})
    >>> model = th.NaiveBayes().fit(X, ["a", "a", "b", "b"])
    >>> model.likelihoods_
    ['gaussian', 'categorical']
    >>> model.predict(pd.DataFrame({"size": [1.1, 3.0], "colour": ["red", "green"]})).tolist()
    ['a', 'b']
    """

    likelihoods: Any = "auto"
    _: KW_ONLY
    priors: Any = "estimated"
    alpha: float = 1.0
    var_smoothing: float = 1e-9
    bins: str | int = "freedman_diaconis"
    kernel: Any = "gaussian"
    bandwidth: str | float = "scott"

    _ranges: ClassVar[dict[str, Range]] = {
        "alpha": at_least(0, LARGEST_FACTOR),
        "var_smoothing": at_least(0, LARGEST_FACTOR),
        "bins": one_of("freedman_diaconis", "scott") | whole(1, MOST_BINS),
        "bandwidth": one_of("scott", "silverman") | more_than(0, LARGEST_FACTOR),
    }
    _leaves_out_missing = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NaiveBayes:
        """Learn the likelihoods of all columns and the class probabilities.

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Training rows with numbers, categories and missing values. A `Source` is read block by
            block and contains the labels and weights.
        y : array-like of shape (n,), optional
            Class label of each training row. Leave it out if X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        density_kernel(self.kernel, type(self).__name__)
        source = self._open_classes(X, y, sample_weight, least=1)
        self.likelihoods_ = self._chosen(source)
        self._learn(source, 0.0, None, None)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> NaiveBayes:
        """Add a batch of rows to the model. The batches together give the model of one `fit`.

        The likelihoods of the columns are chosen in the first call. Later batches may have new
        categories. Histograms and kernels need all rows at once, so that they are refused. Cost:
        that of `fit` for the batch.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to learn from, with the same columns in every call.
        y : array-like of shape (n,)
            Class label of each row.
        classes : array-like of shape (n_classes,), optional
            All class labels that may occur in any call. Required in the first call only.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if isinstance(X, Source) or y is None:
            raise DataError(
                "NaiveBayes.partial_fit needs the rows X and the labels y of a batch. Use fit for "
                "a Source."
            )
        earlier = vars(self).get("_columns") if hasattr(self, "classes_") else None
        if earlier is not None:
            self._require_mergeable()
        with batch_after(self, X, first=earlier is None):
            source, _ = self._open_batch(X, y, classes, sample_weight)
        if earlier is None:
            self.likelihoods_ = self._chosen(source)
            self._require_mergeable()
            self._learn(source, 0.0, None, None)
            return self
        batch, self._columns = self._columns, joined_columns(earlier, self._columns, "NaiveBayes")
        tables = None if self._tables is None else self._tables.recoded(earlier, self._columns)
        self._learn(source, self.class_count_, self._moments, tables, batch)
        return self

    def _require_mergeable(self) -> None:
        whole = [kind for kind in self.likelihoods_ if kind in ("histogram", "kernel")]
        if whole:
            raise CapabilityError(
                f"NaiveBayes.partial_fit: {whole[0]} likelihoods need all rows at once. Use fit, "
                "which also reads a Source block by block, or other likelihoods."
            )
        if "_moments" not in vars(self) and hasattr(self, "_parts"):
            raise CapabilityError(
                "NaiveBayes.partial_fit: this model was saved by a version that did not keep what "
                "is needed to continue. Fit the model again."
            )

    def _learn(
        self,
        source: Source,
        count: Any,
        moments: ClassMoments | None,
        tables: LevelCounts | None,
        batch: TreeColumns | None = None,
    ) -> None:
        """Set the likelihoods from the rows of a source and what is known of earlier rows."""
        n_classes = len(self.classes_)
        found = counts(source)
        self.class_count_ = np.zeros(n_classes)
        self.class_count_[found.values.astype(np.intp)] = found.weights
        self.class_count_ += count
        self.class_prior_ = self._priors(self.class_count_ / self.class_count_.sum())
        kinds = np.array(self.likelihoods_)
        where = {kind: np.flatnonzero(kinds == kind) for kind in LIKELIHOODS}
        coded = np.sort(np.concatenate([where["bernoulli"], where["categorical"]]))
        parts: list[ColumnLikelihoods] = []
        self._moments, self._tables = moments, tables
        if (places := where["gaussian"]).size:
            new = gaussian_moments(source, places, n_classes)
            self._moments = new if moments is None else moments.merge(new)
            parts.append(gaussian_columns(self._moments, source, places, self.var_smoothing))
        if coded.size:
            level_counts = category_counts(source, coded, kinds[coded] == "bernoulli", n_classes)
            if tables is not None and batch is not None:
                level_counts = tables.merge(level_counts.recoded(batch, self._columns))
            self._tables = level_counts
            parts.append(category_columns(level_counts, source, self.alpha))
        if (places := where["histogram"]).size:
            parts.append(learn_histograms(source, places, n_classes, self.alpha, self.bins))
        if (places := where["kernel"]).size:
            smoothing = density_kernel(self.kernel, type(self).__name__)
            parts.append(learn_kernels(source, places, n_classes, smoothing, self.bandwidth))
        self._parts = tuple(parts)
        self.__dict__.pop("_likelihoods", None)
        _ = self._likelihoods  # made now, so that predictions do not change the model
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(self.class_prior_)

    def column_log_density(self, column: int | str, values: Any) -> Array:
        """Compute log p_j(x | c) of one column for some values, in every class.

        Parameters
        ----------
        column : int or str
            Number of the column, or its name if X had column names in `fit`.
        values : array-like of shape (m,)
            Values of the column; numbers, or the numbers of text categories in sorted order.

        Returns
        -------
        log_density : array of shape (m, n_classes)
            Log-densities, or log-probabilities of categories, in the order of ``classes_``.
        """
        check_is_fitted(self)
        place = self._place_of(column)
        x = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        part = next(each for each in self._parts if place in each.places)
        one = RowLikelihoods((part.column(int(np.flatnonzero(part.places == place)[0])),))
        return one.logs(x, np.zeros(len(self.classes_)))

    def _place_of(self, column: Any) -> int:
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        if isinstance(column, str) and column in names:
            return names.index(column)
        if whole(0, self.n_features_in_ - 1).holds(column):
            return int(column)
        known = f", or one of {', '.join(names[:10])}" if names else ""
        raise ParameterError(
            f"NaiveBayes: there is no column {column!r}. Give a number from 0 to "
            f"{self.n_features_in_ - 1}{known}."
        )

    def _priors(self, shares: Array) -> Array:
        if isinstance(self.priors, str):
            if self.priors == "uniform":
                return np.full_like(shares, 1.0 / len(shares))
            if self.priors == "estimated":
                return shares
            raise ParameterError(
                f"NaiveBayes: priors={self.priors!r} must be 'estimated', 'uniform', or an array "
                "with one number ≥ 0 per class."
            )
        return class_shares(shares, self.priors, type(self).__name__)

    def _chosen(self, source: Source) -> list[str]:
        """The name of the likelihood of every column."""
        given, d = self.likelihoods, source.n_features
        if isinstance(given, str):
            chosen = [given] * d
        elif isinstance(given, Mapping):
            chosen = ["auto"] * d
            for column, kind in given.items():
                chosen[self._place_of(column)] = kind
        elif isinstance(given, list | tuple) or np.ndim(given) == 1:
            chosen = list(given)
            if len(chosen) != d:
                raise ParameterError(
                    f"NaiveBayes: likelihoods has {len(chosen)} names, but X has {d} columns. "
                    "Give one name per column, or a dictionary."
                )
        else:
            raise ParameterError(
                f"NaiveBayes: likelihoods={given!r:.80} must be a name, a list of names or a "
                "dictionary from columns to names."
            )
        for place, kind in enumerate(chosen):
            if kind not in ("auto", *LIKELIHOODS):
                raise ParameterError(
                    f"NaiveBayes: the likelihood {kind!r} of column {source.schema.label(place)} "
                    f"must be 'auto' or one of {', '.join(map(repr, LIKELIHOODS))}."
                )
            if place in self._columns.levels and kind not in ("auto", "categorical"):
                raise ParameterError(
                    f"NaiveBayes: column {source.schema.label(place)} holds categories, such as "
                    f"{self._columns.levels[place][0]!r}, so that its likelihood cannot be "
                    f"{kind!r}. Use 'categorical'."
                )
        return [
            _OF_KIND[self._kinds[place]] if kind == "auto" else str(kind)
            for place, kind in enumerate(chosen)
        ]

    @cached_property
    def _likelihoods(self) -> RowLikelihoods:
        return RowLikelihoods(self._parts)

    def _joint(self, rows: Matrix) -> Array:
        joint = self._likelihoods.logs(rows, self._log_prior)
        return joint.astype(rows.dtype, copy=False)

    def _class_shares(self) -> Array:
        return self.class_prior_

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> Array:
        drawn = np.empty((n_samples, self.n_features_in_))
        for part in self._parts:
            drawn[:, part.places] = part.sample(code, n_samples, rng)
        if not self._columns.levels:
            return drawn
        rows = drawn.astype(object)
        for place, levels in self._columns.levels.items():
            rows[:, place] = [levels[int(each)] for each in drawn[:, place]]
        return rows
