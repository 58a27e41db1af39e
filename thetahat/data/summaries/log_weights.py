"""Σ log w over the rows of positive weight: part of the likelihood of rows of unequal noise.

With weights as precisions, yᵢ ~ N(zᵢ, σ²/wᵢ), so that the density of yᵢ contains √wᵢ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source


@dataclass(frozen=True)
class _LogWeights:
    total: float

    def merge(self, other: _LogWeights) -> _LogWeights:
        return _LogWeights(self.total + other.total)


def log_weights(source: Source) -> float:
    """Σ log w, 0 without weights. Cost: one pass over the weights."""
    return source.targets_only().reduce(_of_block).total if source.has_weight else 0.0


def _of_block(block: Block) -> _LogWeights:
    weight = np.asarray(to_host(block.row_weights), dtype=np.float64)
    return _LogWeights(float(np.log(weight[weight > 0]).sum()))
