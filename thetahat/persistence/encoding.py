"""Convert a model to a tree of plain values and a list of arrays, and back.

Numbers, text, lists and dictionaries are written as they are; everything else is a dictionary with
one key that gives its type:

==============  ================================================================================
``array``       the number of an array in the file
``text``        an array of strings or objects: its shape, its type, its entries
``sparse``      a SciPy sparse array: its format and shape, its arrays
``object``      class, and its fields by name (estimators, steps, losses, values)
``enum``        class and name of a member
``function``    its name: one known to `classes.function_named`, or supplied by the reader
``tuple`` …     ``set``, ``dict`` (with keys that are not text), ``slice``, ``dtype``, ``scalar``,
                ``float`` (not representable in JSON), ``bytes``, ``random_state``
==============  ================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from types import BuiltinFunctionType, FunctionType
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator

from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.persistence.classes import class_named, function_name, function_named, name_of

Plain = Any
"""Values that JSON can represent."""

EPHEMERAL = ("_skl_callbacks", "_callback_fit_ctx", "_sklearn_version")
"""Attributes of a fit that are not part of the model."""

COMPRESSED = ("csc", "csr")
"""Sparse formats stored as they are; their arrays limit the memory needed to read them."""

WIDEST_TEXT = 2**26
"""Largest size in bytes of an array of text with fixed-width entries."""


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
            return [self.encode(each, f"{where}[{i}]") for i, each in enumerate(value)]
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
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=True), where)}
        if hasattr(value, "tocsr") and hasattr(value, "nnz"):
            return self._sparse(value, where)
        if isinstance(value, FunctionType | BuiltinFunctionType | np.ufunc) or value is np.asarray:
            return {"function": function_name(value)}
        name = name_of(kind)
        state = {key: self.encode(each, f"{where}.{key}") for key, each in fields_of(value).items()}
        return {"object": name, "fields": state}

    def _array(self, array: Array, where: str) -> Plain:
        if array.dtype.kind in "OUST":
            entries = [self.encode(each, where) for each in array.ravel().tolist()]
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

    def _sparse(self, value: Any, where: str) -> Plain:
        if value.format not in COMPRESSED:
            value = value.tocsr()
        parts = [self._array(part, where) for part in (value.data, value.indices, value.indptr)]
        is_matrix = type(value).__name__.endswith("matrix")
        return {"sparse": [value.format, list(value.shape), is_matrix, parts]}


class Decoder:
    """Converts plain values back to a model, without trusting any of them."""

    def __init__(
        self, array: Callable[[int], Array], functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        self._array_at = array
        self._functions = functions

    def decode(self, plain: Plain) -> Any:
        """The value represented by `plain`."""
        if plain is None or isinstance(plain, bool | int | float | str):
            return plain
        if isinstance(plain, list):
            return [self.decode(each) for each in plain]
        if not isinstance(plain, dict) or not plain:
            raise _malformed("a value of no known kind")
        tag = next(iter(plain))
        read = getattr(self, f"_read_{tag}", None) if tag.isidentifier() else None
        if read is None:
            raise _malformed(f"a value of the unknown kind {tag[:40]!r}")
        return read(plain)

    def _read_array(self, plain: Plain) -> Array:
        array = self._array_at(_whole(plain["array"]))
        if "record" in plain:
            layout = np.dtype([(str(name), _number_type(kind)) for name, kind in plain["record"]])
            return array.reshape(-1).view(layout)
        return np.asfortranarray(array) if plain.get("order") == "F" else array

    def _read_text(self, plain: Plain) -> Array:
        shape, kind, entries = plain["text"]
        values = [self.decode(each) for each in entries]
        array = np.empty(len(values), dtype=object)
        array[:] = values
        if kind != "O":
            if np.dtype(kind).kind not in "UST":
                raise _malformed("text of an invalid type")
            longest = max((len(each) for each in values), default=0)
            if longest * len(values) * 4 > max(WIDEST_TEXT, 100 * sum(map(len, values))):
                raise _malformed("text that would need far more memory than the file")
            array = array.astype(np.dtype(kind).kind)
        return array.reshape([_whole(size) for size in shape])

    def _read_scalar(self, plain: Plain) -> Any:
        array = self.decode(plain["scalar"])
        if not isinstance(array, np.ndarray) or array.size != 1:
            raise _malformed("an invalid number")
        return array.reshape(())[()]

    def _read_sparse(self, plain: Plain) -> Any:
        import scipy.sparse

        format_, shape, is_matrix, parts = plain["sparse"]
        data, indices, indptr = (self.decode(part) for part in parts)
        if format_ not in COMPRESSED:
            raise _malformed("a sparse array of an unknown format")
        kind = getattr(scipy.sparse, f"{format_}_{'matrix' if is_matrix else 'array'}")
        entries = kind((data, indices, indptr), shape=tuple(_whole(size) for size in shape))
        entries.check_format(full_check=True)
        return entries

    def _read_object(self, plain: Plain) -> Any:
        kind = class_named(str(plain["object"]))
        assert kind is not None
        inside = plain["fields"]
        if not isinstance(inside, dict):
            raise _malformed("an object without fields")
        state = {_attribute(key, kind): self.decode(each) for key, each in inside.items()}
        if _is_value(kind):
            return kind(**state)
        model = cast("Any", kind).__new__(kind)
        vars(model).update(state)
        return model

    def _read_enum(self, plain: Plain) -> Any:
        name, member = plain["enum"]
        kind = class_named(str(name))
        if not (isinstance(kind, type) and issubclass(kind, Enum)):
            raise _malformed(f"{name!r} as an enumeration")
        return kind[str(member)]

    def _read_function(self, plain: Plain) -> Any:
        name = str(plain["function"])
        function = self._functions.get(name) or function_named(name)
        if function is None:
            raise DataError(
                f"The model uses the function {name!r}, and files hold no code. Pass it: "
                f"th.load(path, functions={{{name!r}: the_function}})."
            )
        return function

    def _read_tuple(self, plain: Plain) -> tuple[Any, ...]:
        return tuple(self.decode(each) for each in plain["tuple"])

    def _read_set(self, plain: Plain) -> set[Any]:
        return {self.decode(each) for each in plain["set"]}

    def _read_dict(self, plain: Plain) -> dict[Any, Any]:
        return {self.decode(key): self.decode(each) for key, each in plain["dict"]}

    def _read_slice(self, plain: Plain) -> slice:
        return slice(*(self.decode(each) for each in plain["slice"]))

    def _read_dtype(self, plain: Plain) -> Any:
        name, as_type = plain["dtype"]
        dtype = _number_type(name)
        return dtype.type if as_type else dtype

    def _read_float(self, plain: Plain) -> float:
        number = float(str(plain["float"]))
        return np.nan if math.isnan(number) else number  # always the same NaN object

    def _read_bytes(self, plain: Plain) -> bytes:
        return bytes.fromhex(plain["bytes"])

    def _read_random_state(self, plain: Plain) -> np.random.RandomState:
        state = np.random.RandomState()
        state.set_state(self.decode(plain["random_state"]))
        return state


def fields_of(value: Any) -> dict[str, Any]:
    """The stored part of an object: the fields of a value, the attributes of an estimator."""
    kind = type(value)
    if _is_value(kind):
        return {field.name: getattr(value, field.name) for field in fields(kind) if field.init}
    return {
        name: each
        for name, each in vars(value).items()
        if name not in EPHEMERAL and not isinstance(getattr(kind, name, None), cached_property)
    }


def _is_value(kind: type) -> bool:
    """Whether an object is made by its constructor from its fields; an estimator is not."""
    return is_dataclass(kind) and not issubclass(kind, BaseEstimator)


def _attribute(name: str, kind: type) -> str:
    """A field that a file may set: data, never a method or a special attribute of Python."""
    in_the_way = getattr(kind, name, None)
    is_method = callable(in_the_way) and name not in getattr(kind, "__dataclass_fields__", ())
    if not name.isidentifier() or name.startswith("__") or is_method:
        raise _malformed(f"the field {name[:40]!r} of {kind.__name__}")
    return name


def _number_type(name: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(name))
    if dtype.kind not in "biufOU":
        raise _malformed(f"numbers of type {name!r}")
    return dtype


def _is_number_type(kind: type) -> bool:
    return issubclass(kind, np.generic) or kind in (float, int, bool)


def _is_fortran(array: Array) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _whole(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise _malformed("a size or position that is not a whole number ≥ 0")
    return number


def _malformed(what: str) -> DataError:
    return DataError(f"The file is not a model that thetahat can load: it holds {what}.")
