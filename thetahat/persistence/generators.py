"""Random generators from the states in a model file.

NumPy's `set_state` takes a position outside the block of random numbers, and the next draw then
reads foreign memory. The positions are therefore checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from thetahat.foundation.errors import DataError

LAST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "has_gauss": 1}
"""Largest value of the entries of a state that are positions or flags; the smallest is 0."""

KINDS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def random_state(state: Any) -> np.random.RandomState:
    """A `RandomState` in this state, as its `get_state` returns it."""
    kind, key, position, has_gauss, gauss = state
    _check({"pos": position, "has_gauss": has_gauss})
    made = np.random.RandomState()
    made.set_state((str(kind), np.asarray(key, dtype=np.uint32), position, has_gauss, float(gauss)))
    return made


def generator(state: Any) -> np.random.Generator:
    """A `Generator` whose bit generator is in this state."""
    kind = state["bit_generator"]
    if kind not in KINDS:
        raise DataError(
            f"The file holds a random generator of the unknown kind {str(kind)[:40]!r}."
        )
    _check(state)
    made = getattr(np.random, kind)()
    made.state = state
    return np.random.Generator(made)


def _check(state: Mapping[str, Any]) -> None:
    for name, value in state.items():
        if isinstance(value, Mapping):
            _check(value)
        elif name in LAST and not (isinstance(value, int) and 0 <= value <= LAST[name]):
            raise DataError(
                f"The file holds a random generator with {name} = {str(value)[:40]}; it must be a "
                f"whole number from 0 to {LAST[name]}."
            )
