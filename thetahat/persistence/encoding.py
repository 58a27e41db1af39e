"""Convert a model to a tree of plain values and a list of arrays; `decoding` is the way back.

Numbers, text, lists and dictionaries are written as they are; everything else is a dictionary with
one key that gives its type:

==============  ================================================================================
``array``       the number of an array in the file
``text``        an array of strings or objects: its shape, its type, its entries
``sparse``      a SciPy sparse array: its format and shape, its arrays
``object``      class, and its fields by name (estimators, steps, losses, values)
``enum``        class and name of a member
``function``    its name: one known to `classes.function_named`, or supplied by the reader
``objects``     a long list of objects of one class: class, length, and a column of each field
``pieces``      a column of arrays: these arrays joined to one, and their lengths
``repeat``      a column of one value: its length, and the value
``codes``       an array of text in which a few long entries make all others wide, as numbers
``tuple`` …     ``set``, ``dict`` (with keys that are not text), ``slice``, ``dtype``, ``scalar``,
                ``float`` (not representable in JSON), ``bytes``, ``random_state``, ``generator``
==============  ================================================================================
"""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from thetahat.data.arrays import is_device_array
from thetahat.foundation.cached import cached_property
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.names import converted, is_scikit_learns
from thetahat.persistence.classes import function_name, name_of, numpy_function

Plain = Any
"""Values that JSON can represent."""

EPHEMERAL = ("_skl_callbacks", "_callback_fit_ctx", "_sklearn_version")
"""Attributes of a fit that are not part of the model."""

COMPRESSED = ("csc", "csr")
"""Sparse formats stored as they are; their arrays limit the memory needed to read them."""

LONG = 16
"""Lists of this many objects of one class are stored by columns, as the trees of an ensemble."""

WIDE_TEXT = 2**20
"""Arrays of text of this many bytes are stored with the width of their longest entry."""


