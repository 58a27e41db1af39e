"""The libraries that have the same class under the same name, and where each one keeps it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from benchmarks.harness import OURS, Bar, Contender

SKLEARN, INTELEX = "scikit-learn", "scikit-learn-intelex"
HAS_INTELEX = find_spec("sklearnex") is not None
"""Whether this peer is installed; there is none for ARM."""
IN_INTELEX = frozenset(
    {
        "DBSCAN",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "KMeans",
        "KNeighborsClassifier",
        "KNeighborsRegressor",
        "LinearRegression",
        "LocalOutlierFactor",
        "LogisticRegression",
        "NearestNeighbors",
        "NuSVC",
        "NuSVR",
        "PCA",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "Ridge",
        "SVC",
        "SVR",
    }
)
"""Classes that it has of its own; for settings it does not know, it calls scikit-learn."""


def modules(module: str, name: str) -> dict[str, str]:
    """Library → module of a class that scikit-learn has in `module`, in the order of the races."""
    found = {OURS: "thetahat", SKLEARN: module}
    if HAS_INTELEX and name in IN_INTELEX:
        found[INTELEX] = module.replace("sklearn.", "sklearnex.", 1)
    return found


def contenders(make: Callable[[str], Contender], module: str, name: str) -> dict[str, Contender]:
    """``make(module)`` for every library that has the class."""
    return {library: make(path) for library, path in modules(module, name).items()}


def with_intelex(name: str, *bars: Bar) -> tuple[Bar, ...]:
    """These bars, and that scikit-learn-intelex is not faster where it is installed."""
    return (*bars, Bar(INTELEX, 1)) if HAS_INTELEX and name in IN_INTELEX else bars
