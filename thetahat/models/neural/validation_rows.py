"""The held-out rows of a network, whose score decides when the training stops."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.foundation.errors import DataError
from thetahat.models.neural.network_model import Head
from thetahat.objective.stochastic.held_out import hold_out


def validation_rows(
    model: Any, source: Source, random: np.random.Generator, head: Head
) -> tuple[InMemory, InMemory]:
    """Rows to train on, and held-out rows: in proportion to the classes where that is possible.

    More than two classes can be too rare for that, and are then drawn together.
    """
    share, who = float(model.validation_fraction), type(model).__name__
    try:
        rows, held = hold_out(source, share, random, stratify=head.stratify, who=who)
    except DataError:
        if not head.stratify or head.n_outputs < 3:
            raise
        rows, held = hold_out(source, share, random, stratify=False, who=who)
    if held.n_rows < 2:
        raise DataError(
            f"{who}: The validation set is too small: {held.n_rows} of {source.n_rows} rows with "
            f"validation_fraction={share:g}, but a score needs at least 2. Increase "
            "'validation_fraction' or the size of your dataset."
        )
    return rows, held
