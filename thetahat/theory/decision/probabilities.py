"""Checks of probabilities, and labels for classes that are given without names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from thetahat.data.columns.labels import LabelEncoding
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array

SUM_TOLERANCE = {"d": 1e-6, "f": 1e-4}
"""Largest distance from 1 of a sum of probabilities, in double and in single precision."""


def as_probabilities(value: Any, name: str, who: str, *, whole: bool = False) -> Array:
    """Numbers ≥ 0 that sum to 1 along the last axis, or as a whole."""
    single = getattr(value, "dtype", None) == np.float32
    found = numbers(value, name, who)
    if found.ndim == 0 or found.shape[-1] == 0 or (whole and not found.size):
        raise DataError(f"{who}: {name} has shape {found.shape}; give at least one probability.")
    if (found < 0).any():
        place = tuple(int(i) for i in np.argwhere(found < 0)[0])
        raise DataError(
            f"{who}: {name}[{', '.join(map(str, place))}] = {found[place]:g}; probabilities must "
            "be ≥ 0."
        )
    sums = np.atleast_1d(found.sum() if whole else found.sum(axis=-1))
    wrong = np.abs(sums - 1.0) > SUM_TOLERANCE["f" if single else "d"]
    if wrong.any():
        row = "" if sums.size == 1 else f"row {int(wrong.ravel().argmax())} of "
        raise DataError(
            f"{who}: the probabilities in {row}{name} sum to {sums[wrong][0]:g}, but they must sum "
            "to 1. Divide them by their sum."
        )
    return found


def as_log_likelihood(value: Any, who: str, *, n_classes: int | None = None) -> Array:
    """Logarithms of likelihoods with one column per class: numbers or −inf, not all −inf."""
    found = numbers(value, "log_likelihood", who, finite=False)
    if found.ndim == 0 or found.shape[-1] == 0:
        raise DataError(
            f"{who}: log_likelihood has shape {found.shape}; give one column for each class."
        )
    if n_classes is not None and found.shape[-1] != n_classes:
        raise DataError(
            f"{who}: log_likelihood has {found.shape[-1]} columns, but there are {n_classes} "
            "classes. Give one column for each class."
        )
    if (found == np.inf).any():
        raise DataError(f"{who}: log_likelihood contains inf. Likelihoods must be finite.")
    return found


def as_classes(classes: Any, n_classes: int, who: str) -> Array:
    """The labels of the classes; 0, 1, ... where none are given."""
    if classes is None:
        return np.arange(n_classes)
    labels = LabelEncoding(classes).classes
    if labels.size != n_classes:
        raise ParameterError(
            f"{who}: classes has {labels.size} labels, but there are {n_classes} columns of "
            "probabilities. Give one label for each column, such as classes=model.classes_."
        )
    return labels


def as_dict(given: Any, name: str, who: str) -> dict[Any, Any]:
    """A mapping as a dict; refuses anything else."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"{who}: {name}={given!r:.60} must be a dict, such as {{'yes': 0.3, 'no': 0.7}} for "
            "probabilities or {'name': 'value'} for known values."
        )
    return dict(given)
