"""The loss that remains if every row has its best output: what a deviance leaves out."""

from __future__ import annotations

from functools import partial

import numpy as np

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.mathematics.losses.base import Deviance, Loss


def mean_saturated_loss(source: Source, loss: Loss) -> float:
    """(Σ wᵢ min_z ℓ(yᵢ, z))/(Σ wᵢ) of a `Deviance`, 0 of other losses. Cost: a pass over y.

    Without it, the mean loss is half the mean deviance, 0 for perfect predictions.
    """
    each = loss.one_output()
    if not isinstance(each, Deviance):
        return 0.0
    total = mass = 0.0
    for part, weight in source.map_blocks(partial(_sums, loss=each)):
        total, mass = total + part, mass + weight
    return total / mass


def _sums(block: Block, loss: Deviance) -> tuple[float, float]:
    values = loss.saturated(np.asarray(to_host(block.targets), dtype=np.float64))
    values = values.reshape(block.n_rows, -1).sum(axis=1)
    if block.weight is None:
        return float(values.sum()), float(block.n_rows)
    weight = np.asarray(to_host(block.weight), dtype=np.float64)
    return float(weight @ values), float(weight.sum())
