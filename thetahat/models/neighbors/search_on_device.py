"""Search for neighbours among rows on a device, by brute force and the Euclidean distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import device

from thetahat.estimator.devices.rows import rows_of_model, rows_to_fit
from thetahat.estimator.parameters import check_value, whole
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.mathematics.devices.nearest_rows import nearest_rows


def fit(model: Any, X: Any, y: Any = None) -> Any:
    """Keep the rows. Cost: O(1)."""
    X = rows_to_fit(model, X)
    keep(model, X)
    return model


def keep(model: Any, X: Any) -> None:
    """Make the rows those that are searched, if the parameters name a search on devices."""
    who = type(model).__name__
    euclidean = model.metric in ("euclidean", "l2") or (
        model.metric == "minkowski" and model.p == 2
    )
    if not euclidean or model.metric_params or model.algorithm not in ("auto", "brute"):
        raise CapabilityError(
            f"{who}: metric={model.metric!r}, p={model.p!r} and algorithm={model.algorithm!r} need "
            f"NumPy arrays, but X is on {device(X)}, where the Euclidean distance is searched by "
            "brute force. Use metric='euclidean' and algorithm='brute', or pass X.cpu().numpy()."
        )
    vars(model).pop("_index", None)
    model.n_samples_fit_ = int(X.shape[0])
    model.effective_metric_, model.effective_metric_params_ = "euclidean", {}
    model._device_rows = X


def arrange_rows(model: Any, place: str) -> None:
    """Search on the device of ``place``: rows on the CPU have an index, others have none."""
    rows = vars(model).get("_device_rows")
    if rows is None:
        if place != "cpu":
            import torch

            keep(model, torch.asarray(model._index.rows, device=place))
    elif place == "cpu":
        del model._device_rows
        model._keep_rows(model._open(np.asarray(rows), supervised=False))


def kneighbors(
    model: Any, X: Any = None, n_neighbors: Any = None, return_distance: bool = True
) -> Any:
    """Distances and numbers of the k nearest rows. Cost: O(n m d)."""
    rows, who = model._device_rows, type(model).__name__
    count = model.n_neighbors if n_neighbors is None else n_neighbors
    check_value(count, whole(1), "n_neighbors", who)
    most = model.n_samples_fit_ - (X is None)
    if count > most:
        rule = "n_neighbors < n_samples_fit" if X is None else "n_neighbors <= n_samples_fit"
        raise DataError(
            f"{who}: Expected {rule}, but n_neighbors = {count}, n_samples_fit "
            f"= {model.n_samples_fit_}. Use fewer neighbours or more training rows."
        )
    queries = None if X is None else rows_of_model(model, X, rows)
    distance, row = nearest_rows(rows, queries, int(count))
    return (distance, row) if return_distance else row
