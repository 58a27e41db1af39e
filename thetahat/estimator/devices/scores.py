"""R² and accuracy of a model on a device; only the numbers come to the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from thetahat.data.arrays import is_device_array, like, to_host
from thetahat.estimator.devices.rows import require_beside, targets_to_fit, weights_to_fit
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array


def r2_score(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """R² = 1 − Σ w(y − ŷ)²/Σ w(y − ȳ)², averaged over the targets if there are several."""
    found = model.predict(X)
    xp = array_namespace(found)
    wide = xp.float64
    y = xp.astype(targets_to_fit(model, y, found[..., None] if found.ndim == 1 else found), wide)
    weight = weights_to_fit(model, sample_weight, found)
    share = xp.ones((found.shape[0],), dtype=wide, device=device(found))
    share = share if weight is None else xp.astype(weight, wide)
    share = share / xp.sum(share)
    share = share if y.ndim == 1 else share[:, None]
    rest = xp.sum(share * (y - xp.astype(found, wide)) ** 2, axis=0)
    spread = xp.sum(share * (y - xp.sum(share * y, axis=0)) ** 2, axis=0)
    one, zero = xp.ones_like(rest), xp.zeros_like(rest)
    constant = xp.where(rest == 0, one, zero)
    return float(
        xp.mean(xp.where(spread > 0, 1 - rest / xp.where(spread > 0, spread, one), constant))
    )


def accuracy(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Σ w·1[ŷ = y]/Σ w."""
    found, who = model.predict(X), type(model).__name__
    if y is None:
        raise DataError(f"{who}.score needs the true labels y. Pass one label per row.")
    require_beside(y, X, "y", who)
    if not is_device_array(found):  # labels that are not numbers
        right = like((found == to_host(y)).astype(float), X)
    else:
        y = y if is_device_array(y) else like(_numbers(y, model), found)
        right = array_namespace(found).astype(found == y, X.dtype)
    xp = array_namespace(right)
    weight = weights_to_fit(model, sample_weight, X)
    if weight is None:
        return float(xp.mean(xp.astype(right, xp.float64)))
    weight = xp.astype(weight, xp.float64)
    return float(xp.sum(weight * xp.astype(right, xp.float64)) / xp.sum(weight))


def _numbers(y: Any, model: Any) -> Array:
    labels = np.asarray(y)
    if labels.dtype.kind not in "biuf":
        raise DataError(
            f"{type(model).__name__}: the labels of the fit are numbers, "
            f"{model.classes_.tolist()!r:.60}, but y of score has dtype {labels.dtype}. Pass the "
            "labels of the same kind as in the fit."
        )
    return labels
