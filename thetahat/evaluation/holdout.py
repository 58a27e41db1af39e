"""A hold-out set that counts how often it is asked.

One look at fresh rows tells the error of one model. A second model tested on the same rows, chosen
because of what the first look said, is no longer independent of them, and every further look costs
confidence. `HoldOut` spends δ over its uses, δ/(k(k + 1)) on the k-th (or δ/K each when K uses are
planned): the shares add up to at most δ, so by the union bound all answers ever given hold together
with probability 1 − δ. Later answers are less sure, and say so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.resampling import take_rows
from thetahat.evaluation.folds import rows_in
from thetahat.evaluation.statistics.counts import proportion_interval
from thetahat.evaluation.statistics.outcome import Interval, require_level
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator

Array = Any


class HoldOut:
    """Rows split into those to learn from and those held back; every use of the latter counts.

    Formula: the k-th answer is a Clopper-Pearson interval at the level 1 − δ/(k(k + 1)), so that
    all hold together with probability at least 1 − δ. Optimism is hold-out error minus training
    error. Cost: O(n) memory for the split, one prediction per use.

    Parameters
    ----------
    X, y : array-like, sparse, table
        Rows and labels.
    share : float, default=0.25
        The share held back.
    level : float, default=0.95
        1 − δ, for all uses together.
    planned : int, optional
        How many models will be tested: each use then gets δ/planned, and more uses are refused.
    stratify : bool, default=True
        Whether every label is held back in its share.
    random_state : int, Generator or None
        The split.

    Attributes
    ----------
    X_train, y_train : as X, y
        What may be learned from.
    uses : int
        How often the rest has been asked.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> hold = th.HoldOut(X, y, random_state=0)
    >>> model = th.AxisParallelRectangle().fit(hold.X_train, hold.y_train)
    >>> first, second = hold.error(model), hold.error(model)
    >>> hold.uses, bool(second.high > first.high)
    (2, True)
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        share: float = 0.25,
        level: float = 0.95,
        planned: int | None = None,
        stratify: bool = True,
        random_state: Any = 0,
    ) -> None:
        require_level(level)
        require_level(share, "share")
        labels = np.asarray(y)
        if labels.shape != (rows_in(X),):
            raise DataError(f"HoldOut: X has {rows_in(X)} rows and y has shape {labels.shape}.")
        held = _held_back(labels, share, stratify, generator(random_state))
        if not held.any() or held.all():
            raise DataError(
                f"HoldOut: a share of {share:g} of {labels.size} rows leaves one side empty. Give "
                "more rows, or another share."
            )
        kept, back = np.flatnonzero(~held), np.flatnonzero(held)
        self.X_train, self.y_train = take_rows(X, kept), take_rows(y, kept)
        self._X, self._y = take_rows(X, back), labels[back]
        self.level, self.planned, self.uses = level, planned, 0

    @property
    def n_held(self) -> int:
        """Rows held back."""
        return len(self._y)

    def error(self, model: Any) -> Interval:
        """The error of a fitted classifier on the rows held back. Cost: one prediction.

        Parameters
        ----------
        model : fitted classifier
            It must not have seen the rows held back.

        Returns
        -------
        Interval
            At its own, higher level, so that all answers hold together at `level`.
        """
        if self.planned is not None and self.uses >= self.planned:
            raise ParameterError(
                f"HoldOut: all {self.planned} planned uses are spent, and the confidence with "
                "them. Hold back fresh rows, or plan for more models."
            )
        errors = int(np.sum(np.asarray(model.predict(self._X)) != self._y))
        self.uses += 1
        shares = self.planned or self.uses * (self.uses + 1)
        each = 1 - (1 - self.level) / shares
        found = proportion_interval(errors, self.n_held, method="clopper_pearson", level=each)
        words = (
            f"Clopper-Pearson, use {self.uses} of the hold-out set: all hold at {self.level:.3g}"
        )
        return Interval(found.estimate, found.low, found.high, found.level, words)

    def optimism(self, model: Any) -> float:
        """Hold-out error minus training error; counts as a use. Cost: two predictions.

        Parameters
        ----------
        model : classifier fitted to ``X_train``, ``y_train``
            Usually positive: a model looks best on its own rows.

        Returns
        -------
        float
        """
        own = float(np.mean(np.asarray(model.predict(self.X_train)) != np.asarray(self.y_train)))
        return self.error(model).estimate - own

    def confidence_left(self, accuracy: float) -> float:
        """How sure all uses so far are of being within `accuracy` of the true error. Cost: O(1).

        Formula: 1 − 2k·e^{−2nε²}, at least 0 (Hoeffding and the union bound).

        Parameters
        ----------
        accuracy : float
            ε.

        Returns
        -------
        float
        """
        if not 0 < accuracy < 1:
            raise ParameterError(f"confidence_left: accuracy={accuracy!r} must lie in (0, 1).")
        lost = 2 * max(1, self.uses) * np.exp(-2 * self.n_held * accuracy**2)
        return float(max(0.0, 1.0 - lost))

    def __repr__(self) -> str:
        return (
            f"HoldOut({self.n_held} rows held back, used {self.uses} times; intervals hold for all "
            f"uses together at {100 * self.level:.3g}%)"
        )


def _held_back(y: Array, share: float, stratify: bool, random: np.random.Generator) -> Array:
    held = np.zeros(y.size, dtype=bool)
    groups = (
        [np.flatnonzero(y == label) for label in np.unique(y)] if stratify else [np.arange(y.size)]
    )
    for rows in groups:
        held[random.permutation(rows)[: round(share * rows.size)]] = True
    return held
