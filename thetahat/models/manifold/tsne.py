"""t-SNE: points whose neighbours are those of the rows, for pictures of many columns."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.extremes import squares_in_range
from thetahat.data.in_memory import InMemory
from thetahat.data.validation import is_sparse
from thetahat.estimator.base import Estimator
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, fraction, more_than, none, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array, Matrix
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.decomposition.principal.pca import PCA
from thetahat.models.manifold.student_descent import (
    EARLY,
    ExaggeratedDescent,
    StudentDivergence,
    joint_probabilities,
)
from thetahat.models.neighbors.nearest_neighbors import NearestNeighbors
from thetahat.models.neighbors.search.found import Nearest

START = 1e-4
"""Standard deviation of the first coordinate at the start."""


@with_parameters
class TSNE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Watched, Estimator):
    """t-distributed stochastic neighbour embedding, a picture of the neighbourhoods of rows.

    Every row gets a Gaussian weight for each of its neighbours, and the points of the picture get
    weights with heavy tails. The points are moved until both agree. Groups of similar rows become
    visible, but distances between groups and the sizes of groups in the picture have no meaning.
    The divergence has local minima; the start from principal components keeps the arrangement of
    the groups stable.

    Formula: with p_j|i ∝ exp(−β_i‖x_i − x_j‖²), where β_i makes 2^{entropy} equal to the
    perplexity, and p_ij = (p_j|i + p_i|j)/(2n), the points minimise KL = Σ p_ij log(p_ij/q_ij),
    where q_ij ∝ (1 + ‖z_i − z_j‖²/ν)^{−(ν + 1)/2} and ν = max(n_components − 1, 1). The gradient is
    (2(ν + 1)/ν) Σ_j (p_ij − q_ij)(z_i − z_j)/(1 + ‖z_i − z_j‖²/ν).

    Cost: the search for 3·perplexity neighbours, then O(n log n) per iteration with
    ``method="barnes_hut"`` and O(n·perplexity) memory; O(n²) time per iteration and O(n²) memory,
    whose size is checked first, with ``method="exact"``.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Must be at most 3 with ``method="barnes_hut"``.
    perplexity : float, default=30.0
        Effective number of neighbours of every row. Larger values show coarser structure and take
        longer. Must be positive and less than the number of rows; values from 5 to 50 are usual.
    early_exaggeration : float, default=12.0
        The weights p are multiplied by this factor in the first 250 iterations, which gathers
        similar rows before groups are separated. Larger values give tighter groups. Must be at
        least 1.
    learning_rate : float or "auto", default="auto"
        Factor of the gradient in every iteration. With too large a value all points form a ball;
        with too small a value the groups are not separated. "auto" is the larger of
        n/early_exaggeration/4 and 50. Must be positive.
    max_iter : int, default=1000
        Maximum number of iterations, of which the first 250 use early exaggeration. More iterations
        separate the groups of many rows further; 250 or fewer only arrange them roughly. Must be
        at least 1.
    n_iter_without_progress : int, default=300
        The fit ends when the divergence has not fallen for this number of iterations, which is
        checked every 50 iterations. Must be at least -1.
    min_grad_norm : float, default=1e-07
        The fit ends when the norm of the gradient is at most this value. Must be at least 0.
    metric : str, Distance or callable, default="euclidean"
        The distance between rows: a name or a value of ``th.distances``, a function of two rows, or
        "precomputed" if X holds distances. Of a sparse matrix of distances, as
        `KNeighborsTransformer` gives it, only stored entries are neighbours.
    metric_params : dict or None, default=None
        Further parameters of the distance, such as ``{"V": covariance}`` for "mahalanobis".
    init : {"pca", "random"} or array of shape (n, n_components), default="pca"
        The first points: the principal components of the rows, random points, or given points.
        "pca" is not possible with ``metric="precomputed"``.
    verbose : int, default=0
        Whether to print the progress. 1 prints one line per second and how the fit ended, larger
        values print every iteration.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random start. Pass an int for the same result on every call.
    method : {"barnes_hut", "exact"}, default="barnes_hut"
        "barnes_hut" uses the nearest rows only, and lets distant groups of points act as one point.
        "exact" uses all pairs of rows, which is only possible for some thousand rows.
    angle : float, default=0.5
        Points that lie within this angle, as seen from another point, act on it as one. Smaller
        values are more accurate and slower, and 0 sums over all points. Used with
        ``method="barnes_hut"`` only. Must be between 0 and 1.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        The points of the training rows.
    kl_divergence_ : float
        The divergence KL of the embedding.
    n_iter_ : int
        Number of iterations that were made.
    learning_rate_ : float
        The learning rate that was used.
    solution_ : Solution
        How the fit ended: outcome, number of iterations, and the divergence after each.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : array of shape (d,)
        Names of the columns seen in `fit`. Defined only when X has column names that are all
        strings.

    References
    ----------
    van der Maaten and Hinton (2008), "Visualizing data using t-SNE", JMLR 9.
    van der Maaten (2014), "Accelerating t-SNE using tree-based algorithms", JMLR 15.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(8 * group, 1.0, (40, 5)) for group in range(3)])
    >>> model = th.TSNE(perplexity=10, random_state=0).fit(X)
    >>> model.embedding_.shape
    (120, 2)
    >>> th.KMeans(3, random_state=0).fit_predict(model.embedding_)[::40].tolist() != [0, 0, 0]
    True
    """

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    early_exaggeration: float = 12.0
    learning_rate: Any = "auto"
    max_iter: int = 1000
    n_iter_without_progress: int = 300
    min_grad_norm: float = 1e-7
    metric: Any = "euclidean"
    metric_params: Any = None
    init: Any = "pca"
    verbose: Any = 0
    random_state: Any = None
    method: str = "barnes_hut"
    angle: float = 0.5
    n_jobs: int | None = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1),
        "perplexity": more_than(0),
        "early_exaggeration": at_least(1),
        "learning_rate": more_than(0) | one_of("auto"),
        "max_iter": whole(1),
        "n_iter_without_progress": whole(-1),
        "min_grad_norm": at_least(0),
        "metric_params": none | Range(lambda value: isinstance(value, dict), "a dict"),
        "init": one_of("pca", "random")
        | Range(lambda value: isinstance(value, np.ndarray), "an array"),
        "method": one_of("barnes_hut", "exact"),
        "angle": fraction,
        "n_jobs": none | Range(lambda value: isinstance(value, int | np.integer), "a whole number"),
    }
    _accepts_sparse = True
    _streams = False
    _instead_of_blocks = "use PCA, which reads blocks"
    _for_few_rows = True
    _draws_rows = True
    _grows_by_steps = True

    @classmethod
    def _example(cls) -> Any:
        # Smooth steps: with longer ones, rounding errors decide where a point settles.
        return cls(perplexity=5, max_iter=EARLY, learning_rate=10.0)

    @property
    def _given(self) -> bool:
        """Whether X holds distances."""
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._given
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> TSNE:
        """Find the points of the training rows. Cost: O(n log n) per iteration.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or their distances of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted embedding.
        """
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        rows, n = source.X, source.n_rows
        self._require_rows(rows)
        start = self._start(rows)
        pairs = joint_probabilities(self._neighbours(rows), self.perplexity)
        problem = StudentDivergence(
            pairs,
            freedom=max(self.n_components - 1, 1),
            angle=float(self.angle) if self.method == "barnes_hut" else 0.0,
        )
        automatic = isinstance(self.learning_rate, str)
        rate = max(n / self.early_exaggeration / 4, 50.0) if automatic else self.learning_rate
        self.learning_rate_ = float(rate)
        method = ExaggeratedDescent(
            self.learning_rate_, float(self.early_exaggeration), int(self.n_iter_without_progress)
        )

        def attributes(theta: Array) -> dict[str, Any]:
            return {"embedding_": theta.astype(rows.dtype)}

        try:
            with self._watching(self.max_iter, attributes, X, y) as watch, one_blas_thread():
                solution = minimise(
                    problem, method, start, tolerance=self.min_grad_norm,
                    max_steps=self.max_iter, watch=watch, keep_trace=True,
                    reason="smooth, not convex, with many local minima",
                )  # fmt: skip
        except KeyboardInterrupt as interrupt:
            if (reached := getattr(interrupt, "solution", None)) is not None:
                self._keep(reached)
            raise
        self._require_start(solution)
        self.__dict__.update(attributes(solution.theta))
        self._keep(solution)
        return self._checked()

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit the embedding, and return the points of the rows. Cost: that of `fit`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, or their distances of shape (n, n) if ``metric="precomputed"``.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of shape (n, n_components)
            The points, ``embedding_``; a table if requested by ``set_output``.
        """
        points: Array = self.fit(X).embedding_
        return points

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _keep(self, solution: Solution) -> None:
        self.solution_, self.n_iter_ = solution, solution.steps
        self.kl_divergence_ = float(solution.value)

    def _checked(self) -> TSNE:
        """Report a fit that went wrong. All iterations are the usual end, and no failure."""
        outcome = self.solution_.outcome
        remedy = {
            Outcome.DIVERGED: "Use a smaller learning_rate, or learning_rate='auto'",
            Outcome.OUT_OF_TIME: "Raise th.config(max_time=...), or use fewer rows",
        }
        if outcome in remedy:
            warn(
                f"TSNE: {outcome.value} ({self.n_iter_} "
                f"{'iteration' if self.n_iter_ == 1 else 'iterations'}). {remedy[outcome]}.",
                ConvergenceWarning,
            )
        return self

    def _require_start(self, solution: Solution) -> None:
        if solution.outcome is Outcome.DIVERGED and not solution.steps:
            raise DataError(
                f"TSNE: the points of init, up to {np.abs(solution.theta).max():.2g}, are so far "
                "apart that their forces vanish. Use init / (1e4 * init[:, 0].std())."
            )

    def _require_rows(self, rows: Matrix) -> None:
        n = int(rows.shape[0])
        if n < 2:
            raise DataError(
                f"TSNE: a minimum of 2 rows is required, but n_samples = {n}, and one row has no "
                "neighbours. Use more rows."
            )
        if self.perplexity >= n:
            raise ParameterError(
                f"TSNE: perplexity ({self.perplexity:g}) must be less than n_samples ({n}), "
                "because it is the number of neighbours of a row. Use a smaller perplexity, "
                f"such as {max(1, (n - 1) // 3)}."
            )
        if isinstance(self.init, str) and _all_equal(rows, self._given):
            raise DataError(
                f"TSNE: all {n} rows are equal, so that there is no structure to show. Pass rows "
                "that differ."
            )
        if self.method == "barnes_hut" and self.n_components > 3:
            raise ParameterError(
                f"TSNE: 'n_components' should be inferior to 4 for the barnes_hut algorithm, which "
                f"relies on quad-tree or oct-tree, but it is {self.n_components}. Use "
                "method='exact'."
            )
        if self.method == "exact":
            if self._given and is_sparse(rows):
                raise TypeError(
                    'TSNE with method="exact" does not accept sparse precomputed distances, '
                    'because it needs those of all pairs of rows. Use method="barnes_hut", or '
                    "pass a dense matrix."
                )
            require_memory(
                80 * n * n, f"TSNE: the pairs of {n} rows", 'Use method="barnes_hut" or fewer rows.'
            )
        if self._given and isinstance(self.init, str) and self.init == "pca":
            raise ParameterError(
                'TSNE: The parameter init="pca" cannot be used with metric="precomputed", because '
                'distances have no principal components. Use init="random".'
            )

    def _neighbours(self, rows: Matrix) -> Nearest:
        n = int(rows.shape[0])
        every = self.method == "exact"
        k = n - 1 if every else min(n - 1, int(3.0 * self.perplexity + 1))
        search = NearestNeighbors(
            n_neighbors=k, metric=self.metric, metric_params=self.metric_params
        ).fit(rows)
        return search._nearest(None)

    def _start(self, rows: Matrix) -> Array:
        """The first points; those of a random start have the deviation 10⁻⁴."""
        n = int(rows.shape[0])
        if isinstance(self.init, np.ndarray):
            return self._given_start(n)
        if self.init == "random":
            return START * generator(self.random_state).standard_normal((n, self.n_components))
        if self.n_components > min(rows.shape):
            raise ParameterError(
                f"TSNE: n_components={self.n_components} must be at most the number of rows and of "
                f"columns with init='pca', but n_samples = {n} and n_features = {rows.shape[1]}. "
                "Use init='random' or fewer components."
            )
        model = PCA(self.n_components, random_state=self.random_state)
        scores = model.set_output(transform="default").fit_transform(squares_in_range(rows))
        scores = scores.astype(np.float64, order="C")
        scores /= np.abs(scores).max()  # squares of tiny scores would vanish
        return scores * (START / float(np.std(scores[:, 0])))

    def _given_start(self, n: int) -> Array:
        shape = n, self.n_components
        rule = f"TSNE: init must hold one point per row, of shape {shape} with finite numbers"
        try:
            given = np.array(self.init, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{rule}, but it cannot be read as numbers: {self.init!r:.60}. Pass an array of "
                "numbers, or init='pca'."
            ) from error
        if given.shape != shape:
            raise DataError(
                f"{rule}, but its shape is {given.shape}. Pass an array of that shape, or set "
                "n_components to its number of columns."
            )
        if not np.isfinite(given).all():
            raise DataError(f"{rule}, but some are not. Replace NaN and infinite entries.")
        if (given == given[0]).all():
            raise DataError(
                "TSNE: the points of init must differ, but all are equal, and points at the same "
                "place are never moved apart. Pass other points, or init='random'."
            )
        return given


def _all_equal(rows: Matrix, given: bool) -> bool:
    """Whether no two rows differ; of given distances, whether all are 0."""
    if given:
        return not rows.max() > 0
    if is_sparse(rows):
        return bool((rows.max(axis=0) != rows.min(axis=0)).nnz == 0)
    return bool((rows == rows[:1]).all())
