"""The margin within which two scores are practically equal."""

from __future__ import annotations

from math import isfinite

from thetahat.foundation.errors import ParameterError


def margin_of(margin: float | str, score: float) -> float:
    """A margin in the unit of the metric, from a number or from a percentage of the score."""
    text = str(margin).strip()
    share = text.endswith("%")
    try:
        found = float(text.removesuffix("%"))
    except ValueError:
        found = -1.0
    if not (isfinite(found) and found >= 0) or isinstance(margin, bool):
        raise ParameterError(
            f"margin={margin!r} must be a number that is not negative, in the unit of the metric, "
            "or a percentage of the score such as '1%'."
        )
    return found / 100 * abs(score) if share else found
