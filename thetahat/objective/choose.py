"""``solver="auto"``: the method for a loss and a penalty, with a one-line reason.

The choice is a pure function of the parts and the sizes:

===================================  =============================================================
loss and penalty                     method
===================================  =============================================================
squared, θ² or none, maybe θ ≥ 0     `DirectLeastSquares`
squared, L0 on at most 40 columns    `DirectLeastSquares`: exact search over the subsets
squared, |θ| and θ², maybe θ ≥ 0     `WorkingSets` of columns, or on their Gram matrix
squared, |θ| and θ² in a box         `CoordinateDescent` on the Gram matrix
softmax, θ², not very few rows       `LBFGS`, in the metric of the columns, if these are few
curved, θ², sparse or wide rows      `NewtonCG`, for one output
both smooth, many rows in memory     `SketchedNewton`
both smooth, small Hessian           `Newton`; `IRLS` where the loss is not convex but has weights
both smooth                          `LBFGS`
curved, |θ| and θ² in a box          `ProximalNewton`
smooth, proximable                   `ProximalGradient`
hinge or ε-insensitive, L2           `AugmentedLagrangian`; `DualCoordinateDescent` for many columns
                                     and for sparse rows
quantile, L2, many columns           the same
piecewise linear, |θ| and θ²         `InteriorPoint`: linear programming, with a duality gap
with kinks and weights, smooth       `IRLS`
with kinks, smooth or proximable     `SubgradientDescent`
===================================  =============================================================

All of these work for a linear predictor. Methods that need a dual or single coordinates do not work
for one that is linear in its parameters only; for any other predictor the choice is `LBFGS`,
`ProximalGradient` or `SubgradientDescent`, which need gradients alone.
"""

from __future__ import annotations

from typing import Any

from thetahat.data.in_memory import InMemory
from thetahat.foundation.errors import CapabilityError
from thetahat.mathematics.losses.base import (
    Curved,
    Loss,
    PiecewiseLinear,
    Reweightable,
    Smooth,
    Subdifferentiable,
)
from thetahat.mathematics.losses.box_dual import BoxDual, has_support_vectors
from thetahat.mathematics.optimizers.by_name import named
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import CoordinateDescent
from thetahat.mathematics.optimizers.coordinate.working_sets import WorkingSets
from thetahat.mathematics.optimizers.dual.augmented_lagrangian import AugmentedLagrangian
from thetahat.mathematics.optimizers.dual.class_dual_descent import ClassDualDescent
from thetahat.mathematics.optimizers.dual.dual_coordinate_descent import DualCoordinateDescent
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint
from thetahat.mathematics.optimizers.proximal.proximal_gradient import ProximalGradient
from thetahat.mathematics.optimizers.proximal.proximal_newton import ProximalNewton
from thetahat.mathematics.optimizers.proximal.subgradient_descent import SubgradientDescent
from thetahat.mathematics.optimizers.residuals.direct_least_squares import DirectLeastSquares
from thetahat.mathematics.optimizers.smooth.irls import IRLS
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.mathematics.optimizers.smooth.newton_cg import NewtonCG
from thetahat.mathematics.optimizers.smooth.sketched_newton import SketchedNewton
from thetahat.mathematics.penalties.base import Penalty, Proximable, SmoothPenalty
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.mathematics.penalties.l0 import L0
from thetahat.mathematics.penalties.norms import L1, L2, ElasticNet, NoPenalty
from thetahat.objective.forms.direct_form import ridge_terms
from thetahat.objective.forms.output_metric import has_output_metric
from thetahat.objective.least_squares.subsets import MOST_PARAMETERS
from thetahat.objective.predictor import (
    LinearInParameters,
    LinearPredictor,
    Predictor,
    Restrictable,
)
from thetahat.objective.requirements import name, terms_with_a_dual
from thetahat.objective.row_losses import FEW

SMALL_HESSIAN = {"memory": 500, "stream": 2000}
"""Parameters up to which d × d systems are formed; more when each pass reads a file again."""
LARGEST_DUAL_HESSIAN = 1000
"""Parameters up to which the augmented Lagrangian forms d × d systems, from few rows each."""
LARGEST_JOINT = 1000
"""Parameters of several outputs up to which coordinate descent uses their joint Hessian."""
LARGEST_SKETCH = 2000
"""Columns up to which the Hessian of a sample of the rows is formed."""
MANY_PRODUCTS = 2e8
"""n·d² from which the Hessian of all rows costs more than a few gradients."""
SMALL_PROBLEM = 30_000
"""Rows times parameters of several outputs up to which their joint Hessian is formed."""
LEAST_PENALTY = 0.01
"""λ·n from which gradients in the metric of the columns need fewer than about 100 steps."""
LARGEST_GRAM = 5000
"""Columns up to which the Gram matrix is formed for coordinate descent."""
LARGEST_PROGRAM = 2000
"""Parameters up to which a piecewise linear loss is solved as a linear program."""


