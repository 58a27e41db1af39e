"""Conformal prediction: intervals for numbers and sets of classes that hold at a given rate.

Every row is predicted by a model that was fitted without it. The errors of these predictions show
how far off the model is on new rows, whatever the model and the distribution of the errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from thetahat.data.column_targets import one_column
from thetahat.evaluation.cross_fitting import FoldFit
from thetahat.evaluation.evaluate import evaluate
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array

MOST_BINS = 10
ROWS_PER_BIN = 50
"""Bins of the prediction in which the size of the errors is estimated, and their least rows."""
LEAST_SCALE = 0.05
"""Smallest size of the errors in a bin, as a share of their mean size."""
MOST_KEPT = 1999
"""Largest number of scores that are stored with a model."""


@dataclass(frozen=True)
class Conformal:
    """A fitted model with intervals or sets for its predictions, made by `conformal`.

    Formula: for numbers [ŷ + q₁·σ(ŷ), ŷ + q₂·σ(ŷ)], with quantiles q of the scaled held-out errors
    (y − ŷ)/σ(ŷ); for classes {c : 1 − p_c ≤ q}, with a quantile q of 1 − p_y over held-out rows.
    Cost: O(n) memory.

    Attributes
    ----------
    model : estimator
        The model, fitted to all rows.
    scores : array of shape (m,)
        The scores of the held-out rows in rising order: errors divided by their expected size, or
        1 − the probability of the true class.
    at, scale : array of shape (b,)
        The expected size of an error (`scale`) for some predictions (`at`), linear in between; one
        entry if it does not depend on the prediction. Empty for classes.
    n_groups : int or None
        The number of groups of the held-out rows; None without groups.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=1.0, random_state=0)
    >>> found = th.conformal(th.Ridge(), data.X, data.y)
    >>> found.interval(data.X[:5], level=0.9).shape
    (5, 2)
    """

    model: Any
    scores: Array
    at: Array
    scale: Array
    n_groups: int | None = None

    @property
    def classes(self) -> Array | None:
        """The classes in the order of the columns of `sets`; None for numbers."""
        return np.asarray(self.model.classes_) if is_classifier(self.model) else None

    def interval(self, X: Any, level: float = 0.9) -> Array:
        """The interval of every prediction. Cost: one prediction of n rows.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows to predict.
        level : float, default=0.9
            The share of new rows whose true value lies within its interval, between 0 and 1. A
            larger value gives wider intervals.

        Returns
        -------
        array of shape (n, 2)
            The lower and the upper ends.
        """
        if is_classifier(self.model):
            raise CapabilityError(
                "Conformal.interval: the model predicts classes, which have no interval. Use sets."
            )
        predicted = np.asarray(one_column(self.model.predict(X)), dtype=np.float64)
        return self.around(predicted, level)

    def around(self, predicted: Array, level: float = 0.9) -> Array:
        """The intervals of predictions that are known already. Cost: O(n).

        Parameters
        ----------
        predicted : array of shape (n,)
            Predictions of the model.
        level : float, default=0.9
            The share of new rows whose true value lies within its interval.

        Returns
        -------
        array of shape (n, 2)
            The lower and the upper ends.
        """
        self.require(level)
        rank = self._rank((1 + level) / 2)
        low, high = self.scores[-rank], self.scores[rank - 1]
        width = np.interp(predicted, self.at, self.scale)
        return np.column_stack([predicted + low * width, predicted + high * width])

    @described_like(interval)
    def sets(self, X: Any, level: float = 0.9) -> Array:
        """The set of classes for every row; never empty. Cost: one prediction of n rows.

        Parameters
        ----------
        level : float, default=0.9
            The share of new rows whose true class is in its set, between 0 and 1. It is exceeded by
            a model whose accuracy is larger, as the predicted class is always in the set.

        Returns
        -------
        array of bool of shape (n, n_classes)
            Whether each class is in the set.
        """
        if not is_classifier(self.model):
            raise CapabilityError(
                "Conformal.sets: the model predicts numbers, not classes. Use interval."
            )
        self.require(level)
        shares = class_shares(self.model, X)
        inside = 1.0 - shares <= self.scores[self._rank(level) - 1] + 1e-12
        predicted = np.asarray(one_column(self.model.predict(X)))
        return inside | (predicted[:, None] == self.classes)

    @described_like(interval)
    def coverage(self, X: Any, y: Any, level: float = 0.9) -> Interval:
        """The share of rows whose true value lies within its interval or set.

        Cost: one prediction of n rows.

        Parameters
        ----------
        y : array-like of shape (n,)
            The true values, of rows that were not used for the fit.

        Returns
        -------
        Interval
            The share, with Wilson's 95% interval.
        """
        truth = np.asarray(one_column(y))
        found = self.interval if self.classes is None else self.sets
        ends = found(X, level)
        if truth.shape != ends.shape[:1] or not truth.size:
            raise DataError(
                f"Conformal.coverage: X has {len(ends)} rows, but y has shape {truth.shape}. Give "
                "one true value for every row, and at least one row."
            )
        if self.classes is not None:  # a class that the model does not know is never covered
            hits = int(ends[truth[:, None] == self.classes].sum())
        else:
            hits = int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
        return proportion_interval(hits, len(truth))

    def as_data(self) -> dict[str, Any]:
        """What is needed beside the model, as plain numbers. Cost: O(n).

        Of many scores, quantiles are kept, which cover a little more often. Store it with the
        model: ``th.save(found.model, path, notes={"conformal": found.as_data()})``.

        Returns
        -------
        dict
            What `from_data` reads.
        """
        scores, m = self.scores, self.scores.size
        if m > MOST_KEPT:
            kept = np.arange(1, MOST_KEPT + 1) * (m + 1)
            ranks = -(-kept // (MOST_KEPT + 1)) - 1
            if self.classes is None:  # the lower half is rounded down, so that no interval shrinks
                half = MOST_KEPT // 2
                ranks[:half] = kept[:half] // (MOST_KEPT + 1) - 1
            scores = scores[np.clip(ranks, 0, m - 1)]
        found = {"scores": scores.tolist(), "at": self.at.tolist(), "scale": self.scale.tolist()}
        return found if self.n_groups is None else {**found, "n_groups": self.n_groups}

    @staticmethod
    def from_data(model: Any, data: Mapping[str, Any]) -> Conformal:
        """A conformal model from a fitted model and what `as_data` gave. Cost: O(n).

        Parameters
        ----------
        model : fitted estimator
            The fitted model that the numbers belong to.
        data : dict
            The result of `as_data` for this model.

        Returns
        -------
        Conformal
        """
        try:
            parts = [np.asarray(data[name], dtype=np.float64) for name in ("scores", "at", "scale")]
        except (KeyError, TypeError, ValueError, OverflowError) as failure:
            raise DataError(
                "Conformal.from_data: the data must have lists of numbers named scores, at and "
                "scale. Give the result of as_data."
            ) from failure
        scores, at, scale = parts
        sound = all(part.ndim == 1 and np.isfinite(part).all() for part in parts)
        sound = sound and at.size == scale.size and is_classifier(model) == (at.size == 0)
        if not sound or (scale < 0).any() or (np.diff(at) < 0).any():
            raise DataError(
                "Conformal.from_data: the numbers do not belong to this model. Give the result of "
                "as_data for the same model."
            )
        n_groups = data.get("n_groups")
        return Conformal(
            model, np.sort(scores), at, scale, None if n_groups is None else int(n_groups)
        )

    def require(self, level: float) -> None:
        """Refuse a level for which there are too few rows, or too few groups. Cost: O(1).

        Parameters
        ----------
        level : float
            The level of intervals or sets.
        """
        require_level(level)
        tails = 1 if is_classifier(self.model) else 2
        needed = ceil(tails / (1 - level) - 1e-9) - 1
        count, units = self.scores.size, "rows"
        if self.n_groups is not None:  # rows of a group err alike, so a group counts once
            count, units = self.n_groups, "groups"
        if count < needed:
            raise ParameterError(
                f"level={level:g} needs the errors of at least {needed} held-out {units}, but "
                f"there are {count}. Use a smaller level or more {units}."
            )

    def _rank(self, share: float) -> int:
        """The rank ⌈share·(m + 1)⌉ among m scores, which a new one exceeds with 1 − share."""
        return min(ceil(share * (self.scores.size + 1) - 1e-9), self.scores.size)


def conformal(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    random_state: Any = 0,
) -> Conformal:
    """Fit a model, and find intervals or sets that contain the truth at a given rate.

    Formula: with f fitted to all rows, and errors e = (y − ŷ)/σ(ŷ) of cross-validated predictions,
    [f(x) + q₁·σ(f(x)), f(x) + q₂·σ(f(x))], where q₁ and q₂ are the ⌊(m + 1)(1 − level)/2⌋-th
    smallest and largest of the m errors. σ is the mean of |y − ŷ| in bins of the prediction, each
    of at least 50 rows. For classes {c : 1 − p_c(x) ≤ q}, with the ⌈(m + 1)·level⌉-th smallest q of
    the values 1 − p_y. Cost: k + 1 fits for k folds.

    The rows must be exchangeable: new rows come from the same distribution as these. The rate then
    holds on average over rows, not for every part of the table. It is nearly exact rather than
    guaranteed, because the model of all rows errs a little less than those of the folds; measured
    rates are on the page "How sure is that?" of the documentation.

    Parameters
    ----------
    model : estimator
        A regressor, or a classifier with ``predict_proba`` or ``decision_function``. It is cloned,
        so the object itself stays unfitted.
    X, y : array-like, sparse, table
        The rows and their targets.
    cv : int, splitter or iterable, default=5
        How the rows are split into training rows and held-out rows, as in `evaluate`. More folds
        give slightly narrower intervals and take longer. Of a row that is held out several times,
        the first prediction is used.
    groups : array-like, optional
        The group of each row; rows of a group stay in one fold. Give it if new rows come from new
        groups. The possible levels then depend on the number of groups instead of rows.
    random_state : int, default=0
        Seed for shuffling the rows. The same seed gives the same folds.

    Returns
    -------
    Conformal

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(400, 3, noise=1.0, random_state=0)
    >>> found = th.conformal(th.Ridge(), data.X[:200], data.y[:200])
    >>> 0.8 < found.coverage(data.X[200:], data.y[200:], level=0.9).estimate < 1.0
    True
    """
    held = evaluate(model, X, y, cv=cv, groups=groups, random_state=random_state, keep_models=True)
    fitted = clone(model).fit(X, y)
    return calibrated(fitted, held.fits, np.asarray(one_column(y)), groups)


def calibrated(model: Any, fits: Sequence[FoldFit], y: Array, groups: Any = None) -> Conformal:
    """A fitted model with the errors of cross-validation, which has been run before.

    Every row counts once, also if it was held out several times.
    """
    none: Array = np.empty(0)
    if is_classifier(model):
        known = [
            (fit.rows, scores)
            for fit in fits
            if (scores := _class_scores(model, fit, y[fit.rows])) is not None
        ]
        if not known:
            raise CapabilityError(
                f"conformal: {type(model).__name__} gives neither probabilities nor decision "
                "values of its classes in any fold. Use a classifier with predict_proba."
            )
        rows, places = _first_of_each(row for row, _ in known)
        scores = np.concatenate([each for _, each in known])[places]
        return Conformal(model, np.sort(scores), none, none, _count(groups, rows))
    rows, places = _first_of_each(fit.rows for fit in fits)
    predicted = np.concatenate([fit.predictions for fit in fits])[places].astype(np.float64)
    if predicted.ndim != 1 or y.ndim != 1:
        raise DataError("conformal: several targets per row. Fit one model for each target.")
    errors = y[rows] - predicted
    at, scale = _sizes(predicted, errors)
    scores = np.sort(errors / np.interp(predicted, at, scale))
    return Conformal(model, scores, at, scale, _count(groups, rows))


def _first_of_each(parts: Iterable[Array]) -> tuple[Array, Array]:
    """The numbers of the rows, each once, and the place where each comes first."""
    rows, places = np.unique(np.concatenate(list(parts)), return_index=True)
    order = np.argsort(places)
    return rows[order], places[order]


def _count(groups: Any, rows: Array) -> int | None:
    """The number of groups among some rows."""
    return None if groups is None else len(set(np.asarray(groups)[rows].tolist()))


def class_shares(model: Any, X: Any) -> Array:
    """A share of every class that adds up to 1: of decision values where a model has them."""
    by_decision = hasattr(model, "decision_function")
    found = model.decision_function(X) if by_decision else model.predict_proba(X)
    return _shares(np.asarray(found, dtype=np.float64), by_decision)


def _shares(certainty: Array, by_decision: bool) -> Array:
    if not by_decision:
        return certainty
    if certainty.ndim == 1:
        certainty = np.column_stack([np.zeros(len(certainty)), certainty])
    raised = np.exp(certainty - certainty.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def _class_scores(model: Any, fit: FoldFit, y: Array) -> Array | None:
    """1 − the share of the true class; None if the columns of the fold are not known."""
    if fit.certainty is None:
        return None
    shares = _shares(np.asarray(fit.certainty), hasattr(model, "decision_function"))
    classes = np.asarray(getattr(fit.estimator, "classes_", model.classes_))
    if shares.shape != (len(y), len(classes)):
        return None
    return 1.0 - (shares * (y[:, None] == classes)).sum(axis=1)


def _sizes(predicted: Array, errors: Array) -> tuple[Array, Array]:
    """The mean size of the errors in bins of the prediction, with the centres of the bins."""
    sizes = np.abs(errors)
    mean = float(sizes.mean()) or 1.0
    bins = min(MOST_BINS, len(errors) // ROWS_PER_BIN)
    edges = np.unique(np.quantile(predicted, np.linspace(0, 1, max(bins, 1) + 1)[1:-1]))
    which = np.searchsorted(edges, predicted, side="right")
    counts = np.bincount(which, minlength=edges.size + 1)
    kept = np.flatnonzero(counts >= ROWS_PER_BIN // 2)
    if kept.size < 2:
        return np.array([float(predicted.mean())]), np.array([mean])
    at = np.bincount(which, weights=predicted)[kept] / counts[kept]
    scale = np.bincount(which, weights=sizes)[kept] / counts[kept]
    return at, np.maximum(scale, LEAST_SCALE * mean)
