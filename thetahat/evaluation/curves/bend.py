"""The elbow of a falling curve L(k): the k beyond which the loss falls only slowly."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import sample
from thetahat.foundation.arguments import require_level
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


@dataclass(frozen=True, eq=False)
class Elbow:
    """A decreasing curve L(k), its band and its elbow; ``float(elbow)`` gives the k of the elbow.

    Formula: the k farthest below the straight line from the first point to the last, of log L(k)
    if ``scale`` is "log". Cost: O(points) memory.

    Attributes
    ----------
    value : float
        The k at the elbow of the curve.
    values : array of shape (n_values,)
        All values of k, in ascending order.
    losses : array of shape (n_values,)
        The loss L(k), averaged over repetitions.
    low, high : array of shape (n_values,) or None
        The band: a t interval of the mean loss for each k. None without repetitions.
    agreement : float or None
        The share of repetitions whose own curve has its elbow at the same k. None without
        repetitions.
    level : float
        Confidence level of the band.
    scale : str
        The scale of the losses on which the elbow was found, "log" or "linear".

    Examples
    --------
    >>> import thetahat as th
    >>> found = th.elbow([1, 2, 3, 4], [[90, 99], [20, 24], [15, 19], [14, 12]])
    >>> float(found), found.agreement
    (2.0, 1.0)
    """

    value: float
    values: Array
    losses: Array
    low: Array | None
    high: Array | None
    agreement: float | None
    level: float
    scale: str = "linear"

    def __float__(self) -> float:
        return self.value

    def __int__(self) -> int:
        return int(self.value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Real | Elbow):
            return self.value == float(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        place = int(np.searchsorted(self.values, self.value))
        words = f"The elbow is at {self.value:g}, where the loss is {self.losses[place]:.4g}"
        words += f" ({self.losses[0]:.4g} at the first value, {self.losses[-1]:.4g} at the last)"
        if self.low is not None and self.high is not None and self.agreement is not None:
            words += (
                f"; {100 * self.level:.4g}% interval {self.low[place]:.4g} to "
                f"{self.high[place]:.4g}; {100 * self.agreement:.3g}% of repetitions agree"
            )
        return words

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the curve, its band, the straight line, and the elbow. Cost: O(points)."""
        if self.low is not None:
            axes.fill_between(self.values, self.low, self.high, alpha=0.2, lw=0)
        axes.plot(self.values, self.losses, "o-")
        axes.plot(self.values[[0, -1]], self.losses[[0, -1]], color="0.6", lw=0.8, ls="--")
        axes.axvline(self.value, color="C3", lw=1, label=f"elbow at {self.value:g}")
        axes.set(xlabel="k", ylabel="L(k)", yscale=self.scale)
        axes.legend(frameon=False)


def elbow(values: Any, losses: Any, *, level: float = 0.95) -> Elbow:
    """Find the elbow of a falling curve L(k), beyond which the loss falls only slowly.

    Use it to choose a number of clusters or components.

    Formula: the k farthest below the straight line from the first point to the last, with both axes
    scaled to [0, 1]. Losses are compared by their ratios, on a logarithmic scale, because the first
    of several equal groups lower the loss far more than the last one; on a linear scale if some are
    not positive or no point of log L(k) lies below the line. Repeated losses are averaged,
    L̄ ± t_{r−1}·s/√r. Cost: O(points).

    Parameters
    ----------
    values : sequence of float
        The values of k, in ascending order. At least three are needed.
    losses : array-like of shape (n_values,) or (n_values, n_repetitions)
        The loss for each k, or for each k the losses of several repetitions, such as restarts or
        samples of the rows.
    level : float, default=0.95
        Confidence level of the band, between 0 and 1. A band needs repetitions.

    Returns
    -------
    Elbow

    Examples
    --------
    >>> import thetahat as th
    >>> float(th.elbow([1, 2, 3, 4, 5], [100.0, 40.0, 12.0, 10.0, 9.0]))
    3.0
    """
    require_level(level)
    k, given = sample(values, "values", 3), np.asarray(losses, dtype=float)
    repeated = given[:, None] if given.ndim == 1 else given
    if repeated.ndim != 2 or len(repeated) != k.size or not (np.diff(k) > 0).all():
        raise DataError(
            f"elbow: {k.size} values and losses of shape {given.shape}. Give ascending values, and "
            "one loss or one row of losses for each."
        )
    sample(repeated.ravel(), "losses", 3)
    mean, count = repeated.mean(axis=1), repeated.shape[1]
    value, scale = _bend(k, mean)
    if count == 1:
        return Elbow(value, k, mean, None, None, None, level, scale)
    from scipy.special import stdtrit

    half = -stdtrit(count - 1, (1 - level) / 2) * repeated.std(axis=1, ddof=1) / np.sqrt(count)
    # The mean of losses that are never negative is not negative either.
    low = np.maximum(mean - half, 0.0) if repeated.min() >= 0 else mean - half
    falling = [column for column in repeated.T if column[0] > column[-1]]
    agreement = sum(_bend(k, column)[0] == value for column in falling) / count
    return Elbow(value, k, mean, low, mean + half, agreement, level, scale)


def _bend(k: Array, loss: Array) -> tuple[float, str]:
    """The k of the elbow, and the scale of the losses on which it lies."""
    if not loss[0] > loss[-1]:
        raise DataError(
            f"elbow: the losses do not fall ({loss[0]:g} at the first value, {loss[-1]:g} at the "
            "last), so the curve has no elbow. Give losses that fall as k grows."
        )
    if loss.min() > 0:
        below = _below_line(k, np.log(loss))
        if below[1:-1].max() > 0:
            return float(k[int(below.argmax())]), "log"
    return float(k[int(_below_line(k, loss).argmax())]), "linear"


def _below_line(k: Array, loss: Array) -> Array:
    """How far each point lies below the line from the first to the last, with axes in [0, 1]."""
    across = (k - k[0]) / (k[-1] - k[0])
    return np.asarray((1 - across) - (loss - loss[-1]) / (loss[0] - loss[-1]))
