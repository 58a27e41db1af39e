"""Rows held out of a stochastic fit, whose score decides when it stops."""

from __future__ import annotations

import math

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.errors import CapabilityError, DataError


def hold_out(
    source: Source, fraction: float, random: np.random.Generator, *, stratify: bool, who: str
) -> tuple[InMemory, InMemory]:
    """Split the rows of positive weight into training rows and held-out rows."""
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    if not isinstance(source, InMemory):
        raise CapabilityError(
            f"{who}: early_stopping=True needs the rows in memory, but these are read block by "
            "block. Use early_stopping=False."
        )
    there = np.arange(source.n_rows) if source.weight is None else np.flatnonzero(source.weight)
    y = np.asarray(source.y)[there]
    held = math.ceil(fraction * there.size)
    classes, sizes = np.unique(y, return_counts=True) if stratify else ([0], [2])
    if stratify and min(sizes) < 2:
        raise DataError(
            f"{who}: early_stopping=True needs two rows of each class, one to learn from and one "
            "to hold out, but a class has one row only. Add rows of this class, or set "
            "early_stopping=False."
        )
    if min(held, there.size - held) < len(classes):
        raise DataError(
            f"{who}: early_stopping with validation_fraction={fraction:g} "
            f"would hold out {held} of {there.size} {'row' if there.size == 1 else 'rows'}; both "
            f"parts need at least {'one row of each class' if stratify else 'one row'}. Change "
            "validation_fraction, add rows, or set early_stopping=False."
        )
    splitter = StratifiedShuffleSplit if stratify else ShuffleSplit
    seed = int(random.integers(np.iinfo(np.int32).max))
    split = splitter(1, test_size=fraction, random_state=seed)
    learned, held_out = next(split.split(np.zeros((there.size, 1)), y))
    return source.take(there[learned]), source.take(there[held_out])
