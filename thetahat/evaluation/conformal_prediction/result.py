"""A fitted model with the scores of held-out rows, which give intervals and sets of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from thetahat.data.column_targets import one_column
from thetahat.evaluation.conformal_prediction.class_shares import class_shares
from thetahat.evaluation.conformal_prediction.ranks import TIED, Ranks
from thetahat.evaluation.conformal_prediction.row_draws import row_draws
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

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
    weights : array of shape (m,) or None
        The weight of each score: with groups, the rows of a group divide the weight 1 evenly. None
        without groups.
    ranks : Ranks
        The scores with their weights, which gives their quantiles.

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
    weights: Array | None = None

    @property
    def ranks(self) -> Ranks:
        """The scores with the weights of their rows."""
        return Ranks(self.scores, self.weights, None if self.weights is None else self.n_groups)

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
        ranks = self.ranks
        low, high = ranks.below((1 + level) / 2), ranks.above((1 + level) / 2)
        width = np.interp(predicted, self.at, self.scale)
        return np.column_stack([predicted + low * width, predicted + high * width])

    @described_like(interval)
    def sets(self, X: Any, level: float = 0.9, random_state: Any = 0) -> Array:
        """The set of classes for every row; never empty. Cost: one prediction of n rows.

        Where many probabilities are equal, as for trees, the set of a part of the rows has the
        classes whose probability is exactly at the limit. These rows are drawn at random, such that
        the sets hold at the level; with all or none of them, they would be too large or too small.

        Parameters
        ----------
        level : float, default=0.9
            The share of new rows whose true class is in its set, between 0 and 1. It is exceeded by
            a model whose accuracy is larger, as the predicted class is always in the set.
        random_state : int, Generator or None, default=0
            Seed or generator for the rows whose sets have classes at the limit. They are chosen by
            their values and the seed, so that a row has the same set alone and among others.

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
        ranks = self.ranks
        edge, score = ranks.above(level), 1.0 - shares
        tied = np.abs(score - edge) <= TIED
        inside = score < edge
        if tied.any():
            drawn = row_draws(X, generator(random_state)) < ranks.share_of_ties(level)
            inside = np.where(tied, drawn[:, None], inside)
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
        few = self.ranks.few(MOST_KEPT, both_ends=self.classes is None)
        found: dict[str, Any] = {
            "scores": few.scores.tolist(),
            "at": self.at.tolist(),
            "scale": self.scale.tolist(),
        }
        if self.n_groups is not None:
            found["n_groups"] = self.n_groups
        if few.weights is not None:
            found["weights"] = few.weights.tolist()
        return found

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
        weights = _weights_of(data, scores.size)
        sound = all(part.ndim == 1 and np.isfinite(part).all() for part in parts)
        sound = sound and at.size == scale.size and is_classifier(model) == (at.size == 0)
        if not sound or (scale < 0).any() or (np.diff(at) < 0).any():
            raise DataError(
                "Conformal.from_data: the numbers do not belong to this model. Give the result of "
                "as_data for the same model."
            )
        n_groups, order = data.get("n_groups"), np.argsort(scores, kind="stable")
        return Conformal(
            model,
            scores[order],
            at,
            scale,
            None if n_groups is None else int(n_groups),
            None if weights is None else weights[order],
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


def _weights_of(data: Mapping[str, Any], count: int) -> Array | None:
    """The stored weights of the scores; None where each row has the same."""
    if data.get("weights") is None:
        return None
    try:
        weights = np.asarray(data["weights"], dtype=np.float64)
        total = int(data["n_groups"])
    except (KeyError, TypeError, ValueError, OverflowError):
        weights, total = np.empty(0), 0
    sound = weights.shape == (count,) and np.isfinite(weights).all() and (weights > 0).all()
    if not sound or not np.isclose(weights.sum(), total):
        raise DataError(
            "Conformal.from_data: the weights must be one positive number for each score, and add "
            "up to n_groups. Give the result of as_data."
        )
    return weights
