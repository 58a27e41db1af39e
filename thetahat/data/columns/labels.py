"""Class labels as numbers, and back.

With the classes c₁, ..., c_C in order, a label y = c_k is written in one of the forms

    codes     k − 1            in {0, ..., C − 1}
    indices   k                in {1, ..., C}
    one_hot   e_k              with (e_k)_j = 1[j = k]
    binary    y₀₁ = k − 1      in {0, 1},      C = 2
    signs     y± = 2·y₀₁ − 1   in {−1, +1},    C = 2

Each form determines the label, so conversions are lossless.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from thetahat.data.columns.variables import is_missing
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

Form = Literal["codes", "indices", "one_hot", "binary", "signs"]
_TWO_CLASSES = ("binary", "signs")
PLAIN = {"i": np.int64, "u": np.uint64, "b": np.bool_}
"""NumPy's types for whole numbers and Booleans of pandas, by the kind of the type."""


@dataclass(frozen=True, eq=False)
class LabelEncoding:
    """Encode labels as {0, 1}, {−1, +1}, {1..C}, one-hot vectors or codes, and decode them.

    Formula: one_hot(c)_k = 1[k = c] and y± = 2·y₀₁ − 1. Cost: O(n log C), one_hot O(n·C).

    Parameters
    ----------
    classes : array of shape (C,)
        The distinct labels (text, numbers or Booleans), in the order of their codes.

    Examples
    --------
    >>> import thetahat as th
    >>> encoding = th.data.LabelEncoding.of(["spam", "ham", "spam"])
    >>> encoding.encode(["spam", "ham", "spam"], "signs")
    array([ 1., -1.,  1.])
    >>> encoding.convert([1.0, -1.0], "signs", "one_hot")
    array([[0., 1.],
           [1., 0.]])
    >>> encoding.decode([2, 1], "indices").tolist()
    ['spam', 'ham']
    """

    classes: NDArray[Any]

    def __post_init__(self) -> None:
        classes = _as_labels(self.classes)
        if len(set(classes.tolist())) < classes.size:
            raise DataError(f"The classes {_listed(classes)} are not distinct. Give each once.")
        if classes.size == 0:
            raise DataError("There are no classes. Give at least one label.")
        object.__setattr__(self, "classes", classes)

    @classmethod
    def of(cls, labels: Array) -> LabelEncoding:
        """The encoding of the distinct values of `labels`, in ascending order.

        Parameters
        ----------
        labels : array-like of shape (n,)
            The labels of some rows, without missing values.

        Returns
        -------
        LabelEncoding
        """
        values = _as_labels(labels)
        try:
            return cls(_distinct(values))
        except TypeError as failure:
            kinds = sorted({type(label).__name__ for label in values.tolist()})
            raise DataError(
                f"The labels mix {' and '.join(kinds)}, which have no common order. Convert all of "
                "them to text with str(), or give their order with LabelEncoding(classes)."
            ) from failure

    @property
    def n_classes(self) -> int:
        """The number of classes (C)."""
        return int(self.classes.size)

    def encode(self, labels: Any, form: Form = "codes") -> NDArray[Any]:
        """Encode labels as numbers.

        Parameters
        ----------
        labels : array-like of shape (n,)
            Labels that are all among the classes.
        form : {"codes", "indices", "one_hot", "binary", "signs"}, default="codes"
            The form of the numbers. "binary" and "signs" need two classes.

        Returns
        -------
        ndarray of shape (n,), or (n, C) for "one_hot"
            Integers for "codes" and "indices", floating point for the other forms.
        """
        self._require_form(form)
        return self._write(self._codes(labels), form)

    def decode(self, values: Array, form: Form = "codes") -> NDArray[Any]:
        """Decode numbers to labels.

        Parameters
        ----------
        values : array-like of shape (n,), or (n, C) for "one_hot"
            Encoded labels, as returned by `encode`.
        form : {"codes", "indices", "one_hot", "binary", "signs"}, default="codes"
            The form of the numbers.

        Returns
        -------
        ndarray of shape (n,)
        """
        self._require_form(form)
        labels: NDArray[Any] = self.classes[self._read(np.asarray(values), form)]
        return labels

    def convert(self, values: Array, form: Form, to: Form) -> NDArray[Any]:
        """Convert encoded labels from one form to another.

        Parameters
        ----------
        values : array-like of shape (n,), or (n, C) for "one_hot"
            Encoded labels, as returned by `encode`.
        form : {"codes", "indices", "one_hot", "binary", "signs"}
            The form of the given numbers.
        to : {"codes", "indices", "one_hot", "binary", "signs"}
            The form to convert to. "binary" and "signs" need two classes.

        Returns
        -------
        ndarray of shape (n,), or (n, C) for "one_hot"
        """
        self._require_form(form)
        self._require_form(to)
        return self._write(self._read(np.asarray(values), form), to)

    def _write(self, codes: NDArray[np.intp], form: Form) -> NDArray[Any]:
        match form:
            case "codes":
                return codes
            case "indices":
                return codes + 1
            case "binary":
                return codes.astype(np.float64)
            case "signs":
                return 2.0 * codes - 1.0
            case "one_hot":
                hot = np.zeros((codes.size, self.n_classes))
                hot[np.arange(codes.size), codes] = 1.0
                return hot

    def _read(self, values: NDArray[Any], form: Form) -> NDArray[np.intp]:
        if form == "one_hot":
            return self._read_one_hot(values)
        if values.ndim != 1 or values.dtype.kind not in "biuf":
            raise DataError(
                f"{form} have shape {values.shape} and dtype {values.dtype}. Give one number per "
                "row."
            )
        numbers = values.astype(np.float64)
        if form == "indices":
            numbers -= 1
        elif form == "signs":
            numbers = (numbers + 1) / 2
        legal = (numbers >= 0) & (numbers < self.n_classes) & (numbers == np.floor(numbers))
        if not legal.all():
            row = int(np.argmin(legal))
            allowed = self._write(np.arange(self.n_classes), form)
            raise DataError(
                f"{values.tolist()[row]!r} at row {row} is not valid for form={form!r} with "
                f"{self.n_classes} classes; valid values are {_listed(allowed)}."
            )
        return numbers.astype(np.intp)

    def _read_one_hot(self, values: NDArray[Any]) -> NDArray[np.intp]:
        if values.ndim != 2 or values.shape[1] != self.n_classes:
            raise DataError(
                f"one_hot values have shape {values.shape}, but {self.n_classes} classes need "
                f"shape (n, {self.n_classes})."
            )
        legal = ((values == 0) | (values == 1)).all(axis=1) & (values.sum(axis=1) == 1)
        if not legal.all():
            row = int(np.argmin(legal))
            raise DataError(
                f"Row {row} of the one_hot values is {values[row].tolist()}, but it must hold a "
                "single 1 and zeros. For scores or probabilities use values.argmax(axis=1)."
            )
        codes: NDArray[np.intp] = values.argmax(axis=1)
        return codes

    def _codes(self, labels: Array) -> NDArray[np.intp]:
        values = _as_labels(labels)
        if (bounds := _span(self.classes)) is not None and bounds == _span(values, bounds):
            table = np.full(bounds[1] - bounds[0] + 1, -1, dtype=np.intp)
            table[_from(bounds[0], self.classes)] = np.arange(self.n_classes)
            codes = table[_from(bounds[0], values)]
        elif _family(values) == _family(self.classes) != "O":
            order = np.argsort(self.classes)
            found = np.searchsorted(self.classes, values, sorter=order)
            nearest = order[np.minimum(found, self.n_classes - 1)]
            codes = np.where(self.classes[nearest] == values, nearest, -1)
        else:
            place = {label: code for code, label in enumerate(self.classes.tolist())}
            codes = np.array([place.get(label, -1) for label in values.tolist()], dtype=np.intp)
        unseen = np.flatnonzero(codes < 0)
        if unseen.size:
            names = list(dict.fromkeys(values[unseen].tolist()))
            raise DataError(
                f"{unseen.size} of {values.size} labels belong to no class: {_listed(names)} "
                f"(first at row {unseen[0]}). The classes are {_listed(self.classes)}. Drop those "
                "rows, or fit on data with all classes."
            )
        return codes

    def _require_form(self, form: str) -> None:
        if form not in get_args(Form):
            raise ParameterError(f"form={form!r} must be one of {', '.join(get_args(Form))}.")
        if form in _TWO_CLASSES and self.n_classes != 2:
            raise DataError(
                f"{form} labels need two classes, but there are {self.n_classes}: "
                f'{_listed(self.classes)}. Use "one_hot" or "indices".'
            )


