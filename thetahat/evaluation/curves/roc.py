"""The ROC curve: every trade of false alarms for finds that a score allows, with its band."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from thetahat.evaluation.curves.bands import pointwise_bounds
from thetahat.evaluation.curves.scores import Ranked, rank, two_classes
from thetahat.evaluation.statistics.outcome import Interval, require_level
from thetahat.evaluation.statistics.ranking_quality import auc_interval
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array

GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True)
class RocCurve:
    """Share of positives found against share of negatives called positive, for all thresholds.

    Formula: tpr(t) = P(s ≥ t | positive), fpr(t) = P(s ≥ t | negative). Lowering t drives both to
    1, raising it drives both to 0. Cost: O(n) memory.

    Attributes
    ----------
    thresholds, fpr, tpr : array
        One entry per distinct score, from +∞ down.
    area : Interval
        The area under the curve, with DeLong's interval.
    grid, low, high : array of shape (101,)
        The band: bounds of tpr for values of fpr.
    band : str
        What the band covers.
    positive : label
        Which label counts as positive.

    Examples
    --------
    >>> import thetahat as th
    >>> curve = th.roc_curve([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    >>> round(curve.area.estimate, 4)
    0.8889
    >>> curve.fpr.round(2).tolist()
    [0.0, 0.0, 0.0, 0.33, 0.33, 0.67, 1.0]
    """

    thresholds: Array
    fpr: Array
    tpr: Array
    area: Interval
    grid: Array
    low: Array
    high: Array
    band: str
    positive: Any

    def __str__(self) -> str:
        return f"ROC curve over {self.thresholds.size - 1} thresholds: area {self.area}"

    __repr__ = __str__

    def plot(self, axes: Any = None, label: str | None = None) -> Any:
        """The curve and its band, beside the diagonal of chance. Cost: O(n).

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; give the same twice to compare whole curves.
        label : str, optional
            The name of the curve.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="RocCurve.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        words = f"area {self.area.estimate:.3f} ({self.area.low:.3f} to {self.area.high:.3f})"
        (line,) = axes.plot(self.fpr, self.tpr, label=f"{label}: {words}" if label else words)
        axes.fill_between(self.grid, self.low, self.high, color=line.get_color(), alpha=0.2, lw=0)
        axes.plot([0, 1], [0, 1], color="0.6", lw=0.8, ls="--")
        axes.set(xlabel="negatives called positive", ylabel="positives found", aspect="equal")
        axes.legend(frameon=False, loc="lower right")
        return axes


def roc_curve(
    y: Any,
    scores: Any,
    *,
    positive: Any = None,
    band: str = "pointwise",
    level: float = 0.95,
    random_state: Any = 0,
) -> RocCurve:
    """The ROC curve of scores, its area with an interval, and a band around it.

    Formula: ties move together, so the curve has one point per distinct score. Band "pointwise": at
    each fpr x, where N ~ Binomial(n₀, x) negatives lie above the threshold and k of n₁ positives
    with them, the quantiles of the mixture of Beta(k + ½, n₁ − k + ½) over N; "simultaneous": the
    whole curve lies inside with the given confidence, tpr ± k(n₁) and fpr ± k(n₀) by Kolmogorov's
    distance. Cost: O(n log n).

    Where n₀·x is below about 4, the threshold may lie above all negatives at hand, and the lower
    end of the pointwise band is 0: nothing else is known. Of 95% bands, 94 to 100% hold the true
    height at fpr 0.01 to 0.95, most where the classes have few rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two kinds.
    scores : array-like of shape (n,)
        Greater means more likely positive.
    positive : label, optional
        The positive label; the second in order by default.
    band : {"pointwise", "simultaneous"}, default="pointwise"
        What the band covers.
    level : float, default=0.95
        The confidence of area and band.
    random_state : int, Generator or None
        Without effect: nothing is drawn at random.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> y = np.repeat([0, 1], 50)
    >>> scores = y + np.random.default_rng(0).standard_normal(100)
    >>> curve = th.roc_curve(y, scores, band="simultaneous")
    >>> bool((curve.low <= curve.high).all())
    True
    """
    require_level(level)
    is_positive, values, positive = two_classes(y, scores, positive)
    ranked = rank(is_positive, values)
    if band == "pointwise":
        low, high = pointwise_bounds(GRID, ranked.false_positives, ranked.true_positives, level)
    elif band == "simultaneous":
        low, high = _simultaneous(ranked, level)
    else:
        raise ParameterError(f"roc_curve: band={band!r} must be 'pointwise' or 'simultaneous'.")
    area = auc_interval(is_positive, values, level=level)
    return RocCurve(
        ranked.thresholds, ranked.fpr, ranked.tpr, area, GRID, low, high, band, positive
    )


def height_at(grid: Array, ranked: Ranked) -> Array:
    """tpr at given fpr: the highest point of the curve's vertical steps, linear between points."""
    # The last index of equal fpr is the top of a vertical step.
    top = np.append(np.flatnonzero(np.diff(ranked.fpr)), ranked.fpr.size - 1)
    return np.interp(grid, ranked.fpr[top], ranked.tpr[top])


@cache
def _kolmogorov_distance(n: int, level: float) -> float:
    """How far an empirical distribution of n values strays, at most, with this confidence."""
    from scipy.stats import kstwo

    return float(kstwo.isf(1 - level, n))


def _simultaneous(ranked: Ranked, level: float) -> tuple[Array, Array]:
    """Both distributions of scores lie within Kolmogorov's distance, each at confidence √level."""
    up = _kolmogorov_distance(round(ranked.positives), level**0.5)
    across = _kolmogorov_distance(round(ranked.negatives), level**0.5)
    high = height_at(np.minimum(GRID + across, 1.0), ranked) + up
    low = np.where(across <= GRID, height_at(np.maximum(GRID - across, 0.0), ranked) - up, 0.0)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
