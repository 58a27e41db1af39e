"""A small array library that is not NumPy, in place of those that need not be installed.

It follows the array API, knows none of NumPy's protocols, and mixes with no other library.
"""

import operator

import array_api_compat.numpy as compat_numpy
import numpy as np


class Foreign:
    """An array of a library that is not NumPy and mixes with no other."""

    def __init__(self, array):
        self.array = np.asarray(array)

    shape = property(lambda self: self.array.shape)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    dtype = property(lambda self: self.array.dtype)
    device = "cpu"

    def __array_namespace__(self, *, api_version=None):
        return foreign_namespace

    def __getitem__(self, key):
        return Foreign(self.array[own(key)])

    def __setitem__(self, key, value):
        self.array[own(key)] = own(value)

    def __array__(self, *args, **options):
        raise TypeError("no NumPy here")

    __array_ufunc__ = None

    def __int__(self):
        return int(self.array)

    def __float__(self):
        return float(self.array)

    def __bool__(self):
        return bool(self.array)

    def __len__(self):
        return len(self.array)


def own(value):
    if isinstance(value, tuple | list):
        return type(value)(own(part) for part in value)
    if isinstance(value, np.ndarray | np.generic):
        raise TypeError("NumPy arrays do not mix with foreign ones")
    return value.array if isinstance(value, Foreign) else value


def foreign_operator(function):
    def apply(x, y):
        return Foreign(function(own(x), own(y))) if is_foreign_or_number(y) else NotImplemented

    return apply


def is_foreign_or_number(y):
    return isinstance(y, Foreign | int | float)


for symbol in ("add", "sub", "mul", "truediv", "pow", "matmul", "lt", "le", "gt", "ge", "eq", "ne"):
    function = getattr(operator, symbol)
    setattr(Foreign, f"__{symbol}__", foreign_operator(function))
    if hasattr(np.ndarray, f"__r{symbol}__"):
        swapped = foreign_operator(lambda x, y, function=function: function(y, x))
        setattr(Foreign, f"__r{symbol}__", swapped)
Foreign.__neg__ = lambda self: Foreign(-self.array)


class ForeignNamespace:
    """NumPy's functions, which take and give foreign arrays only."""

    def __init__(self, module):
        self.module, self.__name__ = module, "foreign"

    def __getattr__(self, name):
        original = getattr(self.module, name)
        if name == "linalg":
            return ForeignNamespace(original)
        if isinstance(original, type) or name in ("isdtype", "result_type", "finfo", "iinfo"):
            return original
        return lambda *args, **options: boxed(original(*own(args), **options))


def boxed(out):
    return tuple(map(boxed, out)) if isinstance(out, tuple) else Foreign(out)


foreign_namespace = ForeignNamespace(compat_numpy)


def foreign(value):
    """NumPy arrays as foreign ones, inside tuples and dictionaries, too."""
    if isinstance(value, tuple):
        return tuple(map(foreign, value))
    if isinstance(value, dict):
        return {key: foreign(part) for key, part in value.items()}
    return Foreign(value) if isinstance(value, np.ndarray) else value
