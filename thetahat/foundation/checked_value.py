"""Values whose arrays compiled code reads: checked once, whenever one enters the process.

A compiled loop follows the indices in such arrays without looking at them again, so that a wrong
index would read foreign memory. The constructor of a `CheckedValue` therefore checks all of them,
and unpickling, copying and `thetahat.load` all go through the constructor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


class CheckedValue:
    """Base of frozen dataclasses that check their fields in ``__post_init__``.

    A pickle holds the fields alone: what is computed from them is computed again.
    """

    def with_valid(self, **changes: Any) -> Self:
        """A copy with other fields that obey the rules as well; nothing is checked again."""
        other = object.__new__(type(self))
        known = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        vars(other).update(known | changes)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Any) -> None:
        kind = type(self)
        known = [field for field in fields(self) if field.init]  # type: ignore[arg-type]
        state = state if isinstance(state, dict) else {}
        check_sparse_entries(self, state)
        missing = [
            field.name
            for field in known
            if field.name not in state
            and field.default is MISSING
            and field.default_factory is MISSING
        ]
        if missing:
            raise DataError(
                f"{kind.__name__}: the stored value lacks {missing[0]!r}. The file is damaged or "
                "from another version; fit and save the model again."
            )
        self.__init__(**{field.name: state[field.name] for field in known if field.name in state})  # type: ignore[misc]


def check_arrays(value: Any, layout: dict[str, tuple[DTypeLike, tuple[int | None, ...]]]) -> None:
    """Check the arrays of a frozen value, and put them into the given dtypes, native byte order.

    `layout` gives the dtype and the shape of each field; None stands for any length. Numbers are
    converted only where each of them stays the same. Cost: O(number of arrays) if all of them are
    right, else O(size).
    """
    for name, (dtype, shape) in layout.items():
        array = getattr(value, name)
        if (  # the usual case, in a microsecond
            type(array) is np.ndarray
            and array.shape == shape
            and array.dtype is dtype
            and array.flags.c_contiguous
            and array.flags.aligned
        ):
            continue
        if not isinstance(array, np.ndarray):
            raise _refused(value, name, f"is of type {type(array).__name__}, not an array")
        if array.ndim != len(shape) or any(
            wanted is not None and found != wanted
            for found, wanted in zip(array.shape, shape, strict=True)
        ):
            wanted_shape = ", ".join("any" if size is None else str(size) for size in shape)
            raise _refused(value, name, f"has shape {array.shape}, not ({wanted_shape})")
        if array.dtype != dtype:
            array = _converted(value, name, array, np.dtype(dtype))
        array = well_placed(np.ascontiguousarray(array))
        if array is not getattr(value, name):
            object.__setattr__(value, name, array)


def well_placed(array: Array) -> Array:
    """The array, or a copy of one that does not begin at a multiple of the size of its numbers.

    Compiled code may not read numbers elsewhere, and the processor reads them slowly. Arrays that
    were cut out of bytes, or sent to the worker of a cluster, may begin anywhere.
    """
    return array if array.flags.aligned else array.copy()


def well_placed_rows(X: Any) -> Any:
    """`well_placed` for dense rows, and for the three arrays of compressed sparse rows."""
    if not hasattr(X, "indptr"):
        return well_placed(X)
    arrays = X.data, X.indices, X.indptr
    if all(each.flags.aligned for each in arrays):
        return X
    return type(X)(tuple(map(well_placed, arrays)), shape=X.shape)


def well_placed_values(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a pickle, where arrays and compressed sparse matrices are `well_placed`."""
    return {
        name: well_placed_rows(each)
        if type(each) is np.ndarray or hasattr(each, "indptr")
        else each
        for name, each in state.items()
    }


def check_rule(value: Any, holds: bool, rule: str) -> None:
    """Refuse a stored value that breaks a rule."""
    if not holds:
        raise DataError(
            f"{type(value).__name__}: {rule}. The stored value is damaged; fit the model again."
        )


def check_sparse_entries(value: Any, state: Mapping[str, Any]) -> None:
    """Refuse sparse matrices with indices out of range, which products would follow. O(entries)."""
    for name, each in state.items():
        if hasattr(each, "check_format"):
            try:
                each.check_format(full_check=True)
            except (ValueError, TypeError, AttributeError) as failure:
                raise _refused(value, name, f"is no sparse matrix: {failure}") from failure


def check_columns(model: Any) -> None:
    """Refuse a stored model whose number of columns is missing or no number."""
    n = vars(model).get("n_features_in_")
    is_number = isinstance(n, int) and not isinstance(n, bool) and n > 0
    check_rule(model, is_number, f"n_features_in_ is {n!r:.40}, not a number of columns")


def _converted(value: Any, name: str, array: Array, dtype: np.dtype[Any]) -> Array:
    if array.dtype.newbyteorder("=") == dtype:
        return array.astype(dtype)
    if array.dtype.kind not in "biuf" or dtype.kind not in "biuf":
        raise _refused(value, name, f"holds {array.dtype}, not {dtype}")
    with np.errstate(invalid="ignore", over="ignore"):
        converted = array.astype(dtype)
    if not np.array_equal(converted, array, equal_nan=True):
        raise _refused(value, name, f"holds {array.dtype} numbers that {dtype} cannot represent")
    return converted


def _refused(value: Any, name: str, what: str) -> DataError:
    return DataError(
        f"{type(value).__name__}: {name} {what}. The stored value is damaged; fit the model again."
    )
