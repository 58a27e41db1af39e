"""thetahat: θ̂ = argmin_θ Σ_i w_i ℓ(y_i, f_θ(x_i)) + R(θ).

Pick a function class, a loss, a penalty; the library picks the solver and says why. Public names
load on first use, so importing the package costs next to nothing.
"""

from importlib import import_module
from typing import Any

from thetahat._public import NAMES, NAMESPACES

__version__ = "0.1.0"
__all__ = sorted(NAMES)


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module 'thetahat' has no attribute {name!r}")
    value: Any = import_module(NAMES[name])
    if name not in NAMESPACES:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *NAMES})
