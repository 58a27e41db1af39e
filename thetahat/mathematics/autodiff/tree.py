"""Conversion between nested lists, tuples and dictionaries of arrays and flat lists of arrays.

The parameters of a network are kept per layer, ``[{"W": W1, "b": b1}, {"W": W2, "b": b2}]``, and
derivatives have the same structure. None is an empty branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj
from array_api_compat import device as device_of

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff.trace import FUNCTIONS, Traced, plain

Rebuild = Callable[[list[Any]], Any]


def flatten(tree: Any) -> tuple[list[Any], Rebuild]:
    """The leaves in order, and a function that rebuilds the structure from other leaves."""
    leaves: list[Any] = []
    _collect(tree, leaves)

    def rebuild(parts: list[Any]) -> Any:
        waiting = iter(parts)
        return _replace(tree, lambda: next(waiting))

    return leaves, rebuild


def _collect(tree: Any, leaves: list[Any]) -> None:
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list | tuple):
        for branch in tree:
            _collect(branch, leaves)
    elif tree is not None:
        leaves.append(tree)


def _replace(tree: Any, next_leaf: Callable[[], Any]) -> Any:
    if isinstance(tree, dict):
        return {key: _replace(branch, next_leaf) for key, branch in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(_replace(branch, next_leaf) for branch in tree))
    if isinstance(tree, list | tuple):
        return type(tree)(_replace(branch, next_leaf) for branch in tree)
    return None if tree is None else next_leaf()


def real_arrays(tree: Any, role: str) -> tuple[list[Array], Rebuild]:
    """The leaves as floating-point arrays (integers become float64); an error for other types."""
    leaves, rebuild = flatten(tree)
    return [_real(leaf, role) for leaf in leaves], rebuild


def real_arrays_like(pattern: Any, tree: Any, role: str) -> list[Array]:
    """The leaves of `tree`, which must match those of `pattern`, in their library and precision."""
    return [_real_like(like, leaf, role) for like, leaf in _pairs(pattern, tree, role)]


def _pairs(pattern: Any, tree: Any, role: str) -> Iterator[tuple[Array, Any]]:
    """The leaves of `pattern`, each with the corresponding leaf of `tree`."""
    if isinstance(pattern, dict):
        if not isinstance(tree, dict) or tree.keys() != pattern.keys():
            raise _misfit(role, f"a dictionary of {sorted(map(str, pattern))}", tree)
        for key, branch in pattern.items():
            yield from _pairs(branch, tree[key], role)
    elif isinstance(pattern, list | tuple):
        if not isinstance(tree, list | tuple) or len(tree) != len(pattern):
            raise _misfit(role, f"a {type(pattern).__name__} of {len(pattern)}", tree)
        for branch, part in zip(pattern, tree, strict=True):
            yield from _pairs(branch, part, role)
    elif pattern is not None:
        yield pattern, tree


def _real_like(like: Array, leaf: Any, role: str) -> Array:
    value = plain(like)
    if not hasattr(value, "dtype"):
        return leaf
    if isinstance(leaf, bool | int | float | list | tuple):
        leaf = array_namespace(value).asarray(leaf, dtype=value.dtype, device=device_of(value))
    leaf = _real(leaf, role)
    if leaf.shape != value.shape:
        raise _misfit(role, f"of shape {tuple(value.shape)}", f"shape {tuple(leaf.shape)}")
    return leaf if leaf.dtype == value.dtype else FUNCTIONS["cast"](leaf, dtype=value.dtype)


def _misfit(role: str, expected: str, found: Any) -> ParameterError:
    found = found if isinstance(found, str) else type(found).__name__
    return ParameterError(f"autodiff: {role} must be {expected}; got {found}.")


def _real(leaf: Any, role: str) -> Array:
    if isinstance(leaf, np.ndarray) and leaf.dtype.char in "fd":
        return leaf
    array = np.asarray(leaf) if isinstance(leaf, bool | int | float | complex) else leaf
    value = plain(array)
    if not is_array_api_obj(value):
        raise ParameterError(
            f"autodiff: {role} must be an array, a number, or lists, tuples and dictionaries of "
            f"them; got {type(leaf).__name__}. Convert it first, e.g. with np.asarray."
        )
    xp = array_namespace(value)
    if xp.isdtype(value.dtype, "real floating"):
        return array
    if xp.isdtype(value.dtype, ("integral", "bool")) and not isinstance(array, Traced):
        return xp.astype(value, xp.float64)
    raise ParameterError(
        f"autodiff: {role} must hold real numbers; got dtype {value.dtype}. "
        "Split complex numbers into real and imaginary parts, or cast to float."
    )