WIDEST_TABLE = 1 << 12
"""Whole numbers in a range up to this size are looked up in a table, without sorting."""


def _span(values: NDArray[Any], within: tuple[int, int] | None = None) -> tuple[int, int] | None:
    """The smallest and the largest of whole numbers if they span a small range, else None.

    If all numbers lie `within` given bounds, these bounds.
    """
    if values.dtype.kind not in "iu" or not values.size:
        return None
    low, high = int(values.min()), int(values.max())
    if within is not None and within[0] <= low and high <= within[1]:
        return within
    return (low, high) if high - low < WIDEST_TABLE else None


def _from(low: int, values: NDArray[Any]) -> NDArray[np.intp]:
    """Whole numbers minus `low`, which may be outside the range of their type.

    The differences are small, so they are correct even if intermediate values overflow.
    """
    return values.astype(np.intp) - np.array(low).astype(np.intp)


def _distinct(values: NDArray[Any]) -> NDArray[Any]:
    """The distinct values in ascending order."""
    bounds = _span(values)
    if bounds is None:
        return np.unique(values)
    counts = np.bincount(_from(bounds[0], values))
    return (np.flatnonzero(counts) + np.array(bounds[0]).astype(np.intp)).astype(values.dtype)


def _as_labels(labels: Array) -> NDArray[Any]:
    """Labels as a 1-D array without missing values."""
    values = np.asarray(labels)
    if isinstance(labels, list | tuple) and values.dtype.kind == "U":
        if not all(isinstance(label, str) for label in labels):
            # NumPy would convert the 1 of [1, "a"] to text.
            values = np.array(labels, dtype=object)
    values = without_text_type(values)
    if values.ndim != 1:
        raise DataError(f"Labels have shape {values.shape}. Give one label per row, (n,).")
    _require_single_labels(values)
    missing = [is_missing(label) for label in values.tolist()] if _may_be_missing(values) else []
    if any(missing):
        row = missing.index(True)
        raise DataError(
            f"{sum(missing)} of {values.size} labels are missing (first at row {row}: "
            f"{values.tolist()[row]!r}). Drop those rows, or give missing labels a class of their "
            "own."
        )
    return values


