"""The loop of self-training: fit, accept the most confident predictions as labels, fit again.

k ← k ∪ {i ∉ k : maxₖ p(k | xᵢ) is large enough},   yᵢ ← argmaxₖ p(k | xᵢ)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.foundation.types import Array


@dataclass(frozen=True)
class Round:
    """A fitted classifier, and the labels after its confident predictions were accepted."""

    model: Any
    labels: Array
    since: Array
    """Iteration in which each row was labelled: 0 if it had a label, −1 if it has none."""
    number: int
    stopped: str
    """Reason why the loop ends; "" if it continues."""


def rounds(
    learn: Callable[[Array, Array], Any],
    probabilities: Callable[[Any, Array], Array],
    choose: Callable[[Array], Array],
    labels: Array,
    known: Array,
    most: int | None,
) -> Iterator[Round]:
    """Iterate until every row has a label, no prediction is confident enough, or `most` iterations.

    ``learn(rows, labels)`` fits a classifier, ``choose(p)`` selects from the largest probabilities.
    """
    labels, known = labels.copy(), known.copy()
    since = np.where(known, 0, -1)
    number = 0
    while True:
        rows = np.flatnonzero(known)
        model = learn(rows, labels[rows])
        stopped = "all_labeled" if known.all() else "max_iter" if number == most else ""
        if not stopped:
            number += 1
            unknown = np.flatnonzero(~known)
            p = probabilities(model, unknown)
            chosen = choose(p.max(axis=1))
            if chosen.size == 0:
                stopped = "max_iter" if number == most else "no_change"
            rows = unknown[chosen]
            labels[rows] = model.classes_[p[chosen].argmax(axis=1)]
            known[rows], since[rows] = True, number
        yield Round(model, labels.copy(), since.copy(), number, stopped)
        if stopped:
            return
