"""What thetahat raises when it refuses, and the categories of its warnings."""

from thetahat._lazy import lazy as _lazy
from thetahat.foundation import errors as _errors

__all__ = _errors.__all__
__getattr__, __dir__ = _lazy(__name__, dict.fromkeys(__all__, _errors.__name__))
