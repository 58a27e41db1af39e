"""Partial dependence: the mean prediction of a fitted model as a function of one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from thetahat.data.columns.replaced_column import column_labels, column_of, exchanged
from thetahat.data.columns.variables import ArrayVariable, Variable, variables
from thetahat.data.resampling import subset_rows, take_rows
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.contributions.explain import response_of
from thetahat.foundation.arguments import require_level
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array


@dataclass(frozen=True)
class PartialDependence:
    """The mean prediction at each value of a column, with a confidence band.

    Formula: f_j(v) = (1/n) Σᵢ f(xᵢ with x_ij = v). Cost: O(values).

    Attributes
    ----------
    column : str or int
        The name or number of the column.
    values : list
        The values of the column: quantiles of numbers, or the most frequent categories.
    mean, low, high : array of shape (n_values,)
        The mean prediction at each value, and the lower and upper end of its band.
    response : str
        What is predicted: the target, or the probability of a class.
    is_numeric : bool
        Whether the values of the column are numbers.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=0.1, random_state=0)
    >>> model = th.LinearRegression().fit(data.X, data.y)
    >>> th.partial_dependence(model, data.X, 0).mean.shape
    (20,)
    """

    column: Any
    values: list[Any]
    mean: Array
    low: Array
    high: Array
    response: str

    @property
    def is_numeric(self) -> bool:
        """Whether the values of the column are numbers."""
        return all(isinstance(value, int | float) for value in self.values)

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the curve with its band, or points for categories. Cost: O(values)."""
        if self.is_numeric:
            axes.fill_between(self.values, self.low, self.high, color="C0", alpha=0.2, lw=0)
            axes.plot(self.values, self.mean, color="C0")
        else:
            half = np.array([self.mean - self.low, self.high - self.mean])
            axes.errorbar([str(v) for v in self.values], self.mean, half, fmt="o", color="C0")
        axes.set(xlabel=str(self.column), ylabel=self.response)


@needs_memory
def partial_dependence(
    model: Any,
    X: Any,
    column: Any,
    *,
    n_values: int = 20,
    max_rows: int = 500,
    label: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
    method: str = "brute",
) -> PartialDependence:
    """Compute the mean prediction of a fitted model as a function of one column.

    Formula: f_j(v) = (1/n) Σᵢ f(xᵢ with x_ij = v); the band is z standard errors of the mean of
    f(xᵢ with x_ij = v) − mean over v of the same. The curve describes the model, not a causal
    effect: if columns are correlated, some of the rows averaged over are unrealistic. With
    method="recursion", f_j(v) is the prediction of trees where only column j is known: at a split
    of another column, both sides are averaged with the weights of the training rows. Cost:
    n_values predictions of max_rows rows; O(n_values · nodes) for "recursion".

    Parameters
    ----------
    model : fitted estimator
        A fitted model with scikit-learn's interface, or a fitted pipeline.
    X : array or table
        The rows to average over.
    column : str or int
        The name or number of the column of X.
    n_values : int, default=20
        The largest number of values: quantiles of a numeric column, or else its most frequent
        values.
    max_rows : int, default=500
        The largest number of rows to average over. If X has more, they are drawn at random. More
        rows give a narrower band and take longer.
    label : optional
        The class whose probability is computed. By default the last class.
    level : float, default=0.95
        Confidence level of the band, between 0 and 1. A larger value gives a wider band.
    random_state : int, Generator or None, default=0
        Seed or generator for drawing rows. The same seed gives the same result.
    method : {"brute", "recursion"}, default="brute"
        "brute" averages predictions of the rows of X and works with every model. "recursion"
        averages over all training rows of a decision tree, a forest or gradient boosting of this
        library, by the weights of their nodes; X then only gives the values of the column, and the
        band has no width, because no rows are drawn. It describes the raw prediction (such as the
        log odds) of gradient boosting.

    Returns
    -------
    PartialDependence

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=0.1, random_state=0)
    >>> model = th.LinearRegression().fit(data.X, data.y)
    >>> curve = th.partial_dependence(model, data.X, 0)
    >>> bool(abs((curve.mean[-1] - curve.mean[0]) / (curve.values[-1] - curve.values[0])
    ...          - model.coef_[0]) < 1e-9)
    True
    """
    from scipy import stats

    require_level(level)
    check_value(method, one_of("brute", "recursion"), "method", "partial_dependence")
    check_is_fitted(model)
    labels = column_labels(X)
    if column not in labels:
        raise ParameterError(
            f"partial_dependence: there is no column {column!r}. Columns: "
            f"{', '.join(map(str, labels[:10]))}."
        )
    values, holders = _tried(_variable(X, column), n_values)
    if method == "recursion":
        rows = take_rows(X, holders)
        mean, response = _of_trees(model, rows, labels.index(column), label)
        return PartialDependence(column, values, mean, mean, mean, response)
    n = len(column_of(X, column))
    few = np.arange(n)
    if n > max_rows:
        few = np.sort(subset_rows(few, size=max_rows, random_state=random_state))
    answer, response = _answer(model, label)
    # The rows averaged over, followed by one row for each value to set.
    both = take_rows(X, np.concatenate([few, holders]))
    curves = []
    for place in range(len(values)):
        source = np.arange(len(few) + len(holders))
        source[: len(few)] = len(few) + place
        changed = take_rows(exchanged(both, column, source), np.arange(len(few)))
        curves.append(answer(changed))
    table = np.column_stack(curves)
    mean = table.mean(axis=0)
    about = table - table.mean(axis=1, keepdims=True)
    half = stats.norm.isf((1 - level) / 2) * about.std(axis=0) / np.sqrt(len(few))
    return PartialDependence(column, values, mean, mean - half, mean + half, response)


