"""How many clusters the rows support: the gap statistic, and the stability of halves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.validation import as_features
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, whole
from thetahat.foundation.drawing import draws
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.cluster.k_means import KMeans

STARTS = 5


@dataclass(frozen=True, eq=False)
class ClusterCount:
    """A number of clusters, with the gap statistic and the stability of every number tried.

    Formula: the smallest k with gap(k) ≥ gap(k*) − s(k*), where k* has the largest gap. Cost:
    O(k_max) memory.

    Attributes
    ----------
    value : int
        The number of clusters that the gap statistic supports.
    values : array of shape (k_max,)
        The numbers of clusters that were tried, from 1.
    gap : array of shape (k_max,)
        How far the logarithm of the loss lies below that of rows without clusters.
    standard_error : array of shape (k_max,)
        Standard error of the gap from the simulated rows.
    stability : array of shape (k_max,)
        Agreement of the clusters of two halves of the rows: the mean adjusted Rand index, 1 if all
        pairs of rows agree and 0 for chance. NaN for one cluster.
    stability_error : array of shape (k_max,)
        Standard error of the stability from the random halves.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.concatenate([np.random.default_rng(s).normal(8 * s, 1, (40, 2)) for s in range(3)])
    >>> found = th.how_many_clusters(X, k_max=5, random_state=0)
    >>> int(found), bool(found.stability[2] > 0.95)
    (3, True)
    """

    value: int
    values: Array
    gap: Array
    standard_error: Array
    stability: Array
    stability_error: Array

    def __int__(self) -> int:
        return self.value

    @property
    def most_stable(self) -> int:
        """The largest number of clusters with the best stability; 1 if no other was tried."""
        tried = self.stability[:0:-1]
        return int(self.values[-1 - int(np.argmax(tried))]) if tried.size else 1

    def __str__(self) -> str:
        at = self.value - 1
        words = (
            f"{self.value} {'cluster' if self.value == 1 else 'clusters'}: gap "
            f"{self.gap[at]:.3g} ± {self.standard_error[at]:.2g}"
        )
        if self.value > 1:
            words += f", stability {self.stability[at]:.3g} ± {self.stability_error[at]:.2g}"
        if self.most_stable != self.value and len(self.values) > 1:
            best = self.most_stable - 1
            words += f"; most stable: {self.most_stable} ({self.stability[best]:.3g})"
        return words

    __repr__ = __str__

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the gap with its standard error, and the stability. Cost: O(k_max)."""
        axes.errorbar(self.values, self.gap, self.standard_error, fmt="o-", capsize=3, label="gap")
        axes.axvline(self.value, color="C3", lw=1, label=f"{self.value} by the gap")
        axes.errorbar(
            self.values, self.stability, self.stability_error, fmt="s--", color="0.5", capsize=3,
            label="stability",
        )  # fmt: skip
        axes.set(xlabel="number of clusters")
        axes.legend(frameon=False)


@needs_memory
def how_many_clusters(
    X: Any,
    k_max: int = 10,
    *,
    n_references: int = 20,
    n_halves: int = 10,
    random_state: Any = None,
) -> ClusterCount:
    """Estimate the number of clusters that the rows support, with its uncertainty.

    The loss of k-means falls with every further cluster, also for rows without clusters. The gap
    statistic compares it with the loss of rows drawn uniformly from the range of the principal
    components. A number of clusters is stable if both halves of the rows give the same clusters.

    Formula: gap(k) = E*[log L*(k)] − log L(k) over simulated rows, with standard error s(k) =
    sd·√(1 + 1/B); the estimate is the smallest k with gap(k) ≥ gap(k*) − s(k*), where k* has the
    largest gap. Cost: B + 1 + 2·n_halves fits of `KMeans` for every k up to k_max.

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        The rows, with finite numbers.
    k_max : int, default=10
        The largest number of clusters to try. At least 1, and at most half of the rows.
    n_references : int, default=20
        Number of simulated sets of rows (B). A larger number gives smaller standard errors and
        takes longer.
    n_halves : int, default=10
        Number of random splits into halves, by which the stability is measured. At least 2.
    random_state : int, Generator or None, default=None
        Seed of starts, simulated rows and halves. Pass an int for the same result on every call.

    Returns
    -------
    ClusterCount

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> int(th.how_many_clusters(X, k_max=4, random_state=0))
    1
    """
    who = "how_many_clusters"
    for name, given, rule in (
        ("k_max", k_max, whole(1)),
        ("n_references", n_references, whole(2)),
        ("n_halves", n_halves, whole(2)),
    ):
        check_value(given, rule, name, who)
    rows = np.asarray(as_features(X, who=who, accept_sparse=False)[0], dtype=np.float64)
    distinct = len(np.unique(rows, axis=0)) if np.isfinite(rows).all() else 0
    if not distinct:
        raise DataError(f"{who}: X holds NaN or infinity. Impute or leave out these rows.")
    if distinct <= 2 * k_max:
        raise DataError(
            f"{who}: X has {distinct} distinct {'row' if distinct == 1 else 'rows'}, but "
            f"k_max={k_max} needs more than "
            f"{2 * k_max}, because clusters of halves are compared. Use a smaller k_max."
        )
    random = generator(random_state)
    tried = np.arange(1, k_max + 1)
    ours = _log_losses(rows, tried, random)
    simulated = np.stack(
        [_log_losses(each, tried, random) for each in _references(rows, n_references, random)]
    )
    gap = simulated.mean(axis=0) - ours
    error = simulated.std(axis=0) * np.sqrt(1 + 1 / n_references)
    best = int(np.argmax(gap))
    value = int(tried[int(np.argmax(gap >= gap[best] - error[best]))])
    agreed = np.stack([_agreement(rows, tried, random) for _ in range(n_halves)])
    return ClusterCount(
        value,
        tried,
        gap,
        error,
        agreed.mean(axis=0),
        agreed.std(axis=0, ddof=1) / np.sqrt(n_halves),
    )


def _clusters(rows: Array, k: int, random: np.random.Generator) -> KMeans:
    return KMeans(int(k), n_init=STARTS, random_state=random).fit(rows)


def _log_losses(rows: Array, tried: Array, random: np.random.Generator) -> Array:
    return np.log([_clusters(rows, k, random).inertia_ for k in tried])


def _references(rows: Array, count: int, random: np.random.Generator) -> Any:
    """Rows without clusters: uniform in the box of the principal components."""
    about = rows - rows.mean(axis=0)
    axes = np.linalg.svd(about, full_matrices=False)[2]
    turned = about @ axes.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    for _ in range(count):
        yield random.uniform(low, high, turned.shape) @ axes


def _agreement(rows: Array, tried: Array, random: np.random.Generator) -> Array:
    """For every k, how far the clusters of two random halves agree on the second half."""
    from sklearn.metrics import adjusted_rand_score

    first, second = np.array_split(random.permutation(len(rows)), 2)
    found = np.full(len(tried), np.nan)
    for place, k in enumerate(tried):
        if k > 1:
            one, two = (_clusters(rows[half], k, random) for half in (first, second))
            found[place] = adjusted_rand_score(one.predict(rows[second]), two.labels_)
    return found
