"""Methods by name: ``solver="newton"``."""

from __future__ import annotations

from functools import cache

from thetahat.mathematics.optimizers.loop import Method, methods
from thetahat.mathematics.parts import part_named


def named(solver: str | Method) -> Method:
    """Return the method with this name and its default parameters.

    A method is returned unchanged. For an unknown name the error suggests the nearest known one.
    Cost: O(number of methods).

    Parameters
    ----------
    solver : str or Method
        The name of a method ("newton", "lbfgs", "gradient_descent" or "gd", "stochastic_gradient"
        or "sgd", ...) or a method.

    Returns
    -------
    Method

    Examples
    --------
    >>> import thetahat as th
    >>> th.optimizers.named("newton")
    Newton()
    """
    return part_named("solver", solver, Method, _kinds())  # type: ignore[type-abstract]


@cache
def _kinds() -> dict[str, type[Method]]:
    """The methods of this package by name, looked up once."""
    return {kind.name: kind for kind in methods()}
