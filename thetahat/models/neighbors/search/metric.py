"""The distance that the parameters of a search name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np
from sklearn.metrics import DistanceMetric

from thetahat.foundation.arguments import shown
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.distances import Chebyshev, Custom, Minkowski, named
from thetahat.mathematics.distances.base import Distance
from thetahat.mathematics.distances.scaled import Mahalanobis, StandardizedEuclidean


def named_distance(metric: Any, parameters: dict[str, Any] | None, p: float, who: str) -> Distance:
    """The distance of ``metric``, ``metric_params`` and ``p``, as scikit-learn names them."""
    given = dict(parameters or {})
    if isinstance(metric, DistanceMetric):
        kind = type(metric).__name__.rstrip("0123456789")
        return named(_OF_SCIKIT_LEARN[kind]) if kind in _OF_SCIKIT_LEARN else GivenMetric(metric)
    if callable(metric) and not isinstance(metric, Distance | type):
        return Custom(partial(metric, **given) if given else metric)
    if not isinstance(metric, str) or metric not in _BY_PARAMETERS:
        try:
            distance = named(metric)
        except ParameterError as failure:
            words = str(failure).replace("distance=", "metric=", 1)
            raise ParameterError(f"{who}: {words}") from None
    else:
        if metric in ("minkowski", "p"):
            if "p" in given:
                warn(
                    f"{who}: Parameter p is found in metric_params. The corresponding parameter "
                    "from __init__ is ignored.",
                    SyntaxWarning,
                )
            given.setdefault("p", p)
        try:
            distance = _BY_PARAMETERS[metric](given)
        except ParameterError as failure:
            raise ParameterError(f"{who}: {failure}") from None
    if given:
        raise ParameterError(
            f"{who}: metric_params has {', '.join(map(repr, given))}, but {distance!r} takes "
            "no such parameter. Pass a value of th.distances as metric."
        )
    return distance


def fitted_distance(
    metric: Any, parameters: dict[str, Any] | None, p: float, rows: Matrix, who: str
) -> Distance:
    """As `named_distance`, with everything that is estimated from the training rows."""
    distance = named_distance(metric, parameters, p, who)
    try:
        return distance.fitted(rows)
    except (CapabilityError, DataError) as failure:
        raise type(failure)(f"{who}: {failure}") from None


MOST_POWER = 100
"""The largest finite p of a Minkowski distance."""


@dataclass(frozen=True)
class GivenMetric(Distance):
    """A ``DistanceMetric`` of scikit-learn, which measures all pairs of rows."""

    metric: Any

    name = "custom"

    def _between_all(self, X: Array, Y: Array) -> Array:
        dtype = np.float32 if type(self.metric).__name__.endswith("32") else np.float64
        first, second = (np.ascontiguousarray(each, dtype=dtype) for each in (X, Y))
        return np.asarray(self.metric.pairwise(first, second), dtype=np.float64)


def _minkowski(given: dict[str, Any]) -> Distance:
    p = given.pop("p")
    if p == inf and given.get("w") is None:
        given.pop("w", None)
        return Chebyshev()
    if isinstance(p, int | float | np.number) and MOST_POWER < p < inf:
        raise ParameterError(
            f"p={p:g} is larger than {MOST_POWER}: powers of small differences would vanish. "
            "Use p=float('inf'), the limit, which is the Chebyshev distance."
        )
    return Minkowski(p, given.pop("w", None))


def _mahalanobis(given: dict[str, Any]) -> Distance:
    covariance, precision = given.pop("V", None), given.pop("VI", None)
    if covariance is None and precision is not None:
        covariance = _inverse(precision)
    return Mahalanobis(covariance)


def _inverse(precision: Any) -> Array:
    try:
        covariance = np.linalg.inv(np.asarray(precision, dtype=np.float64))
    except (np.linalg.LinAlgError, TypeError, ValueError):
        raise ParameterError(
            f"metric_params holds VI={shown(precision)}, which is not a square matrix with an "
            "inverse. VI must be the inverse of a covariance matrix; or give the covariance as V."
        ) from None
    return np.asarray((covariance + covariance.T) / 2)


def _standardised(given: dict[str, Any]) -> Distance:
    return StandardizedEuclidean(given.pop("V", None))


_OF_SCIKIT_LEARN = {
    "EuclideanDistance": "euclidean",
    "ManhattanDistance": "manhattan",
    "ChebyshevDistance": "chebyshev",
}
_BY_PARAMETERS: dict[str, Callable[[dict[str, Any]], Distance]] = {
    "minkowski": _minkowski,
    "p": _minkowski,
    "mahalanobis": _mahalanobis,
    "seuclidean": _standardised,
}
