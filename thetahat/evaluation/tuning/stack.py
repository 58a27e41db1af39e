"""A stack of tuned models, whose weights come from predictions for rows that they had not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.stacking import Stacking
from thetahat.models.ensemble.combination.stacking_classifier import StackingClassifier
from thetahat.models.ensemble.combination.stacking_regressor import StackingRegressor
from thetahat.models.linear.generalized.logistic_regression import LogisticRegression
from thetahat.models.linear.least_squares.linear_regression import LinearRegression

NAME = "stack of the best"
MOST_MEMBERS = 4


def stacked(
    members: Mapping[str, Any],
    outputs: Mapping[str, Array],
    X: Any,
    y: Array,
    *,
    classifier: bool,
    weights: Array | None = None,
) -> Stacking:
    """Combine fitted members; `outputs` are their out-of-fold outputs for the rows X.

    Classes are combined by logistic regression of the probabilities, numbers by least squares with
    weights that are not negative. `weights` are row weights of this fit.
    """
    pairs = list(members.items())
    given = [outputs[name] for name in members]
    stack: Stacking = (
        StackingClassifier(pairs, LogisticRegression(), cv="prefit")
        if classifier
        else StackingRegressor(pairs, LinearRegression(positive=True), cv="prefit")
    )
    stack._fit_to_outputs(X, y, given, weights)
    return stack


def best_members(scores: Mapping[str, float], outputs: Mapping[str, Array]) -> list[str]:
    """The members of a stack: the best models whose out-of-fold outputs are known and differ."""
    ranked = sorted(
        (name for name in outputs if np.isfinite(scores[name])), key=lambda name: -scores[name]
    )
    varied = [name for name in ranked if np.ptp(outputs[name], axis=0).max() > 0]
    return varied[:MOST_MEMBERS]
