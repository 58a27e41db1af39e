"""Time limits, written as a number of seconds or as "90s", "5m" or "1h"."""

from __future__ import annotations

import re
import sys
from math import isfinite
from numbers import Real
from typing import Any

from thetahat.foundation.errors import ParameterError

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
WRITTEN = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)\s*", re.IGNORECASE)
LARGEST = sys.float_info.max


def seconds_of(limit: Any, name: str = "time_limit") -> float:
    """The seconds of a time limit; 0 means that nothing is tuned.

    `name` is the parameter or the option by which it was given.
    """
    if isinstance(limit, str):
        match = WRITTEN.fullmatch(limit)
        if match and isfinite(float(match[1]) * 3600):
            return float(match[1]) * SECONDS[match[2].lower()]
    elif isinstance(limit, Real) and not isinstance(limit, bool):
        if not limit < 0 and limit <= LARGEST:
            return float(limit)
    raise ParameterError(
        f"{name}={limit!r} must be a time of 0 or more, and finite: a number of seconds in digits "
        'without an exponent, or with its unit, such as "90s", "5m" or "1h".'
    )
