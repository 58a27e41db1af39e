"""Random generators from the parameter `random_state`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from thetahat.foundation.errors import ParameterError

# In quotes, because NumPy loads its generators on first use, which many fits do not need.
RandomState: TypeAlias = "int | np.integer | np.random.Generator | np.random.RandomState | None"


def child_generator(random_state: RandomState = None) -> np.random.Generator:
    """A generator whose numbers do not repeat those of ``default_rng(random_state)``.

    Users often draw their rows with the seed that they also pass to an estimator. Directions drawn
    from the same numbers would not be independent of the rows.
    """
    return generator(random_state).spawn(1)[0]


def generator(random_state: RandomState = None) -> np.random.Generator:
    """A generator from an int, a Generator, a RandomState (advanced by one draw) or None.

    The module `numpy.random` stands for its global RandomState, as in scikit-learn.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    given: Any = random_state
    if isinstance(given, np.random.RandomState) or given is np.random:
        return np.random.default_rng(given.randint(np.iinfo(np.int32).max))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r:.80} must be a whole number ≥ 0, a Generator, a "
            "RandomState or None."
        ) from None
