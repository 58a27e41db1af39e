"""How tables are drawn to count the coverage of intervals, and quick models of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

COLUMNS = 5
METRICS = ("accuracy", "neg_log_loss", "roc_auc")
RARE = (*METRICS, "balanced_accuracy", "f1")
"""The metrics where one class is rarer than the other."""
ERRORS = ("r2", "neg_root_mean_squared_error")


class Discriminant(ClassifierMixin, BaseEstimator):
    """Two normal classes with the same covariance matrix, over some columns."""

    def __init__(self, columns: Any = slice(None)) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any) -> Discriminant:
        rows = X[:, self.columns]
        self.classes_ = np.array([0, 1])
        means = [rows[y == label].mean(axis=0) for label in (0, 1)]
        apart = rows - np.where((y == 1)[:, None], means[1], means[0])
        scatter = apart.T @ apart / max(1, len(y) - 2) + 1e-6 * np.eye(rows.shape[1])
        self.weight_ = np.linalg.solve(scatter, means[1] - means[0])
        share = float(np.mean(y))
        middle = (means[0] + means[1]) @ self.weight_ / 2
        self.intercept_ = np.log(share / (1 - share)) - middle
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, self.columns] @ self.weight_ + self.intercept_

    def predict_proba(self, X: Any) -> Any:
        positive = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> Any:
        return (self.decision_function(X) > 0).astype(int)


class Share(ClassifierMixin, BaseEstimator):
    """The share of class 1, for every row."""

    def fit(self, X: Any, y: Any) -> Share:
        self.classes_, self.share_ = np.array([0, 1]), float(np.mean(y))
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.tile([1 - self.share_, self.share_], (len(X), 1))

    def predict(self, X: Any) -> Any:
        return np.full(len(X), int(self.share_ > 0.5))


class Plane(RegressorMixin, BaseEstimator):
    """Least squares over some columns; the mean of the targets over none."""

    def __init__(self, columns: Any = slice(None)) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any) -> Plane:
        rows = np.column_stack([np.ones(len(X)), X[:, self.columns]])
        self.weight_ = np.linalg.lstsq(rows, y, rcond=None)[0]
        return self

    def predict(self, X: Any) -> Any:
        return self.weight_[0] + X[:, self.columns] @ self.weight_[1:]


@dataclass(frozen=True)
class Situation:
    """How tables are drawn."""

    task: str
    rows: int
    signal: float
    """Separation of the two classes in standard deviations, or size of the only coefficient."""
    share: float = 0.5
    groups: int = 0
    """Number of groups of equal size that share a shift; 0 for independent rows."""
    stratified: bool = True
    equal: bool = False
    """Whether the two models are equally good, as each has one of two columns with equal signal."""

    @property
    def name(self) -> str:
        if self.task == "regression":
            parts = [f"{self.rows} rows", f"slope {self.signal:g}"]
        else:
            parts = [
                f"{self.rows} rows",
                f"{self.share:.0%} positive",
                f"separation {self.signal:g}",
            ]
        if self.groups:
            parts.append(f"{self.groups} groups")
        if self.task == "classification" and not self.stratified:
            parts.append("not stratified")
        return ", ".join(parts)

    def table(self, random: np.random.Generator) -> tuple[Any, Any, Any]:
        """Rows, targets and groups."""
        n = self.rows
        X = random.standard_normal((n, COLUMNS))
        groups = np.arange(n) % self.groups if self.groups else None
        shift = 0.0 if groups is None else random.standard_normal(self.groups)[groups]
        if self.task == "regression":
            y = self.signal * X[:, : 1 + self.equal].sum(axis=1) + random.standard_normal(n)
            return X, y + shift, groups
        while True:
            y = (random.random(n) < self.share).astype(int)
            if groups is not None:  # classes that run in groups
                y = (random.random(self.groups) < self.share).astype(int)[groups]
                y = np.where(random.random(n) < 0.1, 1 - y, y)
            if 5 <= y.sum() <= n - 5:
                break
        X[:, : 1 + self.equal] += (self.signal * y + shift)[:, None]
        return X, y, groups

    @property
    def metrics(self) -> tuple[str, ...]:
        if self.task == "regression":
            return ERRORS
        return RARE if self.share < 0.5 else METRICS

    @property
    def models(self) -> tuple[Any, Any]:
        kind = Discriminant if self.task == "classification" else Plane
        if self.equal:
            return kind(slice(0, 1)), kind(slice(1, 2))
        return kind(), Share() if self.task == "classification" else Plane(slice(0, 0))


def _classes(*settings: tuple[Any, ...]) -> tuple[Situation, ...]:
    return tuple(Situation("classification", *each) for each in settings)


SITUATIONS = (
    *_classes(
        (60, 0.5),
        (60, 1.5),
        (60, 3.0),
        (300, 0.5, 0.25),
        (300, 1.5, 0.25),
        (300, 3.0, 0.25),
        (300, 4.0, 0.25),
        (300, 6.0, 0.25),
        (300, 1.5, 0.25, 0, False),
        (300, 3.0, 0.25, 0, False),
        (100, 1.5, 0.1),
        (400, 1.5, 0.05),
        (1000, 1.5, 0.02),
        (2000, 0.5, 0.02),
        (2000, 3.0, 0.02),
        (2000, 1.5),
        (800, 1.5, 0.5, 40),
        (800, 3.0, 0.5, 40),
    ),
    Situation("regression", 60, 0.0),
    Situation("regression", 60, 0.5),
    Situation("regression", 60, 2.0),
    Situation("regression", 300, 0.5),
    Situation("regression", 300, 2.0),
    Situation("regression", 2000, 1.0),
    Situation("regression", 800, 1.0, groups=40),
)
EQUAL = tuple(
    Situation(task, rows, signal, share, groups, True, True)
    for task, rows, signal, share, groups in (
        ("classification", 60, 1.5, 0.5, 0),
        ("classification", 300, 0.5, 0.25, 0),
        ("classification", 300, 1.5, 0.25, 0),
        ("classification", 300, 3.0, 0.25, 0),
        ("classification", 100, 1.5, 0.1, 0),
        ("classification", 400, 1.5, 0.05, 0),
        ("classification", 1000, 1.5, 0.02, 0),
        ("classification", 800, 1.5, 0.5, 40),
        ("regression", 60, 0.5, 0.5, 0),
        ("regression", 300, 0.5, 0.5, 0),
        ("regression", 2000, 1.0, 0.5, 0),
    )
)
LIMITS = (
    ("separation 0.5", "f1", "", (0.65, 1.0)),
    ("positive", "f1", "", (0.9, 1.0)),
    ("positive", "balanced_accuracy", "", (0.9, 1.0)),
    ("separation 6", "neg_log_loss", "score", (0.5, 0.97)),
    ("separation 0.5", "roc_auc", "", (0.9, 0.97)),
    ("60 rows", "neg_root_mean_squared_error", "score", (0.9, 0.97)),
    ("60 rows", "r2", "", (0.93, 1.0)),
    ("60 rows", "", "", (0.93, 1.0)),
    ("separation 4", "roc_auc", "", (0.93, 1.0)),
    ("separation 6", "roc_auc", "", (0.93, 1.0)),
    ("2% positive", "", "", (0.9, 1.0)),
    ("100 rows", "", "difference", (0.86, 1.0)),
    ("400 rows", "", "difference", (0.9, 1.0)),
    ("50% positive", "accuracy", "difference", (0.93, 1.0)),
)
"""Tables, metric and quantity whose coverage the documentation states as another; first match."""
SIZES = (
    ("separation 0.5", "f1", (0.02, 0.26)),
    ("positive", "f1", (0.02, 0.1)),
    ("positive", "balanced_accuracy", (0.01, 0.1)),
    ("2% positive", "accuracy", (0.01, 0.07)),
    ("groups", "", (0.015, 0.07)),
)
"""Tables and metric for which the documentation states another share of rejections; first match."""
