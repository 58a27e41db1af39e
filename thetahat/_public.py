"""Every public name and the module that defines it: the table behind ``th.<name>``."""

NAMESPACES = {
    "autodiff": "thetahat.mathematics.autodiff",
    "datasets": "thetahat.data.datasets",
    "linalg": "thetahat.mathematics.linalg",
    "losses": "thetahat.mathematics.losses",
    "optimizers": "thetahat.mathematics.optimizers",
    "penalties": "thetahat.mathematics.penalties",
}
"""Modules that are public as a whole: th.losses.Huber, th.penalties.L2, ..."""

_BY_MODULE = {
    "thetahat.foundation.config": ("config",),
    "thetahat.foundation.errors": (
        "CapabilityError",
        "DataError",
        "IllConditionedWarning",
        "MemoryBudgetError",
        "MissingExtraError",
        "ParameterError",
        "ThetahatError",
    ),
    "thetahat.mathematics.optimizers.loop": ("minimise",),
    "thetahat.mathematics.optimizers.solution": ("Outcome", "Solution"),
}

NAMES = NAMESPACES | {name: module for module, names in _BY_MODULE.items() for name in names}
