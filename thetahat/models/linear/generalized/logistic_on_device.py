"""Logistic regression of rows on a device, by Newton's method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import is_device_array, like, to_host
from thetahat.data.class_weights import weights_of_classes
from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.on_device import OnDevice
from thetahat.estimator.devices.rows import (
    require_beside,
    rows_of_model,
    rows_to_fit,
    weights_to_fit,
)
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.devices.logistic import LogisticPass, newton
from thetahat.mathematics.devices.memory import row_blocks
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.linear.generalized.logistic_classifier import CLOSE, CLOSER
from thetahat.models.linear.generalized.logistic_objective import (
    LARGEST_PENALTY,
    strength_and_share,
)
from thetahat.models.linear.solver_names import GENERALIZED

NEWTON = {"auto", "newton", "irls", *GENERALIZED}
"""Names of solvers that find the same optimum."""


def fit(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Fit the coefficients. Cost: O(n d² k²) per iteration for k scores."""
    who = type(model).__name__
    X = rows_to_fit(model, X)
    C, l1_ratio = strength_and_share(model.penalty, model.C, model.l1_ratio)
    known = isinstance(model.solver, str) and model.solver in NEWTON
    if l1_ratio > 0 or model.reference is not None or not known:
        raise CapabilityError(
            f"{who}: l1_ratio={l1_ratio:g}, reference={model.reference!r} and solver="
            f"{model.solver!r} need NumPy arrays, but X is on {device(X)}, where Newton's method "
            "fits an L2 penalty. Use l1_ratio=0, reference=None and solver='newton', or pass "
            "X.cpu().numpy()."
        )
    weight = weights_to_fit(model, sample_weight, X)
    model.classes_, codes = _codes(model, y, X)
    weight = _with_class_weights(model, codes, weight, X)
    m = 1 if len(model.classes_) == 2 else len(model.classes_)
    problem = LogisticPass(X, codes, weight, m, 0.0, bool(model.fit_intercept))
    alpha = min(1.0 / max(C * problem.total, 1.0 / LARGEST_PENALTY), LARGEST_PENALTY)
    problem = replace(problem, alpha=alpha)
    start = np.zeros((m, int(X.shape[1]) + 1))
    before = vars(model).get("coef_")
    if model.warm_start and before is not None and tuple(before.shape) == (m, int(X.shape[1])):
        start = np.column_stack([to_host(before), to_host(model.intercept_)]).astype(float)

    def attributes(theta: Array) -> dict[str, Any]:
        theta = np.asarray(theta).reshape(m, -1)
        if m > 1:
            theta = theta.copy()
            free = slice(None) if alpha == 0 else slice(-1, None)
            theta[:, free] -= theta[:, free].mean(axis=0)
        return {"coef_": like(theta[:, :-1], X), "intercept_": like(theta[:, -1], X)}

    aim = (CLOSE if m > 1 else CLOSER) * (model.tol or 0.0)
    with model._watching(model.max_iter, attributes, X, y) as watch:
        found = newton(problem, start, tolerance=aim, max_steps=model.max_iter, watch=watch)
    model.solution_ = Solution(
        theta=found.theta.ravel(),
        outcome=found.outcome,
        solver="newton",
        reason=f"a smooth loss and penalty of {m * (int(X.shape[1]) + 1)} parameters on "
        f"{device(X)}: the Hessian is one matrix product",
        steps=found.steps,
        gap=found.gap,
        value=found.value,
        message=found.outcome.value,
    )
    model.__dict__.update(attributes(found.theta))
    model.n_iter_ = np.array([min(max(1, found.steps), model.max_iter)], dtype=np.int32)
    model._warn_unless_converged()
    return model


def _codes(model: Any, y: Any, X: Array) -> tuple[Array, Array]:
    """The classes on the host, and the number of the class of every row on the device."""
    who, xp = type(model).__name__, array_namespace(X)
    if y is None:
        raise DataError(
            f"{who} requires y to be passed, but the target y is None. Pass one label per row."
        )
    require_beside(y, X, "y", who)
    n = int(X.shape[0])
    if is_device_array(y) and y.ndim == 1 and bool(xp.all(y == xp.round(xp.astype(y, xp.float64)))):
        held = xp.unique_values(y)
        classes = np.asarray(to_host(held))
        codes = xp.searchsorted(held, y)
    else:
        labels = model._labels(to_host(y))
        encoding = LabelEncoding.of(labels)
        classes = encoding.classes
        codes = like(encoding.encode(labels), X, dtype=xp.int64)
    if int(codes.shape[0]) != n:
        raise DataError(
            f"{who}: Found input variables with inconsistent numbers of samples: X has {n} rows, "
            f"y has {int(codes.shape[0])}. Give one target per row."
        )
    if len(classes) < 2:
        raise DataError(
            f"{who}: y contains one class only, {classes.tolist()[0]!r}, but at least two classes "
            "are needed. Add rows of another class."
        )
    return classes, codes


def _with_class_weights(model: Any, codes: Array, weight: Array | None, X: Array) -> Array | None:
    if model.class_weight is None:
        return weight
    xp = array_namespace(X)
    source = OnDevice(
        X=X,
        y=xp.astype(codes, X.dtype),
        weight=weight,
        n_features=int(X.shape[1]),
        has_target=True,
        has_weight=weight is not None,
    )
    of_class = weights_of_classes(source, model.classes_, model.class_weight, type(model).__name__)
    own = xp.take(like(of_class, X), codes, axis=0)
    return own if weight is None else own * weight


def _raw(model: Any, X: Any) -> Array:
    X = rows_of_model(model, X, model.coef_)
    xp = array_namespace(X)
    parts = [
        X[rows, :] @ model.coef_.T + model.intercept_
        for rows in row_blocks(X, 16 * int(model.coef_.shape[0]))
    ]
    return parts[0] if len(parts) == 1 else xp.concat(parts)


def decision_function(model: Any, X: Any) -> Array:
    """The scores z = Xβ + b."""
    z = _raw(model, X)
    return z[:, 0] if z.shape[1] == 1 else z


def predict(model: Any, X: Any) -> Array:
    """The class with the largest score: on the device if labels are numbers, else NumPy."""
    z = _raw(model, X)
    xp = array_namespace(z)
    codes = xp.astype(z[:, 0] > 0, xp.int64) if z.shape[1] == 1 else xp.argmax(z, axis=1)
    if model.classes_.dtype.kind in "biuf":
        classes = xp.asarray(np.ascontiguousarray(model.classes_), device=device(z))
        return xp.take(classes, codes, axis=0)
    return model.classes_[np.asarray(to_host(codes))]


def predict_log_proba(model: Any, X: Any) -> Array:
    """log P(y = c | x) for each row and class."""
    z = _raw(model, X)
    xp = array_namespace(z)
    if z.shape[1] == 1:
        z = z[:, 0]
        rest = xp.log1p(xp.exp(-xp.abs(z)))
        return xp.stack([-rest - xp.clip(z, 0), -rest - xp.clip(-z, 0)], axis=1)
    z = z - xp.max(z, axis=1, keepdims=True)
    return z - xp.log(xp.sum(xp.exp(z), axis=1, keepdims=True))


def predict_proba(model: Any, X: Any) -> Array:
    """P(y = c | x) for each row and class."""
    found = predict_log_proba(model, X)
    return array_namespace(found).exp(found)
