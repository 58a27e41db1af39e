"""Move a fitted model between the CPU and a device."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.arrays import is_device_array, to_host
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.optional import optional_import


def to_device(model: Any, device: Any) -> Any:
    """A copy of a fitted model whose arrays are on another device.

    On "cpu" the model holds NumPy arrays, so that every method works, it can be saved, and it takes
    NumPy arrays. On any other device, such as "cuda" or "cuda:1", it holds torch tensors and takes
    tensors there. The dtype stays. Cost: one copy of the fitted arrays.

    Parameters
    ----------
    model : estimator
        A fitted estimator that runs on devices: `LinearRegression`, `Ridge`, `LogisticRegression`,
        `KernelRidge`, `PCA`, `KMeans`, `GaussianMixture` or `NearestNeighbors`.
    device : str or torch.device
        Where the arrays go: "cpu" for NumPy arrays, or a device of torch.

    Returns
    -------
    estimator
        The moved copy. The given model is not changed.

    Examples
    --------
    >>> import thetahat as th
    >>> model = th.LinearRegression().fit([[0.0], [1.0]], [1.0, 3.0])
    >>> th.to_device(model, "cpu").coef_.round(6).tolist()
    [2.0]
    """
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise ParameterError(
            f"th.to_device moves a fitted estimator, but model is {model!r:.80}. Pass an estimator "
            "after its fit, such as th.PCA().fit(X)."
        )
    names = getattr(type(model), "_device_arrays", ())
    if not names:
        raise CapabilityError(
            f"th.to_device: {type(model).__name__} holds NumPy arrays on the CPU and does not run "
            "on other devices. The support table of the documentation lists the models that do, "
            "such as LogisticRegression, PCA and KMeans."
        )
    check_is_fitted(model)
    place, moved = _place(device), copy(model)
    if place == "cpu":
        moved.__dict__.update({key: _on_host(value) for key, value in vars(model).items()})
    else:
        torch = optional_import("torch", extra="torch", purpose="th.to_device")
        held = {key: vars(model)[key] for key in names if vars(model).get(key) is not None}
        moved.__dict__.update({key: _on_device(value, torch, place) for key, value in held.items()})
    if hasattr(moved, "_arrange_rows"):
        moved._arrange_rows(place)
    return moved


def _place(device: Any) -> str:
    """The name of a device that can hold arrays here."""
    is_named = isinstance(device, str) or type(device).__module__ == "torch"
    if is_named and str(device) == "cpu":
        return "cpu"
    rule = (
        "th.to_device: device must be 'cpu' for NumPy arrays, or the name of a device of torch "
        f"such as 'cuda' or 'cuda:1', but it is {device!r:.80}."
    )
    if not is_named:
        raise ParameterError(f"{rule} Use 'cpu', for example.")
    torch = optional_import("torch", extra="torch", purpose="th.to_device")
    try:
        kind = torch.device(str(device)).type
    except RuntimeError as failure:
        raise ParameterError(f"{rule} Use 'cpu', for example.") from failure
    if kind == "meta":
        raise CapabilityError(
            f"th.to_device: device={str(device)!r} holds shapes and no values, so the fitted "
            "arrays would be lost. Use 'cpu', or a device that holds values, such as 'cuda'."
        )
    try:
        torch.empty(0, device=str(device))
    except (RuntimeError, AssertionError, ImportError) as failure:
        reason = (str(failure).splitlines() or [type(failure).__name__])[0].rstrip(".")
        raise CapabilityError(
            f"th.to_device: device={str(device)!r} is not available on this machine: "
            f"{reason:.160}. Use 'cpu', or a device that torch finds here."
        ) from failure
    return str(device)


def _on_host(value: Any) -> Any:
    if not is_device_array(value):
        return value
    found = np.ascontiguousarray(to_host(value)).reshape(tuple(value.shape))
    return found[()] if found.ndim == 0 else found


def _on_device(value: Any, torch: Any, place: str) -> Any:
    if is_device_array(value):
        return value.to(place)
    return torch.asarray(np.asarray(value), device=place)
