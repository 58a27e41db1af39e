"""Numerical checks of derivatives.

Gradients, Jacobians and Hessians are compared with finite differences. A Taylor expansion shows
whether they make the function locally linear. Each check returns a `Check`, which is true if the
check passes and describes the largest disagreement; ``require()`` turns a failure into an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError, ThetahatError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.checks.finite_differences import (
    Estimate,
    numeric_gradient,
    numeric_jacobian,
)


@dataclass(frozen=True)
class Check:
    """The result of a check, with the place of the largest disagreement.

    Formula: passes if ``found`` and ``expected`` satisfy ``rule`` within ``tolerance``. Cost: O(1).

    Attributes
    ----------
    passed : bool
        Whether the rule holds at all places that were checked.
    rule : str
        The rule that was checked, in words or as a formula.
    found, expected : float
        The two compared numbers at the place of the largest disagreement.
    tolerance : float
        The largest allowed difference of the two numbers.
    where : object
        The place of the largest disagreement: an index, a point or a segment.

    Examples
    --------
    >>> import thetahat as th
    >>> check = th.optimizers.check_convexity(lambda x: x**2, [-1.0, 0.0, 2.0])
    >>> bool(check), check.rule
    (True, 'f(a·x₁ + (1−a)·x₂) ≤ a·f(x₁) + (1−a)·f(x₂)')
    """

    passed: bool
    rule: str
    found: float
    expected: float
    tolerance: float
    where: Any

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        verdict = "holds" if self.passed else "fails"
        return (
            f"{self.rule}: {verdict}; at worst {self.found:.9g} against {self.expected:.9g} "
            f"(tolerance {self.tolerance:.2g}) at {self.where}"
        )

    def require(self) -> Check:
        """Return the check itself if it passed; otherwise raise an error with place and numbers."""
        if not self.passed:
            raise ThetahatError(f"{self}.")
        return self


def check_jacobian(
    f: Callable[[Array], Array], jacobian: Any, x: Array, *, tolerance: float = 1e-6
) -> Check:
    """Compare a Jacobian with finite differences of its function.

    Formula: |J − J_numeric| ≤ tolerance·max|J| + twice the error of the differences. At a kink the
    differences do not converge, and the check fails. Cost: 14 evaluations of f per entry of x.

    Parameters
    ----------
    f : callable
        The function, which takes an array and returns an array.
    jacobian : callable or array
        The Jacobian J(x) as a function, or its value at x. Its shape is ``f(x).shape + x.shape``.
    x : array
        The point at which the derivative is checked.
    tolerance : float, default=1e-6
        Allowed difference, relative to the largest entry of J.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> bool(th.optimizers.check_jacobian(lambda x: x**2, lambda x: np.diag(2 * x), np.arange(3.0)))
    True
    """
    return _agreement(
        "Jacobian = finite differences", jacobian, numeric_jacobian(f, x), x, tolerance
    )


def check_gradient(
    f: Callable[[Array], Any], gradient: Any, x: Array, *, tolerance: float = 1e-6
) -> Check:
    """Compare a gradient with finite differences of its function.

    Formula: |∇f − ∇f_numeric| ≤ tolerance·max|∇f| + twice the error of the differences. At a kink
    the differences do not converge, and the check fails. Cost: 14 evaluations of f per entry of x.

    Parameters
    ----------
    f : callable
        The function, which takes an array and returns a number.
    gradient : callable or array
        The gradient ∇f(x) as a function, or its value at x.
    x : array
        The point at which the derivative is checked.
    tolerance : float, default=1e-6
        Allowed difference, relative to the largest entry of ∇f.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> check = th.optimizers.check_gradient(lambda x: np.sum(x**2), lambda x: 3 * x, [1.0, 2.0])
    >>> check.passed, check.where, round(check.found, 6), round(check.expected, 6)
    (False, (1,), 6.0, 4.0)
    """
    return _agreement(
        "gradient = finite differences", gradient, numeric_gradient(f, x), x, tolerance
    )


def check_hessian(
    gradient: Callable[[Array], Array], hessian: Any, x: Array, *, tolerance: float = 1e-6
) -> Check:
    """Compare a Hessian with finite differences of the gradient, and check that it is symmetric.

    Formula: H = ∂∇f/∂x and H = Hᵀ. Cost: 14 evaluations of the gradient per entry of x.

    Parameters
    ----------
    gradient : callable
        The gradient ∇f as a function, which takes and returns an array.
    hessian : callable or array
        The Hessian ∇²f(x) as a function, or its value at x.
    x : array
        The point at which the derivative is checked.
    tolerance : float, default=1e-6
        Allowed difference, relative to the largest entry of H.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> bool(th.optimizers.check_hessian(lambda x: A @ x, A, np.ones(2)))
    True
    """
    point = np.array(x, dtype=np.float64)
    check = check_jacobian(gradient, hessian, point, tolerance=tolerance)
    matrix = _at(hessian, point).reshape(point.size, point.size)
    skew = abs(matrix - matrix.T)
    allowed = tolerance * np.max(abs(matrix), initial=0.0)
    if not check.passed or np.all(skew <= allowed):
        return check
    i, j = (int(k) for k in np.unravel_index(np.argmax(skew), skew.shape))
    both = float(matrix[i, j]), float(matrix[j, i])
    return Check(False, "Hessian = its transpose", *both, float(allowed), (i, j))


def check_taylor(
    f: Callable[[Array], Any],
    gradient: Any,
    x: Array,
    hessian: Any = None,
    *,
    direction: Array | None = None,
    random_state: RandomState = 0,
) -> Check:
    """Check derivatives by the order at which the remainder of a Taylor expansion vanishes.

    Formula: f(x + t·v) − f(x) − t·∇f·v = O(t²), and O(t³) if ½t²·vᵀHv is subtracted as well. The
    order is estimated while t is halved; a wrong gradient gives order 1, a wrong Hessian order 2.
    Cost: 16 evaluations of f.

    Parameters
    ----------
    f : callable
        The function, which takes an array and returns a number.
    gradient : callable or array
        The gradient ∇f(x) as a function, or its value at x.
    x : array
        The point at which the derivatives are checked.
    hessian : callable or array, optional
        The Hessian ∇²f(x) as a function, or its value at x. By default only the gradient is
        checked.
    direction : array, optional
        Direction v of the expansion. By default a random one.
    random_state : int, Generator or None, default=0
        Seed of the random direction.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> check = th.optimizers.check_taylor(lambda x: np.sum(np.sin(x)), np.cos, np.ones(3))
    >>> bool(check), round(check.found)
    (True, 2)
    """
    x = np.array(x, dtype=np.float64)
    if direction is None:
        direction = generator(random_state).normal(size=x.shape)
    v = np.asarray(direction, dtype=np.float64)
    base = float(f(x))
    slope = float(np.sum(_at(gradient, x) * v))
    bend = 0.0
    if hessian is not None:
        bend = float(v.ravel() @ _at(hessian, x).reshape(x.size, x.size) @ v.ravel())
    steps = 0.5 ** np.arange(1, 16) / np.linalg.norm(v)
    values = np.array([float(f(x + t * v)) for t in steps])
    remainder = abs(values - base - steps * slope - 0.5 * steps**2 * bend)
    seen = remainder > 1e3 * EPSILON * np.maximum(abs(values), abs(base))
    # The smallest steps with a remainder above rounding; if there is none, any order is possible.
    logs = np.log2(steps[seen])[-5:], np.log2(remainder[seen])[-5:]
    order = float(np.polyfit(*logs, 1)[0]) if len(logs[0]) > 2 else np.inf
    expected = 2.0 if hessian is None else 3.0
    rule = f"Taylor remainder vanishes at order {expected:.0f}"
    return Check(order >= expected - 0.2, rule, order, expected, 0.2, x)


def _at(derivative: Any, x: Array) -> Array:
    """The derivative at x, which is given as a function or as its value."""
    return np.asarray(derivative(x) if callable(derivative) else derivative, dtype=np.float64)


def _agreement(rule: str, derivative: Any, numeric: Estimate, x: Array, tolerance: float) -> Check:
    """Whether every entry agrees with a finite difference that has converged."""
    analytic = _at(derivative, np.array(x, dtype=np.float64))
    if analytic.shape != numeric.value.shape:
        raise ParameterError(
            f"{rule}: the derivative has shape {analytic.shape}; it must have shape "
            f"{numeric.value.shape}, the shape of f(x) followed by that of x."
        )
    scale = max(np.max(abs(analytic), initial=0.0), np.max(abs(numeric.value), initial=0.0))
    allowed = tolerance * scale + 2 * numeric.error
    excess = abs(analytic - numeric.value) - allowed
    # Differences that have not converged have a large error estimate and would accept any value.
    unsettled = ~(numeric.error <= np.sqrt(tolerance) * (1 + scale))
    excess = np.where(unsettled | ~np.isfinite(excess), np.inf, excess)
    if excess.size == 0:
        return Check(True, rule, 0.0, 0.0, 0.0, ())
    worst = tuple(int(k) for k in np.unravel_index(np.argmax(excess), excess.shape))
    return Check(
        bool(excess[worst] <= 0),
        rule + (" (which do not converge: a kink, or noise)" if unsettled[worst] else ""),
        float(analytic[worst]),
        float(numeric.value[worst]),
        float(allowed[worst]),
        worst,
    )
