"""Methods by name: ``solver="newton"``."""

from __future__ import annotations

from thetahat.mathematics.optimizers.loop import Method, methods
from thetahat.mathematics.parts import part_named


def named(solver: str | Method) -> Method:
    """The method of that name with its default parameters; a method is returned as it is.

    Cost: O(number of methods). An unknown name is refused with the nearest known one.

    Parameters
    ----------
    solver : str or Method
        "newton", "lbfgs", "gradient_descent" ("gd"), "stochastic_gradient" ("sgd"), ...

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
