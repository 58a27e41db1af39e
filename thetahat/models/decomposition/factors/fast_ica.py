"""Independent component analysis: rows as mixtures of independent sources, x = μ + As."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.source import Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, none, one_of, whole
from thetahat.estimator.watching import WARNED_OF, Watched, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import child_generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.decomposition.factors.fixed_point import (
    Contrast,
    Deflation,
    GivenContrast,
    Parallel,
    WhiteRows,
    orthogonal,
)
from thetahat.models.decomposition.factors.whitening import Whitening, whitening
from thetahat.models.decomposition.principal.projection import Projection

CLEAR = 3.0
"""Standard errors by which the contrast of a component must differ from that of a Gaussian."""
_callable = Range(callable, "a function")
_false = Range(lambda value: isinstance(value, bool | np.bool_) and not value, "False")
_arguments = Range(lambda value: isinstance(value, dict), "a dict")
_square = Range(lambda value: not isinstance(value, str) and np.ndim(value) == 2, "a 2-D array")


@with_parameters
class FastICA(Watched, Projection):
    """Independent component analysis: unmix sources that are independent and not Gaussian.

    Each row is a linear mixture of k sources. Principal components only remove correlations and
    leave the sources mixed by a rotation. Independent components are the rotation whose components
    are as far from Gaussian variables as possible, because sums of independent variables are
    closer to Gaussian ones than the variables themselves.

    Formula: x = μ + As with independent s. Rows are whitened, z = √n·K(x − μ) with covariance I,
    and s = Wz for an orthogonal W. Each row w of W is a fixed point of
    w ∝ E[g(wᵀz)z] − E[g'(wᵀz)]w, where g is the derivative of the contrast G, and E[G(wᵀz)] is as
    large or as small as possible. The scale of the sources is not determined; it is fixed by their
    variance. At most one source may be Gaussian: rotations of Gaussian sources are also
    independent. The fit warns if several components cannot be distinguished from Gaussian
    variables. There can be several local optima.

    Cost: O(n d²) time for the whitening and O(n k²) per iteration ("parallel") or O(n k) per
    iteration of each component ("deflation"). Memory O(n k + d²), or O(n d) with more columns than
    rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components (k). With fewer components than columns, the rows are first projected
        on their principal components. It is reduced, with a warning, to the number of directions
        in which the centred rows vary. None uses this number. Ignored with ``whiten=False``.
    algorithm : {"parallel", "deflation"}, default="parallel"
        "parallel" computes all components at once. "deflation" computes one after another, and
        errors of the first ones add up in the last.
    whiten : {"unit-variance", "arbitrary-variance"} or False, default="unit-variance"
        "unit-variance" scales components to variance 1 and "arbitrary-variance" to variance 1/n.
        False assumes that the rows are white already: the rows are neither centred nor scaled.
    fun : {"logcosh", "exp", "cube"} or callable, default="logcosh"
        The function g. "logcosh" (tanh) suits most sources. "exp" is more robust to outliers.
        "cube" measures the kurtosis and is sensitive to outliers. A callable takes the projections,
        an array of shape (k, n), or (n,) in "deflation", and returns g(u) and the average of its
        derivative over the last axis; it may also return the derivative itself.
    fun_args : dict, optional
        Arguments of `fun`. ``{"alpha": a}`` is the factor of "logcosh", g(u) = tanh(a·u), from 1 to
        2; the default is 1. A callable receives all entries.
    max_iter : int, default=200
        Maximum number of iterations, in "deflation" of each component. Must be at least 1.
    tol : float, default=1e-4
        Iterations stop when no direction turns by more than this, measured as 1 − |cosine|. Smaller
        values give more accurate results and need more iterations. Must be at least 0.
    w_init : array-like of shape (k, k), optional
        Start of W. None draws normal numbers.
    whiten_solver : {"svd", "eigh"}, default="svd"
        "svd" uses singular values of the rows where the covariance is not accurate enough, and
        eigenvalues of the covariance elsewhere. "eigh" always uses the covariance, which is faster
        for many rows.
    random_state : int, Generator or None, default=None
        Seed of the start. None uses a fixed seed, so that fits can be repeated. Try others to see
        whether the components depend on the start.

    Attributes
    ----------
    components_ : array of shape (k, d)
        The unmixing matrix: components are its products with centred rows. Components are in order
        of decreasing `nongaussianity_`, and the largest entry of each column of `mixing_` is
        positive. With `w_init`, order and signs follow from the start, as in scikit-learn.
    mixing_ : array of shape (d, k)
        The mixing matrix (A), the pseudo-inverse of `components_`.
    mean_ : array of shape (d,)
        The mean of each column (μ). Only set if rows are whitened.
    whitening_ : array of shape (k, d)
        The whitening matrix (K). Only set if rows are whitened.
    nongaussianity_ : array of shape (k,)
        The value |E[u·g(u)] − E[g'(u)]| for each component u of variance 1 in the last iteration.
        It is 0 for a Gaussian variable, apart from errors of order 1/√n.
    n_iter_ : int
        The number of iterations, in "deflation" the largest number of a component.
    solution_ : Solution
        How the fit ended: outcome, iterations and gap.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> t = np.linspace(0, 20, 2000)
    >>> sources = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t))])
    >>> X = sources @ [[1.0, 0.5], [1.0, 2.0]]
    >>> found = th.FastICA().fit_transform(X)
    >>> np.abs(np.corrcoef(found.T, sources.T)[:2, 2:]).round(1).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    n_components: int | None = None
    _: KW_ONLY
    algorithm: str = "parallel"
    whiten: Any = "unit-variance"
    fun: Any = "logcosh"
    fun_args: Any = None
    max_iter: int = 200
    tol: float = 1e-4
    w_init: Any = None
    whiten_solver: str = "svd"
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1) | none,
        "algorithm": one_of("parallel", "deflation"),
        "whiten": one_of("unit-variance", "arbitrary-variance") | _false,
        "fun": one_of("logcosh", "exp", "cube") | _callable,
        "fun_args": _arguments | none,
        "max_iter": whole(1),
        "tol": at_least(0),
        "w_init": _square | none,
        "whiten_solver": one_of("svd", "eigh"),
    }

    @classmethod
    def _example(cls) -> FastICA:
        # Tests repeat fits to rounding on few rows, which determine only clear components.
        return cls(2, fun="cube")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> FastICA:
        """Find the components. Cost: see `FastICA`."""
        source = self._open(X, None, sample_weight, supervised=False)
        contrast = self._contrast()
        if source.n_rows < 2:
            raise DataError(
                f"FastICA: n_samples = {source.n_rows}, but a variance needs at least 2 rows. "
                "Add rows."
            )
        with one_blas_thread():
            problem = self._run(source, contrast, X, y)
        if self.solution_.outcome is Outcome.DIVERGED:
            raise DataError(
                "FastICA: the iterations are no longer finite. Scale the columns, or use "
                'another contrast, such as fun="logcosh".'
            )
        self.n_iter_ = max(problem.last.get("counts", [self.solution_.steps]))
        self._warn(problem)
        return self

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Compute the components of every row, s = W√n·K(x − μ). Cost: O(n d k).

        Parameters
        ----------
        X : array-like, table or Source of shape (n, d)
            Rows to transform, with the same columns as in `fit`.
        copy : bool, default=True
            Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array or Source of shape (n, k)
            The components in the precision of X; a table if requested by ``set_output``.
        """
        return super().transform(X)

    def inverse_transform(self, X: Any, copy: bool = True) -> Array:
        """Compute the rows with the given components, x̂ = μ + As. Cost: O(n d k).

        Parameters
        ----------
        X : array-like or table of shape (n, k)
            Components, as returned by `transform`.
        copy : bool, default=True
            Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.

        Returns
        -------
        array of shape (n, d)
            Rows in the original columns.
        """
        return super().inverse_transform(X)

    def _run(self, source: Source, contrast: Contrast | GivenContrast, X: Any, y: Any) -> WhiteRows:
        """Whiten the rows, iterate, and set the fitted attributes."""
        white = self._white(source) if self.whiten else None
        k = source.n_features if white is None else len(white.matrix)
        start = self._start(k)
        problem = _rows(source, white, contrast)
        problem.last.update(single=self.algorithm == "deflation", excess=np.zeros(k))
        method, steps = self._method(k)

        def attributes(W: Array) -> dict[str, Array]:
            found = self._attributes(W, white, np.abs(problem.last["excess"]))
            return {name: each.astype(source.dtype, copy=False) for name, each in found.items()}

        with self._watching(steps, attributes, X, y) as watch:
            self.solution_ = minimise(
                problem, method, start, tolerance=self.tol, max_steps=steps, watch=watch
            )
        if self.solution_.outcome is not Outcome.DIVERGED:
            self.__dict__.update(attributes(self.solution_.theta))
        return problem

    def _contrast(self) -> Contrast | GivenContrast:
        given = {} if self.fun_args is None else self.fun_args
        alpha = given.get("alpha", 1.0)
        if not isinstance(alpha, int | float | np.number) or not 1 <= alpha <= 2:
            raise ParameterError(
                f"FastICA: alpha must be in [1,2], but fun_args holds alpha={alpha!r:.80}. "
                "Use 1 for most sources."
            )
        if callable(self.fun):
            return GivenContrast(self.fun, given)
        return Contrast(self.fun, float(alpha))

    def _white(self, source: Source) -> Whitening:
        k = self.n_components
        found = whitening(source, k, exact=self.whiten_solver == "svd")
        if not found.rank:
            raise DataError(
                "FastICA: all columns of X are constant, so there is nothing to unmix. Pass rows "
                "that differ."
            )
        if k is not None and k > found.rank:
            directions = "1 direction" if found.rank == 1 else f"{found.rank} directions"
            warn(
                f"FastICA: n_components is too large: it will be set to {found.rank} instead of "
                f"{k}, because the centred rows of X vary in {directions} only. Use a smaller "
                "number."
            )
        return found

    def _start(self, k: int) -> Array:
        if not self.whiten and self.n_components is not None:
            warn(
                "FastICA: Ignoring n_components with whiten=False. Set n_components=None, or "
                "whiten the rows."
            )
        if self.w_init is None:
            seed = 0 if self.random_state is None else self.random_state
            return child_generator(seed).standard_normal((k, k))
        start = np.asarray(self.w_init)
        if start.shape != (k, k):
            raise ParameterError(
                f"FastICA: w_init has invalid shape {start.shape}; it should be {(k, k)}, one row "
                "and one column per component. Use None for a random start."
            )
        if start.dtype.kind not in "fiu" or not np.isfinite(start).all():
            raise ParameterError(
                "FastICA: w_init must hold finite numbers. Use None for a random start."
            )
        if np.linalg.matrix_rank(start) < k:
            raise ParameterError(
                f"FastICA: the rows of w_init must be linearly independent, but its rank is "
                f"{np.linalg.matrix_rank(start)} of {k}. Use None for a random start."
            )
        return start.astype(np.float64)

    def _method(self, k: int) -> tuple[Parallel | Deflation, int]:
        if self.algorithm == "parallel":
            return Parallel(), self.max_iter
        return Deflation(self.tol, self.max_iter), int(self.max_iter) * k

    def _attributes(self, W: Array, white: Whitening | None, clear: Array) -> dict[str, Array]:
        """The fitted attributes for W of shape (k, k)."""
        if self.algorithm == "deflation":
            W = orthogonal(W)  # rows whose iterations were interrupted are not orthogonal
        mixing = W.T if white is None else white.back() @ W.T
        if self.w_init is None:
            order = np.argsort(-clear, kind="stable")
            W, mixing, clear = W[order], mixing[:, order], clear[order]
            largest = np.abs(mixing).argmax(axis=0)
            signs = np.where(mixing[largest, np.arange(len(W))] < 0, -1.0, 1.0)
            W, mixing = W * signs[:, None], mixing * signs
        if white is None:
            return {"components_": W, "mixing_": mixing, "nongaussianity_": clear}
        scale = np.sqrt(white.weight) if self.whiten == "unit-variance" else 1.0
        return {
            "components_": W @ white.matrix * scale,
            "mixing_": mixing / scale,
            "mean_": white.mean,
            "whitening_": white.matrix,
            "nongaussianity_": clear,
        }

    def _warn(self, problem: WhiteRows) -> None:
        solution = self.solution_
        if solution.outcome in WARNED_OF:
            steps = "1 iteration" if self.n_iter_ == 1 else f"{self.n_iter_} iterations"
            more = (
                "th.config(max_time=...)" if solution.outcome is Outcome.OUT_OF_TIME else "max_iter"
            )
            warn(
                f"FastICA: {solution.outcome.value} ({solution.solver}, {steps}, "
                f"{solution.gap_kind} {solution.gap:.2g}, tol={self.tol:g}). Raise {more} or tol, "
                "use fewer components, or try another contrast (fun) or random_state. Components "
                "that are nearly Gaussian (see nongaussianity_) often do not converge.",
                ConvergenceWarning,
            )
        if not (solution.outcome.success and self.whiten):
            return
        if isinstance(problem.contrast, GivenContrast):
            return
        error = problem.contrast.gaussian_deviation() / np.sqrt(problem.total)
        unclear = int((self.nongaussianity_ < CLEAR * error).sum())
        if unclear > 1:
            warn(
                f"FastICA: {unclear} of {len(self.components_)} components cannot be distinguished "
                f"from Gaussian variables (nongaussianity_ below {CLEAR * error:.2g}). Such "
                "components are determined only up to a rotation among themselves. Use more rows, "
                "fewer components, or another contrast (fun)."
            )

    def _offset(self) -> Array | None:
        return getattr(self, "mean_", None)

    def _inverse_block(self, Z: Array) -> Array:
        rows: Array = Z @ self.mixing_.T
        offset = self._offset()
        return rows if offset is None else rows + offset


def _rows(source: Source, white: Whitening | None, contrast: Contrast | GivenContrast) -> WhiteRows:
    """The white rows in memory; rows as they are if `white` is None."""
    n, k = source.n_rows, source.n_features if white is None else len(white.matrix)
    require_memory(
        8 * 2 * n * k, f"FastICA: {n} white rows of {k} numbers", "Use fewer rows or components."
    )
    if white is None:
        source.require_finite()
        rows = source.map_rows(lambda block: dense_rows(block).astype(np.float64, copy=False))
        rows = np.ascontiguousarray(rows)
    else:
        rows = white.rows(source)
    if not source.has_weight:
        return WhiteRows(rows, np.empty(0), float(n), contrast)
    weight = source.map_rows(lambda block: np.asarray(block.row_weights, dtype=np.float64))
    return WhiteRows(rows, weight, float(weight.sum()), contrast)
