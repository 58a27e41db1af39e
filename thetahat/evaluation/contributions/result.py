"""Contributions of the columns to predictions, as a table and as pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.optional import optional_import
from thetahat.foundation.types import Array

SHOWN = 12
"""Largest number of columns in a picture or a printed table."""
RISES, FALLS = "#c44e52", "#4c72b0"


@dataclass(frozen=True)
class Contributions:
    """What each column adds to the prediction of each row; prints as a table.

    Formula: f(x) = base + Σⱼ φⱼ(x), where φⱼ is the Shapley value of column j: the mean of
    E[f | columns before j, and j] − E[f | columns before j] over all orders of the columns. Cost:
    O(n d) memory.

    Attributes
    ----------
    values : array of shape (n, d) or (n, d, n_outputs)
        The contribution of each column to each row (φ). With several classes or targets, there is
        one for each of them.
    base : float or array of shape (n_outputs,)
        The mean prediction, to which the contributions are added.
    columns : list
        The names or numbers of the columns.
    response : str
        What is predicted, such as "prediction", "probability" or "raw prediction".
    outputs : list
        The classes or the numbers of the targets; empty if `values` has two axes.
    X : array of shape (n, d)
        The rows that are explained.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=0.1, random_state=0)
    >>> model = th.DecisionTreeRegressor(max_depth=3).fit(data.X, data.y)
    >>> found = th.explain(model, data.X)
    >>> bool(abs(found.predictions - model.predict(data.X)).max() < 1e-10)
    True
    """

    values: Array
    base: Any
    columns: list[Any]
    response: str
    outputs: list[Any]
    X: Array

    @property
    def predictions(self) -> Array:
        """The predictions that the contributions add up to."""
        return self.base + self.values.sum(axis=1)

    @property
    def importance(self) -> Array:
        """The mean size of the contributions of each column, (d,), summed over the outputs."""
        sizes = np.abs(self.values).mean(axis=0)
        return sizes if sizes.ndim == 1 else sizes.sum(axis=1)

    def to_frame(self, output: Any = None) -> Any:
        """Convert to a pandas DataFrame with one row per row. Cost: O(n d).

        Parameters
        ----------
        output : optional
            The class or target whose contributions are returned. By default the last one.

        Returns
        -------
        pandas.DataFrame
        """
        pandas = optional_import("pandas", purpose="Contributions.to_frame")
        values, base, _ = self._of(output)
        frame = pandas.DataFrame(values, columns=self.columns)
        frame.insert(0, "(base)", base)
        return frame

    def __str__(self) -> str:
        order = np.argsort(-self.importance, kind="stable")
        shown = order[:SHOWN]
        width = max(len(str(self.columns[j])) for j in shown)
        n = len(self.values)
        plural = "" if n == 1 else "s"
        lines = [f"mean size of the contributions to the {self.response}, {n:,} row{plural}:"]
        lines += [f"  {self.columns[j]!s:<{width}}  {self.importance[j]:.4g}" for j in shown]
        if len(order) > SHOWN:
            lines += [f"  and {len(order) - SHOWN} more columns"]
        return "\n".join(lines)

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None, row: int | None = None, output: Any = None) -> None:
        """Plot the contributions to one row as bars, or of all rows as points. Cost: O(n d).

        The points of a column are coloured by its value, from small (blue) to large (red).

        Parameters
        ----------
        row : int, optional
            The number of the row. By default all rows are shown.
        output : optional
            The class or target whose contributions are shown. By default the last one.
        """
        values, base, named = self._of(output)
        order = np.argsort(-np.abs(values if row is None else values[[row]]).mean(axis=0))
        shown = order[:SHOWN][::-1]
        if row is None:
            for place, j in enumerate(shown):
                _points(axes, values[:, j], self.X[:, j], place)
            axes.set_yticks(range(len(shown)), [str(self.columns[j]) for j in shown])
            axes.set(xlabel=f"contribution to the {named}")
        else:
            size = values[row, shown]
            axes.barh(range(len(shown)), size, color=np.where(size > 0, RISES, FALLS))
            names = [f"{self.columns[j]} = {_short(self.X[row, j])}" for j in shown]
            axes.set_yticks(range(len(shown)), names)
            total = base + values[row].sum()
            axes.set(xlabel=f"contribution to the {named}: {base:.3g} on average, {total:.3g} here")
        axes.axvline(0.0, color="black", lw=0.8)

    def _of(self, output: Any) -> tuple[Array, float, str]:
        """Contributions, base and name of one output."""
        if self.values.ndim == 2:
            return self.values, float(self.base), self.response
        place = len(self.outputs) - 1
        if output is not None:
            if output not in self.outputs:
                raise ParameterError(
                    f"Contributions: there is no output {output!r}. Outputs: "
                    f"{', '.join(map(str, self.outputs))}."
                )
            place = self.outputs.index(output)
        named = f"{self.response} of {self.outputs[place]}"
        return self.values[:, :, place], float(self.base[place]), named


def _points(axes: Any, values: Array, column: Array, place: int) -> None:
    """Points beside each other where many rows have about the same contribution."""
    low, high = float(values.min()), float(values.max())
    bins = np.minimum((values - low) / ((high - low) or 1.0) * 60, 59).astype(int)
    counts = np.bincount(bins, minlength=60)
    number = np.zeros(len(values))
    for each in np.flatnonzero(counts):
        rows = np.flatnonzero(bins == each)
        number[rows] = (np.arange(rows.size) + 1) // 2 * np.where(np.arange(rows.size) % 2, 1, -1)
    height = place + 0.8 * number / max(float(counts.max()), 20.0)
    ranks = np.empty(len(column))
    ranks[np.argsort(numbers_of(column), kind="stable")] = np.linspace(0.0, 1.0, len(column))
    axes.scatter(values, height, c=ranks, cmap="coolwarm", s=6, lw=0)


def numbers_of(column: Array) -> Array:
    """Numbers in the order of a column's values: of text, the places in its sorted values."""
    try:
        return np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return np.unique(np.asarray(column).astype(str), return_inverse=True)[1].astype(np.float64)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
