"""Classes with known priors and densities: the best decisions, their regions and their errors.

p_err = ∫ (1 − max_k p(k | x)) p(x) dx,   p(x) = Σ_k π_k p(x | k)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf
from typing import Any

import numpy as np

from thetahat.foundation.arguments import numbers
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.theory.decision.bayes_decision import bayes_decision
from thetahat.theory.decision.decision_errors import DecisionErrors
from thetahat.theory.decision.densities import as_density, place_and_width, quantiles
from thetahat.theory.decision.probabilities import as_classes, as_probabilities
from thetahat.theory.decision.quadrature import Integral, Line, integrate
from thetahat.theory.decision.regions import DecisionRegion, Rule, find_regions

WHO = "DecisionProblem"
MASS_TOLERANCE = 1e-6
"""Largest distance from 1 of the integral of a density over the bounds."""


class DecisionProblem:
    """Classes of one variable with known priors and densities.

    It has the Bayes rule and other rules, the errors of any rule by numeric integration, and the
    regions in which a rule decides for the same class. It shows what the best possible classifier
    reaches on a problem.

    Formula: p(k | x) = π_k p(x | k) / p(x) with p(x) = Σ_k π_k p(x | k); the Bayes error is
    ∫ (1 − max_k p(k | x)) p(x) dx. Cost: some thousand evaluations of each density.

    Parameters
    ----------
    priors : array-like of shape (C,)
        The class probabilities before x is seen (π); they must be ≥ 0 and sum to 1.
    densities : sequence of C callables or distributions
        The density p(x | k) of each class: a function of an array, or a distribution with a method
        ``pdf`` or ``density``, as in SciPy and in th.distributions. Each must integrate to 1 over
        the bounds.
    bounds : (float, float), default=(-inf, inf)
        The interval that contains all x. Give finite bounds if the densities are known to be 0
        outside.
    classes : array-like of shape (C,), optional
        The labels of the classes. By default 0, 1, ..., C − 1.

    Attributes
    ----------
    priors : array of shape (C,)
        The class probabilities before x is seen.
    classes : array of shape (C,)
        The labels of the classes.

    Examples
    --------
    >>> import thetahat as th
    >>> problem = th.theory.DecisionProblem(
    ...     [0.5, 0.5], [lambda x: 2 - 2 * x, lambda x: 2 * x], bounds=(0, 1))
    >>> round(problem.bayes_error(), 12)
    0.25
    >>> [(round(region.low, 6), round(region.high, 6), int(region.label))
    ...  for region in problem.regions()]
    [(0.0, 0.5, 0), (0.5, 1.0, 1)]
    """

    def __init__(
        self,
        priors: Any,
        densities: Sequence[Any],
        *,
        bounds: tuple[float, float] = (-inf, inf),
        classes: Any = None,
    ) -> None:
        self.priors = as_probabilities(priors, "priors", WHO)
        if self.priors.ndim != 1 or len(densities) != self.priors.size:
            raise ParameterError(
                f"{WHO}: there are {len(densities)} densities, but priors has shape "
                f"{self.priors.shape}. Give one prior and one density for each class."
            )
        self.classes = as_classes(classes, self.priors.size, WHO)
        self._densities = [as_density(each, k, WHO) for k, each in enumerate(densities)]
        ends = numbers(bounds, "bounds", WHO, finite=False)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise ParameterError(f"{WHO}: bounds={bounds!r} must be two numbers, low < high.")
        self._hints = np.concatenate([quantiles(each) for each in densities])
        self._line = Line(float(ends[0]), float(ends[1]), *place_and_width(self._hints))
        # A part of the range where one class takes over from another is refined as well.
        self._mesh = integrate(self._with_maximum, self._line, self._hints)
        self._require_unit_mass(self._mesh)

    def joint(self, x: Any) -> Array:
        """Compute π_k p(x | k) of every point and class. Cost: O(n·C).

        Parameters
        ----------
        x : array-like of shape (n,)
            Points within the bounds.

        Returns
        -------
        array of shape (n, C)
        """
        return np.moveaxis(self._joint(numbers(x, "x", WHO)), 0, -1)

    def posterior(self, x: Any) -> Array:
        """Compute the class probabilities p(k | x). Cost: O(n·C).

        Parameters
        ----------
        x : array-like of shape (n,)
            Points at which the density p(x) is positive.

        Returns
        -------
        array of shape (n, C)
            The probabilities; each row sums to 1.
        """
        joint = self.joint(x)
        evidence = joint.sum(axis=-1, keepdims=True)
        if not (evidence > 0).all():
            place = np.flatnonzero(np.ravel(evidence) <= 0)[0]
            raise DataError(
                f"{WHO}: p(x) is 0 at x = {np.ravel(x)[place]:g} in every class, so that the class "
                "probabilities are not defined there."
            )
        return joint / evidence

    def bayes_rule(
        self, *, costs: Any = None, reject_cost: float | None = None, reject_label: Any = "reject"
    ) -> Rule:
        """Make the rule with the smallest expected cost; by default with the smallest error.

        Parameters
        ----------
        costs : array-like of shape (C, C), optional
            ``costs[k, j]`` is the cost of deciding for class j if class k is true. By default every
            error costs 1.
        reject_cost : float, optional
            The cost of a rejection; at least 0. By default no decision is rejected.
        reject_label : label, default="reject"
            Value that is returned instead of a label where the decision is rejected.

        Returns
        -------
        callable
            A function that maps points to labels. Where p(x) is 0, it uses the priors.
        """
        options = {"costs": costs, "reject_cost": reject_cost, "reject_label": reject_label}
        return partial(self._decide, **options)

    def prior_rule(self) -> Rule:
        """Make the rule that ignores x: always the class with the largest prior.

        Its error is 1 − max_k π_k.

        Returns
        -------
        callable
            A function that maps points to labels.
        """
        label = self.classes[self.priors.argmax()]
        return lambda x: np.full(np.shape(x), label)

    def likelihood_rule(self) -> Rule:
        """Make the rule that ignores the priors: the class k with the largest p(x | k).

        Returns
        -------
        callable
            A function that maps points to labels; the first class where several are equal.
        """
        return lambda x: self.classes[self._likelihoods(x).argmax(axis=0)]

    def errors(self, rule: Rule | None = None) -> DecisionErrors:
        """Compute the probability of each pair of true class and decision. Cost: see the class.

        Parameters
        ----------
        rule : callable, optional
            A function that maps an array of points to labels. Labels that are not a class count as
            rejections. By default the Bayes rule.

        Returns
        -------
        DecisionErrors
        """
        regions = self.regions(rule)
        edges = np.array([region.low for region in regions[1:]])
        found = integrate(self._joint, self._line, np.concatenate([self._hints, edges]))
        owner = np.searchsorted(edges, found.panels)
        decisions = list(self.classes.tolist())
        for region in regions:
            if region.label not in decisions:
                decisions.append(region.label)
        masses = np.zeros((self.classes.size, len(decisions)))
        for place, region in enumerate(regions):
            inside = found.values[:, owner == place].sum(axis=1)
            masses[:, decisions.index(region.label)] += inside
        # The sum is known to be 1, which shows errors that the panels do not.
        bound = max(found.error, abs(float(masses.sum()) - 1.0))
        return DecisionErrors(self.classes, tuple(decisions), masses, bound)

    def error(self, rule: Rule | None = None) -> float:
        """Compute the probability that a rule decides wrongly. Cost: see the class.

        Parameters
        ----------
        rule : callable, optional
            A function that maps an array of points to labels. By default the Bayes rule.

        Returns
        -------
        float
        """
        return self.errors(rule).error

    def bayes_error(self) -> float:
        """Compute the error of the Bayes rule, the smallest that any rule has.

        Formula: ∫ (1 − max_k p(k | x)) p(x) dx. Cost: see the class.

        Returns
        -------
        float
        """
        return self.error()

    def regions(self, rule: Rule | None = None) -> tuple[DecisionRegion, ...]:
        """Find the intervals on which a rule decides for one label, from left to right.

        Changes of the label are sought between some thousand points, which are dense where the
        densities change, and located to the last digit. Changes where p(x) is 0 on both sides are
        not sought.

        Parameters
        ----------
        rule : callable, optional
            A function that maps an array of points to labels. By default the Bayes rule.

        Returns
        -------
        tuple of DecisionRegion
            The regions cover the bounds; neighbours have different labels.
        """
        points = self._mesh.points
        points = points[self._joint(points).sum(axis=0) > 0]
        chosen = self.bayes_rule() if rule is None else rule
        return find_regions(chosen, points, (self._line.low, self._line.high), WHO)

    @draws
    def plot(self, axes: Any = None, rule: Rule | None = None) -> None:
        """Draw π_k p(x | k) of every class, and colour the regions of a rule. Cost: O(points).

        Parameters
        ----------
        rule : callable, optional
            A function that maps an array of points to labels. By default the Bayes rule.
        """
        x = self._mesh.points
        joint = self._joint(x)
        seen = joint.sum(axis=0) > 1e-4 * joint.sum(axis=0).max()
        x, joint = x[seen], joint[:, seen]
        colors = {}
        for label, curve in zip(self.classes.tolist(), joint, strict=True):
            (line,) = axes.plot(x, curve, label=f"class {label}")
            colors[label] = line.get_color()
        for region in self.regions(rule):
            low, high = max(region.low, x[0]), min(region.high, x[-1])
            if low < high:
                axes.axvspan(low, high, color=colors.get(region.label, "0.6"), alpha=0.15, lw=0)
        axes.set(xlabel="x", ylabel="prior times density", xlim=(x[0], x[-1]), ylim=(0, None))
        axes.legend(frameon=False)

    def _likelihoods(self, x: Any) -> Array:
        points = np.asarray(x, dtype=np.float64)
        return np.stack([density(points) for density in self._densities])

    def _joint(self, x: Any) -> Array:
        found = self._likelihoods(x)
        return self.priors.reshape(-1, *[1] * (found.ndim - 1)) * found

    def _with_maximum(self, x: Array) -> Array:
        found = self._likelihoods(x)
        return np.concatenate([found, (self.priors[:, None] * found).max(axis=0, keepdims=True)])

    def _decide(self, x: Array, **options: Any) -> Array:
        joint = np.moveaxis(self._joint(x), 0, -1)
        evidence = joint.sum(axis=-1, keepdims=True)
        posterior = np.where(evidence > 0, joint / np.where(evidence > 0, evidence, 1), self.priors)
        return bayes_decision(posterior, classes=self.classes, **options).labels

    def _require_unit_mass(self, mesh: Integral) -> None:
        masses = mesh.values[:-1].sum(axis=1)
        wrong = np.abs(masses - 1.0) > MASS_TOLERANCE + mesh.error
        if wrong.any():
            k = int(wrong.argmax())
            raise DataError(
                f"{WHO}: the density of class {self.classes[k]} integrates to {masses[k]:.6g} from "
                f"{self._line.low:g} to {self._line.high:g}, but it must integrate to 1. Divide it "
                "by its integral, or give bounds that contain all of it and little else."
            )
