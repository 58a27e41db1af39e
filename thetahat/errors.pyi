# Written by `python -m tests.public_stub`; do not edit.

from thetahat.foundation.errors import CapabilityError as CapabilityError
from thetahat.foundation.errors import ClusterError as ClusterError
from thetahat.foundation.errors import DataError as DataError
from thetahat.foundation.errors import IllConditionedWarning as IllConditionedWarning
from thetahat.foundation.errors import MemoryBudgetError as MemoryBudgetError
from thetahat.foundation.errors import MissingExtraError as MissingExtraError
from thetahat.foundation.errors import ParameterError as ParameterError
from thetahat.foundation.errors import ReuseWarning as ReuseWarning
from thetahat.foundation.errors import SeparationWarning as SeparationWarning
from thetahat.foundation.errors import ThetahatError as ThetahatError

__all__ = [
    "CapabilityError",
    "ClusterError",
    "DataError",
    "IllConditionedWarning",
    "MemoryBudgetError",
    "MissingExtraError",
    "ParameterError",
    "ReuseWarning",
    "SeparationWarning",
    "ThetahatError",
]