def choose_solver(
    loss: Loss,
    penalty: Penalty,
    n_rows: int | None,
    n_parameters: int,
    source_kind: str = "memory",
    n_outputs: int = 0,
    predictor: type[Predictor] = LinearPredictor,
) -> tuple[Method, str]:
    """The method for this loss, penalty and size, and a one-line reason.

    `n_rows` is None if it is not known before the rows are read, `source_kind` is "memory" or, if
    each pass reads a file again, "stream", and `n_outputs` is the number of columns of the raw
    prediction, 0 if it is 1-D.

    Examples
    --------
    >>> import thetahat as th
    >>> from thetahat.objective.choose import choose_solver
    >>> choose_solver(th.losses.Logistic(), th.penalties.L2(), 1000, 11)
    (Newton(), 'smooth, with a 11 × 11 Hessian: few steps, each exact to second order')
    """
    small = n_parameters <= SMALL_HESSIAN[source_kind] and issubclass(predictor, LinearInParameters)
    one_linear_output = issubclass(predictor, LinearPredictor) and not n_outputs
    if loss.quadratic and predictor is LinearPredictor and not n_outputs:
        chosen = _for_squared_loss(penalty, n_parameters, source_kind)
        if chosen is not None:
            return chosen
    many = n_parameters > SMALL_HESSIAN["memory"]
    suits_dual = has_support_vectors(loss) or (many and not isinstance(loss, Smooth))
    if has_box_dual(loss, penalty) and suits_dual and one_linear_output:
        if n_parameters <= LARGEST_DUAL_HESSIAN:
            return AugmentedLagrangian(), (
                f"{name(loss)} has kinks: augmented Lagrangian method on the dual"
            )
        if source_kind == "memory":
            return DualCoordinateDescent(), (
                f"{name(loss)} with L2 and many columns: coordinate descent on the dual"
            )
    if (
        isinstance(loss, PiecewiseLinear)
        and isinstance(penalty, NoPenalty | L2 | L1 | ElasticNet)
        and n_parameters <= LARGEST_PROGRAM
        and one_linear_output
    ):
        return InteriorPoint(), f"{name(loss)} is piecewise linear: linear programming"
    if isinstance(penalty, SmoothPenalty):
        has_hessian = issubclass(predictor, LinearInParameters)
        in_memory = n_rows if source_kind == "memory" and has_hessian else None
        return _for_smooth_penalty(loss, n_parameters, small, n_outputs, in_memory)
    if not isinstance(penalty, Proximable):
        raise CapabilityError(
            f"{name(penalty)} has neither a gradient nor a proximal step, so no solver can use "
            "it. Derive it from SmoothPenalty or Proximable."
        )
    if issubclass(predictor, Restrictable) and _is_proximal_newton(
        loss, penalty, n_parameters, n_outputs
    ):
        return ProximalNewton(), (
            f"curved loss with {name(penalty)}: coordinate descent on quadratic approximations "
            "over a working set"
        )
    if isinstance(loss, Smooth):
        return ProximalGradient(), f"smooth loss, and {name(penalty)} has a proximal step"
    return _by_subgradients(loss, penalty)


def _for_squared_loss(
    penalty: Penalty, n_parameters: int, source_kind: str
) -> tuple[Method, str] | None:
    """The method for a quadratic problem; None if the general methods apply."""
    if isinstance(penalty, L0):
        if n_parameters > MOST_PARAMETERS:
            return None
        return DirectLeastSquares(), "squared loss with L0: exact search over the subsets"
    ridge, fits = ridge_terms(penalty, n_parameters), n_parameters <= LARGEST_GRAM
    if ridge is not None and (fits or not ridge.positive):
        return DirectLeastSquares(), f"squared loss with {name(penalty)}: solved directly"
    if terms_with_a_dual(penalty, n_parameters) is None and (fits or source_kind == "memory"):
        return WorkingSets(), (
            f"squared loss with {name(penalty)}: coordinate descent on a working set, to a "
            "duality gap"
        )
    if isinstance(penalty, Coordinatewise) and fits:
        return CoordinateDescent(), (
            f"squared loss with {name(penalty)}: one pass for the Gram matrix, then compiled sweeps"
        )
    return None


def has_box_dual(loss: Loss, penalty: Penalty) -> bool:
    """Whether the dual determines the coefficients: dual variables in a box, and λ > 0."""
    return isinstance(loss, BoxDual) and isinstance(penalty, L2) and penalty.alpha > 0


