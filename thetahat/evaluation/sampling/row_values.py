"""What every held-out row contributes to the score of its fold.

A value φᵢ per row, such that the score behaves like the mean of the values: its variance over new
rows is var(φ)/m for m rows.

- A mean over rows (accuracy, log loss, squared and absolute error): φᵢ is the term of row i.
- The area under the ROC curve: φᵢ = A + (Vᵢ − A)·m/m_c, with the placements V of DeLong and m_c the
  rows of the class of row i. Vᵢ − A is multiplied by √(m_c/(m_c − 1)), as A is the mean of these V.
- The mean of such areas over classes or pairs of classes: the mean of their values, where a row
  that belongs to neither class of a pair has the area of that pair.
- Balanced accuracy, precision, recall, F₁ and Jaccard's index: see `sampling.shares`.
- R², the root of a mean and all other metrics of scikit-learn: values of the jackknife,
  φᵢ = m·s − (m − 1)·s₍₋ᵢ₎, where s₍₋ᵢ₎ is the score without row i. Where no formula is at hand,
  blocks of rows are left out instead of rows, at most `BLOCKS` for all folds together.
  Differences of R² use φᵢ = s − m/(m − 1)·(eᵢ² − (1 − s)·(yᵢ − ȳ)²)·m/Σ(y − ȳ)², with the error e.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from thetahat.evaluation.sampling.shares import SHARES, Shares, pooled
from thetahat.foundation.types import Array

BLOCKS = 25
"""Number of blocks of units that the jackknife leaves out, one at a time."""
NEGLIGIBLE = 1e-8


@dataclass(frozen=True)
class RowValues:
    """The contribution of every held-out row of a fold."""

    values: Array
    blocked: bool = False
    """Whether the rows of a block share one value, so that blocks are the units of sampling."""
    made_of: float = 0.0
    """The largest of the numbers whose differences the values are, which rounded them."""
    for_gaps: Array | None = None
    """Values for differences of two models, where others serve these better."""
    shares: Shares | None = None
    """The counts that the score of the fold is a share of, for metrics of that kind."""
    unseen: float = 0.0
    """Variance of the mean score that is added for what few rows of a class do not show."""

    @property
    def size(self) -> float:
        """The size of the numbers that the values were computed from."""
        return max(self.made_of, float(np.abs(self.values).max()))

    def minus(self, other: RowValues) -> RowValues:
        """The differences to the values of another model."""
        size, (first, second) = max(self.size, other.size), (self.values, other.values)
        if self.for_gaps is not None and other.for_gaps is not None:
            first, second = self.for_gaps, other.for_gaps
        blocked, unseen = self.blocked or other.blocked, self.unseen + other.unseen
        return RowValues(first - second, blocked, size, unseen=unseen)

    @property
    def of_gaps(self) -> RowValues:
        """The values for differences, where they are not the same."""
        return self if self.for_gaps is None else replace(self, values=self.for_gaps)


def row_values(
    known: str | None, scorer: Any, answers: Any, y: Array, score: float, units: Array
) -> RowValues | None:
    """Values of the held-out rows for one metric; None if they cannot be computed.

    `known` is the name of the metric in scikit-learn, `answers` replays the outputs of the model,
    and `units` are the units of sampling of the rows.
    """
    rows = np.arange(len(y))
    shares = _shares(known, scorer, answers, y, score)
    if shares is not None:
        return RowValues(pooled([shares], units)[0], shares=shares)
    formula = FORMULAS.get(known or "")
    if formula is not None:
        values = formula(answers, y, rows, score)
        if values is not None and np.isfinite(values).all():
            gaps = _r2_for_gaps(answers, y, rows, score) if known == "r2" else None
            return RowValues(values, for_gaps=gaps)
    if not hasattr(scorer, "_score_func"):  # may use the model and X in any way
        return None
    return _left_out(lambda kept: float(scorer(answers, kept, y[kept])), units, score)


def _left_out(scored: Callable[[Array], float], units: Array, score: float) -> RowValues | None:
    """Values of the jackknife, leaving out one block of units at a time."""
    values = np.full(units.size, score)
    blocks = units % BLOCKS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in np.unique(blocks):
            out = blocks == block
            taken = int(out.sum())
            if taken == units.size:
                continue
            try:
                without = scored(np.flatnonzero(~out))
            except ValueError:  # not defined on the remaining rows
                return None
            if not np.isfinite(without):
                return None
            values[out] = score + (units.size - taken) / taken * (score - without)
    return RowValues(values, blocked=True)


def _shares(known: str | None, scorer: Any, answers: Any, y: Array, score: float) -> Shares | None:
    """The counts whose share is the score; None if it is not."""
    counts = SHARES.get(known or "")
    if counts is None or y.ndim > 1:
        return None
    called = np.asarray(answers.predict(np.arange(y.size))).reshape(y.shape)
    found = counts(called, y, getattr(scorer, "_kwargs", {}).get("pos_label", 1))
    return found if found is not None and abs(found.score - score) <= NEGLIGIBLE else None


def placement_values(positive: Array, scores: Array) -> Array | None:
    """Values of the area under the ROC curve; None if a class is absent."""
    from thetahat.evaluation.statistics.ranking_quality import placements

    n, n1 = positive.size, int(positive.sum())
    if not 0 < n1 < n:
        return None
    above, below = placements(positive, [scores])
    area = float(above.mean())
    values = np.empty(n)
    for rows, placed in ((positive, above[0]), (~positive, below[0])):
        size = placed.size
        values[rows] = area + (placed - area) * (n / size * np.sqrt(size / max(size - 1, 1)))
    return values


def _areas(
    parts: Callable[[Array, int], Iterator[tuple[Array, Array, int]]],
) -> Callable[[Any, Array, Array, float], Array | None]:
    """The mean of areas under the ROC curve, each of some rows and for one column of scores."""

    def values(answers: Any, y: Array, rows: Array, score: float) -> Array | None:
        classes = getattr(answers, "classes_", None)
        if classes is None or y.ndim != 1 or np.ndim(classes) != 1:
            return None
        if not np.array_equal(np.unique(y), classes):
            return None
        shares, codes = answers.predict_proba(rows), np.searchsorted(classes, y)
        found = []
        for taken, positive, column in parts(codes, len(classes)):
            own = placement_values(positive, shares[taken, column])
            if own is None:
                return None
            area = own.mean()
            each = np.full(y.size, area)
            each[taken] += (own - area) * (y.size / own.size)
            found.append(each)
        return _if_mean(np.mean(found, axis=0), score)

    return values


def _one_against_rest(codes: Array, n_classes: int) -> Iterator[tuple[Array, Array, int]]:
    every = np.ones(codes.size, dtype=bool)
    return ((every, codes == one, one) for one in range(n_classes))


def _one_against_one(codes: Array, n_classes: int) -> Iterator[tuple[Array, Array, int]]:
    for one, other in permutations(range(n_classes), 2):
        taken = (codes == one) | (codes == other)
        yield taken, codes[taken] == one, one


def _log_loss(answers: Any, y: Array, rows: Array, score: float) -> Array | None:
    classes = getattr(answers, "classes_", None)
    if classes is None or y.ndim != 1 or np.ndim(classes) != 1:
        return None
    shares = answers.predict_proba(rows)
    places = np.searchsorted(classes, y)
    least = np.finfo(shares.dtype).eps if shares.dtype.kind == "f" else 1e-15
    values = np.log(np.clip(shares[rows, places], least, 1 - least)).astype(np.float64)
    return _if_mean(values, score)


def _brier(answers: Any, y: Array, rows: Array, score: float) -> Array | None:
    classes = getattr(answers, "classes_", None)
    if classes is None or y.ndim != 1 or np.size(classes) != 2:
        return None
    return _if_mean(-((answers.predict_proba(rows)[:, 1] - (y == classes[1])) ** 2), score)


def _squared_error(answers: Any, y: Array, rows: Array, score: float) -> Array | None:
    return _if_mean(-_over_outputs(_residual(answers, y, rows) ** 2), score)


def _absolute_error(answers: Any, y: Array, rows: Array, score: float) -> Array | None:
    return _if_mean(-_over_outputs(np.abs(_residual(answers, y, rows))), score)


def _root(answers: Any, y: Array, rows: Array, score: float) -> Array | None:
    if y.ndim > 1 or y.size < 2:
        return None
    squares = _residual(answers, y, rows) ** 2
    m, total = y.size, float(squares.sum())
    without = -np.sqrt(np.maximum(total - squares, 0.0) / (m - 1))
    return score + (m - 1) * (score - without)


def _r2(answers: Any, y: Array, rows: Array, score: float) -> Array | None:
    if y.ndim > 1 or y.size < 3:
        return None
    m, truth = y.size, np.asarray(y, dtype=np.float64)
    squares = _residual(answers, y, rows) ** 2
    strays = (truth - truth.mean()) ** 2
    rest = strays.sum() - m / (m - 1) * strays
    if (rest <= NEGLIGIBLE * strays.sum()).any():  # without this row all targets are equal
        return None
    if not np.isclose(1 - squares.sum() / strays.sum(), score, rtol=1e-6, atol=1e-9):
        return None  # a model's own score that is not R²
    without = 1 - (squares.sum() - squares) / rest
    return score + (m - 1) * (score - without)


def _r2_for_gaps(answers: Any, y: Array, rows: Array, score: float) -> Array:
    """Values of R² to first order in the errors and in the variance of the targets.

    The values of the jackknife divide by the variance of one row less, which may be small in a fold
    of few rows. In a difference of two models, most of what that adds cancels in the truth but not
    in the values. The factor m/(m − 1) makes up for the mean of the targets, which is estimated.
    """
    m, truth = y.size, np.asarray(y, dtype=np.float64)
    squares, strays = _residual(answers, y, rows) ** 2, (truth - truth.mean()) ** 2
    return score - m / strays.sum() * (squares - (1 - score) * strays) * (m / (m - 1))


FORMULAS: dict[str, Callable[[Any, Array, Array, float], Array | None]] = {
    "neg_brier_score": _brier,
    "neg_log_loss": _log_loss,
    "neg_mean_absolute_error": _absolute_error,
    "neg_mean_squared_error": _squared_error,
    "neg_root_mean_squared_error": _root,
    "r2": _r2,
    "roc_auc_ovo": _areas(_one_against_one),
    "roc_auc_ovr": _areas(_one_against_rest),
}


def _residual(answers: Any, y: Array, rows: Array) -> Array:
    return np.asarray(y, dtype=np.float64) - np.asarray(answers.predict(rows)).reshape(y.shape)


def _over_outputs(values: Array) -> Array:
    return values if values.ndim == 1 else values.mean(axis=1)


def _if_mean(values: Array, score: float) -> Array | None:
    """The values, if the score is their mean."""
    return values if np.isclose(values.mean(), score, rtol=1e-6, atol=1e-12) else None
