"""thetahat: θ̂ = argmin_θ Σ_i w_i ℓ(y_i, f_θ(x_i)) + R(θ).

Pick a function class, a loss, a penalty; the library picks the solver and says why. Public names
load on first use, so importing the package costs next to nothing.
"""

from thetahat import _modules, _public
from thetahat._lazy import lazy as _lazy

__version__ = "0.1.0"
__all__ = sorted(_public.NAMES)
__getattr__, __dir__ = _lazy(
    __name__, _public.NAMES, _public.NAMESPACES, _public.place_in_a_namespace
)
_modules.install()
