"""A hold-out set that keeps its confidence level over several uses.

One use of fresh rows estimates the error of one model. Every further use costs confidence, and how
much depends on how the models were chosen. `HoldOut` divides the error probability δ among its
uses: δ/(k(k + 1)) for the k-th use (or δ/K each if K uses are planned).

Models fixed before the first use: the error probabilities sum to at most δ, so by the union bound
all answers are correct together with probability 1 − δ.

Models chosen by earlier answers: the model tested at use k depends on the k − 1 answers before it,
and on nothing else about the held-out rows. For each possible list of answers the model is fixed,
so the error probability of use k is divided among these lists. A list a₁, …, a_{k−1} gets the part
w(a₁)·w(a₂ | a₁)⋯, and the union bound over lists and uses holds for every way of choosing models
(Dwork et al. 2015, description length). Here w is 1/m for the first of m possible answers, and
½, 1/12, 1/24, … 1/(2(d + 1)(d + 2)) for an answer at d steps from the median of those before it.
Answers close to earlier ones reveal little, and therefore cost little confidence.
"""

from __future__ import annotations

import hashlib
import pickle
from math import exp, log
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.resampling import take_rows
from thetahat.estimator.parameters import check_value, inner_fraction, none, one_of, whole
from thetahat.evaluation.cross_fitting import rows_wrong
from thetahat.evaluation.folds import targets_of
from thetahat.evaluation.proportion_tails import bounds_of_share
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.arguments import require_level
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError, ReuseWarning
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array

SUREST = float(np.nextafter(1.0, 0.0))
"""The largest float below 1; the levels of late answers are even closer to 1."""


