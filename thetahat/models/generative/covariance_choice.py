"""Covariances of classes: shrunk, or from another estimator.

Σ(ρ) = (1 − ρ)Σ̂ + ρ·(tr Σ̂/d)·I; "auto" chooses ρ for every class by Ledoit and Wolf's formula, from
the rows with their columns scaled to unit variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.summaries.class_moments import ClassMoments, codes_of
from thetahat.estimator.parameters import Range
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.covariance_shrinkage import ledoit_wolf_intensity, shrunk
from thetahat.models.generative.class_model import dense_float64
from thetahat.models.generative.gaussian import spread_of

ASYMMETRY = 1e-8
"""Largest relative difference that counts as rounding."""

covariance_estimators = Range(
    lambda value: value is None or (hasattr(value, "fit") and not isinstance(value, type)),
    "an instance of an estimator with fit and covariance_, such as th.OAS() with parentheses, or "
    "None",
)


def require_one_choice(model: Any) -> None:
    """Refuse a covariance estimator beside shrinkage or diagonal covariances."""
    who = type(model).__name__
    if model.covariance_estimator is not None:
        if model.shrinkage not in (None, 0):
            raise ParameterError(
                f"{who}: covariance_estimator and shrinkage parameters are not None. Only one of "
                "the two can be set."
            )
        if model.covariance == "diagonal":
            raise ParameterError(
                f'{who}: covariance_estimator cannot be combined with covariance="diagonal". Leave '
                "one of them at its default."
            )
    if model.covariance == "diagonal" and model.shrinkage == "auto":
        raise ParameterError(
            f'{who}: shrinkage="auto" chooses the shrinkage of full covariances. Give a number '
            'with covariance="diagonal".'
        )


def shrunk_variances(variance: Array, shrinkage: float | None) -> Array:
    """The diagonal of Σ(ρ), for one vector or one per row."""
    if not shrinkage:
        return variance
    return (1.0 - shrinkage) * variance + shrinkage * variance.mean(axis=-1, keepdims=True)


def shared_variances(moments: ClassMoments, shares: Array) -> Array:
    """The variances of the columns within the classes, weighted by the shares of the classes."""
    variations = moments.variations * moments.unit**2
    if variations.ndim == 1:  # of all classes together, which are weighted by their rows
        return variations / moments.weight.sum()
    return (shares / np.where(moments.weight > 0, moments.weight, 1.0)) @ variations


def class_covariances(model: Any, moments: ClassMoments, source: Source) -> Callable[[int], Array]:
    """A function that gives the covariance of a class: shrunk, or from the given estimator."""
    d = len(moments.unit)
    if model.covariance_estimator is not None:
        return _estimated(model, source)
    fourth = _fourth_moments(moments, source) if model.shrinkage == "auto" else None

    def covariance(code: int) -> Array:
        scatter = moments.scatter[code]
        if scatter is None or moments.weight[code] == 0:
            return np.zeros((d, d))
        found = scatter * moments.unit * moments.unit[:, None] / moments.weight[code]
        if fourth is not None:
            spread = spread_of(np.diagonal(found))
            found /= spread
            found /= spread[:, None]
            intensity = ledoit_wolf_intensity(found, fourth[code], float(moments.weight[code]))
            return shrunk(found, intensity) * spread * spread[:, None]
        return shrunk(found, model.shrinkage) if model.shrinkage else found

    return covariance


def _estimated(model: Any, source: Source) -> Callable[[int], Array]:
    who = type(model).__name__
    if not isinstance(source, InMemory):
        raise CapabilityError(
            f"{who}: covariance_estimator needs the rows in memory, but these are read block by "
            "block. Load them with X, y, sample_weight = source.arrays(), or use shrinkage."
        )
    weight, name = source.weight, type(model.covariance_estimator).__name__
    if weight is not None and not has_fit_parameter(model.covariance_estimator, "sample_weight"):
        raise CapabilityError(
            f"{who}: covariance_estimator cannot be combined with sample_weight here, because "
            f"{name}.fit takes no sample_weight. Use an estimator that takes weights, such as "
            "th.LedoitWolf(), or use shrinkage, or leave out the weights."
        )
    codes = codes_of(source.whole)

    def covariance(code: int) -> Array:
        estimator = clone(model.covariance_estimator, safe=False)
        rows, given = np.flatnonzero(codes == code), {}
        if weight is not None:
            rows = rows[weight[rows] > 0]
            given = {"sample_weight": weight[rows]}
        if not rows.size:
            return np.zeros((source.n_features, source.n_features))
        estimator.fit(dense_float64(source.X[rows]), **given)
        if not hasattr(estimator, "covariance_"):
            raise ParameterError(f"{who}: {name} does not have a covariance_ attribute.")
        label = model.classes_.tolist()[code]
        return _checked(estimator.covariance_, source.n_features, f"{who}: {name}", label)

    return covariance


def _checked(given: Any, d: int, who: str, label: Any) -> Array:
    """The covariance of a class; an error unless it is finite, symmetric and semi-definite."""
    found = numbers(given, "covariance_", who, finite=None)
    rule = "covariance_ must be a finite, symmetric, positive semi-definite matrix"
    remedy = "Use an estimator such as th.LedoitWolf() or th.OAS()."
    if found.shape != (d, d):
        raise ParameterError(
            f"{who}: {rule} of shape ({d}, {d}), but for class {label!r} it has shape "
            f"{found.shape}. {remedy}"
        )
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        raise ParameterError(
            f"{who}: {rule}, but for class {label!r} covariance_[{row}, {column}] is "
            f"{found[row, column]:g}. {remedy}"
        )
    gap = np.abs(found - found.T)
    if gap.max() > ASYMMETRY * np.abs(found).max():
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ParameterError(
            f"{who}: {rule}, but for class {label!r} covariance_[{row}, {column}] is "
            f"{found[row, column]:g} and covariance_[{column}, {row}] is "
            f"{found[column, row]:g}. {remedy}"
        )
    spread = spread_of(np.diagonal(found))
    least = float(np.linalg.eigvalsh(found / spread / spread[:, None])[0])
    if least < -ASYMMETRY * d or np.diagonal(found).min() < 0:
        raise ParameterError(
            f"{who}: {rule}, but for class {label!r} the matrix with its columns scaled to unit "
            f"variance has the eigenvalue {least:.3g}. {remedy}"
        )
    return found


@dataclass(frozen=True)
class _Fourth:
    """Σ w‖z‖⁴ of every class."""

    total: Array

    def merge(self, other: _Fourth) -> _Fourth:
        return _Fourth(self.total + other.total)


def _fourth_moments(moments: ClassMoments, source: Source) -> Array:
    """Σ w‖z‖⁴ of every class, for rows z with mean 0 and unit variances. Cost: one pass."""
    weight = np.where(moments.weight > 0, moments.weight, 1.0)[:, None]
    spread = spread_of(moments.variations / weight) * moments.unit
    return source.reduce(_fourth_of_block, moments.means, spread).total


def _fourth_of_block(block: Block, means: Array, spread: Array) -> _Fourth:
    codes = codes_of(block)
    rows = (dense_float64(block.X) - means[codes]) / spread[codes]
    square = np.einsum("ij,ij->i", rows, rows) ** 2
    return _Fourth(np.bincount(codes, square * block.row_weights, minlength=len(means)))
