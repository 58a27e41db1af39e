"""Time limits, written as a number of seconds or as "90s", "5m" or "1h"."""

from __future__ import annotations

import re
from math import inf
from numbers import Real
from typing import Any

from thetahat.foundation.errors import ParameterError

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
WRITTEN = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)\s*", re.IGNORECASE)


def seconds_of(limit: Any, name: str = "time_limit") -> float:
    """The seconds of a time limit; 0 means that nothing is tuned.

    `name` is the parameter or the option by which it was given.
    """
    if isinstance(limit, str):
        match = WRITTEN.fullmatch(limit)
        if match:
            return float(match[1]) * SECONDS[match[2].lower()]
    elif isinstance(limit, Real) and not isinstance(limit, bool) and 0 <= float(limit) < inf:
        return float(limit)
    raise ParameterError(
        f"{name}={limit!r} must be a time: a number of seconds, or a number with its unit such as "
        '"90s", "5m" or "1h".'
    )
