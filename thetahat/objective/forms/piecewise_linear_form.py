"""A risk with a piecewise linear loss, in the form that linear programming needs.

The rows are not copied: the form holds functions for products with them, each a reduction over the
source, and the kinks, one per row and bend.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from thetahat.data.chosen_rows import chosen_rows
from thetahat.data.source import Block, Source
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.base import PiecewiseLinear
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.objective.conditioning import Conditioning
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import Sums


def piecewise_linear_form(
    predictor: LinearPredictor, loss: PiecewiseLinear, penalty: Coordinatewise, source: Source
) -> PiecewiseLinearSum:
    """The mean loss and its penalty as a piecewise linear sum."""
    y, weight = _targets_and_weights(source)
    near = Conditioning.near(source, predictor)
    source = near.source
    bends = loss.bends(y)
    terms = penalty.kernel_terms(predictor.n_features)

    def summed(of_rows: Callable[[Matrix, Array], Array], values: Array) -> Array:
        """The sum over the rows of a product with one value per row."""

        def of_block(block: Block) -> Sums:
            own = values[block.start : block.start + block.n_rows]
            return Sums(parts=(of_rows(block.X, own),))

        return source.reduce(of_block).parts[0]

    return PiecewiseLinearSum(
        product=lambda theta: source.map_rows(lambda block: predictor.raw(block.X, theta)),
        adjoint=partial(summed, predictor.pullback),
        gram=partial(summed, predictor.gram),
        rows=lambda indices: predictor.design(chosen_rows(source, indices).X),
        weight=weight / np.sum(weight),
        kinks=np.stack([np.asarray(bend.kink, dtype=np.float64) for bend in bends]),
        below=np.array([bend.below for bend in bends], dtype=np.float64),
        above=np.array([bend.above for bend in bends], dtype=np.float64),
        l1=predictor.pack(terms.l1, 0.0),
        l2=predictor.pack(terms.l2, 0.0),
        origin=near.centre,
    )


def best_level(predictor: LinearPredictor, loss: PiecewiseLinear, source: Source) -> Array:
    """θ of the best constant prediction: β = 0, and b the minimising quantile of y."""
    if not predictor.fit_intercept:
        return predictor.zeros()
    level = float(loss.best_constant(*_targets_and_weights(source)))
    return predictor.pack(np.zeros(predictor.n_features), level)


def _targets_and_weights(source: Source) -> tuple[Array, Array]:
    def both(block: Block) -> Array:
        assert block.y is not None
        return np.column_stack([block.y, block.row_weights])

    columns = source.map_rows(both)
    return np.ascontiguousarray(columns[:, 0]), np.ascontiguousarray(columns[:, 1])
