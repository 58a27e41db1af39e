# Written by `python -m tests.public_stub`; do not edit.

from thetahat.mathematics.optimizers.by_name import named as named
from thetahat.mathematics.optimizers.checks.convexity import Minima as Minima
from thetahat.mathematics.optimizers.checks.convexity import check_convexity as check_convexity
from thetahat.mathematics.optimizers.checks.convexity import check_jensen as check_jensen
from thetahat.mathematics.optimizers.checks.convexity import check_positive_curvature as check_positive_curvature
from thetahat.mathematics.optimizers.checks.convexity import find_minima as find_minima
from thetahat.mathematics.optimizers.checks.derivatives import Check as Check
from thetahat.mathematics.optimizers.checks.derivatives import check_gradient as check_gradient
from thetahat.mathematics.optimizers.checks.derivatives import check_hessian as check_hessian
from thetahat.mathematics.optimizers.checks.derivatives import check_jacobian as check_jacobian
from thetahat.mathematics.optimizers.checks.derivatives import check_taylor as check_taylor
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_gradient as numeric_gradient
from thetahat.mathematics.optimizers.checks.finite_differences import numeric_jacobian as numeric_jacobian
from thetahat.mathematics.optimizers.coordinate.alternating_minimisation import AlternatingMinimisation as AlternatingMinimisation
from thetahat.mathematics.optimizers.coordinate.alternating_minimisation import Coordinates as Coordinates
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import CoordinateDescent as CoordinateDescent
from thetahat.mathematics.optimizers.coordinate.coordinate_descent import SeparableQuadratic as SeparableQuadratic
from thetahat.mathematics.optimizers.coordinate.task_descent import TaskDescent as TaskDescent
from thetahat.mathematics.optimizers.coordinate.working_sets import WorkingSets as WorkingSets
from thetahat.mathematics.optimizers.dual.augmented_lagrangian import AugmentedLagrangian as AugmentedLagrangian
from thetahat.mathematics.optimizers.dual.class_dual_descent import ClassDualDescent as ClassDualDescent
from thetahat.mathematics.optimizers.dual.cutting_planes import CuttingPlanes as CuttingPlanes
from thetahat.mathematics.optimizers.dual.dual_coordinate_descent import DualCoordinateDescent as DualCoordinateDescent
from thetahat.mathematics.optimizers.loop import Method as Method
from thetahat.mathematics.optimizers.minimisation import minimise as minimise
from thetahat.mathematics.optimizers.programs.constrained import KKT as KKT
from thetahat.mathematics.optimizers.programs.constrained import kkt_violation as kkt_violation
from thetahat.mathematics.optimizers.programs.interior_point import InteriorPoint as InteriorPoint
from thetahat.mathematics.optimizers.programs.linear_program import Program as Program
from thetahat.mathematics.optimizers.programs.linear_program import linear_program as linear_program
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum as PiecewiseLinearSum
from thetahat.mathematics.optimizers.programs.quadratic_program import box_quadratic_program as box_quadratic_program
from thetahat.mathematics.optimizers.programs.quadratic_program import equality_quadratic_program as equality_quadratic_program
from thetahat.mathematics.optimizers.proximal.proximal_gradient import ProximalGradient as ProximalGradient
from thetahat.mathematics.optimizers.proximal.proximal_newton import ProximalNewton as ProximalNewton
from thetahat.mathematics.optimizers.proximal.subgradient_descent import SubgradientDescent as SubgradientDescent
from thetahat.mathematics.optimizers.residuals.direct_least_squares import DirectLeastSquares as DirectLeastSquares
from thetahat.mathematics.optimizers.residuals.gauss_newton import GaussNewton as GaussNewton
from thetahat.mathematics.optimizers.residuals.levenberg import Levenberg as Levenberg
from thetahat.mathematics.optimizers.residuals.levenberg_marquardt import LevenbergMarquardt as LevenbergMarquardt
from thetahat.mathematics.optimizers.residuals.trust_region import TrustRegion as TrustRegion
from thetahat.mathematics.optimizers.smooth.gradient_descent import GradientDescent as GradientDescent
from thetahat.mathematics.optimizers.smooth.irls import IRLS as IRLS
from thetahat.mathematics.optimizers.smooth.lbfgs import LBFGS as LBFGS
from thetahat.mathematics.optimizers.smooth.momentum import Momentum as Momentum
from thetahat.mathematics.optimizers.smooth.nesterov import Nesterov as Nesterov
from thetahat.mathematics.optimizers.smooth.newton import Newton as Newton
from thetahat.mathematics.optimizers.smooth.newton_cg import NewtonCG as NewtonCG
from thetahat.mathematics.optimizers.smooth.sketched_newton import SketchedNewton as SketchedNewton
from thetahat.mathematics.optimizers.steps.step_rules import AdaGrad as AdaGrad
from thetahat.mathematics.optimizers.steps.step_rules import Adam as Adam
from thetahat.mathematics.optimizers.steps.step_rules import Constant as Constant
from thetahat.mathematics.optimizers.steps.step_rules import HeavyBall as HeavyBall
from thetahat.mathematics.optimizers.steps.step_rules import InverseTime as InverseTime
from thetahat.mathematics.optimizers.steps.step_rules import LookAhead as LookAhead
from thetahat.mathematics.optimizers.steps.step_rules import StepRule as StepRule
from thetahat.mathematics.optimizers.stochastic.stochastic_gradient import StochasticGradient as StochasticGradient

__all__ = [
    "AdaGrad",
    "Adam",
    "AlternatingMinimisation",
    "AugmentedLagrangian",
    "Check",
    "ClassDualDescent",
    "Constant",
    "CoordinateDescent",
    "Coordinates",
    "CuttingPlanes",
    "DirectLeastSquares",
    "DualCoordinateDescent",
    "GaussNewton",
    "GradientDescent",
    "HeavyBall",
    "IRLS",
    "InteriorPoint",
    "InverseTime",
    "KKT",
    "LBFGS",
    "Levenberg",
    "LevenbergMarquardt",
    "LookAhead",
    "Method",
    "Minima",
    "Momentum",
    "Nesterov",
    "Newton",
    "NewtonCG",
    "PiecewiseLinearSum",
    "Program",
    "ProximalGradient",
    "ProximalNewton",
    "SeparableQuadratic",
    "SketchedNewton",
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
