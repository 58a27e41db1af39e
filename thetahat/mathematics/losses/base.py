"""Interface of losses: formulas at the raw prediction z, valid targets, link and best constant.

A loss does not depend on X or θ. z is Xθ for a linear model, Kα for a kernel model, the last layer
of a network, or the running sum of boosted trees. The type of a loss shows what it provides:

======================  =======================================================================
`Loss`                  ``value``
`Subdifferentiable`     also ``gradient``: an element of the subdifferential everywhere
`Smooth`                the gradient is continuous
`Curved`                also ``curvature``: ∂²ℓ/∂z² (where it jumps, one of the one-sided values)
`Reweightable`          also ``irls_weight``: ψ(r)/r, so that ½·weight·r² touches ℓ from above
`PiecewiseLinear`       also ``bends``: linear pieces, so that linear programming minimises it
`UnboundedLikelihood`   also ``margins``: has no minimum where they can grow, which is reported
`Deviance`              also ``saturated``: the loss at the best z, so that shares are explained
======================  =======================================================================

A loss declares what else it provides by attributes and methods of its class. By default it provides
none of these:

======================  =======================================================================
``quadratic``           it is (z − y)²/2: the methods of least squares minimise it
``class_dual``          its dual has one variable per row and class, as Crammer and Singer's
``family``              a `Family`: its likelihood gives standard errors and intervals
``compiled_as``         a `Compiled`: the number of the loss in the compiled passes
``softmax_pass``        it is −log softmax(z)_y, which the compiled pass of several classes sums
``steady_curvature``    Newton steps give leaf values in boosting
``shift_invariant``     adding the same number to the scores of all classes changes nothing
``linear_in_parts``     compiled Newton methods leave this loss to other methods
``best_shift``          a `BestShift`: a compiled statistic gives leaf values in boosting
``half_logit``          twice the score is a logit
``linear_probability``  (1 + z)/2 is read as a probability
``smallest_at_zero``    z = 0 is best for every row, so that kernel machines make steps instead
``deviance_factor``     2 where scikit-learn reports the mean loss as a deviance
``one_output()``        the loss of each output, where it is a sum over several
``multiclass()``        the loss that takes its place for more than two classes
``with_signs()``        the same loss for labels −1 and +1
======================  =======================================================================

``family``, ``compiled_as`` and ``softmax_pass`` count only in the class that declares them, because
a derived class may have different formulas.

All arrays belong to one array-API namespace; results have the namespace, device and dtype of z.
Every formula is elementwise, so it costs O(size of z) in time and memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import Enum
from typing import ClassVar, NamedTuple

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.losses.alignment import aligned
from thetahat.mathematics.losses.families import Family
from thetahat.mathematics.losses.links import Link, inverse_link
from thetahat.mathematics.parts import Part


class Targets(Enum):
    """The values that y may have; error messages quote the text."""

    REAL = "real numbers"
    NONNEGATIVE = "numbers ≥ 0"
    POSITIVE = "numbers > 0"
    BINARY = "0 or 1"
    SIGNS = "−1 or +1"
    CLASSES = "class indices 0, 1, …, C−1"


class Compiled(NamedTuple):
    """The identity of a loss in the compiled passes."""

    number: int
    """Its number in `Loss` of native/losses/losses.hpp."""
    parameter: str = ""
    """The name of its parameter δ or ε, where it has one."""


class BestShift(NamedTuple):
    """argmin over c of Σ wᵢ ℓ(yᵢ, zᵢ + c) as a statistic of the residuals yᵢ − zᵢ."""

    statistic: str
    """"quantile", or "huber" for the constant of least Huber loss."""
    parameter: float
    """The level of the quantile, or Huber's δ."""


