"""Rows held out of a fit, whose score decides when boosting stops."""

from __future__ import annotations

from math import ceil

import numpy as np

from thetahat.foundation.errors import DataError
from thetahat.models.ensemble.gradient_boosting.rounds import Rows


def hold_out(
    rows: Rows, fraction: float, seed: int, *, by_class: bool, who: str
) -> tuple[Rows, Rows]:
    """Training rows, and a fraction or a number of held-out rows; `by_class` draws of every class.

    Cost: O(n).
    """
    from sklearn.model_selection import train_test_split

    n = len(rows.y)
    held = int(fraction) if fraction >= 1 else ceil(fraction * n)
    sizes = np.unique(rows.y, return_counts=True)[1] if by_class else np.array([2])
    if min(held, n - held) < len(sizes) or sizes.min() < 2:
        few = ", but the smallest class has one row" if sizes.min() < 2 else ""
        raise DataError(
            f"{who}: early stopping with validation_fraction={fraction:g} would hold out {held} of "
            f"{n} rows, and both parts need at least one row{' of each class' * by_class}{few}. "
            "Change validation_fraction, add rows, or turn early stopping off."
        )
    fitted, validation = train_test_split(
        np.arange(n),
        test_size=fraction,
        random_state=np.random.RandomState(seed % (1 << 32)),
        stratify=rows.y if by_class else None,
    )
    return rows.take(np.sort(fitted)), rows.take(np.sort(validation))
