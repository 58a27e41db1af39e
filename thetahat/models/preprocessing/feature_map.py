"""Features from user functions: φ(x) = (f₁(x), f₂(x), …)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, none
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.rowwise import RowwiseTransformer

_mapping = Range(
    lambda value: isinstance(value, Mapping) and bool(value),
    "a dictionary of names and functions such as {'log x0': (np.log, [0])}",
)


@with_parameters
class FeatureMap(RowwiseTransformer):
    """Features computed by user functions of the columns, such as products or logarithms.

    Formula: φ: ℝ^d → ℝ^D, X̃ = φ(X), so that y = X̃β is linear in β and arbitrary in x.

    Cost: that of the functions; each is called once per block of rows.

    Parameters
    ----------
    functions : dict of str to callable or (callable, columns), or None, default=None
        The features by name. With ``columns`` (names or numbers), the function is called with these
        columns as arguments of shape (n,); otherwise with all rows as one array of shape (n, d). It
        returns an array of shape (n,), or (n, m) for m features, in which row i depends on row i
        only. None keeps the columns as they are.
    keep_columns : bool, default=False
        If True, the columns of X are kept before the new features.

    Attributes
    ----------
    widths_ : dict of str to int
        Number of features that each function returns.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> features = th.FeatureMap({
    ...     "x0·x1": (np.multiply, [0, 1]),
    ...     "√x0·exp(x1)": (lambda a, b: np.sqrt(a) * np.exp(b), [0, 1]),
    ... })
    >>> features.fit_transform([[4.0, 0.0], [9.0, 0.0]]).tolist()
    [[0.0, 2.0], [0.0, 3.0]]
    """

    functions: Mapping[str, Callable[..., Array] | tuple[Callable[..., Array], Any]] | None = None
    _: KW_ONLY
    keep_columns: bool = False

    _ranges = {"functions": _mapping | none, "keep_columns": boolean}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None) -> FeatureMap:
        """Check the functions on the first rows; nothing is estimated.

        Cost: that of the functions.
        """
        source = self._open(X, supervised=False)
        first = source.head()
        self.widths_ = {}
        for feature in self._features():
            values = feature(first, self)
            feature.require_rowwise(values, first)
            self.widths_[feature.name] = values.shape[1]
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`. Cost: O(n_features_out).

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X. None uses the names seen in `fit`, or x0, x1, ….

        Returns
        -------
        array of str
            The names of the functions, followed by a number if a function returns several features.
        """
        names = list(super().get_feature_names_out(input_features)) if self._keeps_columns else []
        for name, width in self.widths_.items():
            names += [name] if width == 1 else [f"{name}{i}" for i in range(width)]
        return np.asarray(names, dtype=object)

    @property
    def _keeps_columns(self) -> bool:
        return self.keep_columns or self.functions is None

    @property
    def _n_features_out(self) -> int:
        return sum(self.widths_.values()) + self._keeps_columns * self.n_features_in_

    def _transform_block(self, block: Block) -> Array:
        parts = [block.X] if self._keeps_columns else []
        for feature in self._features():
            values = feature(block, self)
            if values.shape[1] != self.widths_[feature.name]:
                raise DataError(
                    f"{feature} returned {values.shape[1]} features, but "
                    f"{self.widths_[feature.name]} in fit. It must always return the same number."
                )
            parts.append(values)
        return np.hstack(parts)

    def _features(self) -> Iterator[_Feature]:
        for name, entry in (self.functions or {}).items():
            pair = entry if isinstance(entry, tuple) else (entry, None)
            if len(pair) != 2 or not callable(pair[0]):
                raise ParameterError(
                    f"FeatureMap: functions[{name!r}] is {entry!r}; it must be a function, or a "
                    "function and its columns such as (np.log, [0])."
                )
            function, columns = pair
            if columns is not None:
                columns = columns if isinstance(columns, list | tuple) else [columns]
                columns = [self._number(name, column) for column in columns]
            yield _Feature(str(name), function, columns)

    def _number(self, name: str, column: Any) -> int:
        """Number of a column given by number or name."""
        known = list(getattr(self, "feature_names_in_", ()))
        if isinstance(column, str) and column in known:
            return known.index(column)
        d = self.n_features_in_
        if isinstance(column, int | np.integer) and -d <= column < d:
            return int(column) % d
        has = f"columns {known}" if known else f"{d} columns without names"
        raise ParameterError(
            f"FeatureMap: functions[{name!r}] uses column {column!r}, but X has {has}."
        )


@dataclass(frozen=True)
class _Feature:
    """One function and the columns that it is called with; None for all columns as one array."""

    name: str
    function: Callable[..., Array]
    columns: list[int] | None

    def __call__(self, block: Block, owner: FeatureMap) -> Array:
        """The new features of some rows, (n, m) and finite."""
        values = self._values(block.X)
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            row, column = bad[0]
            used = range(block.X.shape[1]) if self.columns is None else self.columns
            at = ", ".join(f"{owner._label(j)}: {block.X[row, j]:g}" for j in list(used)[:6])
            raise DataError(
                f"{self} is {values[row, column]} at row {block.start + row} (columns {at}). Use "
                "rows in its domain, or a function that is defined for these rows."
            )
        return values

    def require_rowwise(self, values: Array, block: Block) -> None:
        """Raise an error if the function uses other rows: results would depend on the blocks."""
        half = (block.n_rows + 1) // 2
        part = self._values(block.X[:half])
        tolerance = 1e-3 if block.X.dtype == np.float32 else 1e-8
        if part.shape[1] != values.shape[1] or not np.allclose(
            part, values[:half], rtol=tolerance, atol=tolerance * np.abs(values).max()
        ):
            raise DataError(
                f"{self} returns different values for a row if other rows are present. A feature "
                "must be a function of one row; compute statistics of other rows beforehand."
            )

    def _values(self, X: Array) -> Array:
        """Values of the function for some rows: (n, m), in their precision."""
        # Values outside the domain raise an error with a name instead of NumPy's warnings.
        with np.errstate(all="ignore"):
            values = np.asarray(self._call(X))
            if values.dtype.kind not in "biuf":
                raise DataError(
                    f"{self} returned values of type {values.dtype}, but must return numbers."
                )
            if values.ndim not in (1, 2) or len(values) != len(X) or not values.size:
                raise DataError(
                    f"{self} returned shape {values.shape} for {len(X)} rows, but must return "
                    f"({len(X)},), or ({len(X)}, m) for m features."
                )
            return values.astype(X.dtype, copy=False).reshape(len(X), -1)

    def _call(self, X: Array) -> Any:
        arguments = [X] if self.columns is None else [X[:, j] for j in self.columns]
        try:
            return self.function(*arguments)
        except Exception as failure:
            failure.add_note(f"Raised by {self}, called with {len(arguments)} argument(s).")
            raise

    def __str__(self) -> str:
        return f"FeatureMap: the function {self.name!r}"