def without_text_type(values: NDArray[Any]) -> NDArray[Any]:
    """Text of NumPy's StringDType as fixed-width text, or as objects where some is missing.

    Records are refused: they have several values per row.
    """
    if values.dtype.kind == "V":
        fields = values.dtype.names or ()
        remedy = f"Give one field, such as y[{fields[0]!r}]" if fields else "Give text or numbers"
        raise DataError(
            f"Labels must be text, numbers or Booleans, but they have dtype {values.dtype}. "
            f"{remedy}."
        )
    if values.dtype.kind != "T":
        return values
    objects = values.astype(object)
    missing = any(not isinstance(label, str) for label in objects.ravel().tolist())
    return objects if missing else np.array(objects.tolist(), dtype=np.str_)


def _require_single_labels(values: NDArray[Any]) -> None:
    """Refuse arrays and lists as labels, which have no order and may be true and false at once."""
    if values.dtype.kind != "O":
        return
    for row, label in enumerate(values.tolist()):
        if isinstance(label, list | dict | set) or getattr(label, "shape", ()) != ():
            raise DataError(
                f"Each label must be one value, but that of row {row} is of type "
                f"{type(label).__name__}. Give one text, number or Boolean per row."
            )


def _may_be_missing(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "O" or (values.dtype.kind == "f" and bool(np.isnan(values).any()))


def _family(values: NDArray[Any]) -> str:
    """The family of values that can be ordered together; all numbers form one."""
    return "number" if values.dtype.kind in "biuf" else values.dtype.kind


def _listed(values: Any, at_most: int = 10) -> str:
    """The first values as text, for an error message."""
    shown = [repr(value) for value in list(np.asarray(values, dtype=object))[: at_most + 1]]
    return ", ".join(shown[:at_most]) + (", ..." if len(shown) > at_most else "")


def without_extension_type(y: Any) -> Any:
    """Whole numbers and Booleans of a pandas extension type as NumPy's, if none is missing.

    NumPy would read a column of type Int64 or boolean as floating point, and `predict` would
    return 1.0 for the label 1.
    """
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "iloc") and y.shape[1] == 1:
        y = y.iloc[:, 0]
    dtype = getattr(y, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if isinstance(dtype, np.dtype) or kind not in PLAIN or not hasattr(y, "isna"):
        return y
    return y if np.any(y.isna()) else y.to_numpy(dtype=PLAIN[kind])


def plain_objects(labels: NDArray[Any], who: str) -> NDArray[Any]:
    """An object array of Python's bool or int as NumPy's; other objects as they are."""
    values = labels.tolist()
    if all(isinstance(value, bool | np.bool_) for value in values):
        return labels.astype(bool)
    if not all(isinstance(value, Integral) for value in values):
        return labels
    large = [row for row, value in enumerate(values) if not -(2**63) <= value < 2**63]
    if large:
        raise DataError(
            f"{who}: the label at row {large[0]} is a whole number of more than 64 bits. Write "
            "such labels as text, with str()."
        )
    return labels.astype(np.int64)
