"""A loss from a Python function of (y, z), with derivatives by automatic differentiation.

ℓ(y, z) gives one value per row, so ∂ℓᵢ/∂zᵢ is the gradient of Σ ℓᵢ, and ∂²ℓᵢ/∂zᵢ² is the Hessian of
the sum times a vector of ones. When the loss is made, it is checked on a sample of valid targets:
the value of a row must not depend on other rows, and derivatives must agree with finite
differences. Jumps of the gradient distinguish a loss with kinks from a smooth one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from inspect import signature
from typing import Any, TypeVar

from array_api_compat import array_namespace

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.autodiff import jvp, vjp
from thetahat.mathematics.autodiff.trace import constant
from thetahat.mathematics.losses.alignment import aligned
from thetahat.mathematics.losses.base import Curved, Loss, Subdifferentiable, Targets
from thetahat.mathematics.losses.constant_search import best_number, best_scores
from thetahat.mathematics.losses.examination import (
    examine_derivative,
    examine_value,
    gradients_along_lines,
    toward,
)
from thetahat.mathematics.losses.links import Link

Function = Callable[[Array, Array], Array]
E = TypeVar("E", bound=Enum)


def loss(
    fn: Function,
    *,
    name: str | None = None,
    targets: Targets | str = Targets.REAL,
    link: Link | str = Link.IDENTITY,
    convex: bool | None = None,
    smooth: bool | None = None,
    gradient: Function | None = None,
    curvature: Function | None = None,
) -> Loss:
    """Make a loss from a Python function ℓ(y, z).

    Formula: gradient ∂ℓ/∂z and curvature ∂²ℓ/∂z² by automatic differentiation of ``fn``.
    Cost: about three evaluations of ``fn`` for a gradient and six for a curvature (times C for C
    class scores). Making the loss takes a few hundred evaluations on two dozen rows.

    Parameters
    ----------
    fn : callable
        The loss ℓ(y, z), with one value per row, written with NumPy or an array-API namespace. z
        has the shape of y, or (n, C) for class targets; class targets are passed as integers.
    name : str, optional
        The name of the loss in messages. By default the name of the function.
    targets : {"real", "nonnegative", "positive", "binary", "signs", "classes"} or Targets, \
            default="real"
        The values that y may have: any real numbers, numbers ≥ 0, numbers > 0, labels 0 and 1,
        labels −1 and +1, or class indices 0, …, C − 1. ``fit`` rejects other targets.
    link : {"identity", "logit", "log", "softmax", "sign"} or Link, default="identity"
        How the raw prediction z is converted to the mean of y, for example to a probability with
        "logit" or to a positive rate with "log".
    convex : bool, optional
        Whether ℓ is convex in z. By default this is determined from the gradient along lines.
    smooth : bool, optional
        Whether the gradient is continuous. By default this is determined by searching for jumps of
        the gradient. Only a smooth loss provides a curvature.
    gradient, curvature : callable, optional
        Your own derivatives, as functions of (y, z). They are used instead of automatic
        differentiation and are checked against ``fn``.

    Returns
    -------
    CustomLoss or KinkedCustomLoss

    Raises
    ------
    ParameterError
        If the value of a row depends on other rows, the shape is wrong, or a derivative disagrees
        with finite differences. The message names y, z and both values.
    CapabilityError
        If ``fn`` uses an operation that automatic differentiation does not support.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> log_cosh = th.loss(lambda y, z: np.log(np.cosh(z - y)), name="log_cosh")
    >>> log_cosh.gradient(np.array([0.0]), np.array([1.0])).round(6)
    array([0.761594])
    >>> log_cosh.convex
    True
    """
    for role, function in (("fn", fn), ("gradient", gradient), ("curvature", curvature)):
        if role == "fn" or function is not None:
            _require_two_arguments(function, role)
    parameters: dict[str, Any] = {
        "function": fn,
        "name": name or getattr(fn, "__name__", "custom").replace("<lambda>", "custom"),
        "targets": _member(Targets, targets, "targets"),
        "link": _member(Link, link, "link"),
        "own_gradient": gradient,
    }
    examined = KinkedCustomLoss(**parameters)
    if convex is None or smooth is None:
        gradients = gradients_along_lines(examined)
        convex = gradients.increase if convex is None else convex
        smooth = not gradients.jump if smooth is None else smooth
    parameters["convex"] = convex
    if smooth:
        return CustomLoss(**parameters, own_curvature=curvature)
    return KinkedCustomLoss(**parameters)


@dataclass(frozen=True)
class FromFunction(Subdifferentiable):
    """Base class of custom losses."""

    function: Function
    own_gradient: Function | None = None
    name: str = "custom"  # type: ignore[misc]
    targets: Targets = Targets.REAL  # type: ignore[misc]
    link: Link = Link.IDENTITY  # type: ignore[misc]
    convex: bool = True  # type: ignore[misc]

    def __post_init__(self) -> None:
        examine_value(self)
        examine_derivative(self, "gradient", self.gradient, self.value)

    @property
    def columns(self) -> str:  # type: ignore[override]
        return "per class" if self.targets is Targets.CLASSES else "one"

    def value(self, y: Array, z: Array) -> Array:
        return self.function(*self._arguments(y, z))

    def gradient(self, y: Array, z: Array) -> Array:
        y, z = self._arguments(y, z)
        return self._slope(y if self.own_gradient is not None else constant(y), z)

    def best_constant(
        self, y: Array, weight: Array | None = None, *, n_classes: int | None = None
    ) -> Array:
        """Found by search: on a grid and in its best interval, or by descent for class scores."""
        if self.columns == "one":
            return best_number(self, y, weight)
        return best_scores(self, y, weight, n_classes)

    def _slope(self, y: Array, z: Array) -> Array:
        """∂ℓ/∂z, itself differentiable in z."""
        if self.own_gradient is not None:
            return self.own_gradient(y, z)
        value, pullback = vjp(partial(self.function, y), z)
        return pullback(array_namespace(z).ones_like(value))

    def _arguments(self, y: Array, z: Array) -> tuple[Array, Array]:
        """y and z in the form that the function expects."""
        xp, y, z = aligned(y, z)
        if self.columns != "one":
            return xp.astype(y, xp.int64), z
        return y, xp.broadcast_to(z, y.shape) if z.ndim == 0 else z


@dataclass(frozen=True)
class KinkedCustomLoss(FromFunction):
    """A loss made by `loss` from a function whose gradient jumps.

    At a kink, ∂ℓ/∂z is an element of the subdifferential. Cost: about three evaluations of the
    function for a gradient.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> hinge = th.loss(lambda y, z: np.maximum(0, 1 - y * z), targets="signs")
    >>> type(hinge).__name__, hinge.gradient(np.array([1.0]), np.array([0.0]))
    ('KinkedCustomLoss', array([-1.]))
    """


@dataclass(frozen=True)
class CustomLoss(FromFunction, Curved):
    """A smooth loss made by `loss` from a function.

    ∂ℓ/∂z and ∂²ℓ/∂z² are computed by automatic differentiation. Cost: about three evaluations of
    the function for a gradient and six for a curvature (times C for C class scores).

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> cubed = th.loss(lambda y, z: np.abs(z - y) ** 3 / 3)
    >>> cubed.curvature(np.array([0.0, 0.0]), np.array([1.0, 2.0]))
    array([2., 4.])
    """

    own_curvature: Function | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        examine_derivative(self, "curvature", self.curvature, self.gradient)

    def curvature(self, y: Array, z: Array) -> Array:
        y, z = self._arguments(y, z)
        if self.own_curvature is not None:
            return self.own_curvature(y, z)
        xp = array_namespace(z)
        if self.columns == "one":
            return self.curvature_product(y, z, xp.ones_like(z))
        return xp.stack(
            [self.curvature_product(y, z, toward(z, c))[..., c] for c in range(z.shape[-1])],
            axis=-1,
        )

    def curvature_product(self, y: Array, z: Array, direction: Array) -> Array:
        y, z = self._arguments(y, z)
        if self.own_curvature is not None and self.columns == "one":
            return self.own_curvature(y, z) * direction
        return jvp(partial(self._slope, constant(y)), z, direction)[1]


def _require_two_arguments(function: Any, role: str) -> None:
    """Raise an error unless `function` can be called with (y, z)."""
    remedy = "Pass a function of the targets y and the raw predictions z with one value per row."
    if not callable(function):
        raise ParameterError(f"loss({role}={function!r}): must be a function of (y, z). {remedy}")
    try:
        parameters = signature(function)
    except (TypeError, ValueError):  # some compiled functions have no signature
        return
    try:
        parameters.bind(None, None)
    except TypeError as misfit:
        raise ParameterError(
            f"loss({role}=...): the function takes {parameters}, and it is called with two "
            f"arguments, (y, z): {misfit}. {remedy}"
        ) from None


def _member(kind: type[E], given: E | str, parameter: str) -> E:
    if isinstance(given, kind):
        return given
    names = [member.name.lower() for member in kind]
    if given not in names:
        raise ParameterError(f"loss({parameter}={given!r}): must be one of {', '.join(names)}.")
    return kind[str(given).upper()]
