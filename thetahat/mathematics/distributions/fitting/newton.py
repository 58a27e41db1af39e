"""Numerical maximum likelihood by Newton's method, and profile-likelihood intervals.

The parameters are changed to coordinates without limits: log θ for positive parameters, θ for
others. With F(u) the mean negative log-likelihood of n values and H its Hessian at the minimum, the
covariance of û is H⁻¹/n. The interval of a parameter contains the values that a likelihood-ratio
test does not reject:

    {uⱼ : 2n·(min over the others F(u) − F(û)) ≤ q²},

which may end at infinity if the data do not limit the parameter. q is the quantile of the normal
distribution or, with k > 1 parameters, that of Student's t distribution with n − k degrees of
freedom: the others are estimated too, and without it the intervals of small samples are too short.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from thetahat.foundation.errors import DataError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.distributions.fitting.result import DistributionFit
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.mathematics.optimizers.solution import Solution

Derivatives = Callable[[Array], tuple[float, Array, Array]]
"""θ ↦ the mean log-likelihood, its gradient and its Hessian."""

TOLERANCE = 1e-9
ACCEPTED = 1e-5
"""Largest gradient of a run that rounding errors ended."""
FARTHEST = 40.0
"""Logarithm beyond which a parameter counts as 0 or infinity."""
FAR = 15.0
"""Logarithm beyond which a parameter at which the solver failed is on its way to 0 or infinity."""
WIDEST = 2.0
"""Largest change of a logarithm by one step of the search of an end. A wider one may lead over the
end to where a likelihood is infinite, such as that of a spike at one value with heavy tails."""
MOST_STEPS = 1e6
"""Number of standard errors beyond which a parameter of any sign counts as infinite."""
FARTHEST_NUMBER = 1e50
"""Largest number that is tried for a parameter of any sign."""


@dataclass(frozen=True)
class NegativeMean:
    """F(u) = −(mean log-likelihood) in the coordinates u, for the methods of `minimise`."""

    derivatives: Derivatives
    positive: tuple[bool, ...]

    _last: list[Any] = field(default_factory=list, repr=False, compare=False)
    """The last coordinates and what `all` found there: a method asks for its parts in turn."""

    convex = False

    def theta(self, u: Array) -> Array:
        """The parameters of coordinates."""
        return np.where(self.positive, np.exp(np.where(self.positive, u, 0.0)), u)

    def coordinates(self, theta: Array) -> Array:
        """The coordinates of parameters."""
        return np.where(self.positive, np.log(np.where(self.positive, theta, 1.0)), theta)

    def all(self, u: Array) -> tuple[float, Array, Array]:
        """F, its gradient and its Hessian."""
        if not self._last or not np.array_equal(self._last[0], u):
            self._last[:] = [u.copy(), self._computed(u)]
        found: tuple[float, Array, Array] = self._last[1]
        return found

    def _computed(self, u: Array) -> tuple[float, Array, Array]:
        if (np.abs(u) > np.where(self.positive, 2 * FARTHEST, FARTHEST_NUMBER)).any():
            return np.inf, np.zeros(len(u)), np.eye(len(u))
        with np.errstate(all="ignore"):
            theta = self.theta(u)
            value, gradient, hessian = self.derivatives(theta)
            slope = np.where(self.positive, theta, 1.0)
            first = gradient * slope
            second = hessian * slope * slope[:, None] + np.diag(np.where(self.positive, first, 0.0))
        if not np.isfinite(value) or not np.isfinite(first).all() or not np.isfinite(second).all():
            return np.inf, np.zeros_like(first), np.eye(len(first))
        return -value, -first, -second

    def value(self, u: Array) -> float:
        """F(u)."""
        return self.all(u)[0]

    def value_and_gradient(self, u: Array) -> tuple[float, Array]:
        """F(u) and its gradient."""
        value, gradient, _ = self.all(u)
        return value, gradient

    def hessian(self, u: Array) -> Array:
        """The Hessian of F at u."""
        return self.all(u)[2]


@dataclass(frozen=True)
class Restricted:
    """F with one coordinate fixed, as a function of the others."""

    whole: Any
    fixed: int
    value_there: float

    convex = False

    def full(self, others: Array) -> Array:
        """All coordinates."""
        whole = np.empty(len(others) + 1)
        whole[: self.fixed], whole[self.fixed + 1 :] = others[: self.fixed], others[self.fixed :]
        whole[self.fixed] = self.value_there
        return whole

    def value(self, others: Array) -> float:
        """F at these coordinates."""
        return float(self.whole.value(self.full(others)))

    def value_and_gradient(self, others: Array) -> tuple[float, Array]:
        """F and its gradient with respect to the others."""
        value, gradient = self.whole.value_and_gradient(self.full(others))
        return value, gradient[self._others(len(gradient))]

    def hessian(self, others: Array) -> Array:
        """The Hessian with respect to the others."""
        full = self.whole.hessian(self.full(others))
        kept = self._others(len(full))
        return np.asarray(full[kept][:, kept])

    def _others(self, size: int) -> list[int]:
        return [j for j in range(size) if j != self.fixed]


def newton_fit(
    make: Callable[..., Any],
    names: tuple[str, ...],
    derivatives: Derivatives,
    start: Array,
    positive: tuple[bool, ...],
    n: float,
    who: str,
) -> DistributionFit:
    """Fit by Newton's method from a starting point; `make` builds the distribution from θ̂."""
    problem = NegativeMean(derivatives, positive)
    solution = minimise(
        problem, Newton(), problem.coordinates(np.asarray(start)), tolerance=TOLERANCE
    )
    if not np.isfinite(solution.value):
        raise DataError(
            f"{who}: the likelihood of these values is 0 or not defined in 64-bit floating point, "
            "because they are too large or too small. Divide them by a typical one."
        )
    u = np.asarray(solution.theta)
    at_infinity = (np.abs(u) > FARTHEST) & np.asarray(positive)
    if at_infinity.any() or not (solution.outcome.success or solution.gap < ACCEPTED):
        far = (np.abs(u) > FAR) & np.asarray(positive)
        message = no_maximum if far.any() else not_reached
        raise DataError(message(who, names, problem.theta(u), solution))
    errors = standard_errors(problem, u, n)
    return DistributionFit(
        distribution=make(*(float(value) for value in problem.theta(u))),
        names=names,
        estimates=problem.theta(u),
        standard_errors=errors * np.where(positive, problem.theta(u), 1.0),
        log_likelihood=-n * solution.value,
        n_values=n,
        find_intervals=partial(profile_intervals, problem, u, n),
        solution=solution,
    )


