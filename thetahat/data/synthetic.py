"""Draw synthetic rows from any fitted model that can be sampled."""

from __future__ import annotations

import inspect
from copy import copy
from typing import Any

import numpy as np

from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import RandomState


def synthetic_rows(model: Any, n_samples: int = 1, random_state: RandomState = None) -> Any:
    """Draw rows from a fitted generative model, of this library or of scikit-learn.

    Formula: x ~ p(x), or (x, c) ~ p(x, c) for a classifier. Cost: that of ``model.sample``.

    Every density model and every generative classifier of this library has a method ``sample``
    with the same arguments. Models of scikit-learn differ in whether it takes a seed; this function
    calls both.

    Parameters
    ----------
    model : fitted model with a method ``sample``
        A density model, such as `KernelDensity` or `DensityTree`, or a classifier that models
        p(x, c), such as `BayesClassifier`.
    n_samples : int, default=1
        Number of rows to draw. Must be at least 1.
    random_state : int, Generator or None
        Seed or generator for the draws. The same seed gives the same rows.

    Returns
    -------
    array of shape (n_samples, d), or a tuple
        The rows; with their labels if the model returns them, too.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.Histogram(bins=2).fit([[0.0], [1.0], [4.0]])
    >>> th.resampling.synthetic_rows(model, 5, random_state=0).shape
    (5, 1)
    """
    if not callable(getattr(model, "sample", None)):
        raise CapabilityError(
            f"synthetic_rows: {type(model).__name__} has no method sample, because it does not "
            "model the rows. Use a density model or a generative classifier."
        )
    _require_room(model, n_samples)
    seed = random_state
    if isinstance(random_state, np.random.Generator):
        seed = int(random_state.integers(2**31 - 1))  # scikit-learn takes no Generator
    if "random_state" in inspect.signature(model.sample).parameters:
        return model.sample(n_samples, random_state=seed)
    if seed is not None and hasattr(model, "random_state"):
        model = copy(model)
        model.random_state = seed
    return model.sample(n_samples)


def _require_room(model: Any, n_samples: Any) -> None:
    """Require memory for the rows; models of other libraries allocate without a check."""
    columns = getattr(model, "n_features_in_", None)
    if isinstance(n_samples, int | np.integer) and isinstance(columns, int | np.integer):
        require_memory(
            8 * int(n_samples) * int(columns),
            f"synthetic_rows: drawing {n_samples} rows from {type(model).__name__}",
            "Draw fewer rows at a time.",
        )
