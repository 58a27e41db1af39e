"""Models as functions of scikit-learn: one call fits a model and returns its arrays as a tuple."""

from thetahat import _public
from thetahat._lazy import lazy as _lazy

__all__ = sorted(_public.FUNCTIONS)
__getattr__, __dir__ = _lazy(__name__, _public.FUNCTIONS)
