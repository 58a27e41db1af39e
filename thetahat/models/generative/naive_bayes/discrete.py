"""Shared by naive Bayes models of counts: smoothing, class probabilities and linear scores.

The joint log-probability of these models is linear in the (binarised) counts, s_c = b_c + ⟨x, t_c⟩.
A probability of 0 has the logarithm −∞, which must not be multiplied by a count of 0; such terms
are held apart.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from thetahat.data.source import Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.generative_classifier import class_shares
from thetahat.estimator.parameters import LARGEST_FACTOR, Range, at_least, boolean
from thetahat.foundation.arguments import numbers
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.products import product
from thetahat.foundation.types import Array, Matrix
from thetahat.models.generative.naive_bayes.class_summary import SummarisedClasses

SMALLEST_ALPHA = 1e-10
"""Smallest smoothing, unless ``force_alpha=True``."""

numbers_per_column = Range(
    lambda value: isinstance(value, np.ndarray | list | tuple),
    "an array with one number per column",
)


@with_parameters
class DiscreteNB(SummarisedClasses, ABC):
    """Naive Bayes for counts or categories, with additive smoothing.

    Parameters
    ----------
    alpha : float or array-like of shape (d,), default=1.0
        Number that is added to every count (α). 1 is add-one smoothing; larger values make the
        probabilities more equal; 0 gives the observed shares. An array has one number per column.
        Must not be negative.
    force_alpha : bool, default=True
        If True, ``alpha`` is used as it is. If False, values below 1e-10 are replaced by 1e-10,
        with a warning.
    fit_prior : bool, default=True
        Whether the class probabilities are the shares of the training rows. If False, all classes
        have the same probability.
    class_prior : array-like of shape (n_classes,) or None, default=None
        Class probabilities (π), in the order of the sorted labels. They must not be negative and
        must sum to 1. None estimates them according to ``fit_prior``.

    Attributes
    ----------
    class_count_ : array of shape (n_classes,)
        Total weight of the rows of each class.
    class_log_prior_ : array of shape (n_classes,)
        Logarithm of the probability of each class; −inf for a class without rows.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.
    """

    _: KW_ONLY
    alpha: Any = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "alpha": at_least(0, LARGEST_FACTOR) | numbers_per_column,
        "force_alpha": boolean,
        "fit_prior": boolean,
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_alpha(self) -> Any:
        """The smoothing, as a number or as one number per column."""
        who, alpha = type(self).__name__, self.alpha
        if not isinstance(alpha, Real):
            alpha = numbers(alpha, "alpha", who, finite=None)
            if alpha.shape != (self.n_features_in_,):
                raise ParameterError(
                    f"{who}: When alpha is an array, it should contains `n_features` numbers: "
                    f"its shape is {alpha.shape}, but X has {self.n_features_in_} columns."
                )
            if not ((alpha >= 0).all() and (alpha <= LARGEST_FACTOR).all()):
                raise ParameterError(
                    f"{who}: All values in alpha must be greater than 0. or equal to it, and at "
                    f"most {LARGEST_FACTOR:g}; got {self.alpha!r:.80}."
                )
        if not self.force_alpha and np.min(alpha) < SMALLEST_ALPHA:
            warn(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{SMALLEST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged."
            )
            return np.maximum(alpha, SMALLEST_ALPHA)
        return alpha

    def _set_class_prior(self, count: Array) -> None:
        shares = count / count.sum()
        if not self.fit_prior:
            shares = np.full_like(shares, 1.0 / len(shares))
        with np.errstate(divide="ignore"):
            self.class_log_prior_ = np.log(
                class_shares(shares, self.class_prior, type(self).__name__, "class_prior")
            )
        self.class_count_ = count

    def _class_shares(self) -> Array:
        return np.exp(self.class_log_prior_)

    def _require_finite_counts(self, source: Source, sums: Array) -> None:
        """Raise an error that names an entry that is not finite, or a column that overflows."""
        if not np.isfinite(sums).all():
            source.require_finite()
            column = int(np.argmin(np.isfinite(sums).all(axis=0)))
            raise DataError(
                f"{type(self).__name__}: Column {source.schema.label(column)} is so large that "
                "its sum overflows. Rescale it."
            )

    def _require_no_negative(self, source: Source, lowest: float) -> None:
        if lowest >= 0:
            return
        for block in source.blocks():
            X = dense_rows(block)
            rows, columns = np.nonzero(X < 0)
            if rows.size:
                raise DataError(
                    f"Negative values in data passed to {type(self).__name__} (input X): column "
                    f"{source.schema.label(int(columns[0]))} holds {X[rows[0], columns[0]]:g} at "
                    f"row {block.start + rows[0]}, but counts must be ≥ 0. Use GaussianNB for "
                    "signed numbers."
                )


def finite_logs(logs: Array) -> tuple[Array, Array | None]:
    """Logarithms with 0 in place of −∞, and 1 where they were −∞; None if they are all finite."""
    if np.isfinite(logs.min()):
        return logs, None
    impossible = np.isneginf(logs)
    return np.where(impossible, 0.0, logs), impossible.astype(np.float64)


def linear_scores(
    rows: Matrix,
    table: Array,
    constant: Array | float,
    impossible: Array | None = None,
    needed: Array | None = None,
) -> Array:
    """constant + rows·table, and −∞ where an impossible entry is not 0.

    `impossible` has 1 where an entry that is not 0 is impossible, and −1 where an entry of 0 is;
    `needed` counts the latter per class.
    """
    scores = product(rows, table)  # in float64, as the table is
    scores += constant
    if impossible is not None:
        hits = product(rows, impossible)
        scores[(hits if needed is None else hits + needed) > 0] = -np.inf
    return scores.astype(rows.dtype, copy=False)
