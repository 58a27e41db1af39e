"""Posteriors over a grid of parameter values, or over a few values, by Bayes' rule in logarithms.

p(θ | D) = p(D | θ) p(θ) / p(D),   p(D) = ∫ p(D | θ) p(θ) dθ
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

import numpy as np

from thetahat.estimator.parameters import check_value, one_of, whole
from thetahat.foundation.arguments import numbers, require_level
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import RandomState, generator
from thetahat.foundation.types import Array
from thetahat.theory.decision.densities import method_of
from thetahat.theory.decision.parameter_grid import ParameterGrid, linear_quantiles, normalised
from thetahat.theory.decision.probabilities import as_probabilities

WHO = "GridPosterior"
STARTS = 1001
"""Candidates for the lower end of the shortest interval, in each of two rounds."""


class GridPosterior:
    """The distribution of parameters on a grid: a prior, which data turn into a posterior.

    `update` multiplies by the likelihood of some data and normalises, all in logarithms, so that no
    likelihood is too small. Updating by one batch of data after another gives the same posterior
    and the same evidence as updating by all at once.

    The grid is the whole parameter space: a density is 0 outside, linear between the points, and
    integrated by the trapezoid rule, so that points may be denser where they matter. With
    ``discrete=True`` only the given values are possible.

    Formula: p(θ | D) = p(D | θ) p(θ) / ∫ p(D | θ) p(θ) dθ. Cost: O(points) for every method.

    Parameters
    ----------
    grid : array-like of shape (n,), or dict of str to array-like
        The values of the parameter, strictly ascending; or the name and the values of each of
        several parameters. The grid has all combinations.
    prior : array-like, callable or distribution, optional
        The prior at each point of the grid: an array of the shape of the grid, a function of the
        parameters, or a distribution with a method ``logpdf`` or ``log_density``. Densities are
        normalised over the grid; probabilities of discrete values must sum to 1. By default it is
        uniform.
    discrete : bool or collection of str, default=False
        Whether the parameters have probabilities instead of a density; or the names of those that
        do. Discrete values may also be labels.

    Attributes
    ----------
    axes : dict of str to array
        The name and the values of each parameter. A single parameter is named "theta".
    log_density : array of the shape of the grid
        Logarithm of the density, or of the probability, at each point.
    log_evidence : float
        Logarithm of the evidence p(D) of all data so far; 0 for the prior.

    Examples
    --------
    A coin shows heads 4 times in 5, with a uniform prior:

    >>> import numpy as np
    >>> import thetahat as th
    >>> theta = np.linspace(0, 1, 1001)
    >>> with np.errstate(divide="ignore"):
    ...     log_likelihood = 4 * np.log(theta) + np.log(1 - theta)
    >>> found = th.theory.GridPosterior(theta).update(log_likelihood)
    >>> round(found.mean(), 4), found.mode()
    (0.7143, 0.8)
    >>> round(found.evidence, 6)
    0.033333
    """

    def __init__(
        self,
        grid: Any,
        prior: Any = None,
        *,
        discrete: bool | Collection[str] = False,
    ) -> None:
        self._grid = ParameterGrid.of(grid, discrete, WHO)
        self._log_weights = self._grid.log_weights
        self.log_density = normalised(self._log_prior(prior), self._log_weights, WHO)[0]
        self.log_evidence = 0.0

    @property
    def axes(self) -> dict[str, Array]:
        """The name and the values of each parameter."""
        return self._grid.axes

    @property
    def density(self) -> Array:
        """The density, or the probability, at each point of the grid."""
        return np.exp(self.log_density)

    @property
    def probabilities(self) -> Array:
        """The share of each point in integrals over the grid; they sum to 1."""
        return np.exp(self.log_density + self._log_weights)

    @property
    def evidence(self) -> float:
        """The evidence p(D) of all data so far; 0 where it is too small for a number."""
        return float(np.exp(self.log_evidence))

    def update(self, log_likelihood: Any) -> GridPosterior:
        """Multiply by the likelihood of data, and normalise.

        Parameters
        ----------
        log_likelihood : array-like of the shape of the grid, or callable
            log p(D | θ) at each point of the grid; −inf where the data are impossible. A function
            is called with the values of each parameter, shaped so that they broadcast.

        Returns
        -------
        GridPosterior
            The posterior; this object is not changed.
        """
        logs = self._grid.values_of(log_likelihood, "log_likelihood", WHO)
        if (logs == np.inf).any():
            raise DataError(f"{WHO}.update: log_likelihood contains inf; likelihoods are finite.")
        density, evidence = normalised(self.log_density + logs, self._log_weights, WHO)
        return self._made(self._grid, density, self.log_evidence + evidence)

    def expect(self, function: Any) -> float:
        """Compute the expectation of a function of the parameters.

        Formula: E[f(θ)] = ∫ f(θ) p(θ) dθ.

        Parameters
        ----------
        function : callable or array-like of the shape of the grid
            A function of the parameters, which are given as arrays; or its values on the grid.

        Returns
        -------
        float
        """
        values = self._grid.values_of(function, "function", WHO)
        shares = self.probabilities
        return float((shares * np.where(shares > 0, values, 0.0)).sum())

    def predictive(self, density: Callable[..., Any], x: Any) -> Array:
        """Compute the probability of new data, averaged over the parameters.

        Formula: p(x | D) = ∫ p(x | θ) p(θ | D) dθ.

        Parameters
        ----------
        density : callable
            A function ``density(x, theta, ...)`` that gives p(x | θ) of one x for arrays of the
            parameters.
        x : array-like of shape (m,)
            The values of new data, which are passed to `density` one by one.

        Returns
        -------
        array of shape (m,)

        Examples
        --------
        >>> import numpy as np
        >>> import thetahat as th
        >>> prior = th.theory.GridPosterior(np.linspace(0, 1, 201))
        >>> heads = lambda x, theta: theta if x else 1 - theta
        >>> prior.predictive(heads, [0, 1]).round(6)
        array([0.5, 0.5])
        """
        return np.array([self.expect(density(each, *self._grid.mesh)) for each in np.atleast_1d(x)])

    def mean(self) -> Any:
        """Compute the mean of the parameter, or of each of several.

        Returns
        -------
        float, or dict of str to float
        """
        return self._each(lambda marginal, values: float(marginal.probabilities @ values))

    def variance(self) -> Any:
        """Compute the variance of the parameter, or of each of several.

        Returns
        -------
        float, or dict of str to float
        """

        def of(marginal: GridPosterior, values: Array) -> float:
            shares = marginal.probabilities
            return float(shares @ (values - shares @ values) ** 2)

        return self._each(of)

    def mode(self) -> Any:
        """Find the point of the grid with the largest density: the maximum a posteriori.

        Returns
        -------
        value, or dict of str to value
            With several parameters, the mode of all of them together.
        """
        places = np.unravel_index(int(self.log_density.argmax()), self._grid.shape)
        point = {
            name: values[place].item()
            for (name, values), place in zip(self.axes.items(), places, strict=True)
        }
        return point if len(point) > 1 else next(iter(point.values()))

    def quantile(self, q: Any) -> Any:
        """Compute quantiles of the parameter.

        Parameters
        ----------
        q : float or array-like
            Probabilities from 0 to 1. The median is 0.5.

        Returns
        -------
        float or array
            The smallest θ with P(parameter ≤ θ) ≥ q.
        """
        name, values = self._single("quantile")
        wanted = numbers(q, "q", f"{WHO}.quantile")
        if ((wanted < 0) | (wanted > 1)).any():
            raise ParameterError(f"{WHO}.quantile: q={q!r} must lie between 0 and 1.")
        if name in self._grid.discrete:
            order = np.argsort(values)
            below = np.cumsum(self.probabilities[order])
            place = np.searchsorted(below, np.minimum(wanted, below[-1]) - 1e-12)
            found = values[order][place]
        else:
            found = linear_quantiles(values, self.density, wanted)
        return found if wanted.ndim else float(found)

    def interval(
        self, level: float = 0.95, kind: Literal["equal-tailed", "shortest"] = "equal-tailed"
    ) -> tuple[float, float]:
        """Compute a credible interval of the parameter.

        Parameters
        ----------
        level : float, default=0.95
            The probability of the interval, between 0 and 1. A larger value gives a wider interval.
        kind : {"equal-tailed", "shortest"}, default="equal-tailed"
            Whether the same probability lies below and above the interval, or the interval is the
            shortest one, which contains the mode.

        Returns
        -------
        (float, float)
            The lower and the upper end.
        """
        require_level(level)
        check_value(kind, one_of("equal-tailed", "shortest"), "kind", f"{WHO}.interval")
        if kind == "equal-tailed":
            low, high = self.quantile([(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
        start, stop = 0.0, 1.0 - level
        for _ in range(2):
            below = np.linspace(start, stop, STARTS)
            lows, highs = self.quantile(below), self.quantile(np.minimum(below + level, 1.0))
            best = int((highs - lows).argmin())
            step = below[1] - below[0]
            start, stop = max(below[best] - step, 0.0), min(below[best] + step, 1.0 - level)
        return float(lows[best]), float(highs[best])

    def marginal(self, *names: str) -> GridPosterior:
        """Integrate over all other parameters.

        Parameters
        ----------
        *names : str
            The parameters to keep; their order stays that of the grid.

        Returns
        -------
        GridPosterior
        """
        unknown = [name for name in names if name not in self.axes]
        if unknown or not names:
            raise ParameterError(
                f"{WHO}.marginal: name some of the parameters {list(self.axes)}"
                + (f"; {unknown[0]!r} is not one of them." if unknown else ".")
            )
        others = tuple(place for place, name in enumerate(self.axes) if name not in names)
        kept = {name: values for name, values in self.axes.items() if name in names}
        grid = ParameterGrid(kept, self._grid.discrete & set(names))
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities.sum(axis=others))
        return self._made(grid, logs - grid.log_weights, self.log_evidence)

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Any:
        """Draw parameters from the distribution. Cost: O(points + n_samples).

        Parameters
        ----------
        n_samples : int, default=1
            Number of draws; at least 1.
        random_state : int, Generator or None, default=None
            Seed of the draws. Pass an int for the same values on every call.

        Returns
        -------
        array of shape (n_samples,), or dict of str to such arrays
        """
        check_value(n_samples, whole(1), "n_samples", f"{WHO}.sample")
        random = generator(random_state)
        shares = self.probabilities.ravel()
        places = random.choice(shares.size, size=n_samples, p=shares / shares.sum())
        by_axis = np.unravel_index(places, self._grid.shape)
        drawn = {
            name: self._grid.scatter(name, place, random)
            for name, place in zip(self.axes, by_axis, strict=True)
        }
        return drawn if len(drawn) > 1 else next(iter(drawn.values()))

    @draws
    def plot(self, axes: Any = None, label: str | None = None) -> None:
        """Draw the density of one or two parameters, or probabilities as bars. Cost: O(points)."""
        if len(self.axes) > 2:
            raise ParameterError(
                f"{WHO}.plot: there are {len(self.axes)} parameters. Draw a marginal of one or two."
            )
        first, *second = self.axes
        if second:
            axes.contourf(self.axes[first], self.axes[second[0]], self.density.T, levels=12)
            axes.set(xlabel=first, ylabel=second[0])
        elif first in self._grid.discrete:
            axes.bar(self.axes[first], self.density, label=label, alpha=0.6)
            axes.set(xlabel=first, ylabel="probability")
        else:
            axes.plot(self.axes[first], self.density, label=label)
            axes.set(xlabel=first, ylabel="density")

    def __repr__(self) -> str:
        points = " × ".join(map(str, self._grid.shape))
        names = ", ".join(self.axes)
        return f"GridPosterior({names}: {points} points, log_evidence={self.log_evidence:.6g})"

    def _log_prior(self, prior: Any) -> Array:
        if prior is None:
            return np.zeros(self._grid.shape)
        if (log_density := method_of(prior, "logpdf", "log_density")) is not None:
            logs = self._grid.values_of(log_density, "prior", WHO)
            if (logs == np.inf).any():
                raise DataError(
                    f"{WHO}: prior={prior!r} has an infinite density at a point of the grid, but "
                    "densities on a grid must be finite. Move that point, for example from 0 to "
                    "1e-6."
                )
            return logs
        values = self._grid.values_of(prior, "prior", WHO)
        if len(self._grid.discrete) == len(self.axes):
            as_probabilities(values, "prior", WHO, whole=True)
        if (values < 0).any() or not 0 < values.sum() < np.inf:
            raise DataError(
                f"{WHO}: prior has minimum {values.min():g} and sum {values.sum():g}; it must be "
                "≥ 0 and finite, and positive somewhere on the grid."
            )
        with np.errstate(divide="ignore"):
            return np.log(values)

    def _each(self, of: Callable[[GridPosterior, Array], float]) -> Any:
        found = {}
        for name, values in self.axes.items():
            if values.dtype.kind not in "iufb":
                raise ParameterError(
                    f"{WHO}: the values of {name!r} are labels and have no mean or variance. Use "
                    "`mode` or `probabilities`."
                )
            marginal = self if len(self.axes) == 1 else self.marginal(name)
            found[name] = of(marginal, values.astype(np.float64))
        return found if len(found) > 1 else next(iter(found.values()))

    def _single(self, what: str) -> tuple[str, Array]:
        if len(self.axes) > 1:
            raise ParameterError(
                f"{WHO}.{what}: there are {len(self.axes)} parameters. Use marginal(name) first, "
                f"with one of {list(self.axes)}."
            )
        name, values = next(iter(self.axes.items()))
        if values.dtype.kind not in "iufb":
            raise ParameterError(f"{WHO}.{what}: the values of {name!r} are labels, not numbers.")
        return name, values

    def _made(self, grid: ParameterGrid, log_density: Array, log_evidence: float) -> GridPosterior:
        found = object.__new__(GridPosterior)
        found._grid, found._log_weights = grid, grid.log_weights
        found.log_density, found.log_evidence = log_density, log_evidence
        return found
