"""Results as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, time, timedelta
from math import isfinite
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import Interval


def as_json(data: Any) -> str:
    """The data as JSON; numbers that are infinite or not a number become null."""
    return json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """A value of types that JSON has: dates as ISO text, intervals with their two ends."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Interval):
        return plain({"value": value.estimate, "low": value.low, "high": value.high})
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if isinstance(value, int | str | None) else str(value)
