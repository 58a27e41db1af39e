"""Ways to minimise: one loop, one solution, and a method per file.

Each method is a value that says what it needs of a problem and how it steps; `minimise` runs it,
and `named` finds it by its name. The checks tell whether derivatives and convexity are as claimed.
"""

from thetahat.mathematics.optimizers.alternating_minimisation import (
    AlternatingMinimisation,
    Coordinates,
)
from thetahat.mathematics.optimizers.augmented_lagrangian import AugmentedLagrangian
from thetahat.mathematics.optimizers.checks import (
    Check,
    check_gradient,
    check_hessian,
    check_jacobian,
    check_taylor,
)
from thetahat.mathematics.optimizers.class_dual_descent import ClassDualDescent
from thetahat.mathematics.optimizers.constrained import KKT, kkt_violation
from thetahat.mathematics.optimizers.convexity import (
    Minima,
    check_convexity,
    check_jensen,
    check_positive_curvature,
    find_minima,
)
from thetahat.mathematics.optimizers.coordinate_descent import (
    CoordinateDescent,
    SeparableQuadratic,
)
from thetahat.mathematics.optimizers.dual_coordinate_descent import DualCoordinateDescent
from thetahat.mathematics.optimizers.finite_differences import numeric_gradient, numeric_jacobian
from thetahat.mathematics.optimizers.gauss_newton import GaussNewton
from thetahat.mathematics.optimizers.gradient_descent import GradientDescent
from thetahat.mathematics.optimizers.interior_point import InteriorPoint
from thetahat.mathematics.optimizers.irls import IRLS
from thetahat.mathematics.optimizers.lbfgs import LBFGS
from thetahat.mathematics.optimizers.levenberg import Levenberg
from thetahat.mathematics.optimizers.levenberg_marquardt import LevenbergMarquardt
from thetahat.mathematics.optimizers.linear_program import Program, linear_program
from thetahat.mathematics.optimizers.loop import Method, minimise
from thetahat.mathematics.optimizers.momentum import Momentum
from thetahat.mathematics.optimizers.named import named
from thetahat.mathematics.optimizers.nesterov import Nesterov
from thetahat.mathematics.optimizers.newton import Newton
from thetahat.mathematics.optimizers.piecewise_linear import PiecewiseLinearSum
from thetahat.mathematics.optimizers.proximal_gradient import ProximalGradient
from thetahat.mathematics.optimizers.proximal_newton import ProximalNewton
from thetahat.mathematics.optimizers.quadratic_program import (
    box_quadratic_program,
    equality_quadratic_program,
)
from thetahat.mathematics.optimizers.sketched_newton import SketchedNewton
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.optimizers.step_rules import (
    AdaGrad,
    Adam,
    Constant,
    HeavyBall,
    InverseTime,
    LookAhead,
    StepRule,
)
from thetahat.mathematics.optimizers.stochastic_gradient import StochasticGradient
from thetahat.mathematics.optimizers.subgradient_descent import SubgradientDescent
from thetahat.mathematics.optimizers.task_descent import TaskDescent
from thetahat.mathematics.optimizers.trust_region import TrustRegion
from thetahat.mathematics.optimizers.working_sets import WorkingSets

__all__ = [
    "IRLS",
    "KKT",
    "LBFGS",
    "AdaGrad",
    "Adam",
    "AlternatingMinimisation",
    "AugmentedLagrangian",
    "Check",
    "ClassDualDescent",
    "Constant",
    "CoordinateDescent",
    "Coordinates",
    "DualCoordinateDescent",
    "GaussNewton",
    "GradientDescent",
    "HeavyBall",
    "InteriorPoint",
    "InverseTime",
    "Levenberg",
    "LevenbergMarquardt",
    "LookAhead",
    "Method",
    "Minima",
    "Momentum",
    "Nesterov",
    "Newton",
    "Outcome",
    "PiecewiseLinearSum",
    "Program",
    "ProximalGradient",
    "ProximalNewton",
    "SeparableQuadratic",
    "SketchedNewton",
    "Solution",
    "StepRule",
    "StochasticGradient",
    "SubgradientDescent",
    "TaskDescent",
    "TrustRegion",
    "WorkingSets",
    "box_quadratic_program",
    "check_convexity",
    "check_gradient",
    "check_hessian",
    "check_jacobian",
    "check_jensen",
    "check_positive_curvature",
    "check_taylor",
    "equality_quadratic_program",
    "find_minima",
    "kkt_violation",
    "linear_program",
    "minimise",
    "named",
    "numeric_gradient",
    "numeric_jacobian",
]
