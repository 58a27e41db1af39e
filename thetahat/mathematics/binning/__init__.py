"""Widths of histogram bins: th.binning.scott(x), th.binning.best_width(x, cost), ..."""

from thetahat.mathematics.binning.costs import (
    held_out_distance,
    leave_one_out_cost,
    shimazaki_shinomoto_cost,
)
from thetahat.mathematics.binning.widths import (
    best_width,
    cross_validation,
    freedman_diaconis,
    scott,
    shimazaki_shinomoto,
)

__all__ = [
    "best_width",
    "cross_validation",
    "freedman_diaconis",
    "held_out_distance",
    "leave_one_out_cost",
    "scott",
    "shimazaki_shinomoto",
    "shimazaki_shinomoto_cost",
]


def __dir__() -> list[str]:
    return sorted(__all__)
