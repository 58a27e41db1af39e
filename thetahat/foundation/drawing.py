"""Methods that draw on matplotlib axes: new ones, unless the caller passes some."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from thetahat.foundation.docstrings import described_like
from thetahat.foundation.optional import optional_import

P = ParamSpec("P")


def draws(method: Callable[P, None]) -> Callable[P, Any]:
    """A decorator for methods with a parameter `axes`: creates axes if needed, and returns them."""
    signature = inspect.signature(method)

    @described_like(_plot)
    @wraps(method)
    def plot(*args: P.args, **options: P.kwargs) -> Any:
        given = signature.bind(*args, **options)
        given.apply_defaults()
        if given.arguments["axes"] is None:
            pyplot = optional_import("matplotlib.pyplot", extra="plot", purpose=method.__qualname__)
            given.arguments["axes"] = pyplot.subplots(layout="constrained")[1]
        method(*given.args, **given.kwargs)
        return given.arguments["axes"]

    if plot.__doc__:
        plot.__doc__ += "\n\nReturns\n-------\nmatplotlib Axes"
    plot.__signature__ = signature.replace(return_annotation="Any")  # type: ignore[attr-defined]
    return plot


def _plot(axes: Any = None, label: str | None = None) -> None:
    """The arguments that all drawing methods share.

    Parameters
    ----------
    axes : matplotlib Axes, optional
        The axes to draw on, such as those of another plot to compare it with. By default a new
        figure is created.
    label : str, optional
        The name of the curve in the legend.
    """
