"""Starting values of a Gaussian mixture, and the checks of those given by the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.source import Block, Source
from thetahat.data.summaries.means import means
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.cluster.lloyd import Lloyd, Partition, Rows
from thetahat.models.cluster.starts import different_rows, far_rows
from thetahat.models.mixture.components import (
    Components,
    MixtureSums,
    covariances_of,
    maximised,
    pass_over,
)

SAMPLED_ROWS = 1 << 14
"""Number of rows among which starting means are drawn."""
LLOYD_STEPS = 30
"""Largest number of passes of the k-means start."""
SETTLED = 1e-4
"""Squared moves of the means, in units of the mean variance, at which the k-means start ends."""


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


def known_labels(labels: Any, n: int, k: int) -> Array | None:
    """The labels of the user as whole numbers, checked, or None if no row has one."""
    if labels is None:
        return None
    found = np.asarray(labels)
    if found.shape != (n,):
        raise DataError(
            f"GaussianMixture: labels has the shape {found.shape}, but X has {n} rows. Pass one "
            "label per row, −1 where it is not known."
        )
    if found.dtype.kind in "biu":
        wrong = (found < -1) | (found >= k)
    elif found.dtype.kind == "f":
        wrong = ~((found == np.floor(found)) & (found >= -1) & (found < k))
    else:
        wrong = np.ones(n, dtype=bool)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"GaussianMixture: labels must be whole numbers from 0 to n_components − 1 = {k - 1}, "
            "or −1 where the component is not known; row "
            f"{row} has {found[row].item() if found.dtype.kind in 'biuf' else found[row]!r}. "
            "Number the classes from 0."
        )
    found = found.astype(np.int64)
    return found if (found >= 0).any() else None


def starting_components(
    source: Source,
    k: int,
    kind: str,
    rule: str,
    given: Given,
    labels: Array | None,
    reg_covar: float,
    rng: np.random.Generator,
    watch: Watch,
) -> Components:
    """Components from the rule `init_params`, with the values of the user in their places."""
    if given.is_complete:
        found = None
    else:
        found = _estimated(source, k, kind, rule, labels, reg_covar, rng, watch)
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
    watch: Watch,
) -> Components:
    found, centres = starting_sums(source, k, kind, rule, labels, reg_covar, rng, watch)
    return found if isinstance(found, Components) else maximised(kind, found, centres, reg_covar)


def starting_sums(
    source: Source,
    k: int,
    kind: str,
    rule: str,
    labels: Array | None,
    reg_covar: float,
    rng: np.random.Generator,
    watch: Watch,
) -> tuple[MixtureSums | Components, Array]:
    """The sums of the first responsibilities, or narrow components at rows; and their centres."""
    shares: Callable[[Block], Array]
    if rule == "random":
        centres = np.tile(means(source).mean[: source.n_features], (k, 1))
        seed = int(rng.integers(2**63))

        def shares(block: Block) -> Array:
            found = np.random.default_rng([seed, block.start]).random((block.n_rows, k))
            if labels is not None:
                known = labels[block.start : block.start + block.n_rows]
                found[known >= 0] = np.eye(k)[known[known >= 0]]
            return found / found.sum(axis=1, keepdims=True)

    else:
        rows = Rows(source, "GaussianMixture")
        draw = different_rows if rule == "random_from_data" else far_rows
        centres = _drawn_centres(rows, k, labels, rng, draw)
        if rule != "kmeans":
            return _narrow(kind, centres, reg_covar), centres
        centres, nearest = _clustered(rows, centres, labels, watch)

        def shares(block: Block) -> Array:
            return nearest[block.start : block.start + block.n_rows]

    return pass_over(source, flat_terms(kind, centres), shares=shares), centres


def _clustered(
    rows: Rows, centres: Array, labels: Array | None, watch: Watch
) -> tuple[Array, Array]:
    """Centres after at most 30 steps of k-means, and the cluster of every row."""
    problem = Partition(rows, labels)
    limited = Watch(max_time=watch.max_time, started=watch.started)
    with one_blas_thread():
        found = minimise(
            problem,
            Lloyd(),
            centres,
            tolerance=SETTLED * rows.variance,
            max_steps=LLOYD_STEPS,
            watch=limited,
        )
        if problem.centres is None or not np.array_equal(problem.centres, found.theta):
            problem.assign(found.theta)
    nearest = problem.label.astype(np.int64)
    return found.theta, nearest if labels is None else np.where(labels >= 0, labels, nearest)


def _drawn_centres(
    rows: Rows, k: int, labels: Array | None, rng: np.random.Generator, draw: Any
) -> Array:
    """Rows as starting means, drawn among at most 16,384 of them.

    Components with labelled rows start at the mean of these. Cost: O(n d) to read the rows, and
    O(m k d) for the draws among m rows.
    """
    source = rows.source
    fixed, first = np.zeros(k, dtype=bool), np.empty((0, source.n_features))
    if labels is not None:
        origin = np.tile(rows.middle, (k, 1))
        sums = pass_over(source, flat_terms("diag", origin), shares=_labelled_shares(labels, k))
        fixed = sums.count > 0
        first = rows.middle + sums.first[fixed] / sums.count[fixed, None]
    with one_blas_thread():
        drawn = draw(rows.sample(SAMPLED_ROWS, rng), k, rng, first)
    centres = np.empty_like(drawn)
    centres[fixed], centres[~fixed] = drawn[: len(first)], drawn[len(first) :]
    return centres


def flat_terms(kind: str, centres: Array) -> tuple[Array, Array, Array]:
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


def _labelled_shares(labels: Array, k: int) -> Callable[[Block], Array]:
    """Responsibilities 1 for the known component of a row, and 0 for rows without a label."""

    def shares(block: Block) -> Array:
        known = labels[block.start : block.start + block.n_rows]
        return (known[:, None] == np.arange(k)).astype(np.float64)

    return shares
