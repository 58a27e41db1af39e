"""Warnings that point at the caller's line rather than at a line of this package."""

from __future__ import annotations

import sys
import warnings

BETWEEN = {"thetahat", "sklearn", "joblib", "contextlib"}
"""Packages whose frames are skipped to find the caller's line."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside this package and scikit-learn's callbacks."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame.f_globals) in BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
