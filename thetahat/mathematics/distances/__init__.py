"""Distances d(x, y) between rows: th.distances.Minkowski(p=3), or the string "minkowski"."""

from collections.abc import Callable
from typing import Any

from thetahat.mathematics.distances.base import Distance
from thetahat.mathematics.distances.boolean import (
    Dice,
    Jaccard,
    RogersTanimoto,
    RussellRao,
    SokalSneath,
    Yule,
)
from thetahat.mathematics.distances.cosine import Correlation, Cosine
from thetahat.mathematics.distances.custom import Custom
from thetahat.mathematics.distances.minkowski import (
    Chebyshev,
    Euclidean,
    Hamming,
    Manhattan,
    Minkowski,
    SquaredEuclidean,
)
from thetahat.mathematics.distances.pairs import BrayCurtis, Canberra, NanEuclidean
from thetahat.mathematics.distances.scaled import Mahalanobis, StandardizedEuclidean
from thetahat.mathematics.distances.sphere import Haversine
from thetahat.mathematics.parts import part_named

__all__ = [
    "BrayCurtis",
    "Canberra",
    "Chebyshev",
    "Correlation",
    "Cosine",
    "Custom",
    "Dice",
    "Euclidean",
    "Hamming",
    "Haversine",
    "Jaccard",
    "Mahalanobis",
    "Manhattan",
    "Minkowski",
    "NanEuclidean",
    "RogersTanimoto",
    "RussellRao",
    "SokalSneath",
    "SquaredEuclidean",
    "StandardizedEuclidean",
    "Yule",
    "named",
]


def named(distance: str | Distance | Callable[[Any, Any], float]) -> Distance:
    """Return the distance with this name and its default parameters.

    Formula: "euclidean" ↦ ``Euclidean()``. Names from other libraries ("l1", "cityblock", ...) are
    accepted, a distance is returned unchanged, and a function f(x, y) of two rows becomes
    ``Custom(f)``. Cost: O(1).

    Parameters
    ----------
    distance : str, Distance or callable
        The name of a distance, one of its aliases, a distance, or a function of two rows.

    Returns
    -------
    Distance

    Examples
    --------
    >>> import thetahat as th
    >>> th.distances.named("minkowski")
    Minkowski(p=2.0, w=None)
    >>> th.distances.named("cityblock") == th.distances.Manhattan()
    True
    """
    if callable(distance) and not isinstance(distance, Distance | type):
        return Custom(distance)
    return part_named("distance", distance, Distance, _BY_NAME)  # type: ignore[type-abstract, arg-type]


_BY_NAME: dict[str, type[Distance]] = {
    part.name: part
    for part in (globals()[name] for name in __all__)
    if isinstance(part, type) and issubclass(part, Distance) and part is not Custom
}


def __dir__() -> list[str]:
    return sorted(__all__)
