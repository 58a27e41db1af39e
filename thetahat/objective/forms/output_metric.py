"""A metric for risks with several outputs, in which their curvature is about the same everywhere.

The Hessian of a multinomial likelihood is Σ wᵢ xᵢxᵢᵀ ⊗ (diag pᵢ − pᵢpᵢᵀ), one block of d × d for
each pair of outputs. The matrix G = Σ wᵢ xᵢxᵢᵀ/(kΣw) + λI has the scale and the correlations of the
columns of X, which are what makes gradient steps slow, at the cost of a single block.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.residual.squared import Squared
from thetahat.mathematics.penalties.norms import L2
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import hessian_sums

MOST_COLUMNS = 100
"""Columns up to which their Gram matrix costs less than the steps that it saves."""
LIFT = 1e-10
"""Added to the unit diagonal of G, so that repeated columns have a metric too."""


def has_output_metric(risk: Any) -> str | None:
    """A condition for `requires`: several outputs of few dense columns in memory, and L2."""
    if type(risk.predictor) is not LinearPredictor or not risk.predictor.n_outputs:
        return "a linear predictor with several outputs"
    source = risk.source
    if not isinstance(source, InMemory) or source.is_sparse or source.n_features > MOST_COLUMNS:
        return f"dense rows in memory with at most {MOST_COLUMNS} columns"
    return None if isinstance(risk.penalty, L2) else "an L2 penalty"


def output_metric(risk: Any) -> Array:
    """M with M·Mᵀ = G⁻¹, of the size of X's columns and the intercept. Cost: O(n d² + d³)."""
    one = replace(risk.predictor, n_outputs=0)
    gram = risk.source.reduce(hessian_sums, one, Squared(), one.zeros()).means()[0]
    gram = gram / risk.predictor.n_outputs
    size = one.n_features
    gram[range(size), range(size)] += risk.penalty.alpha
    scale = np.sqrt(np.diagonal(gram))
    scale = np.where(scale > 0, scale, 1.0)
    unit = gram / scale / scale[:, None]
    np.einsum("ii->i", unit)[:] += LIFT
    with one_blas_thread():
        return np.linalg.inv(np.linalg.cholesky(unit)).T / scale[:, None]
