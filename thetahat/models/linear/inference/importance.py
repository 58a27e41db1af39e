"""Covariance of a classifier whose classes have weights.

Weights c_y of the classes change what a row contributes to the objective, but not how many rows
there are. So with z = xᵀθ, g_y = ∂ℓ(y, z)/∂z and H = Σ s c_y ∇²ℓ, the covariance of θ̂ is not H⁻¹,
but

    H⁻¹ (Σ s Σ_y q_y c_y² (x ⊗ g_y)(x ⊗ g_y)ᵀ) H⁻¹,      q_y ∝ p_y/c_y,

with the row weights s, which count rows. The fitted probabilities p_y are those of weighted
classes, q_y those of the data. With equal weights of 1 this is H⁻¹.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.families import Family
from thetahat.mathematics.losses.links import softmax
from thetahat.objective.predictor import LinearPredictor


def are_importances(class_weights: Array | None) -> bool:
    """Whether the classes have weights other than 1."""
    return class_weights is not None and not bool((np.asarray(class_weights) == 1.0).all())


def inverse_weights(class_weights: Array) -> Array:
    """1/c for each class, 0 for classes without weight."""
    return np.divide(1.0, class_weights, out=np.zeros(len(class_weights)), where=class_weights > 0)


def sandwich_root(
    source: Source,
    predictor: LinearPredictor,
    loss: Any,
    family: Family,
    theta: Array,
    factor: Array,
    class_weights: Array,
) -> Array:
    """R with RᵀR the covariance, from F with FᵀF = H⁻¹. Cost: O(n p²) for each class.

    The rows are first transformed by F, so that H becomes the identity.
    """
    params = (predictor, loss, family, theta, factor, class_weights)
    middle = source.reduce(_meat, *params).total
    with one_blas_thread():
        values, vectors = np.linalg.eigh(middle)
        return (np.sqrt(np.maximum(values, 0.0)) * vectors).T @ factor


@dataclass(frozen=True)
class _Meat:
    total: Array

    def merge(self, other: _Meat) -> _Meat:
        return _Meat(self.total + other.total)


def _meat(
    block: Block,
    predictor: LinearPredictor,
    loss: Any,
    family: Family,
    theta: Array,
    factor: Array,
    class_weights: Array,
) -> _Meat:
    design = np.asarray(predictor.design(dense_rows(block)), dtype=np.float64)
    z = np.asarray(predictor.raw(block.X, theta), dtype=np.float64)
    codes, per_weight = np.asarray(block.y).astype(np.intp), inverse_weights(class_weights)
    count = np.asarray(block.row_weights, dtype=np.float64) * per_weight[codes]
    scores = loss.all_scores(z) if z.ndim == 2 else np.column_stack([np.zeros(len(z)), z])
    chance = softmax(scores) * per_weight
    chance /= chance.sum(axis=1, keepdims=True)
    total = np.zeros((len(factor), len(factor)))
    for code, weight in enumerate(class_weights):
        slope = np.asarray(loss.gradient(np.full(len(z), float(code)), z)).reshape(len(z), -1)
        slope = slope[:, 1:] if family.symmetric else slope
        slope = slope * (weight * np.sqrt(count * chance[:, code]))[:, None]
        rows = (design[:, :, None] * slope[:, None, :]).reshape(len(z), -1) @ factor.T
        total += rows.T @ rows
    return _Meat(total)
