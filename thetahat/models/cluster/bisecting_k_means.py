"""Bisecting k-means: one cluster after the other is divided in two by k-means."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.in_memory import InMemory
from thetahat.data.source import row_weights
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.checked_value import check_rule
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.cluster.centre_model import CentreModel
from thetahat.models.cluster.lloyd import Lloyd, Partition, Rows
from thetahat.models.cluster.nearest import nearest_centres
from thetahat.models.cluster.starts import starting_centres


@with_parameters
class BisectingKMeans(Watched, CentreModel):
    """Bisecting k-means: clusters are divided in two, one after the other, until there are k.

    Each division is a fit of `KMeans` with two clusters to the rows of one cluster. This is fast
    for many clusters, whose sizes are more even than those of `KMeans`; the loss is often a little
    higher, because rows do not move between clusters that were divided earlier.

    Formula: the cluster with the largest loss Σ_{z_i = c} wᵢ‖xᵢ − μ_c‖², or with the most rows, is
    replaced by the two clusters that minimise Σ wᵢ‖xᵢ − μ_{zᵢ}‖² over its rows.

    Cost: O(n d log k) time per iteration for divisions into equal parts, O(n k d) at worst; O(n d)
    memory. A prediction takes O(d log k) to O(k d).

    Parameters
    ----------
    init : {"k-means++", "random"} or callable, default="random"
        The starting centres of each division: "random" draws two rows, "k-means++" two rows that
        are far from each other. A function is called as ``init(X, 2, random_state=...)``.
    n_init : int, default=1
        Number of starts of each division, of which the one with the least loss is kept. More starts
        take longer and find better minima.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random starts. Pass an int for the same result on every call.
    max_iter : int, default=300
        Maximum number of iterations of each division.
    verbose : int, default=0
        Whether to print the centres of each division. 0 prints nothing.
    tol : float, default=0.0001
        A division ends when the sum of the squared moves of its centres is at most this multiple of
        the mean variance of the columns. Smaller values are more accurate and take longer. Must be
        at least 0.
    copy_x : bool, default=True
        Has no effect, because rows are never overwritten. Accepted for compatibility with
        scikit-learn.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Has no effect, because bounds of the distances are always used and do not change the result.
        Accepted for compatibility with scikit-learn.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Which cluster is divided next: the one with the largest loss, or the one with the most rows.

    Attributes
    ----------
    inertia_ : float
        The loss: the weighted sum of the squared distances of the rows from their centres.
    n_iter_ : int
        Number of iterations of all divisions.
    solution_ : Solution
        How the last division ended: outcome, number of steps, and the loss after each step.

    See Also
    --------
    KMeans : All clusters at once.

    Examples
    --------
    >>> import thetahat as th
    >>> X = [[0.0], [1.0], [9.0], [10.0], [30.0], [31.0]]
    >>> model = th.BisectingKMeans(3, random_state=0).fit(X)
    >>> sorted(model.cluster_centers_.ravel().tolist()), model.inertia_
    ([0.5, 9.5, 30.5], 1.5)
    """

    _prints_itself = True

    _: KW_ONLY
    init: Any = "random"
    n_init: int = 1
    random_state: Any = None
    max_iter: int = 300
    verbose: int = 0
    tol: float = 1e-4
    copy_x: bool = True
    algorithm: str = "lloyd"
    bisecting_strategy: str = "biggest_inertia"

    _ranges: ClassVar[dict[str, Range]] = CentreModel._ranges | {
        "init": one_of("k-means++", "random") | Range(callable, "a function"),
        "n_init": whole(1),
        "max_iter": whole(1),
        "verbose": whole(0) | boolean,
        "tol": at_least(0),
        "copy_x": boolean,
        "algorithm": one_of("lloyd", "elkan"),
        "bisecting_strategy": one_of("biggest_inertia", "largest_cluster"),
    }
    _streams = False
    _instead_of_blocks = "use KMeans, which reads blocks"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BisectingKMeans:
        """Divide the rows into clusters. Cost: see `BisectingKMeans`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows that are divided into clusters.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted clustering.
        """
        source = self._open(X, None, sample_weight, supervised=False)
        assert isinstance(source, InMemory)
        rows = Rows(source, type(self).__name__)
        self._require_enough_rows(source, rows.n_used)
        random, tree = generator(self.random_state), _Tree(rows, self.bisecting_strategy)
        self.n_iter_ = 0

        def attributes(theta: Array) -> dict[str, Any]:
            return tree.attributes(theta)

        most = int(self.max_iter) * int(self.n_init) * max(1, int(self.n_clusters) - 1)
        with self._watching(most, attributes, X, y) as watch, one_blas_thread():
            while tree.n_leaves < self.n_clusters:
                best = self._divide(tree.next_rows(), random, watch)
                self.solution_ = best[0]
                tree.divide(*best)
                if self.verbose:
                    print(f"New centroids from bisection: {best[0].theta}")
                if watch.is_over:
                    break
        self.__dict__.update(tree.attributes(None))
        self.n_iter_ = max(1, self.n_iter_)
        self.labels_, self.inertia_ = tree.labels(), float(sum(tree.loss[i] for i in tree.leaves()))
        found = len(np.unique(self.labels_))
        if found < tree.n_leaves:
            warn(
                f"{type(self).__name__}: Number of distinct clusters ({found}) found smaller than "
                f"n_clusters ({self.n_clusters}). Possibly due to duplicate points in X. Use fewer "
                "clusters.",
                ConvergenceWarning,
            )
        return self

    def _divide(
        self, rows: Rows, random: np.random.Generator, watch: Watch
    ) -> tuple[Solution, Array, Array]:
        """The best of some starts: its solution, and the labels and squared distances of rows."""
        best: tuple[Solution, Array, Array] | None = None
        for _ in range(self.n_init):
            start = starting_centres(rows, 2, self.init, random)
            problem = Partition(rows)
            solution = minimise(
                problem,
                Lloyd(),
                start.astype(rows.source.dtype).astype(np.float64),
                tolerance=self.tol * rows.variance,
                max_steps=self.max_iter,
                watch=watch,
                reason="labels and centres in turns, each simple with the other fixed",
                keep_trace=True,
            )
            self.n_iter_ += solution.steps
            assert problem.centres is not None
            if not np.array_equal(problem.centres, solution.theta):
                problem.assign(solution.theta)
            if best is None or solution.value < best[0].value:
                best = solution, problem.label, problem.square
            if watch.is_over:
                break
        assert best is not None
        return best

    def predict(self, X: Any) -> Array:
        """Find the cluster of every row, down the tree of divisions. Cost: at most O(n k d).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The number of the cluster, from 0. At each division the nearer centre is taken; it need
            not be the nearest of all centres.
        """
        return self._open_again(X).map_rows(lambda block: self._descend(block.X))

    def _descend(self, X: Matrix) -> Array:
        labels = np.zeros(X.shape[0], dtype=np.int32)
        leaf_label = np.cumsum(self._children[:, 0] < 0) - 1
        open_nodes = [(0, np.arange(X.shape[0]))]
        centres = self._centres.astype(np.float64)
        while open_nodes:
            node, some = open_nodes.pop()
            left, right = self._children[node].tolist()
            if left < 0:
                labels[some] = leaf_label[node]
            elif len(some):
                nearer = nearest_centres(X[some], centres[[left, right]])[0]
                open_nodes += [(left, some[nearer == 0]), (right, some[nearer == 1])]
        return labels

    def _check_loaded(self) -> None:
        if "_children" not in vars(self):
            return
        children, centres = self._children, vars(self).get("_centres")
        n = len(children)
        inner = children[children[:, 0] >= 0]
        check_rule(
            self,
            children.shape == (n, 2)
            and children.dtype.kind == "i"
            and sorted(inner.ravel().tolist()) == list(range(1, n))
            and bool((children < np.where(children >= 0, n, 0)).all())
            and bool((children > np.where(children >= 0, np.arange(n)[:, None], -2)).all()),
            "the tree of divisions must hold two later nodes for each division",
        )
        check_rule(
            self,
            isinstance(centres, np.ndarray) and centres.shape == (n, self.n_features_in_),
            "the tree of divisions must hold a centre for each node",
        )


class _Tree:
    """The divisions so far. Nodes have the numbers of their places: parents before children."""

    def __init__(self, rows: Rows, strategy: str) -> None:
        self.rows, self.by_size = rows, strategy == "largest_cluster"
        n, weight = rows.source.n_rows, rows.weight
        self.weight = row_weights(weight, n)
        self.used = self.weight > 0
        self.children = [(-1, -1)]
        self.centre = [rows.middle.astype(rows.source.dtype).astype(np.float64)]
        self.members = [np.arange(n)]
        square = nearest_centres(rows.source.X, self.centre[0][None])[1]  # type: ignore[attr-defined]
        self.loss = [float(self.weight @ square)]
        self.chosen = 0

    @property
    def n_leaves(self) -> int:
        return (len(self.children) + 1) // 2

    def leaves(self) -> list[int]:
        """From left to right."""
        found, open_nodes = [], [0]
        while open_nodes:
            node = open_nodes.pop()
            left, right = self.children[node]
            if left < 0:
                found.append(node)
            else:
                open_nodes += [right, left]
        return found

    def next_rows(self) -> Rows:
        """The rows of the cluster that is divided next; clusters of one row are not."""
        able = [i for i in self.leaves() if np.count_nonzero(self.used[self.members[i]]) > 1]
        score = [len(self.members[i]) if self.by_size else self.loss[i] for i in able]
        self.chosen = able[int(np.argmax(score))]
        source = self.rows.source
        assert isinstance(source, InMemory)
        return Rows(source.take(self.members[self.chosen]), self.rows.who)

    def divide(self, solution: Solution, label: Array, square: Array) -> None:
        """Replace a leaf by its two parts."""
        members, first = self.members[self.chosen], len(self.children)
        self.children[self.chosen] = first, first + 1
        for part in (0, 1):
            own = label == part
            self.children.append((-1, -1))
            self.centre.append(solution.theta[part])
            self.members.append(members[own])
            self.loss.append(float(self.weight[members[own]] @ square[own]))

    def labels(self) -> Array:
        labels = np.zeros(self.rows.source.n_rows, dtype=np.int32)
        for number, leaf in enumerate(self.leaves()):
            labels[self.members[leaf]] = number
        return labels

    def attributes(self, theta: Array | None) -> dict[str, Any]:
        """The model so far, with a division that is not finished; nodes from left to right."""
        children, centre = list(self.children), list(self.centre)
        if theta is not None:
            children[self.chosen] = len(children), len(children) + 1
            children += [(-1, -1), (-1, -1)]
            centre += list(theta)
        place: dict[int, int] = {}
        order: list[int] = []
        open_nodes = [0]
        while open_nodes:
            node = open_nodes.pop()
            place[node] = len(order)
            order.append(node)
            if children[node][0] >= 0:
                open_nodes += [children[node][1], children[node][0]]
        pairs = [[place.get(child, -1) for child in children[node]] for node in order]
        centres = np.array([centre[node] for node in order], dtype=self.rows.source.dtype)
        is_leaf = np.array([pair[0] < 0 for pair in pairs])
        return {
            "_children": np.array(pairs, dtype=np.int64),
            "_centres": centres,
            "cluster_centers_": centres[is_leaf],
        }
