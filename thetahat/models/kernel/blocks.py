"""Nyström's features of rows that are read block by block.

One pass draws the centres, another one gives the bandwidth of a kernel that is given by name. The
features of all rows are kept if there is memory for them; otherwise they are computed again in
every pass of the solver.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from thetahat.data.columns.schema import Schema
from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source, joined
from thetahat.data.summaries.moments import moments
from thetahat.data.views import View
from thetahat.foundation.memory import available_memory
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.names import named
from thetahat.mathematics.kernels.stationary import Stationary
from thetahat.objective.kernel.centres import choose_centres, sample_of_rows
from thetahat.objective.kernel.features import KernelFeatures


def suited_to_blocks(kernel: str | Kernel, source: Source) -> Kernel:
    """As `suited`, for rows of a source. Cost: at most one pass, O(n d²)."""
    found = named(kernel)
    if isinstance(kernel, str) and isinstance(found, Stationary):
        variances = np.diagonal(moments(source).covariance())[: source.n_features]
        return found.with_bandwidth(float(variances.sum()) ** 0.5 or 1.0)
    return found


def features_of_blocks(
    kernel: Kernel, source: Source, m: int, rule: str, random: np.random.Generator
) -> tuple[KernelFeatures, Source]:
    """The features of m centres, and a source of the features of all rows."""
    require_squares_of_rows(source, who="KernelModel")
    numbers, rows, weight = sample_of_rows(source, m, rule, random)
    chosen = choose_centres(kernel, rows, np.arange(len(numbers)), weight, m, rule, random)
    found = KernelFeatures.of(kernel, rows, chosen)
    values = View.of(
        source,
        partial(_with_features, features=found),
        n_features=found.n_features,
        dtype=np.dtype(np.float64),
        schema=Schema(),
    )
    if 2 * 8 * source.n_rows * found.n_features < available_memory():
        values = loaded(values)
    return replace(found, which=numbers[found.which]), values


def loaded(source: Source) -> InMemory:
    """The rows of a source in memory."""
    whole = joined(list(source.blocks()))
    return InMemory(
        X=whole.X,
        y=whole.targets,
        weight=whole.weight,
        n_features=source.n_features,
        dtype=source.dtype,
        schema=source.schema,
    )


def _with_features(block: Block, features: KernelFeatures) -> Block:
    return replace(block, X=features(block.X), y=np.asarray(block.targets, dtype=np.float64))
