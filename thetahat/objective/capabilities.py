"""Methods of an object that exist only if its parts support them.

    @requires(smooth_loss, smooth_penalty)
    def value_and_gradient(self, theta): ...

A condition receives the object and returns None, or a text that completes "Newton needs …". If a
condition is not met, ``hasattr`` is False and access raises a `MissingCapability` with this text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from thetahat.mathematics.optimizers.problem import MissingCapability

P = ParamSpec("P")
R = TypeVar("R")
Condition = Callable[[Any], str | None]


def requires(
    *conditions: Condition,
) -> Callable[[Callable[Concatenate[Any, P], R]], ConditionalMethod[P, R]]:
    """Decorate a method so that it exists only if every condition is met."""
    return lambda method: ConditionalMethod(method, conditions)


class ConditionalMethod(Generic[P, R]):
    """The descriptor of a method with conditions."""

    def __init__(
        self, method: Callable[Concatenate[Any, P], R], conditions: tuple[Condition, ...]
    ) -> None:
        self.method, self.conditions = method, conditions
        self.name: str = method.__name__
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[P, R]:
        if instance is None:
            return self  # type: ignore[return-value]
        met: set[str] = instance.__dict__.setdefault("_met", set())
        if self.name not in met:  # checked once, because parts do not change
            for condition in self.conditions:
                lack = condition(instance)
                if lack is not None:
                    raise MissingCapability(lack)
            met.add(self.name)
        bound: Callable[P, R] = self.method.__get__(instance, owner)
        return bound
