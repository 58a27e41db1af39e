"""What the functions and models of thetahat return: summaries, curves, comparisons, solutions."""

from thetahat import _public
from thetahat._lazy import lazy as _lazy

__all__ = sorted(_public.RESULTS)
__getattr__, __dir__ = _lazy(__name__, _public.RESULTS)
