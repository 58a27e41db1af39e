"""How held-out rows enter the mean score over the folds, and the sampling error that follows.

With φ the value of a held-out row (see `row_values`), the mean score over k folds behaves like

    s̄ = Σ w φ,    w = 1/(k·rows of the fold).

The units of sampling are rows, groups of rows, or blocks of time. The unit u contributes
Σ_{rows of u} w(φ − φ̄), and G units have the variance G/(G − 1)·Σ_u (contribution)².

The choice of the training rows adds variance. Where rows are held out repeatedly, it is estimated:
the shifts of whole folds against the other predictions of the same rows have a variance s² over
training sets of n_train of n rows. New samples of n rows then vary by s²·n_train/(n − n_train), and
the k training sets by s²/k, with k − 1 degrees of freedom.
Where each row is held out once, this cannot be estimated. The variance is then multiplied by
1 + c·n_test/n_train, with c = 1 for accuracy, the area under the ROC curve and the shares of
`sampling.shares`, and ½ otherwise, the values that the coverage study needs. A single split has one
model, and the interval is for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thetahat.evaluation.cross_fitting import FoldFit, rows_right
from thetahat.evaluation.folds import Fold, none_twice
from thetahat.evaluation.sampling.judgement import GapOfShares, NoSpread, Studentised
from thetahat.evaluation.sampling.row_values import BLOCKS, RowValues, placement_values
from thetahat.evaluation.sampling.shares import SHARES, pooled
from thetahat.evaluation.statistics.outcome import are_alike
from thetahat.foundation.cached import cached_property
from thetahat.foundation.types import Array

FOR_TRAINING = 0.5
"""Share of n_test/n_train that is added to the variance where it cannot be estimated."""


def units_of_sampling(folds: Sequence[Fold], n: int, groups: Array | None) -> Array:
    """A number for the unit of every row: its group, its block of time, or the row itself.

    If every fold trains on rows before those that it holds out, rows are in the order of time, and
    neighbours resemble each other: blocks of √n neighbouring held-out rows are the units.
    """
    if groups is not None:
        return np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
    if are_in_time(folds):
        units, begun = np.arange(n), n
        for _, test in folds:
            length = max(1, round(np.sqrt(n)))
            order = np.sort(test)
            units[order] = begun + np.arange(order.size) // length
            begun = int(units[order[-1]]) + 1
        return np.unique(units, return_inverse=True)[1]
    return np.arange(n)


def are_in_time(folds: Sequence[Fold]) -> bool:
    """Whether every fold trains on rows before those that it holds out."""
    return len(folds) > 1 and all(train.max() < test.min() for train, test in folds)


@dataclass(frozen=True)
class Design:
    """The held-out rows of all folds in order, with their weights and units."""

    rows: Array
    weights: Array
    units: Array
    fold: Array
    overlap: float
    spared: float
    """n_train/(n − n_train)."""
    once: bool
    by_rows: bool
    """Whether every row is a unit of its own."""
    joined: str
    """The units in words, where they have several rows."""

    @classmethod
    def of(cls, fits: Sequence[FoldFit], units: Array, joined: str = "groups") -> Design:
        """The design of the folds; `units` are the units of all rows of X, `joined` in words."""
        sizes = np.array([len(fit.rows) for fit in fits])
        rows = np.concatenate([fit.rows for fit in fits])
        trained = [fit.trained_rows for fit in fits]
        return cls(
            rows,
            np.repeat(1.0 / (len(fits) * sizes), sizes),
            units[rows],
            np.repeat(np.arange(len(fits)), sizes),
            float(np.mean([len(fit.rows) / fit.trained_rows for fit in fits])),
            float(np.mean([each / max(1, len(units) - each) for each in trained])),
            none_twice([fit.rows for fit in fits]),
            bool(np.unique(units).size == units.size),
            joined,
        )

    @property
    def unit(self) -> str:
        """The units of sampling in words."""
        return "rows" if self.by_rows else self.joined

    def rarest(self, known: str | None, y: Array) -> float:
        """The number of units, or of the rows of the rarest class for metrics that depend on it."""
        if y.ndim == 1 and (known in ("roc_auc", "average_precision") or known in SHARES):
            counts = np.unique(y, return_counts=True)[1]
            each = counts.size if known == "balanced_accuracy" else 1  # a class is a part of it
            return min(float(counts.min() * each), self.n_units)
        return self.n_units

    @property
    def n_folds(self) -> int:
        return int(self.fold[-1]) + 1

    @cached_property
    def n_units(self) -> float:
        """Number of units, fewer if some have more weight than others."""
        return float(1 / (np.bincount(self.units, weights=self.weights) ** 2).sum())

    def stretch(self, share: float) -> float:
        """The factor of the variance for the training rows, where it cannot be estimated."""
        return 1 + share * min(self.overlap, 1.0) if self.once and self.n_folds > 1 else 1.0

    def sums(self, found: RowValues) -> Array:
        """The contribution of every unit that is held out, 0 in sum."""
        units = self.units % BLOCKS if found.blocked else self.units
        _, codes = np.unique(units, return_inverse=True)
        strays = found.values - self.weights @ found.values
        return np.bincount(codes, weights=self.weights * strays)

    def variance(self, sums: Array) -> float:
        """G/(G − 1)·Σ (contribution)²."""
        return float(sums @ sums) * sums.size / (sums.size - 1)

    def studentised(
        self, estimate: float, found: RowValues, known: str | None = None
    ) -> Studentised | None:
        """The mean score with its error; None where all units contribute alike."""
        for_classes, sums = ranks_classes(known), self.sums(found)
        if sums.size < 2 or self.alike(found):
            return None
        if not (size := float(np.abs(sums).max())) > 0:
            return None
        sums = sums / size  # powers of large scores would overflow
        squares = float(sums @ sums)
        by_threshold = found.unseen > 0
        stretch = self.stretch(1.0 if for_classes or by_threshold else FOR_TRAINING)
        variance = self.variance(sums) * stretch
        degrees = max(1.0, min(self.n_units, sums.size) - 1)
        if for_classes or by_threshold:
            # A rare class gives a few large contributions, and their variance is known less well.
            fourth = float((sums**4).sum()) - squares**2 / sums.size
            degrees = max(1.0, min(degrees, 2 * squares**2 / fourth)) if fourth > 0 else degrees
        skewness = float((sums**3).sum() / squares**1.5)
        if by_threshold:
            whole = variance + stretch * found.unseen / size**2
            skewness *= float((variance / whole) ** 1.5)
            variance = whole
        by_label = for_classes or known == "accuracy" or by_threshold
        trained = self.between_training(found.values / size, by_loss=not by_label)
        if trained > 0:
            whole = variance + trained
            parts = variance**2 / degrees + trained**2 / (self.n_folds - 1)
            skewness *= float((variance / whole) ** 1.5)
            variance, degrees = whole, whole**2 / parts
        return Studentised(estimate, size * float(np.sqrt(variance)), skewness, degrees)

    def alike(self, found: RowValues) -> bool:
        """Whether all rows contribute the same, up to rounding."""
        return are_alike(found.values, found.size)

    def design_effect(self, values: Array) -> float:
        """How much larger the variance is than that of independent rows; at least 1."""
        if self.by_rows:
            return 1.0
        rows = (self.weights * (values - self.weights @ values)) ** 2
        if not rows.sum() > 0:
            return float(1 / (self.weights**2).sum() / self.n_units)
        return max(1.0, self.variance(self.sums(RowValues(values))) / float(rows.sum()))

    def between_training(self, values: Array, *, by_loss: bool = True) -> float:
        """Variance of the score by the choice of the training rows; 0 if rows are held out once.

        Two rows that are held out together miss each other in training, which changes the losses of
        both by the same amount, to first order. Such shifts of pairs are noise of the rows, not of
        the training, and give the mean of a fold twice the variance of independent rows.
        """
        if self.once or self.n_folds < 3:
            return 0.0
        _, codes, counts = np.unique(self.rows, return_inverse=True, return_counts=True)
        apart = values - (np.bincount(codes, weights=values) / counts)[codes]
        again = counts[codes] > 1
        if not again.any():
            return 0.0
        apart = apart * np.sqrt(counts[codes] / np.maximum(counts[codes] - 1, 1))
        found = []
        for number in range(self.n_folds):
            own = apart[(self.fold == number) & again]
            if own.size > 1:
                found.append(own.mean() ** 2 - (1 + by_loss) * own.var(ddof=1) / own.size)
        shifts = max(0.0, float(np.mean(found))) if found else 0.0
        return shifts * (1 / self.n_folds + self.spared)

    def gap(
        self,
        estimate: float,
        a: RowValues,
        b: RowValues,
        known: str | None,
        reach: float,
        rarest: float,
    ) -> Studentised | GapOfShares | NoSpread:
        """The difference of two mean scores with its error.

        `reach` is the largest difference that the metric allows, and `rarest` the number of units
        that bounds it where no unit differs.
        """
        difference = a.minus(b)
        if known == "accuracy" and self.once:
            only_first = float(self.weights @ (difference.values > 0))
            only_second = float(self.weights @ (difference.values < 0))
            rows = 1 / float((self.weights**2).sum())
            effect = self.design_effect(difference.values) * self.stretch(FOR_TRAINING)
            return GapOfShares(only_first, only_second, rows / effect, max(1.0, self.n_units - 1))
        found = self.studentised(estimate, difference, known)
        if found is not None:
            return found
        same = estimate == 0 and not difference.values.any()
        if np.isfinite(reach):
            return NoSpread(estimate, rarest, reach)
        return NoSpread(estimate, rarest, 0.0 if same else np.inf)


def ranks_classes(known: str | None) -> bool:
    """Whether a metric is an area under ROC curves, of two classes or of several."""
    return known is not None and known.startswith("roc_auc")


def values_of(
    fits: Sequence[FoldFit], metric: str, known: str | None, y: Array, units: Array
) -> RowValues | None:
    """The values of all held-out rows in the order of the folds; None if they are not known.

    `units` are the units of sampling of all rows of X.
    """
    found = [_of_fold(fit, metric, known, y) for fit in fits]
    kept = [each for each in found if each is not None]
    if len(kept) < len(found):
        return None
    shares = [each.shares for each in kept if each.shares is not None]
    if len(shares) == len(kept):
        values, unseen = pooled(shares, units[np.concatenate([fit.rows for fit in fits])])
        return RowValues(values, unseen=unseen)
    blocked = any(each.blocked for each in kept)
    gaps = [each.for_gaps for each in kept if each.for_gaps is not None]
    return RowValues(
        np.concatenate([each.values for each in kept]),
        blocked,
        for_gaps=np.concatenate(gaps) if len(gaps) == len(kept) else None,
    )


def _of_fold(fit: FoldFit, metric: str, known: str | None, y: Array) -> RowValues | None:
    if known == "accuracy":
        right = rows_right(fit.predictions, y[fit.rows])
        return None if right is None else RowValues(right.astype(np.float64))
    if known == "roc_auc" and fit.certainty is not None and y.ndim == 1:
        labels = np.unique(y)
        if labels.size == 2:
            values = placement_values(y[fit.rows] == labels[1], ranking(fit))
            return None if values is None else RowValues(values)
    return fit.row_values.get(metric)


def ranking(fit: FoldFit) -> Array:
    """One number per row, greater for rows that more likely belong to the second class."""
    certainty = fit.certainty
    assert certainty is not None
    return certainty if certainty.ndim == 1 else certainty[:, 1]