def in_units(
    fit: DistributionFit, make: Callable[..., Any], shift: Array, factor: Array, unit: float
) -> DistributionFit:
    """A fit of values in other units as one of the values: θ = shift + factor·θ'.

    One value of the fit is `unit` of the data, by which the densities are divided.
    """
    estimates = shift + factor * fit.estimates
    return replace(
        fit,
        distribution=make(*(float(value) for value in estimates)),
        estimates=estimates,
        standard_errors=factor * fit.standard_errors,
        log_likelihood=fit.log_likelihood - fit.n_values * float(np.log(unit)),
        find_intervals=partial(_scaled_intervals, fit.find_intervals, shift, factor),
    )


def _scaled_intervals(find: Any, shift: Array, factor: Array, level: float) -> Array:
    return np.asarray(shift[:, None] + factor[:, None] * find(level))


def no_maximum(who: str, names: tuple[str, ...], theta: Array, solution: Solution) -> str:
    """The message that the likelihood has no maximum at finite parameters."""
    found = ", ".join(f"{name}={value:.3g}" for name, value in zip(names, theta, strict=True))
    return (
        f"{who}: the likelihood of these values has no maximum at finite, positive parameters: the "
        f"solver ended at {found} ({solution.outcome.value}). The values do not look like draws "
        "from this distribution. Try another family, or give more values."
    )


def not_reached(who: str, names: tuple[str, ...], theta: Array, solution: Solution) -> str:
    """The message that the solver ended before a maximum, which may exist."""
    found = ", ".join(f"{name}={value:.3g}" for name, value in zip(names, theta, strict=True))
    return (
        f"{who}: the solver did not reach a maximum of the likelihood; it ended at {found} "
        f"({solution.outcome.value}). A maximum may exist elsewhere, or only at the limits of the "
        "parameters. Where a start can be given, start nearer to the maximum, for example from "
        "moments of the values; otherwise centre and rescale the values, or try another family."
    )


