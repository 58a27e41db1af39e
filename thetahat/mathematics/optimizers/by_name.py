"""Methods by name: ``solver="newton"``."""

from __future__ import annotations

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
    kinds = {kind.name: kind for kind in methods()}
    return part_named("solver", solver, Method, kinds)  # type: ignore[type-abstract]
