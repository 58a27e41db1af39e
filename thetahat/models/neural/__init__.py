"""Neural networks: layers, networks of them, and models that train them."""

from thetahat._lazy import lazy as _lazy

_BY_MODULE = {
    "thetahat.objective.network.layer": ("Layer",),
    "thetahat.objective.network.dense": ("Dense",),
    "thetahat.objective.network.elementwise": ("Activation", "Dropout"),
    "thetahat.objective.network.batch_norm": ("BatchNorm",),
    "thetahat.objective.network.residual": ("Residual",),
    "thetahat.models.neural.network": ("Network",),
    "thetahat.models.neural.graph": ("NetworkGraph",),
    "thetahat.models.neural.steps": ("step_network",),
    "thetahat.models.neural.torch_exchange": ("from_torch",),
}
_NAMES = {name: module for module, names in _BY_MODULE.items() for name in names}

__all__ = sorted(_NAMES)
__getattr__, __dir__ = _lazy(__name__, _NAMES)
