"""The result of a loader or a generator: arrays, column names and known parameters."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thetahat.foundation.optional import optional_import

FOLDER = Path(__file__).parent
"""The folder of the CSV files of the package."""


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set: rows, column names and, where they are known, the true parameters.

    Formula: if θ is known, y = X·coef + intercept + noise. For generated data it is the θ that
    generated the rows; for certified data it is the least-squares θ̂ = argmin Σ (y − xᵀθ)² to 15
    digits. Cost: O(n·d) memory.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows, with numeric columns only.
    y : ndarray of shape (n,)
        The target of each row.
    feature_names : tuple of str
        The names of the columns of X.
    target_name : str
        The name of the target.
    description : str
        What the rows are and where they come from.
    path : Path or None
        The CSV file the rows were read from, for use with `th.scan`.
    coef, intercept : ndarray of shape (d,), float, or None
        The true or certified coefficients and intercept (θ), where they are known.
    standard_errors : ndarray of shape (d + 1,) or None
        Standard errors of intercept and coef, in this order, where they are certified.
    residual_deviation : float or None
        The residual standard deviation √(Σ residual² / (n − d − 1)), where it is certified.
    categorical : dict of str to ndarray
        Columns that are not numbers, by name.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.load_longley()
    >>> data
    Dataset: 16 rows, 6 features, target 'TOTEMP'
    >>> data.feature_names[:2]
    ('GNPDEFL', 'GNP')
    >>> list(th.LinearRegression().fit(data.table, data.y).feature_names_in_[:2])
    ['GNPDEFL', 'GNP']
    """

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    target_name: str
    description: str
    path: Path | None = None
    coef: NDArray[Any] | None = None
    intercept: float | None = None
    standard_errors: NDArray[Any] | None = None
    residual_deviation: float | None = None
    categorical: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @property
    def table(self) -> Any:
        """X as a polars data frame with the names of its columns, which summaries then show.

        Needs ``pip install "thetahat[table]"``. The table of pandas is ``data.table.to_pandas()``.
        """
        polars = optional_import("polars", extra="table", purpose="X with the names of its columns")
        return polars.DataFrame(self.X, schema=list(self.feature_names))

    def __repr__(self) -> str:
        n_rows, n_features = self.X.shape
        return f"Dataset: {n_rows} rows, {n_features} features, target {self.target_name!r}"


def read_columns(path: Path) -> dict[str, list[str]]:
    """The columns of a CSV file of the package as text, by name."""
    with open(path, newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    return {name: [row[place] for row in rows] for place, name in enumerate(header)}


def stack(columns: Mapping[str, list[str]], names: Sequence[str]) -> NDArray[np.float64]:
    """The named columns as one C-ordered matrix of numbers."""
    return np.ascontiguousarray(np.array([columns[name] for name in names], dtype=np.float64).T)
