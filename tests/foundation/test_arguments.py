"""Arguments of functions that are not parameters of an estimator."""

from __future__ import annotations

import numpy as np
import pytest

from thetahat.foundation.arguments import numbers, require_level
from thetahat.foundation.errors import ParameterError


@pytest.mark.parametrize("level", [0, 1, 10**400, -(10**400), np.nan, np.inf, True, "0.9", None])
def test_levels_outside_of_the_unit_interval_are_refused(level):
    with pytest.raises(ParameterError, match=r"share=.* strictly between 0 and 1"):
        require_level(level, "share")


@pytest.mark.parametrize("level", [0.95, np.float32(0.5), np.float64(1e-9)])
def test_levels_inside_are_taken(level):
    require_level(level)


@pytest.mark.parametrize(
    "value", [1j, np.eye(2) * 1j, np.ma.array([1.0, 2.0], mask=[0, 1]), "x", None, [[1], [2, 3]]]
)
def test_what_is_no_real_number_is_refused(value):
    with pytest.raises(ParameterError, match=r"(?s)who: x=.* must be a real number"):
        numbers(value, "x", "who")
