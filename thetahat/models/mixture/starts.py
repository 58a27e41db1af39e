"""Starting values of a Gaussian mixture, and the checks of those given by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.moments import dense_rows, means
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.models.mixture.components import (
    Components,
    covariances_of,
    maximised,
    pass_over,
)

SAMPLED_ROWS = 1 << 14
"""Number of rows among which starting means are drawn."""
LLOYD_STEPS = 30
"""Largest number of passes of the k-means start."""
SETTLED = 1e-4
"""Squared moves of the means, in units of their variance, at which the k-means start ends."""


@dataclass(frozen=True)
class Given:
    """Starting values of the user, checked; None where they are to be computed."""

    weights: Array | None = None
    means: Array | None = None
    root: Array | None = None

    @property
    def is_complete(self) -> bool:
        return self.weights is not None and self.means is not None and self.root is not None


def checked_start(model: Any, d: int) -> Given:
    """The starting values of the user; an error names what is wrong with them."""
    k, kind = model.n_components, model.covariance_type
    weights = _numbers(model, "weights", "weights", (k,))
    if weights is not None:
        if weights.min() < 0 or weights.max() > 1:
            raise ParameterError(
                "The parameter 'weights' should be in the range [0, 1], but got max value "
                f"{np.max(weights):.5f}, min value {np.min(weights):.5f}. Divide weights_init by "
                "its sum."
            )
        if abs(1.0 - weights.sum()) > 1e-6:
            raise ParameterError(
                "The parameter 'weights' should be normalized, but got sum(weights) = "
                f"{weights.sum():.5f}. Divide weights_init by its sum."
            )
    centres = _numbers(model, "means", "means", (k, d))
    shape = {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    name = f"{kind} precision"
    precisions = _numbers(model, "precisions", name, shape)
    root = None
    if precisions is not None:
        root = _root_of(kind, precisions, name)
    return Given(weights, centres, root)


def _numbers(model: Any, which: str, name: str, shape: tuple[int, ...]) -> Array | None:
    value = getattr(model, f"{which}_init")
    who = f"{type(model).__name__}: {which}_init"
    if value is None:
        return None
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{who} must be an array of numbers, or None.") from None
    if found.shape != shape:
        raise ParameterError(
            f"{who}: The parameter '{name}' should have the shape of {shape}, but got "
            f"{found.shape}."
        )
    if not np.isfinite(found).all():
        raise ParameterError(f"{who} must hold finite numbers.")
    return found


def _root_of(kind: str, precisions: Array, name: str) -> Array:
    """P with PPᵀ = Σ⁻¹, upper triangular."""
    if kind in ("diag", "spherical"):
        if not (precisions > 0).all():
            raise ParameterError(f"'{name}' should be positive. Check precisions_init.")
        return np.sqrt(precisions)
    square = precisions if precisions.ndim == 3 else precisions[None]
    size = np.abs(square).max(axis=(1, 2), keepdims=True)
    symmetric = (np.abs(square - np.swapaxes(square, 1, 2)) <= 1e-6 * size).all()
    try:
        # The lower factor of the matrix with rows and columns in reverse order is the upper one.
        with one_blas_thread():
            root = np.linalg.cholesky(square[:, ::-1, ::-1])[:, ::-1, ::-1]
    except np.linalg.LinAlgError:
        symmetric = False
    if not symmetric:
        raise ParameterError(
            f"'{name}' should be symmetric, positive-definite. Check precisions_init."
        )
    return np.ascontiguousarray(root if precisions.ndim == 3 else root[0])


def starting_components(
    source: Source,
    k: int,
    kind: str,
    rule: str,
    given: Given,
    labels: Array | None,
    reg_covar: float,
    rng: np.random.Generator,
) -> Components:
    """Components from the rule `init_params`, with the values of the user in their places."""
    if given.is_complete:
        found = None
    else:
        found = _estimated(source, k, kind, rule, labels, reg_covar, rng)
    weights = given.weights if given.weights is not None else found.weights  # type: ignore[union-attr]
    centres = given.means if given.means is not None else found.means  # type: ignore[union-attr]
    if given.root is not None:
        covariances = covariances_of(kind, given.root)
        return Components(kind, weights, centres, covariances, given.root)
    assert found is not None
    return Components(kind, weights, centres, found.covariances, found.root)


def _estimated(
    source: Source,
    k: int,
    kind: str,
    rule: str,
    labels: Array | None,
    reg_covar: float,
    rng: np.random.Generator,
) -> Components:
    middle = means(source).mean[: source.n_features]
    shares: Callable[[Block], Array]
    if rule == "random":
        centres = np.tile(middle, (k, 1))
        seed = int(rng.integers(2**63))

        def shares(block: Block) -> Array:
            found = np.random.default_rng([seed, block.start]).random((block.n_rows, k))
            if labels is not None:
                known = labels[block.start : block.start + block.n_rows]
                found[known >= 0] = np.eye(k)[known[known >= 0]]
            return found / found.sum(axis=1, keepdims=True)

    else:
        uniform = rule == "random_from_data"
        centres = draw_centres(source, k, labels, rng, uniform=uniform)
        if rule != "kmeans":
            return _narrow(kind, centres, reg_covar)
        centres = lloyd(source, centres, middle, labels)

        def shares(block: Block) -> Array:
            return _nearest(block, centres, middle, labels)

    sums = pass_over(source, _flat_terms(kind, centres), shares=shares)
    return maximised(kind, sums, centres, reg_covar)


def _flat_terms(kind: str, centres: Array) -> tuple[Array, Array, Array]:
    """Terms of a pass that only sums about the centres."""
    k, d = centres.shape
    rows = k * d if kind in ("full", "tied") else k
    return np.zeros(k), np.ascontiguousarray(centres), np.zeros((rows, d))


def _narrow(kind: str, centres: Array, reg_covar: float) -> Components:
    """Components of equal, small spherical covariance: rows go to the nearest mean first."""
    k, d = centres.shape
    apart = np.ptp(centres, axis=0).max() if k > 1 else 1.0
    size = max(reg_covar, 1e-8 * apart**2) or 1.0
    covariances = {
        "full": np.tile(size * np.eye(d), (k, 1, 1)),
        "tied": size * np.eye(d),
        "diag": np.full((k, d), size),
        "spherical": np.full(k, size),
    }[kind]
    return Components.of(kind, np.full(k, 1.0 / k), centres, covariances)


def draw_centres(
    source: Source, k: int, labels: Array | None, rng: np.random.Generator, *, uniform: bool
) -> Array:
    """Rows as starting means, drawn uniformly or far from each other (k-means++).

    Components with labelled rows start at the mean of these. Cost: O(n d) to read the rows, and
    O(m k d) for the draws among at most m = 16,384 of them.
    """
    points, weight = _sampled_rows(source, rng)
    origin = points.mean(axis=0)
    points = points - origin
    centres = np.full((k, points.shape[1]), np.nan)
    fixed = np.zeros(k, dtype=bool)
    if labels is not None and (labels >= 0).any():
        flat = _flat_terms("diag", np.tile(origin, (k, 1)))
        sums = pass_over(source, flat, shares=_labelled_shares(labels, k))
        fixed = sums.count > 0
        centres[fixed] = sums.first[fixed] / sums.count[fixed, None]
    nearest = np.full(len(points), np.inf)
    for each in centres[fixed]:
        nearest = np.minimum(nearest, _squares(points, each))
    for place in np.flatnonzero(~fixed):
        if uniform:
            open_rows = np.where(nearest > 0, weight, 0.0)  # no mean is drawn twice
            row = _draw(open_rows if open_rows.sum() > 0 else weight, 1, rng)[0]
            near = np.minimum(nearest, _squares(points, points[row]))
        else:
            row, near = _far_row(points, weight, nearest, 2 + int(np.log(k)), rng)
        centres[place], nearest = points[row], near
    return centres + origin


def _far_row(
    points: Array, weight: Array, nearest: Array, trials: int, rng: np.random.Generator
) -> tuple[int, Array]:
    """The best of a few rows that are drawn by their squared distances from the means so far.

    The best one leaves the smallest sum of squared distances, which is returned as well. The first
    mean is drawn by the weights alone.
    """
    first = not np.isfinite(nearest[0])
    chance = weight if first else weight * nearest
    if not chance.sum() > 0:  # all rows equal a mean already
        chance = weight
    drawn = _draw(chance, 1 if first else trials, rng)
    left = [np.minimum(nearest, _squares(points, points[row])) for row in drawn]
    best = int(np.argmin([weight @ each for each in left]))
    return int(drawn[best]), left[best]


def _draw(chance: Array, size: int, rng: np.random.Generator) -> Array:
    """Places, drawn in proportion to the chances."""
    limits = np.cumsum(chance)
    found = np.searchsorted(limits, rng.random(size) * limits[-1], side="right")
    return np.minimum(found, np.flatnonzero(chance)[-1])


def _squares(points: Array, centre: Array) -> Array:
    return np.asarray(((points - centre) ** 2).sum(axis=1))


def _labelled_shares(labels: Array, k: int) -> Callable[[Block], Array]:
    """Responsibilities 1 for the known component of a row, and 0 for rows without a label."""

    def shares(block: Block) -> Array:
        known = labels[block.start : block.start + block.n_rows]
        return (known[:, None] == np.arange(k)).astype(np.float64)

    return shares


def _sampled_rows(source: Source, rng: np.random.Generator) -> tuple[Array, Array]:
    """Some rows (all, if they are few) as float64, and their weights."""
    n = source.n_rows
    chosen = None
    if n > SAMPLED_ROWS:
        chosen = np.sort(rng.choice(n, size=SAMPLED_ROWS, replace=False))
    rows, weights = [], []
    for block in source.blocks():
        part: Any = slice(None)
        if chosen is not None:
            low, high = np.searchsorted(chosen, [block.start, block.start + block.n_rows])
            part = chosen[low:high] - block.start
        rows.append(np.asarray(dense_rows(block)[part], dtype=np.float64))
        weights.append(np.asarray(block.row_weights[part], dtype=np.float64))
    weight = np.concatenate(weights)
    return np.concatenate(rows), weight if weight.sum() > 0 else np.ones(len(weight))


@dataclass(frozen=True)
class _Clusters:
    """Weight and sum of the rows of every cluster, about a common origin."""

    weight: Array
    total: Array

    def merge(self, other: _Clusters) -> _Clusters:
        return _Clusters(self.weight + other.weight, self.total + other.total)


def lloyd(source: Source, centres: Array, middle: Array, labels: Array | None) -> Array:
    """Centres after at most 30 steps of k-means: assign rows to the nearest, then average.

    A cluster without rows keeps its centre. Cost: O(n k d) per step.
    """
    for _ in range(LLOYD_STEPS if len(centres) > 1 else 1):
        found = source.reduce(_cluster_block, centres, middle, labels)
        held = np.where(found.weight > 0, found.weight, 1.0)[:, None]
        moved = np.where(found.weight[:, None] > 0, found.total / held + middle, centres)
        still = ((moved - centres) ** 2).sum() <= SETTLED * centres.var(axis=0).mean()
        centres = moved
        if still:
            break
    return centres


def _nearest(block: Block, centres: Array, middle: Array, labels: Array | None) -> Array:
    """The number of the nearest centre of every row; the label where it is known."""
    away = centres - middle
    rows = np.subtract(dense_rows(block), middle, dtype=np.float64, order="C")
    found = ((away**2).sum(axis=1) - 2.0 * (rows @ away.T)).argmin(axis=1)
    if labels is not None:
        known = labels[block.start : block.start + block.n_rows]
        found = np.where(known >= 0, known, found)
    return found.astype(np.int64, copy=False)


def _cluster_block(block: Block, centres: Array, middle: Array, labels: Array | None) -> _Clusters:
    nearest = _nearest(block, centres, middle, labels)
    member = np.zeros((block.n_rows, len(centres)))
    member[np.arange(block.n_rows), nearest] = block.row_weights
    rows = np.subtract(dense_rows(block), middle, dtype=np.float64, order="C")
    return _Clusters(member.sum(axis=0), member.T @ rows)
