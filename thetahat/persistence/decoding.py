"""Convert the plain values and arrays of a model file back to a model, without trusting them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, cast

import numpy as np

from thetahat.estimator.base import Estimator
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.persistence.classes import class_named, function_named
from thetahat.persistence.container import Reader
from thetahat.persistence.encoding import COMPRESSED, Plain, is_value
from thetahat.persistence.generators import generator, random_state


class Decoder:
    """Converts the plain values of a file back to a model, without trusting any of them."""

    def __init__(self, file: Reader, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._file = file
        self._functions = functions
        self._budget = file.budget
        self._arrays: dict[tuple[int, str], Array] = {}
        self.kinds: set[type] = set()
        """The classes of the objects that were made."""
        self.uses_given_functions = False
        self._records: dict[tuple[int, str, np.dtype[Any]], Array] = {}

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
        place, order = _whole(plain["array"]), str(plain.get("order", "C"))
        if (place, order) not in self._arrays:
            array = self._file.array(place)
            self._arrays[place, order] = np.asfortranarray(array) if order == "F" else array
            if {each for at, each in self._arrays if at == place} != {order}:
                self._budget.spend(array.nbytes)
        array = self._arrays[place, order]
        if "record" in plain:
            layout = np.dtype([(str(name), _number_type(kind)) for name, kind in plain["record"]])
            # One object for all references, so that the loaded model is saved as it was.
            return self._records.setdefault((place, order, layout), array.reshape(-1).view(layout))
        return array

    def _read_codes(self, plain: Plain) -> Array:
        """Text as the numbers of its characters, all entries of one width."""
        shape, codes = plain["codes"]
        sizes = [_whole(size) for size in shape]
        numbers = self.decode(codes)
        width, rest = divmod(numbers.size, math.prod(sizes))
        if numbers.dtype != np.uint32 or rest or not width or numbers.max() > 0x10FFFF:
            raise _malformed("an array declared as text that does not contain characters")
        return cast("Array", numbers.reshape(-1).view(f"U{width}").reshape(sizes))

    def _read_objects(self, plain: Plain) -> list[Any]:
        """Many objects of one class, stored by columns."""
        name, count = plain["objects"]
        self._budget.spend(200 * _whole(count))
        columns = {key: self.decode(each) for key, each in plain["columns"].items()}
        if any(not isinstance(each, list) or len(each) != count for each in columns.values()):
            raise _malformed("columns of different lengths")
        return [
            self._object(str(name), {key: each[i] for key, each in columns.items()})
            for i in range(count)
        ]

    def _read_repeat(self, plain: Plain) -> list[Any]:
        count, value = plain["repeat"]
        self._budget.spend(8 * _whole(count))
        return [self.decode(value)] * count

    def _read_pieces(self, plain: Plain) -> list[Array]:
        """Arrays that were joined to one."""
        joined, lengths = (self.decode(each) for each in plain["pieces"])
        if lengths.dtype.kind not in "iu" or lengths.ndim != 1 or (lengths < 0).any():
            raise _malformed("arrays of impossible lengths")
        ends = np.concatenate([[0], np.cumsum(lengths)])
        if ends[-1] != len(joined) or (np.diff(ends) < 0).any():
            raise _malformed("arrays of impossible lengths")
        self._budget.spend(120 * len(lengths))
        return [joined[begin:end] for begin, end in pairwise(ends.tolist())]

    def _read_text(self, plain: Plain) -> Array:
        shape, kind, entries = plain["text"]
        values = self.decode(entries)
        array = np.empty(len(values), dtype=object)
        array[:] = values
        if kind != "O":
            if np.dtype(kind).kind not in "UST":
                raise _malformed("text of an invalid type")
            self._budget.spend(4 * len(values) * max((len(each) for each in values), default=0))
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
        self._budget.spend(data.nbytes + indices.nbytes + indptr.nbytes)
        if format_ not in COMPRESSED:
            raise _malformed("a sparse array of an unknown format")
        kind = getattr(scipy.sparse, f"{format_}_{'matrix' if is_matrix else 'array'}")
        entries = kind((data, indices, indptr), shape=tuple(_whole(size) for size in shape))
        entries.check_format(full_check=True)
        return entries

    def _read_object(self, plain: Plain) -> Any:
        inside = plain["fields"]
        if not isinstance(inside, dict):
            raise _malformed("an object without fields")
        state = {key: self.decode(each) for key, each in inside.items()}
        return self._object(str(plain["object"]), state)

    def _object(self, name: str, state: dict[str, Any]) -> Any:
        kind = class_named(name)
        assert kind is not None
        self.kinds.add(kind)
        for key in state:
            _require_attribute(key, kind)
        if is_value(kind):
            made = kind(**state)
            for key, each in state.items():  # what the constructor converted is a copy
                if isinstance(each, np.ndarray) and getattr(made, key, each) is not each:
                    self._budget.spend(each.nbytes)
            return made
        model = cast("Any", kind).__new__(kind)
        names, defaults = _parameters(kind)
        state = defaults | state
        lost = [each for each in names if each not in state]
        if lost:
            raise _malformed(f"a {kind.__name__} without the parameter {lost[0]!r}")
        if kind.__module__.startswith("sklearn."):  # its __setstate__ compares versions
            vars(model).update(state)
            _require_steps(kind, state)
        else:
            model.__setstate__(state)
        if (
            isinstance(model, Estimator)
            and "n_features_in_" in state
            and not model.__sklearn_is_fitted__()
        ):
            raise _malformed(f"a {kind.__name__} without attributes that fit sets at its end")
        return model

    def _read_enum(self, plain: Plain) -> Any:
        name, member = plain["enum"]
        kind = class_named(str(name))
        if not (isinstance(kind, type) and issubclass(kind, Enum)):
            raise _malformed(f"{name!r} as an enumeration")
        return kind[str(member)]

    def _read_function(self, plain: Plain) -> Any:
        name = str(plain["function"])
        self.uses_given_functions |= name in self._functions
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
        return random_state(self.decode(plain["random_state"]))

    def _read_generator(self, plain: Plain) -> np.random.Generator:
        return generator(self.decode(plain["generator"]))


@cache
def _parameters(kind: Any) -> tuple[list[str], dict[str, Any]]:
    """Names and defaults of the parameters of an estimator.

    The defaults stand for parameters that a file of an earlier version lacks.
    """
    known = inspect.signature(kind).parameters.values()
    defaults = {each.name: each.default for each in known if each.default is not each.empty}
    return kind._get_param_names(), defaults


def _require_attribute(name: str, kind: type) -> None:
    """A file may set data, never a method or a special attribute of Python."""
    in_the_way = getattr(kind, name, None)
    is_method = callable(in_the_way) and name not in getattr(kind, "__dataclass_fields__", ())
    if not name.isidentifier() or name.startswith("__") or is_method:
        raise _malformed(f"the field {name[:40]!r} of {kind.__name__}")


def _number_type(name: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(name))
    if dtype.kind not in "biufOU":
        raise _malformed(f"numbers of type {name!r}")
    return dtype


def _whole(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise _malformed("a size or position that is not a whole number ≥ 0")
    return number


def _malformed(what: str) -> DataError:
    return DataError(f"The file is not a model that thetahat can load: it holds {what}.")


def _require_steps(kind: type, state: dict[str, Any]) -> None:
    """Refuse a pipeline of scikit-learn with a step that is neither an estimator nor left out."""
    if kind.__name__ != "Pipeline":
        return
    found = state.get("steps")
    steps: list[Any] = found if isinstance(found, list) else [None]
    for step in steps:
        is_pair = isinstance(step, tuple) and len(step) == 2 and isinstance(step[0], str)
        name = step[1] if is_pair and isinstance(step[1], str) else None
        left_out = is_pair and (step[1] is None or name == "passthrough")
        if not (is_pair and (left_out or hasattr(step[1], "fit"))):
            raise _malformed("a pipeline with an invalid step")