def _variable(X: Any, column: Any) -> Variable:
    if isinstance(X, np.ndarray):
        return ArrayVariable(column, X[:, column])
    return variables(column_of(X, column))[0]


def _tried(column: Variable, n_values: int) -> tuple[list[Any], Array]:
    """Values of a column, and for each value the number of a row that has it."""
    if column.declared_kind is not None and column.kind.is_number:
        numbers = np.asarray(column.numbers(), dtype=np.float64)
        rows = np.flatnonzero(np.isfinite(numbers))
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        places = np.unique(np.linspace(0.02 * rows.size, 0.98 * rows.size - 1, n_values).round())
        chosen = rows[np.clip(places.astype(np.intp), 0, rows.size - 1)]
        _, first = np.unique(numbers[chosen], return_index=True)
        return [float(numbers[row]) for row in chosen[first]], chosen[first]
    values, which = column.distinct()
    counts = np.bincount(which[which >= 0], minlength=len(values))
    most = sorted(range(len(values)), key=lambda k: (-counts[k], str(values[k])))[:n_values]
    return [values[k] for k in most], np.array([int(np.argmax(which == k)) for k in most])


def _of_trees(model: Any, rows: Any, column: int, label: Any) -> tuple[Array, str]:
    """The predictions of trees that know one column of some rows, and what they predict."""
    if not hasattr(model, "_weighted_trees"):
        raise CapabilityError(
            f"partial_dependence: method='recursion' is available for decision trees, forests and "
            f"gradient boosting of thetahat, but not for {type(model).__name__}. Use "
            "method='brute', which works with every model."
        )
    found = model._weighted_trees().given(model._rows(rows), column)
    if not is_classifier(model):
        if found.shape[1] > 1:
            raise CapabilityError(
                f"partial_dependence: method='recursion' needs one target, but "
                f"{type(model).__name__} was fitted to {found.shape[1]}. Fit one model per target."
            )
        return found[:, 0], response_of(model)
    place, label = _class(model, label)
    kind = f"{response_of(model)} of {label}"
    if found.shape[1] == 1:  # the log odds of the second of two classes
        return (found[:, 0] if place else -found[:, 0]), kind
    return found[:, place], kind


def _class(model: Any, label: Any) -> tuple[int, Any]:
    """The place of a class, by default of the last one, and its label."""
    classes = list(model.classes_)
    label = classes[-1] if label is None else label
    if label not in classes:
        raise ParameterError(f"partial_dependence: there is no class {label!r} in {classes[:10]}.")
    return classes.index(label), label


def _answer(model: Any, label: Any) -> tuple[Any, str]:
    if not is_classifier(model):
        return lambda X: np.asarray(model.predict(X), dtype=np.float64), "prediction"
    place, label = _class(model, label)
    if hasattr(model, "predict_proba"):
        return lambda X: model.predict_proba(X)[:, place], f"probability of {label}"

    def share(X: Any) -> Array:
        return (np.asarray(model.predict(X)) == label).astype(np.float64)

    return share, f"share predicted {label}"