class HoldOut:
    """A hold-out set whose confidence intervals stay valid when it is used several times.

    The rows are split into training rows and held-out rows. The error of a model on the held-out
    rows is reported by `error`, and every use is counted.

    Formula: the k-th answer is a Clopper-Pearson interval with error probability δ/(k(k + 1)). If
    models are chosen by earlier answers, this is further divided among the possible lists of
    earlier answers, so that all intervals are correct together with probability at least 1 − δ.
    Optimism is hold-out error minus training error. Cost: O(n) memory for the split, and one
    prediction per use.

    Half widths of the intervals, if the errors of all models lie between 0.19 and 0.21:

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
        The rows and their labels, held in memory. A table of one column is accepted for y.
    share : float, default=0.25
        The share of rows that is held out, between 0 and 1. A larger share gives narrower
        intervals, and leaves fewer training rows.
    level : float, default=0.95
        Confidence level of all uses together (1 − δ), between 0 and 1.
    planned : int, optional
        The number of models that will be tested. Each use then has the error probability
        δ/planned, and further uses raise an error. By default the number is not limited.
    chosen : {"by_answers", "beforehand"}, default="by_answers"
        How the tested models are chosen. "by_answers": later models may depend on earlier answers,
        but on nothing else about the held-out rows. "beforehand": all models were fixed before the
        first use; the intervals are narrower, and wrong if this is not true.
    step : float, optional
        Round answers to the nearest multiple of this number, and widen the intervals accordingly.
        Rounded answers reveal less about the held-out rows, so that later intervals are narrower.
        By default answers are exact.
    stratify : bool, default=True
        Whether to hold out the same share of every class.
    random_state : int, Generator or None, default=0
        Seed or generator for the split. The same seed gives the same split.

    Attributes
    ----------
    X_train, y_train : as X, y
        The training rows and their labels.
    uses : int
        How many times the held-out rows have been used; error and optimism of the same model are
        one use.
    n_held : int
        The number of held-out rows.

    Warns
    -----
    ReuseWarning
        When the held-out rows are used a second time.

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
        check_value(planned, none | whole(1), "planned", "HoldOut")
        check_value(chosen, one_of("by_answers", "beforehand"), "chosen", "HoldOut")
        given, labels = targets_of(X, y, "HoldOut", several=False)
        _require_labels(labels)
        held = _held_back(labels, share, stratify, generator(random_state))
        if not held.any() or held.all():
            raise DataError(
                f"HoldOut: a share of {share:g} of {labels.size} rows leaves no training rows or "
                "no held-out rows. Give more rows, or another share."
            )
        kept, back = np.flatnonzero(~held), np.flatnonzero(held)
        self.X_train, self.y_train = take_rows(X, kept), take_rows(given, kept)
        self._X, self._y = take_rows(X, back), labels[back]
        self.level, self.planned, self.chosen, self.step = level, planned, chosen, step
        self._answers: list[int] = []
        self._revealed: list[float] = []
        self._by_model: dict[bytes, Interval] = {}

    @property
    def uses(self) -> int:
        """How many times the held-out rows have been used."""
        return len(self._answers)

    @property
    def n_held(self) -> int:
        """The number of held-out rows."""
        return len(self._y)

    def error(self, model: Any) -> Interval:
        """Estimate the error of a fitted classifier on the held-out rows. Cost: one prediction.

        The same fitted model counts once: a second call, or a call of `optimism`, returns the same
        interval and is not another use. A model that cannot be pickled counts every time.

        Parameters
        ----------
        model : fitted classifier
            A model that was fitted without the held-out rows.

        Returns
        -------
        Interval
            An interval at a level above `level`, so that all answers hold together at `level`.
        """
        before = _fingerprint(model)
        if before in self._by_model:
            return self._by_model[before]
        if self.planned is not None and self.uses >= self.planned:
            raise ParameterError(
                f"HoldOut: all {self.planned} planned uses are spent, so no confidence is left. "
                "Hold out fresh rows, or use a larger planned."
            )
        errors = int(_wrong(model, self._X, self._y).sum())
        if self.uses == 1:
            warn(
                f"HoldOut: the same {self.n_held} rows are used a second time. The best of several "
                "models tested on the same rows looks better than it is, so later intervals are "
                "wider. Hold out fresh rows for the final result.",
                ReuseWarning,
            )
        uses = self.uses + 1
        shares = self.planned or uses * (uses + 1)
        surprise = log(shares / (1 - self.level)) + sum(self._revealed)
        step = self.step or 1 / self.n_held
        answers = np.rint(np.arange(self.n_held + 1) / (self.n_held * step)).astype(int)
        answer = int(answers[errors])
        alike = np.flatnonzero(answers == answer)
        low, high = bounds_of_share(int(alike[0]), int(alike[-1]), self.n_held, surprise)
        self._revealed.append(self._nats(answer))
        self._answers.append(answer)
        estimate = errors / self.n_held if self.step is None else min(answer * step, 1.0)
        words = (
            f"Clopper-Pearson, use {self.uses} of the hold-out set: all hold at {self.level:.3g}"
        )
        found = Interval(estimate, low, high, min(SUREST, 1 - exp(-surprise)), words)
        # A prediction may leave values on the model, which change its fingerprint.
        for fingerprint in (before, _fingerprint(model)):
            if fingerprint is not None:
                self._by_model[fingerprint] = found
        return found

    def optimism(self, model: Any) -> float:
        """Hold-out error minus training error. Cost: two predictions.

        Together with the `error` of the same model this is one use of the held-out rows.

        Parameters
        ----------
        model : classifier fitted to ``X_train``, ``y_train``
            The fitted model. Its optimism is usually positive, as it was fitted to the training
            rows.

        Returns
        -------
        float
        """
        labels = np.asarray(self.y_train)
        return self.error(model).estimate - float(_wrong(model, self.X_train, labels).mean())

    def confidence_left(self, accuracy: float) -> float:
        """The confidence that all answers so far are within `accuracy` of the true errors.

        Formula: 1 − 2k·e^{−2nε²} for k models fixed beforehand (Hoeffding and the union bound), and
        1 − 2k(k + 1)/w·e^{−2nε²} for models chosen by answers, where w is the part of the answers
        before the last; at least 0. With a `step`, half of it is subtracted from ε. Cost: O(1).

        Parameters
        ----------
        accuracy : float
            The largest accepted deviation from the true error (ε), between 0 and 1.

        Returns
        -------
        float
        """
        check_value(accuracy, inner_fraction, "accuracy", "confidence_left")
        uses, slack = max(1, self.uses), accuracy - (self.step or 0.0) / 2
        if slack <= 0:
            return 0.0
        times = uses if self.chosen == "beforehand" else uses * (uses + 1)
        lost = log(2 * times) + sum(self._revealed[:-1]) - 2 * self.n_held * slack**2
        return 1 - exp(min(0.0, lost))

    def _nats(self, answer: int) -> float:
        """−log w of an answer given the earlier ones: how much it may reveal."""
        if self.chosen == "beforehand":
            return 0.0
        if not self._answers:
            return log(np.rint(1 / (self.step or 1 / self.n_held)) + 1)
        apart = abs(answer - int(np.median(self._answers)))
        return log(2 * (apart + 1) * (apart + 2)) if apart else log(2)

    def __repr__(self) -> str:
        return (
            f"HoldOut({self.n_held} rows held out, used {self.uses} time{'s' * (self.uses != 1)}; "
            f"intervals hold for all uses together at {100 * self.level:.3g}%, for models chosen "
            f"{self.chosen.replace('_', ' ')})"
        )


def _fingerprint(model: Any) -> bytes | None:
    """A digest of the fitted model, equal for equal models; None if it cannot be pickled."""
    try:
        state = pickle.dumps(model)
    except Exception:  # whatever a class raises when it cannot be pickled
        return None
    return hashlib.blake2b(state, digest_size=32).digest()


def _require_labels(y: Array) -> None:
    LabelEncoding.of(y)
    broken = y.dtype.kind == "f" and (y != np.floor(y))
    if np.any(broken):
        row = int(np.argmax(broken))
        raise DataError(
            f"HoldOut: y holds {y[row]:g} at row {row}, which is not a class label. HoldOut counts "
            "errors of classifiers. Use evaluate or regression_errors for a regressor."
        )


def _wrong(model: Any, X: Any, y: Array) -> Array:
    from sklearn.base import is_regressor

    if hasattr(model, "__sklearn_tags__") and is_regressor(model):
        raise CapabilityError(
            f"HoldOut: {type(model).__name__} is a regressor, but HoldOut counts errors of "
            "classifiers. Use evaluate or regression_errors for a regressor."
        )
    return rows_wrong(model, X, y, "HoldOut")


def _held_back(y: Array, share: float, stratify: bool, random: np.random.Generator) -> Array:
    held = np.zeros(y.size, dtype=bool)
    groups = (
        [np.flatnonzero(y == label) for label in np.unique(y)] if stratify else [np.arange(y.size)]
    )
    for rows in groups:
        held[random.permutation(rows)[: round(share * rows.size)]] = True
    return held
