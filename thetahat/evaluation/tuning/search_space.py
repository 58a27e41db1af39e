"""The settings of a model that are tried: its own, then others drawn from its search space.

An estimator declares the values of its parameters that are worth trying (`_search_space`). In a
pipeline, the last step is tuned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError

Setting = dict[str, Any]
Space = Mapping[str, Sequence[Any]]


def space_of(model: Any) -> dict[str, Sequence[Any]]:
    """Values worth trying, by the name of the parameter as in ``set_params``; may be empty."""
    if hasattr(model, "steps"):
        name, inner = model.steps[-1]
    elif hasattr(model, "regressor") and hasattr(model, "transformer"):
        name, inner = "regressor", model.regressor  # a regressor of a transformed target
    else:
        return dict(getattr(type(model), "_search_space", {}))
    return {f"{name}__{parameter}": values for parameter, values in space_of(inner).items()}


def require_space(space: Space, model: Any, who: str) -> None:
    """Raise an error if a search space names no parameter of the model, or has no values."""
    known = model.get_params()
    for parameter, values in space.items():
        if parameter not in known:
            raise ParameterError(
                f"{who}: {parameter!r} is not a parameter of {type(model).__name__}. Its "
                f"parameters are {', '.join(sorted(known))}."
            )
        if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
            raise ParameterError(
                f"{who}: the values of {parameter!r} are {values!r}. Give a sequence of values, "
                "such as [0.1, 1.0, 10.0]."
            )


def settings_of(model: Any, space: Space, most: int, random: np.random.Generator) -> list[Setting]:
    """At most `most` different settings: {} for the model as it is, then random ones."""
    found: list[Setting] = [{}]
    own = model.get_params()
    taken = {_place(own, space)}
    n_settings = prod(len(values) for values in space.values())
    whole = n_settings <= 4 * most  # then all settings are listed, and some of them drawn
    numbers = random.permutation(n_settings) if whole and space else None
    for draw in range(n_settings if whole else 20 * most):
        if len(found) >= min(most, n_settings + 1) or not space:
            break
        number = draw if numbers is None else int(numbers[draw])
        setting = {}
        for parameter, values in space.items():
            place = int(random.integers(len(values)))
            if numbers is not None:
                number, place = divmod(number, len(values))
            setting[parameter] = values[place]
        if (place_of := _place(setting, space)) not in taken:
            taken.add(place_of)
            found.append(setting)
    return found


def _place(setting: Setting, space: Space) -> tuple[str, ...]:
    """A name for the values of a setting, by which equal settings are recognised."""
    return tuple(repr(setting[parameter]) for parameter in space)