class Loss(Part, ABC):
    """Base class of losses ℓ(y, z), one number per row; concrete losses are frozen dataclasses."""

    targets: ClassVar[Targets] = Targets.REAL
    link: ClassVar[Link] = Link.IDENTITY
    convex: ClassVar[bool] = True
    columns: ClassVar[str] = "one"
    """"one" raw prediction per row, or one "per class"."""

    quadratic: ClassVar[bool] = False
    """Whether ℓ(y, z) = (z − y)²/2, so that the methods of least squares minimise it."""
    class_dual: ClassVar[bool] = False
    """Whether ℓ(y, z) = max_{c≠y} [1 − (z_y − z_c)]₊, whose dual has a variable per class."""
    family: ClassVar[Family | None] = None
    """The distribution whose negative log-likelihood this is, up to constants of y."""
    compiled_as: ClassVar[Compiled | None] = None
    """The number of these formulas in the compiled passes."""
    softmax_pass: ClassVar[bool] = False
    """Whether ℓ(y, z) = −log softmax(z)_y, which the compiled pass of several classes sums."""
    shift_invariant: ClassVar[bool] = False
    """Whether adding the same number to the scores of all classes does not change the loss."""
    steady_curvature: ClassVar[bool] = False
    """Whether the curvature is positive and changes slowly, so that one Newton step comes near
    the minimum."""
    linear_in_parts: ClassVar[bool] = False
    """Whether the loss has a slope without curvature somewhere, as in the tails of Huber's. There a
    local parabola does not predict the minimum."""
    half_logit: ClassVar[bool] = False
    """Whether the best score is half the log odds of the second class."""
    linear_probability: ClassVar[bool] = False
    """Whether (1 + z)/2, clipped to [0, 1], is the probability of the second class."""
    smallest_at_zero: ClassVar[bool] = False
    """Whether z = 0 has the least loss for every y. The minimum over θ then says nothing, and
    kernel machines make the steps of the perceptron until one pass makes no mistake."""
    deviance_factor: ClassVar[float] = 1.0
    """The factor of the mean loss where scikit-learn reports a deviance."""

    @abstractmethod
    def value(self, y: Array, z: Array) -> Array:
        """ℓ(y, z) for each row, shape (n,)."""

    @abstractmethod
    def best_constant(self, y: Array, weight: Array | None = None) -> Array:
        """The constant c that minimises Σ wᵢ ℓ(yᵢ, c): a scalar, or one number per class.

        Losses of class scores also take ``n_classes``, because y may lack the last classes.
        """

    def mean(self, z: Array) -> Array:
        """The mean E[y | x] = link⁻¹(z): identity, probability, rate or class probabilities."""
        return inverse_link(self.link, z)

    @property
    def best_shift(self) -> BestShift | None:
        """How the best constant added to given scores is computed from residuals."""
        return None

    def one_output(self) -> Loss:
        """The loss of one output; this loss unless it is a sum over several."""
        return self

    def multiclass(self) -> Loss | None:
        """The loss of class scores that takes its place for more than two classes."""
        return None

    def with_signs(self) -> Loss:
        """The same loss for labels −1 and +1."""
        return self

    def n_scores(self, n_classes: int) -> int:
        """The number of columns of z for this number of classes; 0 if z is 1-D."""
        return n_classes if self.columns == "per class" else 0

    def all_scores(self, z: Array) -> Array:
        """z with a column for every class."""
        return z

    def free_scores(self, z: Array) -> Array:
        """z with the columns that this loss takes, from scores of every class."""
        return z

    def kinks(self, y: Array) -> tuple[Array, ...]:
        """The values of z at which the gradient or the curvature jumps.

        Empty for losses of class scores, whose kinks are surfaces and not points.
        """
        return ()


class Subdifferentiable(Loss):
    """A loss with a subgradient everywhere."""

    @abstractmethod
    def gradient(self, y: Array, z: Array) -> Array:
        """∂ℓ/∂z, with the shape of z; at a kink, an element of the subdifferential."""

    def value_and_gradient(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Value and gradient together; a loss overrides it when the two share computations."""
        return self.value(y, z), self.gradient(y, z)


class Smooth(Subdifferentiable):
    """A loss whose gradient is continuous."""


class Curved(Smooth):
    """A smooth loss with a second derivative (almost everywhere)."""

    @abstractmethod
    def curvature(self, y: Array, z: Array) -> Array:
        """∂²ℓ/∂z², with the shape of z; for class scores, the diagonal of each row's Hessian."""

    def gradient_and_curvature(self, y: Array, z: Array) -> tuple[Array, Array]:
        """Gradient and curvature together; a loss overrides it when they share computations."""
        return self.gradient(y, z), self.curvature(y, z)

    def curvature_product(self, y: Array, z: Array, direction: Array) -> Array:
        """The Hessian in z of each row times the direction of that row."""
        return self.curvature(y, z) * direction

    def curvature_columns(self, y: Array, z: Array) -> Iterator[Array]:
        """The columns of each row's Hessian in z, one after another, each with the shape of z."""
        for column in range(z.shape[1]):
            direction = np.zeros_like(z)
            direction[:, column] = 1.0
            yield self.curvature_product(y, z, direction)


class Deviance(Curved):
    """Half the deviance of a distribution, up to a term of y."""

    @abstractmethod
    def saturated(self, y: Array) -> Array:
        """The loss of each row at its best z, which is the term that the deviance lacks."""


class Reweightable(Subdifferentiable):
    """A residual loss ρ(z − y) that iteratively reweighted least squares can minimise."""

    @abstractmethod
    def irls_weight(self, y: Array, z: Array) -> Array:
        """ψ(r)/r with r = z − y and ψ = ρ′, and its limit at r = 0."""


class UnboundedLikelihood(Loss):
    """A negative log-likelihood that has no minimum where rows are separated.

    It decreases without end along a direction that lowers no margin and raises some.
    """

    def margins(self, y: Array, z: Array) -> Array:
        """(n, m) margins; the loss of a row tends to its infimum as they grow.

        By default z for the second class and −z for the first.
        """
        xp, y, z = aligned(y, z)
        return xp.where(y > 0, z, -z)[:, None]


class Bend(NamedTuple):
    """max(below·(z − kink), above·(z − kink)), with slopes below ≤ 0 ≤ above; 0 at the kink."""

    kink: Array
    below: float | Array
    above: float | Array


class PiecewiseLinear(Subdifferentiable):
    """A convex piecewise linear loss: ℓ(y, z) is a sum of bends."""

    @abstractmethod
    def bends(self, y: Array) -> tuple[Bend, ...]:
        """The terms whose sum is ℓ(y, z), each with one kink per row.

        Slopes are numbers, or arrays with one entry per row.
        """
