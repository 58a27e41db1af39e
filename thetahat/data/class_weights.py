"""Class weights: the weight of each row is multiplied by the weight of its class.

"balanced" gives class c the weight W / (C·W_c), where W_c is the total weight of its rows, so that
all classes have the same total weight. Row weights are included in W_c.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.counts import counts
from thetahat.data.views import reweighted
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array

LARGEST = 1e100
"""Largest weight of a class, so that products with row weights do not overflow."""


def class_weighted(source: Source, classes: Array, class_weight: Any, who: str) -> Source:
    """A source whose row weights are multiplied by the weights of their classes."""
    if class_weight is None:
        return source
    return times_class(source, weights_of_classes(source, classes, class_weight, who), who)


def times_class(source: Source, of_class: Array, who: str) -> Source:
    """A source whose row weights are multiplied by the weight of the row's class code."""
    require_counted_class(source, of_class, who)

    def factor(block: Block) -> Array:
        return of_class[to_host(block.y).astype(np.intp)]

    return reweighted(source, factor)


def require_counted_class(source: Source, of_class: Array, who: str) -> None:
    """Raise an error if no row would have a positive weight; of blocks only if no class has one."""
    counted = bool(of_class.any())
    if counted and isinstance(source, InMemory) and not of_class.all():
        codes = to_host(source.y).astype(np.intp)
        weight = 1.0 if source.weight is None else to_host(source.weight)
        counted = bool((of_class[codes] * weight).any())
    require_counted_row(counted, who)


def require_counted_row(counted: bool, who: str) -> None:
    """Raise an error unless some row has a positive weight after the weights of the classes."""
    if not counted:
        raise ParameterError(
            f"{who}: class_weight gives every row of positive sample weight the weight 0. Give a "
            "positive weight to at least one class with such rows."
        )


def weights_of_classes(source: Source, classes: Array, class_weight: Any, who: str) -> Array:
    """The weight of each class, in the order of `classes`."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        found = counts(source)
        weights = np.ones(len(classes))
        share = found.weights * len(classes)
        weights[found.values.astype(np.intp)] = found.weights.sum() / share
        return weights
    if not isinstance(class_weight, Mapping):
        raise ParameterError(
            f"{who}: class_weight={class_weight!r} must be None, 'balanced', or a dictionary of "
            "labels to weights ≥ 0."
        )
    known = classes.tolist()
    # A label that y lacks is a typing error if a class of y lacks a weight; otherwise these may be
    # the rows of a fold without that class.
    complete = all(label in class_weight for label in known)
    for label, weight in class_weight.items():
        if label not in known and not complete:
            raise ParameterError(
                f"{who}: class_weight contains {label!r}, which is not a class of y: "
                f"{', '.join(map(repr, known[:10]))}. Correct it, or give a weight for every class "
                "of y."
            )
        if not isinstance(weight, Real) or not 0 <= float(weight) <= LARGEST:
            raise ParameterError(
                f"{who}: class_weight[{label!r}]={weight!r} must be a number from 0 to "
                f"{LARGEST:g}. Use 0 to leave out the rows of this class, or 1."
            )
    return np.array([float(class_weight.get(label, 1.0)) for label in known])
