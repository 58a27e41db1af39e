"""The metrics that --scoring accepts for a task."""

from __future__ import annotations

from sklearn.metrics import get_scorer, get_scorer_names

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

MODULES = {
    "classification": ("sklearn.metrics._classification", "sklearn.metrics._ranking"),
    "regression": ("sklearn.metrics._regression",),
}
"""The modules of scikit-learn that hold the metrics of each task."""


def require_scoring(name: str, task: str, y: Array) -> None:
    """Refuse a metric that does not exist, or that cannot score this target."""
    other = "regression" if task == "classification" else "classification"
    # Classes that are numbers can be scored as numbers.
    wrong = [] if task == "classification" and y.dtype.kind in "iuf" else metrics_of(other)
    if name in get_scorer_names() and name not in wrong:
        return
    what = f"is a metric of {other}" if name in wrong else "is not a metric"
    raise ParameterError(
        f"--scoring {name} {what}. The metrics of {task} are {', '.join(metrics_of(task))}."
    )


def metrics_of(task: str) -> list[str]:
    """The names of scikit-learn's metrics for a task."""
    return [name for name in get_scorer_names() if _module(name).startswith(MODULES[task])]


def _module(name: str) -> str:
    return str(getattr(get_scorer(name)._score_func, "__module__", ""))
