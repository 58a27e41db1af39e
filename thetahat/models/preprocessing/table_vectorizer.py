"""A table of mixed columns as one matrix of numbers: φ(x) = (φ₁(x₁), …, φ_d(x_d))."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from thetahat.data.columns.schema import Kind
from thetahat.data.columns.tables import is_table
from thetahat.data.columns.variables import Variable, variables
from thetahat.data.source import Source
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator, is_frame
from thetahat.estimator.parameters import Range, check_ranges, none, one_of, whole
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
"""Words per value, on average, from which strings are text and no names of categories."""
WIDE = 200
"""Columns of indicators from which most are 0 and the matrix is sparse."""


class TableVectorizer(TransformerMixin, Estimator):
    """Numbers, categories, ordered categories, dates and text as one matrix of numbers.

    Formula: φ(x) = (φ₁(x₁), …, φ_d(x_d)). A number becomes (x − x̄)/s, a category its indicators
    1[x = c], an ordered category its place, a date its day, month, weekday and hour, a text its
    words by frequency × log inverse document frequency. Gaps are filled with the median and marked.
    With ``encoding="codes"``, for trees, numbers and gaps stay as they are, a category is its code,
    and column j of the table is column j of the matrix, the parts of dates and text behind them.

    Cost: O(n d) for numbers, O(n) words for text; the result is sparse when text or many categories
    make most of it 0.

    Parameters
    ----------
    kinds : dict of str to str, optional
        "numeric", "ordinal", "categorical", "text" or "date" by column; "drop" leaves one out.
        Columns not named go by their type; strings are text when they hold four words or more on
        average.
    encoding : {"indicators", "codes"}, default="indicators"
        "indicators" for linear, kernel and neural models, "codes" for trees.
    max_categories : int, default=50
        Categories that get an indicator of their own; the rarer ones share one.
    min_share : float, default=0.001
        Share of the rows that a category needs for an indicator of its own.
    max_terms : int, default=20000
        Words kept of each text column, the most frequent ones.

    Attributes
    ----------
    encoders_ : list of ColumnEncoder
        What each column becomes.
    kinds_ : dict of str to str
        The kind taken for each column.
    n_features_in_, feature_names_in_
        Of the table.

    Examples
    --------
    >>> import polars
    >>> import thetahat as th
    >>> table = polars.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> vectorizer = th.TableVectorizer().fit(table)
    >>> vectorizer.get_feature_names_out().tolist()
    ['size', 'size=(missing)', 'colour=red']
    """

    _ranges = {  # noqa: RUF012
        "kinds": Range(lambda value: isinstance(value, dict), "a dictionary of kinds") | none,
        "encoding": one_of("indicators", "codes"),
        "max_categories": whole(1),
        "min_share": Range(lambda value: 0 <= value < 1, "a share in [0, 1)"),
        "max_terms": whole(1),
    }

    _streams = False

    def __init__(
        self,
        kinds: dict[str, str] | None = None,
        *,
        encoding: str = "indicators",
        max_categories: int = 50,
        min_share: float = 0.001,
        max_terms: int = 20_000,
    ) -> None:
        self.kinds = kinds
        self.encoding = encoding
        self.max_categories = max_categories
        self.min_share = min_share
        self.max_terms = max_terms

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def fit(self, X: Any, y: Any = None) -> TableVectorizer:
        """Learn what each column becomes.

        Parameters
        ----------
        X : table or array-like of shape (n, d)
            pandas, polars, Arrow, NumPy (structured, of numbers or of objects).
        y : ignored

        Returns
        -------
        self
        """
        check_ranges(self)
        columns = self._columns(X, reset=True)
        self.kinds_ = {name: self._kind(name, column) for name, column in columns.items()}
        made = [self._learn(name, columns[name]) for name in columns if self.kinds_[name] != "drop"]
        if not made:
            raise DataError(
                "TableVectorizer: no column is left: all are of the kind 'drop'. Keep one."
            )
        self.encoders_ = sorted(made, key=lambda each: self.encoding == "codes" and _is_wide(each))
        return self

    def transform(self, X: Any) -> Array:
        """The table as numbers, (n, n_features_out); CSR when most of it is 0.

        Parameters
        ----------
        X : table or array-like of shape (n, d)
            With the columns of `fit`.

        Returns
        -------
        array or CSR array
            float32 when every column of X is, else float64.
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
            8 * n * width, f"TableVectorizer: {n} rows of {width} columns", "Lower max_terms."
        )
        dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in parts]
        return np.hstack(dense, dtype=dtype, casting="same_kind")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the new columns, such as ``"colour=red"``. Cost: O(n_features_out)."""
        check_is_fitted(self)
        return np.array([name for each in self.encoders_ for name in each.names()], dtype=object)

    def unseen(self, X: Any) -> dict[str, dict[Any, int]]:
        """Per column, the categories that were not there in `fit`, and how often each occurs.

        Cost: O(n) per categorical column.
        """
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        found = {each.name: each.unseen(columns[each.name]) for each in self.encoders_}
        return {name: values for name, values in found.items() if values}

    @property
    def categorical_columns_(self) -> list[int]:
        """With ``encoding="codes"``, the columns of the matrix that hold codes of categories."""
        check_is_fitted(self)
        return [place for place, each in enumerate(self.encoders_) if isinstance(each, Codes)]

    def _is_mostly_zero(self, parts: list[Any]) -> bool:
        """Whether text, or very many indicators, make up the matrix."""
        pairs = zip(self.encoders_, parts, strict=True)
        n_indicators = sum(part.shape[1] for each, part in pairs if isinstance(each, Indicators))
        return n_indicators > WIDE or any(not isinstance(part, np.ndarray) for part in parts)

    def _columns(self, X: Any, *, reset: bool) -> dict[str, Variable]:
        """The columns by name, checked against `fit` once it has been."""
        if isinstance(X, Source):
            raise CapabilityError(
                "TableVectorizer needs its rows in memory, and these are read block by block. Load "
                "them first: polars.read_csv(path)."
            )
        if is_sparse(X):
            raise TypeError(
                "TableVectorizer does not take sparse input, which is numbers already. Leave it "
                "out of the pipeline, or use X.toarray()."
            )
        if is_frame(X) or is_table(X):
            validate_data(self, X, skip_check_array=True, reset=reset)
            found = variables(X)
        else:
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            if X.dtype.kind not in "biufOUST":
                raise DataError(
                    f"TableVectorizer: X has dtype {X.dtype}; numbers, text or a table are needed."
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
        """The kind that was asked for, else the one of the column's type."""
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
    """Whether one column becomes several: those come last in the matrix of trees."""
    return isinstance(encoder, DateParts | Words)


def _is_text(column: Variable) -> bool:
    values = column.present()[:1000]
    words = sum(len(str(value).split()) for value in values)
    return bool(values) and words >= WORDS_OF_TEXT * len(values)
