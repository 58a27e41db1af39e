"""The result of a bootstrap; prints as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from thetahat.foundation.types import Array


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Estimates with their standard errors, bias and intervals, from fits to resampled rows.

    Formula: se = std(t*), bias = mean(t*) − t over the replicates t*. Cost: O(B) memory for each
    number.

    Attributes
    ----------
    names : tuple of str
        The names of the estimated numbers.
    estimate, standard_error, bias, low, high : array
        The estimate, its standard error and bias, and the ends of its interval, in the shape of
        the statistic.
    level, kind, resample : float, str, str
        The confidence level and the kind of the intervals, and what was resampled.
    n_resamples : int
        The number of fits that were tried.
    failures : dict of str to int
        Reasons of failed fits, such as a resample with one class only, and the number of fits with
        each.
    replicates : array of shape (fits that succeeded, \\*shape)
        The statistic on every resample.
    n_failed : int
        The number of fits that failed.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(20.0)[:, None]
    >>> result = th.bootstrap(
    ...     th.LinearRegression(), X, 3 * X[:, 0] + 1, n_resamples=20, random_state=0
    ... )
    >>> result.estimate.round(6).tolist()
    [1.0, 3.0]
    >>> result.n_failed
    0
    """

    names: tuple[str, ...]
    estimate: Array
    standard_error: Array
    bias: Array
    low: Array
    high: Array
    level: float
    kind: str
    resample: str
    n_resamples: int
    failures: dict[str, int]
    replicates: Array = field(repr=False)

    @property
    def n_failed(self) -> int:
        """The number of fits that failed."""
        return sum(self.failures.values())

    def __str__(self) -> str:
        width = max(10, *(len(name) for name in self.names))
        heads = ("estimate", "std. error", "bias", f"[{self._tail:g}", f"{1 - self._tail:g}]")
        lines = [self._title, " " * width + "".join(f"{head:>13}" for head in heads)]
        lines += [
            f"{name:<{width}}" + "".join(f"{number:13.5g}" for number in numbers)
            for name, *numbers in self._rows()
        ]
        lines += [
            f"{count} fit{'s' * (count != 1)} failed: {reason}"
            for reason, count in self.failures.items()
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = ("", "estimate", "std. error", "bias", f"[{self._tail:g}", f"{1 - self._tail:g}]")
        head = "".join(f"<th>{one}</th>" for one in heads)
        body = "".join(
            f"<tr><th>{escape(name)}</th>"
            + "".join(f"<td>{number:.5g}</td>" for number in numbers)
            + "</tr>"
            for name, *numbers in self._rows()
        )
        failed = "".join(
            f"<p>{count} fit{'s' * (count != 1)} failed: {escape(reason)}</p>"
            for reason, count in self.failures.items()
        )
        title = escape(self._title)
        return f"<table><caption>{title}</caption><tr>{head}</tr>{body}</table>{failed}"

    @property
    def _tail(self) -> float:
        return round((1 - self.level) / 2, 6)

    @property
    def _title(self) -> str:
        return (
            f"Bootstrap of {self.resample}: {self.n_resamples - self.n_failed} fits, "
            f"{self.kind} intervals at level {self.level:g}"
        )

    def _rows(self) -> list[tuple[Any, ...]]:
        columns = (self.estimate, self.standard_error, self.bias, self.low, self.high)
        return list(zip(self.names, *(np.ravel(one) for one in columns), strict=True))
