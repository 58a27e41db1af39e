"""Ways to minimise: one loop, one solution, and a method per file.

Each method is a value that says what it needs of a problem and how it steps; `minimise` runs it,
and `named` finds it by its name. The checks tell whether derivatives and convexity are as claimed.
Names load on first use: a fit that needs one method does not wait for the others.
"""

from thetahat._lazy import lazy as _lazy

_BY_FILE = {
    "alternating_minimisation": (
        "AlternatingMinimisation",
        "Coordinates",
    ),
    "augmented_lagrangian": ("AugmentedLagrangian",),
    "checks": (
        "Check",
        "check_gradient",
        "check_hessian",
        "check_jacobian",
        "check_taylor",
    ),
    "class_dual_descent": ("ClassDualDescent",),
    "constrained": (
        "KKT",
        "kkt_violation",
    ),
    "convexity": (
        "Minima",
        "check_convexity",
        "check_jensen",
        "check_positive_curvature",
        "find_minima",
    ),
    "coordinate_descent": (
        "CoordinateDescent",
        "SeparableQuadratic",
    ),
    "dual_coordinate_descent": ("DualCoordinateDescent",),
    "finite_differences": (
        "numeric_gradient",
        "numeric_jacobian",
    ),
    "gauss_newton": ("GaussNewton",),
    "gradient_descent": ("GradientDescent",),
    "interior_point": ("InteriorPoint",),
    "irls": ("IRLS",),
    "lbfgs": ("LBFGS",),
    "linear_program": ("Program", "linear_program"),
    "loop": ("Method", "minimise"),
    "named": ("named",),
    "levenberg": ("Levenberg",),
    "levenberg_marquardt": ("LevenbergMarquardt",),
    "momentum": ("Momentum",),
    "nesterov": ("Nesterov",),
    "newton": ("Newton",),
    "piecewise_linear": ("PiecewiseLinearSum",),
    "proximal_gradient": ("ProximalGradient",),
    "proximal_newton": ("ProximalNewton",),
    "quadratic_program": (
        "box_quadratic_program",
        "equality_quadratic_program",
    ),
    "sketched_newton": ("SketchedNewton",),
    "step_rules": (
        "AdaGrad",
        "Adam",
        "Constant",
        "HeavyBall",
        "InverseTime",
        "LookAhead",
        "StepRule",
    ),
    "stochastic_gradient": ("StochasticGradient",),
    "subgradient_descent": ("SubgradientDescent",),
    "task_descent": ("TaskDescent",),
    "trust_region": ("TrustRegion",),
    "working_sets": ("WorkingSets",),
}
_NAMES = {name: f"{__name__}.{file}" for file, names in _BY_FILE.items() for name in names}

__all__ = sorted(_NAMES)
__getattr__, __dir__ = _lazy(__name__, _NAMES)