def standard_errors(problem: Any, u: Array, n: float) -> Array:
    """The roots of the diagonal of H⁻¹/n; infinite where H is not positive definite."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(problem.hessian(u))
    if values[0] <= 1e-14 * abs(values[-1]):
        return np.full(len(u), np.inf)
    return np.sqrt((vectors**2 / values).sum(axis=1) / n)


def profile_intervals(problem: Any, u: Array, n: float, level: float) -> Array:
    """The profile-likelihood intervals of all parameters, (k, 2)."""
    errors = standard_errors(problem, u, n)
    errors = np.where(np.isfinite(errors), errors, 1.0)
    found = np.empty((len(u), 2))
    for j in range(len(u)):
        for side, sign in enumerate((-1.0, 1.0)):
            end = u.copy()
            end[j] = profile_end(problem, u, j, sign * errors[j], n, level)
            found[j, side] = problem.theta(end)[j]
    return found


def profile_end(
    problem: Any,
    u: Array,
    j: int,
    unit: float,
    n: float,
    level: float,
    best: float | None = None,
) -> float:
    """Where the root of the deviance of the profile reaches the quantile; ±∞ if nowhere.

    The search starts from u, which is the minimum unless its value is given as `best`.
    """
    target = likelihood_quantile(n - len(u), len(u) > 1, level)
    best = problem.value(u) if best is None else best
    tangent = _tangent(problem, u, j)
    path = [(0.0, np.delete(u, j))]
    is_log = problem.positive[j]

    def excess(steps: float) -> float:
        move = steps * unit
        if len(u) == 1:
            value = problem.value(u + move)
        else:
            limited = Restricted(problem, j, float(u[j] + move))
            # The path of the best others is nearly straight: continue from the nearest known point.
            known, found = min(path, key=lambda each: abs(each[0] - move))
            begin = found + (move - known) * tangent
            if not np.isfinite(limited.value(begin)):
                begin = found
            solution = minimise(limited, Newton(), begin, tolerance=1e-6)
            value = solution.value
            path.append((move, np.asarray(solution.theta)))
        return float(np.sqrt(max(2 * n * (value - best), 0.0))) - target

    most = max((FARTHEST - np.sign(unit) * u[j]) / abs(unit), 0.0) if is_log else MOST_STEPS
    longest = WIDEST / abs(unit) if is_log else np.inf
    inside, outside, below = 0.0, min(target, longest, most), -target
    above = excess(outside)
    while not above > 0:
        if outside >= most:
            return float(np.inf * unit)
        step = min(0.6 * outside, longest)
        inside, below, outside = outside, above, min(outside + step, most)
        above = excess(outside)
    last = 0
    for _ in range(60):
        share = 0.5 if not np.isfinite(above) else below / (below - above)
        middle = inside + (outside - inside) * min(max(share, 0.001), 0.999)
        found = excess(middle)
        if abs(found) < 1e-6 or outside - inside < 1e-9 * outside:
            break
        # False position; an end that stays twice counts half (the Illinois rule).
        if found > 0:
            outside, above, below, last = middle, found, below / 2 if last > 0 else below, 1
        else:
            inside, below, above, last = middle, found, above / 2 if last < 0 else above, -1
    return float(u[j] + middle * unit)


def likelihood_quantile(degrees: float, has_nuisance: bool, level: float) -> float:
    """√χ²₁(level), or Student's quantile if other parameters were estimated from few values."""
    if has_nuisance and degrees > 0:
        return float(stdtrit(degrees, (1 + level) / 2))
    return float(ndtri((1 + level) / 2))


def _tangent(problem: Any, u: Array, j: int) -> Array:
    """How the best other coordinates move with coordinate j, to first order."""
    if len(u) == 1:
        return np.empty(0)
    hessian = problem.hessian(u)
    rest = np.delete(np.delete(hessian, j, 0), j, 1)
    with one_blas_thread():
        return -np.linalg.lstsq(rest, np.delete(hessian[:, j], j), rcond=None)[0]
