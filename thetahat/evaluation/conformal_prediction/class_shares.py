"""Shares of the classes, from probabilities or decision values."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.types import Array


def class_shares(model: Any, X: Any) -> Array:
    """A share of every class that adds up to 1: of decision values where a model has them."""
    by_decision = hasattr(model, "decision_function")
    found = model.decision_function(X) if by_decision else model.predict_proba(X)
    return shares_of(np.asarray(found, dtype=np.float64), by_decision)


def shares_of(certainty: Array, by_decision: bool) -> Array:
    """Shares from decision values, or from probabilities."""
    if not by_decision:
        return certainty
    if certainty.ndim == 1:
        certainty = np.column_stack([np.zeros(len(certainty)), certainty])
    raised = np.exp(certainty - certainty.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)
