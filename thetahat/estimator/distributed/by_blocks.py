"""Predictions for a source by a model that needs rows in memory: one block after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.on_disk.model_rows import accepted, rows_of_block
from thetahat.data.source import Source
from thetahat.data.validation import is_sparse


def is_read_by_blocks(model: Any, X: Any) -> bool:
    """Whether X is read block by block, but the model does not do so itself."""
    return isinstance(X, Source) and not isinstance(X, InMemory) and not model._streams


def by_blocks(method: Callable[..., Any], model: Any, source: Any) -> Any:
    """The results of a method with one result per row, for all blocks. Memory: a few blocks."""
    source = accepted(model, source)
    found = [method(model, rows_of_block(block, source)) for block in source.blocks()]
    if is_sparse(found[0]):
        from scipy.sparse import vstack

        return vstack(found, format="csr")
    return np.concatenate(found)
