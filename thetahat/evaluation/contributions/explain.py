"""Explain single predictions by the contributions of the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from thetahat.data.columns.replaced_column import column_labels
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, one_of, whole
from thetahat.evaluation.contributions.result import Contributions
from thetahat.evaluation.contributions.sampled import sampled
from thetahat.foundation.arguments import require_estimator
from thetahat.foundation.errors import CapabilityError
from thetahat.mathematics.losses.links import Link
from thetahat.models.linear.generalized.deviance_regressor import DevianceRegressor


@needs_memory
def explain(
    model: Any,
    X: Any,
    background: Any = None,
    *,
    method: str = "exact",
    n_orders: int = 16,
    random_state: Any = 0,
) -> Contributions:
    """Compute how much each column contributes to the prediction of each row.

    Formula: f(x) = base + Σⱼ φⱼ(x) with the Shapley values φⱼ = Σ_S |S|!(d − |S| − 1)!/d!·(v(S ∪
    {j}) − v(S)) over sets S of other columns. v(S) is the prediction of the trees where only the
    columns of S are known: at a split of another column, both sides are averaged with the weights
    of the training rows. For linear models v(S) puts the mean of the background in place of the
    other columns, so that φⱼ = βⱼ(xⱼ − x̄ⱼ). Both are exact. With method="sampled", v(S) is the mean
    prediction with the other columns taken from rows of the background, and the mean over all sets
    is replaced by a mean over random orders of the columns. Contributions describe the model, not
    causes. Cost: O(n · trees · nodes · depth) for trees, O(n d) for linear models, predictions of
    n · d · n_orders rows if sampled.

    Parameters
    ----------
    model : fitted estimator
        A decision tree, a forest, gradient boosting or a linear model of this library, or a
        pipeline that ends with one; then the columns are those after the preparation. Of a search
        such as ``GridSearchCV``, the best model. Pipelines and searches may be nested. With
        method="sampled", any regressor or classifier.
    X : table of shape (n, d)
        The rows to explain.
    background : table of shape (m, d), optional
        The rows whose mean a linear model is compared with. By default X. Models of trees store the
        weights of their training rows and do not use it, but it must have the same columns. With
        method="sampled", the rows whose mean prediction is the base; if there are more than 10,000
        rows, 10,000 of them are drawn.
    method : {"exact", "sampled"}, default="exact"
        How contributions are computed. "sampled" works with every regressor and classifier, for
        the columns of X before any preparation, and gives contributions to predictions or class
        probabilities. They add up exactly, but each has a sampling error.
    n_orders : int, default=16
        The number of orders of the columns with method="sampled". More orders give more accurate
        contributions. It is rounded up to an even number.
    random_state : int, Generator or None, default=0
        Seed or generator for the orders with method="sampled".

    Returns
    -------
    Contributions
        Contributions to the prediction of trees and linear regressions (to its logarithm for losses
        with a log link, such as Poisson), to the class probabilities of trees and forests, and to
        the raw prediction (such as the log odds) of boosting and linear classifiers.

    Examples
    --------
    >>> import thetahat as th
    >>> data = th.datasets.make_linear(200, 3, noise=0.1, random_state=0)
    >>> model = th.HistGradientBoostingRegressor(max_iter=20).fit(data.X, data.y)
    >>> found = th.explain(model, data.X)
    >>> found.values.shape
    (200, 3)
    """
    require_estimator(model, "explain")
    check_is_fitted(model)
    check_value(method, one_of("exact", "sampled"), "method", "explain")
    if method == "sampled":
        check_value(n_orders, whole(1), "n_orders", "explain")
        return sampled(model, X, X if background is None else background, n_orders, random_state)
    model, steps = _unwrapped(model)
    same = background is None or background is X
    if steps is not None:
        X = steps.transform(X)
    behind = X if same else background if steps is None else steps.transform(background)
    compute = getattr(model, "_shapley_values", None)
    if compute is None:
        raise CapabilityError(
            f"explain: contributions are available for decision trees, forests, gradient boosting "
            f"and linear models of thetahat, but not for {type(model).__name__}. Use "
            'method="sampled", which works with every regressor and classifier.'
        )
    if behind is not X and hasattr(model, "_rows"):
        model._rows(behind)  # trees use none of it, but other columns are a mistake
    values, base = compute(X, behind)
    outputs = _outputs(model, values.shape[2])
    if not outputs:
        values, base = values[:, :, 0], float(base[0])
    names = column_labels(X) if steps is None else _names_after(steps, X)
    return Contributions(values, base, names, response_of(model), outputs, _shown(X))


def _unwrapped(model: Any) -> tuple[Any, Pipeline | None]:
    """The last estimator of nested pipelines and searches, and all preparation before it."""
    prepared: list[tuple[str, Any]] = []
    while isinstance(model, Pipeline) or hasattr(model, "best_estimator_"):
        if isinstance(model, Pipeline):
            if len(model) > 1:
                prepared.append((f"part{len(prepared)}", model[:-1]))
            model = model[-1]
        else:
            model = model.best_estimator_
    return model, Pipeline(prepared) if prepared else None


def _outputs(model: Any, count: int) -> list[Any]:
    if count == 1:
        return []
    classes = getattr(model, "classes_", None)
    if isinstance(classes, np.ndarray) and len(classes) == count:
        return list(classes.tolist())
    return list(range(count))


def response_of(model: Any) -> str:
    """What the trees or the coefficients of a model add up to."""
    if not is_classifier(model):
        loss = model._loss() if isinstance(model, DevianceRegressor) else model
        link = getattr(getattr(loss, "loss_", loss), "link", Link.IDENTITY)
        return "log of the prediction" if link is Link.LOG else "prediction"
    averages = hasattr(model, "tree_") or hasattr(model, "_forest")
    return "probability" if averages else "raw prediction"


def _names_after(steps: Any, X: Any) -> list[Any]:
    try:
        return list(steps.get_feature_names_out())
    except (AttributeError, TypeError, ValueError):
        return column_labels(X)


def _shown(X: Any) -> Any:
    dense = X.toarray() if hasattr(X, "toarray") else X
    return np.asarray(dense)
