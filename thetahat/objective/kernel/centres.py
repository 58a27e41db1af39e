"""Which rows become the centres of Nyström's approximation: at random, far apart, or by leverage.

Uniform draws suit rows of one cloud. If small groups of rows lie apart from the others, uniform
draws miss them, and two other rules find them:

- "kmeans++" draws each centre with a chance in proportion to the squared distance of a row from the
  centres before it, in the feature space of the kernel: k(x, x) + k(z, z) − 2k(x, z).
- "leverage" draws rows in proportion to their ridge leverage scores for the penalty 1/m, which are
  estimated from a uniform draw J: ℓ(x) ∝ k(x, x) − k_J(x)ᵀ(K_JJ + κI)⁻¹k_J(x), with κ the mean of
  k(x, x) over J. Rows that are far from the span of the others have large scores.

Both look at a random sample of `ROWS_PER_CENTRE` rows for each centre, and at least `FEWEST_ROWS`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.linalg.tiled_cholesky import cholesky_in_place
from thetahat.objective.kernel.features import KernelFeatures, gram_of, not_a_kernel
from thetahat.objective.predictor import in_double

RULES = ("uniform", "kmeans++", "leverage")
ROWS_PER_CENTRE = 20
FEWEST_ROWS = 10_000
LARGEST_PILOT = 1000
"""Rows from which leverage scores are estimated, at most."""
SLICE = 4096
"""Rows whose scores are computed at once."""


def sample_of_rows(
    source: Source, m: int, rule: str, random: np.random.Generator
) -> tuple[Array, Matrix, Array | None]:
    """Numbers, values and weights of the rows of a source among which `choose_centres` chooses.

    They are those that it would draw itself from the rows of positive weight of the whole matrix.
    Cost: one pass over the rows, and one over their weights if there are any.
    """
    weight = source.targets_only().map_rows(_weights_of_block) if source.has_weight else None
    which = np.arange(source.n_rows) if weight is None else np.flatnonzero(weight > 0)
    enough = m if rule == "uniform" else max(ROWS_PER_CENTRE * m, FEWEST_ROWS)
    if enough < len(which):
        which = np.sort(random.choice(which, size=enough, replace=False))
    parts: list[Matrix] = list(source.map_blocks(partial(_those_of_block, which=which)))
    if any(hasattr(part, "tocsr") for part in parts):
        import scipy.sparse

        rows = scipy.sparse.vstack(parts, format="csr")
    else:
        rows = np.concatenate(parts)
    return which, rows, None if weight is None else weight[which]


def _weights_of_block(block: Block) -> Array:
    return block.row_weights


def _those_of_block(block: Block, which: Array) -> Matrix:
    first, last = np.searchsorted(which, (block.start, block.start + block.n_rows))
    return block.X[which[first:last] - block.start]


def choose_centres(
    kernel: Kernel,
    X: Matrix,
    used: Array,
    weight: Array | None,
    m: int,
    rule: str,
    random: np.random.Generator,
) -> Array:
    """The numbers of m of the used rows of X, in increasing order; fewer if others are equal.

    Cost: O(m) for uniform draws, O(m² d) for "kmeans++" and O(m³ + m² d) for "leverage".
    """
    if m >= len(used):
        return used
    if rule == "uniform":
        return np.sort(random.choice(used, size=m, replace=False))
    X = in_double(X)
    sample = used
    enough = max(ROWS_PER_CENTRE * m, FEWEST_ROWS)
    if len(used) > enough:
        sample = np.sort(random.choice(used, size=enough, replace=False))
    share = np.ones(len(sample)) if weight is None else weight[sample] / weight[sample].max()
    if rule == "kmeans++":
        return sample[_far_apart(kernel, X, sample, share, m, random)]
    chance = share * _leverage(kernel, X, sample, min(m, LARGEST_PILOT), random)
    size = min(m, int(np.count_nonzero(chance)))
    return np.sort(random.choice(sample, size=size, replace=False, p=chance / chance.sum()))


def _far_apart(
    kernel: Kernel, X: Matrix, sample: Array, share: Array, m: int, random: np.random.Generator
) -> Array:
    """Places in the sample, each drawn by its squared distance from those before it."""
    rows, size = X[sample], _diagonal(kernel, X, sample)
    chosen: list[int] = []
    nearest = np.full(len(sample), np.inf)
    chance = share
    with one_blas_thread():
        for _ in range(m):
            limits = np.cumsum(chance)
            if not limits[-1] > 0:  # every other row equals a centre
                break
            place = int(np.searchsorted(limits, random.random() * limits[-1], side="right"))
            chosen.append(min(place, len(sample) - 1))
            centre = kernel.rows(X, sample[chosen[-1:]])
            away = size + size[chosen[-1]] - 2.0 * kernel.block(rows, centre)[:, 0]
            nearest = np.minimum(nearest, away)
            # Differences at the level of rounding mean equal rows.
            equal = nearest <= 1e-14 * (size + size[chosen[-1]])
            nearest[equal] = 0.0
            nearest[chosen[-1]] = 0.0
            chance = share * nearest
    return np.unique(chosen)


def _leverage(
    kernel: Kernel, X: Matrix, sample: Array, pilot: int, random: np.random.Generator
) -> Array:
    """Scores in proportion to the ridge leverage of the rows of the sample."""
    drawn = np.sort(random.choice(sample, size=pilot, replace=False))
    K = gram_of(kernel, X, drawn)
    L = np.array(K)
    diagonal = np.einsum("ii->i", L)
    diagonal += float(diagonal.mean())
    if not cholesky_in_place(L):
        raise not_a_kernel(kernel, K)
    explained = KernelFeatures(kernel, kernel.rows(X, drawn), drawn, np.tril(L))
    scores = _diagonal(kernel, X, sample)
    for start in range(0, len(sample), SLICE):
        part = slice(start, start + SLICE)
        scores[part] -= (explained(X[sample[part]]) ** 2).sum(axis=1)
    return np.maximum(scores, 0.0)


def _diagonal(kernel: Kernel, X: Matrix, which: Array) -> Array:
    """k(x, x) of some rows, as a new array."""
    if type(kernel).rows is not Kernel.rows:  # X is the matrix itself
        return np.array(kernel.diagonal(X))[which]
    return np.array(kernel.diagonal(X[which]))
