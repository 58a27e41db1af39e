"""A hold-out set that counts how often it is asked.

One look at fresh rows tells the error of one model. Every further look costs confidence, and how
much depends on where the models come from. `HoldOut` spends δ over its uses, δ/(k(k + 1)) on the
k-th (or δ/K each when K uses are planned).

Models fixed before the first use: the shares add up to at most δ, so by the union bound all answers
ever given hold together with probability 1 − δ.

Models chosen by earlier answers: which model is tested at use k depends on the k − 1 answers before
it, and on nothing else that the rows held back could tell. For each list of answers there might
have been, the model is fixed; so the share of use k is divided among these lists, a list a₁, …,
a_{k−1} getting the part w(a₁)·w(a₂ | a₁)⋯, and the union bound over lists and uses holds whatever
the analyst does (Dwork et al. 2015, description length). Here w is 1/m for the first of m possible
answers, and ½, 1/12, 1/24, … 1/(2(d + 1)(d + 2)) for one that lies d steps from the median of those
before it: answers that surprise nobody tell little, and cost little.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from thetahat.data.column_targets import one_column
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.resampling import take_rows
from thetahat.estimator.parameters import none, whole
from thetahat.evaluation.folds import rows_in
from thetahat.evaluation.proportion_tails import bounds_of_share
from thetahat.evaluation.statistics.outcome import Interval, require_level
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError, ReuseWarning
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

SUREST = float(np.nextafter(1.0, 0.0))
"""The highest level that can be written; those of late answers lie above it."""


class HoldOut:
    """Rows split into those to learn from and those held back; every use of the latter counts.

    Formula: the k-th answer is a Clopper-Pearson interval that misses with probability
    δ/(k(k + 1)), divided by the answers there might have been before when models are chosen by
    them, so that all hold together with probability at least 1 − δ. Optimism is hold-out error
    minus training error. Cost: O(n) memory for the split, one prediction per use.

    Half widths, when all models err on about 0.2 of the rows, give or take 0.01:

    ======  ====  ==========  ==========  =====================
    rows    use   beforehand  by answers  by answers, step 0.01
    ======  ====  ==========  ==========  =====================
    1,000   1     0.029       0.029       0.033
    1,000   2     0.034       0.057       0.055
    1,000   5     0.040       0.091       0.075
    1,000   20    0.049       0.175       0.126
    1,000   100   0.058       0.334       0.238
    4,000   1     0.014       0.014       0.019
    4,000   2     0.017       0.030       0.030
    4,000   5     0.020       0.053       0.041
    4,000   20    0.025       0.107       0.067
    4,000   100   0.029       0.224       0.129
    ======  ====  ==========  ==========  =====================

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
    chosen : {"by_answers", "beforehand"}, default="by_answers"
        Where the models come from. "by_answers": later ones may be chosen, or built, by what
        earlier answers said; true of every analyst who has learned nothing else of the rows held
        back. "beforehand": all were fixed before the first use; narrower, and wrong if they were
        not.
    step : float, optional
        Give answers as the nearest multiple of this, and widen intervals by the rounding: less is
        told of the rows held back, so that later answers are surer. None: exact answers.
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

    Warns
    -----
    ReuseWarning
        At the second use.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> hold = th.HoldOut(X, y, random_state=0)
    >>> model = th.AxisParallelRectangle().fit(hold.X_train, hold.y_train)
    >>> answer = hold.error(model)
    >>> answer.estimate, round(answer.level, 3), hold.uses
    (0.02, 0.975, 1)
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        share: float = 0.25,
        level: float = 0.95,
        planned: int | None = None,
        chosen: str = "by_answers",
        step: float | None = None,
        stratify: bool = True,
        random_state: Any = 0,
    ) -> None:
        require_level(level)
        require_level(share, "share")
        if step is not None:
            require_level(step, "step")
        if not (none | whole(1)).holds(planned):
            raise ParameterError(
                f"HoldOut: planned={planned!r} must be None or a whole number ≥ 1."
            )
        if chosen not in ("by_answers", "beforehand"):
            raise ParameterError(
                f"HoldOut: chosen={chosen!r} must be 'by_answers' or 'beforehand'."
            )
        given = one_column(y)
        labels = np.asarray(given)
        if labels.shape != (rows_in(X),):
            raise DataError(f"HoldOut: X has {rows_in(X)} rows and y has shape {labels.shape}.")
        _require_labels(labels)
        held = _held_back(labels, share, stratify, generator(random_state))
        if not held.any() or held.all():
            raise DataError(
                f"HoldOut: a share of {share:g} of {labels.size} rows leaves one side empty. Give "
                "more rows, or another share."
            )
        kept, back = np.flatnonzero(~held), np.flatnonzero(held)
        self.X_train, self.y_train = take_rows(X, kept), take_rows(given, kept)
        self._X, self._y = take_rows(X, back), labels[back]
        self.level, self.planned, self.chosen, self.step = level, planned, chosen, step
        self._answers: list[int] = []
        self._told: list[float] = []

    @property
    def uses(self) -> int:
        """How often the rows held back have been asked."""
        return len(self._answers)

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
        errors = int(np.sum(_labels_by(model, self._X, self._y) != self._y))
        if self.uses == 1:
            warn(
                f"HoldOut: the same {self.n_held} rows are used a second time. Of models tested on "
                "the same rows the best looks better than it is, so every further answer is given "
                "with less certainty. Hold back fresh rows for the last word.",
                ReuseWarning,
            )
        surprise = log(self._shares(self.uses + 1) / (1 - self.level)) + sum(self._told)
        step = self.step or 1 / self.n_held
        answers = np.rint(np.arange(self.n_held + 1) / (self.n_held * step)).astype(int)
        answer = int(answers[errors])
        alike = np.flatnonzero(answers == answer)
        low, high = bounds_of_share(int(alike[0]), int(alike[-1]), self.n_held, surprise)
        self._told.append(self._nats(answer))
        self._answers.append(answer)
        estimate = errors / self.n_held if self.step is None else min(answer * step, 1.0)
        words = (
            f"Clopper-Pearson, use {self.uses} of the hold-out set: all hold at {self.level:.3g}"
        )
        return Interval(estimate, low, high, min(SUREST, 1 - exp(-surprise)), words)

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
        labels = np.asarray(self.y_train)
        own = float(np.mean(_labels_by(model, self.X_train, labels) != labels))
        return self.error(model).estimate - own

    def confidence_left(self, accuracy: float) -> float:
        """How sure all uses so far are of being within `accuracy` of the true error. Cost: O(1).

        Formula: 1 − 2k·e^{−2nε²} for k models fixed beforehand (Hoeffding and the union bound), and
        1 − 2k(k + 1)/w·e^{−2nε²} for models chosen by answers, w the part of the answers before the
        last; at least 0. With a `step`, ε less half of it.

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
        uses, slack = max(1, self.uses), accuracy - (self.step or 0.0) / 2
        if slack <= 0:
            return 0.0
        times = uses if self.chosen == "beforehand" else uses * (uses + 1)
        lost = log(2 * times) + sum(self._told[:-1]) - 2 * self.n_held * slack**2
        return 1 - exp(min(0.0, lost))

    def _shares(self, use: int) -> int:
        return self.planned or use * (use + 1)

    def _nats(self, answer: int) -> float:
        """−log w of an answer after those before: how much it may tell of the rows held back."""
        if self.chosen == "beforehand":
            return 0.0
        if not self._answers:
            return log(np.rint(1 / (self.step or 1 / self.n_held)) + 1)
        apart = abs(answer - int(np.median(self._answers)))
        return log(2 * (apart + 1) * (apart + 2)) if apart else log(2)

    def __repr__(self) -> str:
        return (
            f"HoldOut({self.n_held} rows held back, used {self.uses} times; intervals hold for all "
            f"uses together at {100 * self.level:.3g}%, for models chosen "
            f"{self.chosen.replace('_', ' ')})"
        )


def _require_labels(y: Array) -> None:
    LabelEncoding.of(y)
    broken = y.dtype.kind == "f" and (y != np.floor(y))
    if np.any(broken):
        row = int(np.argmax(broken))
        raise DataError(
            f"HoldOut: y holds {y[row]:g} at row {row}, a quantity and no label; errors are "
            "counted for classifiers. Measure a regressor by evaluate or regression_errors."
        )


def _labels_by(model: Any, X: Any, y: Array) -> Array:
    from sklearn.base import is_regressor

    if hasattr(model, "__sklearn_tags__") and is_regressor(model):
        raise CapabilityError(
            f"HoldOut: {type(model).__name__} predicts quantities, and errors are counted for "
            "labels. Measure a regressor by evaluate or regression_errors."
        )
    called = np.asarray(one_column(model.predict(X)))
    if called.shape != y.shape:
        raise DataError(
            f"HoldOut: {type(model).__name__}.predict gave shape {called.shape} for {y.size} rows. "
            "Give a model of one label per row."
        )
    return called


def _held_back(y: Array, share: float, stratify: bool, random: np.random.Generator) -> Array:
    held = np.zeros(y.size, dtype=bool)
    groups = (
        [np.flatnonzero(y == label) for label in np.unique(y)] if stratify else [np.arange(y.size)]
    )
    for rows in groups:
        held[random.permutation(rows)[: round(share * rows.size)]] = True
    return held