def _is_proximal_newton(loss: Loss, penalty: Penalty, n_parameters: int, n_outputs: int) -> bool:
    """Whether a local quadratic approximation of the loss can be formed on the working set."""
    if not (isinstance(loss, Curved) and loss.convex and isinstance(penalty, Coordinatewise)):
        return False
    if loss.quadratic or n_outputs:
        return n_parameters <= LARGEST_JOINT and not loss.quadratic
    # Without |θ| no coordinate stays at 0, so the working set contains all of them.
    is_sparse = isinstance(penalty, L1) or (
        isinstance(penalty, ElasticNet) and penalty.l1_ratio > 0
    )
    return is_sparse or n_parameters <= SMALL_HESSIAN["stream"]


def _for_smooth_penalty(
    loss: Loss, n_parameters: int, small: bool, n_outputs: int, n_rows: int | None
) -> tuple[Method, str]:
    if isinstance(loss, Reweightable) and not n_outputs and small:
        if not isinstance(loss, Smooth):
            return IRLS(), f"{name(loss)} has kinks: repeated weighted least squares"
        if not loss.convex:
            return IRLS(), f"{name(loss)} is not convex: reweighting never raises the objective"
    if isinstance(loss, Curved) and loss.convex and n_rows is not None:
        columns = n_parameters // max(1, n_outputs)
        many = n_rows * columns * n_parameters > MANY_PRODUCTS
        if columns <= LARGEST_SKETCH and n_rows > 10 * columns and many:
            return SketchedNewton(), (
                f"smooth, with many rows for {n_parameters} parameters: gradients of all rows, "
                "Hessian of a sample of rows"
            )
    if isinstance(loss, Curved) and small:
        size = f"{n_parameters} × {n_parameters}"
        return Newton(), f"smooth, with a {size} Hessian: few steps, each exact to second order"
    if isinstance(loss, Smooth):
        return LBFGS(), f"smooth, with {n_parameters} parameters: gradients only"
    return _by_subgradients(loss, None)


def _by_subgradients(loss: Loss, penalty: Penalty | None) -> tuple[Method, str]:
    if not isinstance(loss, Subdifferentiable):
        raise CapabilityError(
            f"{name(loss)} has no gradient, so it cannot be minimised. Fit with a surrogate "
            "such as Logistic or Hinge, and evaluate with this one."
        )
    with_prox = f" and {name(penalty)}'s proximal step" if penalty is not None else ""
    return SubgradientDescent(), f"{name(loss)} has kinks: subgradients{with_prox}, low accuracy"


def _by_class_duals(risk: Any) -> tuple[Method, str] | None:
    """The dual method for Crammer and Singer's loss, if it applies."""
    if not hasattr(risk, "class_dual_rows"):
        return None
    return ClassDualDescent(), "CrammerSinger with L2: all multipliers of a row at a time"


def _by_outputs(risk: Any) -> tuple[Method, str] | None:
    """Gradients scaled by the columns' products for several outputs, whose Hessian is large."""
    loss = risk.loss
    if not (isinstance(loss, Curved) and loss.shift_invariant) or has_output_metric(risk):
        return None
    n = risk.source.n_rows
    if n * risk.predictor.n_parameters < SMALL_PROBLEM or risk.penalty.alpha * n < LEAST_PENALTY:
        return None
    return LBFGS(), "smooth, with several outputs: gradients, scaled by the columns' products"


def _by_products(risk: Any) -> tuple[Method, str] | None:
    """Newton's method without a Hessian for sparse or wide rows, if it applies."""
    if risk.loss.quadratic or not hasattr(risk, "compiled_newton_cg"):
        return None
    return (
        NewtonCG(),
        "smooth, with sparse or wide rows: products with the Hessian, which is never formed",
    )


def _by_sparse_rows(risk: Any) -> tuple[Method, str] | None:
    """The dual method for losses with kinks on sparse rows, whose products would fill a matrix."""
    if not has_support_vectors(risk.loss) or not hasattr(risk, "dual_rows"):
        return None
    if not risk.source.is_sparse or risk.predictor.n_parameters <= FEW:
        return None
    return DualCoordinateDescent(), (
        f"{name(risk.loss)} with L2 and sparse rows: one multiplier per row at a time"
    )


def method_for(risk: Any, solver: str | Method = "auto") -> tuple[Method, str]:
    """The method that `solver` names, or for "auto" the one chosen for this risk; with a reason."""
    if solver != "auto":
        return named(solver), "requested"
    chosen = (
        _by_class_duals(risk) or _by_outputs(risk) or _by_products(risk) or _by_sparse_rows(risk)
    )
    if chosen is not None:
        return chosen
    in_memory = isinstance(risk.source, InMemory)
    return choose_solver(
        risk.loss,
        risk.penalty,
        risk.source.n_rows if in_memory else None,
        risk.predictor.n_parameters,
        "memory" if in_memory else "stream",
        risk.predictor.n_outputs,
        type(risk.predictor),
    )