class Encoder:
    """Converts a model to plain values; `arrays` collects the arrays."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._places: dict[int, int] = {}
        self._open: list[int] = []

    def encode(self, value: Any, where: str) -> Plain:
        """`value` as plain values; `where` names the attribute in error messages."""
        if value is None or isinstance(value, str) or type(value) in (bool, int):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if id(value) in self._open:
            raise CapabilityError(f"{where} contains itself, which a model file cannot represent.")
        self._open.append(id(value))
        try:
            return self._tagged(value, where)
        finally:
            self._open.pop()

    def _tagged(self, value: Any, where: str) -> Plain:
        kind = type(value)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), where)}
        if isinstance(value, Enum):
            return {"enum": [name_of(kind), value.name]}
        if isinstance(value, np.dtype) or (isinstance(value, type) and _is_number_type(value)):
            return {"dtype": [np.dtype(value).str, isinstance(value, type)]}
        if kind is list:
            return self._list(value, where)
        if kind is tuple:
            return {"tuple": [self.encode(each, f"{where}[{i}]") for i, each in enumerate(value)]}
        if kind in (set, frozenset):
            inside = [self.encode(each, where) for each in sorted(value, key=repr)]
            return {"set": inside}
        if isinstance(value, dict):
            items = [
                [self.encode(key, where), self.encode(each, f"{where}[{key!r}]")]
                for key, each in value.items()
            ]
            return {"dict": items}
        if kind is slice:
            ends = (value.start, value.stop, value.step)
            return {"slice": [self.encode(each, where) for each in ends]}
        if kind is bytes:
            return {"bytes": value.hex()}
        if isinstance(value, PurePath):  # of a parameter, which takes text as well
            return str(value)
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=True), where)}
        if isinstance(value, np.random.Generator):
            return {"generator": self.encode(value.bit_generator.state, where)}
        if hasattr(value, "tocsr") and hasattr(value, "nnz"):
            return self._sparse(value, where)
        functions = FunctionType | BuiltinFunctionType | np.ufunc
        if isinstance(value, functions) or numpy_function(value) is not None:
            return {"function": function_name(value)}
        if is_scikit_learns(value) and (twin := converted(value)) is not None:
            return self.encode(twin, where)
        if is_device_array(value):
            raise CapabilityError(
                "Move it first: th.to_device(model, 'cpu'). Model files hold NumPy arrays, but "
                f"{where} is a tensor on {value.device}."
            )
        name = name_of(kind)
        fields = sorted(fields_of(value).items())  # so that equal models give equal bytes
        state = {key: self.encode(each, f"{where}.{key}") for key, each in fields}
        return {"object": name, "fields": state}

    def _array(self, array: Array, where: str) -> Plain:
        if array.dtype.kind in "OUST":
            if array.dtype.kind == "U" and array.nbytes > WIDE_TEXT:
                codes = np.ascontiguousarray(array).reshape(-1).view(np.uint32)
                return {"codes": [list(array.shape), self._array(codes, where)]}
            entries = self._list(array.ravel().tolist(), where)
            # An object array stays one; an array of text gets its own dtype again.
            kind = "O" if array.dtype.kind == "O" else array.dtype.str
            return {"text": [list(array.shape), kind, entries]}
        if array.dtype.kind not in "biufV" or (array.dtype.kind == "V" and not array.dtype.names):
            raise CapabilityError(
                f"{where} is an array of {array.dtype}, but model files hold real numbers only."
            )
        if id(array) not in self._places:
            self._places[id(array)] = len(self.arrays)
            self.arrays.append(array)
        place: Plain = self._places[id(array)]
        if array.dtype.names:
            layout = [[name, array.dtype[name].str] for name in array.dtype.names]
            return {"array": place, "record": layout}
        return {"array": place, "order": "F"} if _is_fortran(array) else {"array": place}

    def _list(self, values: list[Any], where: str) -> Plain:
        kinds = {type(each) for each in values}
        if len(values) >= LONG and len(kinds) == 1:
            kind = kinds.pop()
            if is_dataclass(kind) or issubclass(kind, BaseEstimator):
                states = [fields_of(each) for each in values]
                if all(state.keys() == states[0].keys() for state in states):
                    columns = {
                        key: self._column([state[key] for state in states], f"{where}[].{key}")
                        for key in states[0]
                    }
                    return {"objects": [name_of(kind), len(values)], "columns": columns}
        return [self.encode(each, f"{where}[{i}]") for i, each in enumerate(values)]

    def _column(self, values: list[Any], where: str) -> Plain:
        """The values of one field of many objects."""
        first = values[0]
        if all(each is first for each in values):
            return {"repeat": [len(values), self.encode(first, where)]}
        if all(isinstance(each, np.ndarray) for each in values) and _join(values):
            lengths = np.array([len(each) for each in values], dtype=np.int64)
            joined = np.concatenate(values)
            return {"pieces": [self._array(joined, where), self._array(lengths, where)]}
        return self._list(values, where)

    def _sparse(self, value: Any, where: str) -> Plain:
        if value.format not in COMPRESSED:
            value = value.tocsr()
        parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
        is_matrix = type(value).__name__.endswith("matrix")
        return {"sparse": [value.format, list(value.shape), is_matrix, parts]}


def fields_of(value: Any) -> dict[str, Any]:
    """The stored part of an object: the fields of a value, the attributes of an estimator."""
    kind = type(value)
    if is_value(kind):
        return {field.name: getattr(value, field.name) for field in fields(kind) if field.init}
    return {
        name: each
        for name, each in vars(value).items()
        if name not in EPHEMERAL and not isinstance(getattr(kind, name, None), cached_property)
    }


def is_value(kind: type) -> bool:
    """Whether an object is made by its constructor from its fields; an estimator is not."""
    return is_dataclass(kind) and not issubclass(kind, BaseEstimator)


def _is_number_type(kind: type) -> bool:
    return issubclass(kind, np.generic) or kind in (float, int, bool)


def _is_fortran(array: Array) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _join(arrays: list[Array]) -> bool:
    """Whether arrays differ in nothing but their length."""
    first = arrays[0]
    return all(
        each.ndim > 0
        and each.dtype == first.dtype
        and each.dtype.kind in "biuf"
        and each.shape[1:] == first.shape[1:]
        and each.flags.c_contiguous
        for each in arrays
    )
