"""A risk with a piecewise linear loss, in the form that linear programming needs.

The rows are not copied: the form holds functions for products with them, each a reduction over the
source, and the kinks, one per row and bend. If the columns are nearly collinear and no penalty
depends on them, they are replaced by an orthogonal basis of their span.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from thetahat.data.chosen_rows import chosen_rows
from thetahat.data.source import Block, Source
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.losses.base import PiecewiseLinear
from thetahat.mathematics.optimizers.programs.piecewise_linear import PiecewiseLinearSum
from thetahat.mathematics.penalties.coordinatewise import Coordinatewise
from thetahat.objective.conditioning import Conditioning
from thetahat.objective.orthogonal_columns import orthogonal_columns
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.sums import Sums


def piecewise_linear_form(
    predictor: LinearPredictor, loss: PiecewiseLinear, penalty: Coordinatewise, source: Source
) -> PiecewiseLinearSum:
    """The mean loss and its penalty as a piecewise linear sum."""
    y, weight = _targets_and_weights(source)
    near = Conditioning.near(source, predictor)
    source, origin, basis = near.source, near.centre, None
    bends = loss.bends(y)
    terms = penalty.kernel_terms(predictor.n_features)
    if not (np.any(terms.l1) or np.any(terms.l2)):
        found = orthogonal_columns(source, centred=predictor.fit_intercept)
        if found is not None:
            source, basis = found.source, (found.forward, found.back)
            predictor = replace(predictor, n_features=source.n_features)
            terms = penalty.kernel_terms(source.n_features)
            if predictor.fit_intercept:
                origin = found.centre if origin is None else origin + found.centre

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
        origin=origin,
        basis=basis,
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
