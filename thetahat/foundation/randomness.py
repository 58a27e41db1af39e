"""Random generators from the parameter `random_state`."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from thetahat.foundation.errors import ParameterError

# In quotes, because NumPy loads its generators on first use, which many fits do not need.
RandomState: TypeAlias = "int | np.integer | np.random.Generator | np.random.RandomState | None"


def generator(random_state: RandomState = None) -> np.random.Generator:
    """A generator from an int, a Generator, a RandomState (advanced by one draw) or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r:.80} must be a whole number ≥ 0, a Generator, a "
            "RandomState or None."
        ) from None
