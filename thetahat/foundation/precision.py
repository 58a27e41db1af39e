"""The precision of float64, and how far results of arithmetic in it may be off."""

from __future__ import annotations

import sys

EPSILON = sys.float_info.epsilon
"""ε, the distance from 1 to the next number."""
ROUNDING = 8 * EPSILON
"""Relative error of the result of a few operations."""
SUM_ROUNDING = 1e-14
"""Relative error of a sum over many rows."""
