"""Optimisation methods: one loop, one type of solution, and one file per method.

Each method is a frozen value that declares what it needs from a problem and computes one step.
`minimise` runs a method, and `named` returns a method by its name. The checks test whether
derivatives and convexity are as claimed. Names are loaded on first use, so that a fit loads only
the method that it needs.
"""

from thetahat._lazy import lazy as _lazy

_BY_FILE = {
    "by_name": ("named",),
    "checks.convexity": (
        "Minima",
        "check_convexity",
        "check_jensen",
        "check_positive_curvature",
        "find_minima",
    ),
    "checks.derivatives": (
        "Check",
        "check_gradient",
        "check_hessian",
        "check_jacobian",
        "check_taylor",
    ),
    "checks.finite_differences": ("numeric_gradient", "numeric_jacobian"),
    "coordinate.alternating_minimisation": ("AlternatingMinimisation", "Coordinates"),
    "coordinate.coordinate_descent": ("CoordinateDescent", "SeparableQuadratic"),
    "coordinate.task_descent": ("TaskDescent",),
    "coordinate.working_sets": ("WorkingSets",),
    "dual.augmented_lagrangian": ("AugmentedLagrangian",),
    "dual.class_dual_descent": ("ClassDualDescent",),
    "dual.cutting_planes": ("CuttingPlanes",),
    "dual.dual_coordinate_descent": ("DualCoordinateDescent",),
    "loop": ("Method",),
    "minimisation": ("minimise",),
    "programs.constrained": ("KKT", "kkt_violation"),
    "programs.interior_point": ("InteriorPoint",),
    "programs.linear_program": ("Program", "linear_program"),
    "programs.piecewise_linear": ("PiecewiseLinearSum",),
    "programs.quadratic_program": ("box_quadratic_program", "equality_quadratic_program"),
    "proximal.proximal_gradient": ("ProximalGradient",),
    "proximal.proximal_newton": ("ProximalNewton",),
    "proximal.subgradient_descent": ("SubgradientDescent",),
    "residuals.direct_least_squares": ("DirectLeastSquares",),
    "residuals.gauss_newton": ("GaussNewton",),
    "residuals.levenberg": ("Levenberg",),
    "residuals.levenberg_marquardt": ("LevenbergMarquardt",),
    "residuals.trust_region": ("TrustRegion",),
    "smooth.gradient_descent": ("GradientDescent",),
    "smooth.irls": ("IRLS",),
    "smooth.lbfgs": ("LBFGS",),
    "smooth.momentum": ("Momentum",),
    "smooth.nesterov": ("Nesterov",),
    "smooth.newton": ("Newton",),
    "smooth.newton_cg": ("NewtonCG",),
    "smooth.sketched_newton": ("SketchedNewton",),
    "steps.step_rules": (
        "AdaGrad",
        "Adam",
        "Constant",
        "HeavyBall",
        "InverseTime",
        "LookAhead",
        "StepRule",
    ),
    "stochastic.stochastic_gradient": ("StochasticGradient",),
}
_NAMES = {name: f"{__name__}.{file}" for file, names in _BY_FILE.items() for name in names}

__all__ = sorted(_NAMES)
__getattr__, __dir__ = _lazy(__name__, _NAMES)
