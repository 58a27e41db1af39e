"""Converts a table of mixed columns to one matrix of numbers: φ(x) = (φ₁(x₁), …, φ_d(x_d))."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.columns.schema import Kind
from thetahat.data.columns.tables import is_table
from thetahat.data.columns.variables import Variable, require_distinct_names, variables
from thetahat.data.source import Source
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator, is_frame
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, check_ranges, none, one_of, whole
from thetahat.foundation.checked_value import check_columns, check_rule
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.types import Array
from thetahat.models.preprocessing.column_encoders import (
    Codes,
    ColumnEncoder,
    DateParts,
    Indicators,
    NumberEncoder,
    PlainNumber,
    Words,
    is_date,
)

KINDS = ("numeric", "ordinal", "categorical", "text", "date")
WORDS_OF_TEXT = 4
"""Mean number of words per value from which strings are treated as text."""
WIDE = 200
"""Number of indicator columns from which the matrix is sparse."""


@with_parameters
class TableVectorizer(TransformerMixin, Estimator):
    """Convert numbers, categories, dates and text to one matrix of numbers.

    Formula: φ(x) = (φ₁(x₁), …, φ_d(x_d)). A number becomes (x − x̄)/s, a category its indicators
    1[x = c], an ordered category its position, a date its day, month, weekday and hour, and a text
    its words weighted by term frequency × log inverse document frequency. Missing values are
    replaced by the median and marked in a further column. With ``encoding="codes"``, for trees,
    numbers and missing values stay as they are and a category becomes its code; column j of the
    table is column j of the matrix, followed by the parts of dates and text.

    Cost: O(n d) for numbers, O(n) words for text. The result is sparse if text or many categories
    make most entries 0.

    Parameters
    ----------
    kinds : dict of str to str, or None, default=None
        Kind of each column: "numeric", "ordinal", "categorical", "text" or "date"; "drop" leaves a
        column out. Columns that are not listed are treated according to their type; strings are
        text if they have four words or more on average.
    encoding : {"indicators", "codes"}, default="indicators"
        Use "indicators" for linear, kernel and neural models, and "codes" for trees.
    max_categories : int, default=50
        Maximum number of categories per column that get their own indicator; all rarer ones share
        one.
    min_share : float, default=0.001
        Minimum fraction of the rows that a category needs for its own indicator. Must lie in [0,
        1).
    max_terms : int, default=20000
        Maximum number of words per text column; the most frequent ones are kept.

    Attributes
    ----------
    encoders_ : list of ColumnEncoder
        The fitted encoder of each column.
    kinds_ : dict of str to str
        The kind that was used for each column.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    Examples
    --------
    >>> import polars
    >>> import thetahat as th
    >>> table = polars.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> vectorizer = th.TableVectorizer().fit(table)
    >>> vectorizer.get_feature_names_out().tolist()
    ['size', 'size=(missing)', 'colour=red']
    """

    kinds: dict[str, str] | None = None
    _: KW_ONLY
    encoding: str = "indicators"
    max_categories: int = 50
    min_share: float = 0.001
    max_terms: int = 20_000

    _ranges = {  # noqa: RUF012
        "kinds": Range(lambda value: isinstance(value, dict), "a dictionary of kinds") | none,
        "encoding": one_of("indicators", "codes"),
        "max_categories": whole(1),
        "min_share": Range(lambda value: 0 <= value < 1, "a fraction in [0, 1)"),
        "max_terms": whole(1),
    }

    _streams = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    _tried_when_loaded = False  # it takes tables

    def _check_loaded(self) -> None:
        if not self.__sklearn_is_fitted__():
            return
        check_ranges(self)
        check_columns(self)
        check_rule(
            self,
            isinstance(vars(self).get("encoders_"), list)
            and len(self.encoders_) > 0
            and all(isinstance(each, ColumnEncoder) for each in self.encoders_),
            "encoders_ must be a list of encoders",
        )
        unknown = [each.name for each in self.encoders_ if not self._has_column(each.name)]
        check_rule(self, not unknown, f"there is no column {unknown[:1]}")

    def _has_column(self, name: Any) -> bool:
        names = vars(self).get("feature_names_in_")
        if names is not None:
            return name in names
        number = name[1:] if isinstance(name, str) and name.startswith("x") else ""
        return number.isdecimal() and len(number) < 20 and int(number) < self.n_features_in_

    def fit(self, X: Any, y: Any = None) -> TableVectorizer:
        """Determine the encoding of each column. Cost: O(n d), and O(n) words for text.

        Parameters
        ----------
        X : table or array-like of shape (n, d)
            The table: pandas, polars, Arrow or NumPy (structured, of numbers or of objects).
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted transformer.
        """
        check_ranges(self)
        columns = self._columns(X, reset=True)
        self.kinds_ = {name: self._kind(name, column) for name, column in columns.items()}
        made = [self._learn(name, columns[name]) for name in columns if self.kinds_[name] != "drop"]
        if not made:
            raise DataError("TableVectorizer: all columns have the kind 'drop'. Keep at least one.")
        self.encoders_ = sorted(made, key=lambda each: self.encoding == "codes" and _is_wide(each))
        return self

    def transform(self, X: Any) -> Array:
        """Convert a table to a matrix of numbers. Cost: O(n d), and O(n) words for text.

        Parameters
        ----------
        X : table or array-like of shape (n, d)
            Table to convert, with the same columns as in `fit`.

        Returns
        -------
        array or CSR array of shape (n, n_features_out)
            float32 if every column of X is float32, else float64; CSR if most entries are 0.
        """
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        parts = [encoder.encode(columns[encoder.name]) for encoder in self.encoders_]
        single = all(column.is_single for column in columns.values())
        dtype = np.float32 if single else np.float64
        n, width = parts[0].shape[0], sum(part.shape[1] for part in parts)
        if self.encoding == "indicators" and self._is_mostly_zero(parts):
            import scipy.sparse

            blocks = [scipy.sparse.csr_array(part) for part in parts]
            return scipy.sparse.csr_array(scipy.sparse.hstack(blocks, format="csr", dtype=dtype))
        require_memory(
            8 * n * width, f"TableVectorizer: {n} rows of {width} columns", "Reduce max_terms."
        )
        dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in parts]
        return np.hstack(dense, dtype=dtype, casting="same_kind")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`. Cost: O(n_features_out).

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X. None uses the names seen in `fit`, or x0, x1, ….

        Returns
        -------
        array of str
            Names such as ``"colour=red"``.
        """
        check_is_fitted(self)
        return np.array([name for each in self.encoders_ for name in each.names()], dtype=object)

    def unseen(self, X: Any) -> dict[str, dict[Any, int]]:
        """Count the categories that were absent in `fit`. Cost: O(n) per categorical column.

        Parameters
        ----------
        X : table or array-like of shape (n, d)
            Table to check, with the same columns as in `fit`.

        Returns
        -------
        dict of str to dict
            For each column, the new categories and the number of times each occurs.
        """
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        found = {each.name: each.unseen(columns[each.name]) for each in self.encoders_}
        return {name: values for name, values in found.items() if values}

    @property
    def categorical_columns_(self) -> list[int]:
        """With ``encoding="codes"``, the columns of the matrix that contain codes of categories."""
        check_is_fitted(self)
        return [place for place, each in enumerate(self.encoders_) if isinstance(each, Codes)]

    def _is_mostly_zero(self, parts: list[Any]) -> bool:
        """Whether most entries are 0, because of text or many indicators."""
        pairs = zip(self.encoders_, parts, strict=True)
        n_indicators = sum(part.shape[1] for each, part in pairs if isinstance(each, Indicators))
        return n_indicators > WIDE or any(not isinstance(part, np.ndarray) for part in parts)

    def _columns(self, X: Any, *, reset: bool) -> dict[str, Variable]:
        """The columns by name, compared with those of `fit` unless `reset`."""
        if isinstance(X, Source):
            raise CapabilityError(
                "TableVectorizer needs its rows in memory, but these are read block by block. "
                "Load the data first, for example with polars.read_csv(path)."
            )
        if is_sparse(X):
            raise TypeError(
                "TableVectorizer does not take sparse input, which is already numeric. Remove it "
                "from the pipeline, or use X.toarray()."
            )
        if is_frame(X) or is_table(X):
            require_distinct_names(X)
            validate_data(self, X, skip_check_array=True, reset=reset)
            found = variables(X)
        else:
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            if X.dtype.kind not in "biufOUST":
                raise DataError(
                    f"TableVectorizer: X has dtype {X.dtype}, but must be numbers, text or a table."
                )
            found = variables(X)
        if not found or not len(found[0].values):
            raise DataError(
                f"Found array with 0 sample(s) and {len(found)} columns while a minimum of 1 is "
                "required by TableVectorizer."
            )
        named = [str(column.label) for column in found]
        if not hasattr(X, "columns") and not hasattr(X, "column_names"):
            named = [f"x{place}" for place in range(len(found))]
        return dict(zip(named, found, strict=True))

    def _kind(self, name: str, column: Variable) -> str:
        """The requested kind, or the one that follows from the type of the column."""
        asked = (self.kinds or {}).get(name)
        if asked is not None:
            if asked not in (*KINDS, "drop"):
                raise ParameterError(
                    f"TableVectorizer: kinds[{name!r}]={asked!r} must be one of "
                    f"{', '.join(map(repr, KINDS))} or 'drop'."
                )
            return asked
        if is_date(column):
            return "date"
        kind = column.kind
        if kind is Kind.ORDINAL:
            return "ordinal"
        if kind.is_number:
            return "numeric"
        return "text" if column.categories is None and _is_text(column) else "categorical"

    def _learn(self, name: str, column: Variable) -> ColumnEncoder:
        codes = self.encoding == "codes"
        match self.kinds_[name]:
            case "numeric":
                return PlainNumber(name) if codes else NumberEncoder.learn(name, column)
            case "ordinal":
                levels = column.categories or column.held()
                if codes:
                    return PlainNumber(name, levels)
                return NumberEncoder.learn(name, column, levels)
            case "date":
                return DateParts.learn(name, column, scaled=not codes)
            case "text":
                return Words.learn(name, column, self.max_terms)
        if codes:
            return Codes.learn(name, column)
        return Indicators.learn(name, column, self.max_categories, self.min_share)


def _is_wide(encoder: ColumnEncoder) -> bool:
    """Whether one column becomes several; with codes, these come last."""
    return isinstance(encoder, DateParts | Words)


def _is_text(column: Variable) -> bool:
    values = column.present()[:1000]
    words = sum(len(str(value).split()) for value in values)
    return bool(values) and words >= WORDS_OF_TEXT * len(values)
