"""Matrix completion: missing entries from factors, x_ij ≈ μ + b_i + c_j + aᵢᵀvⱼ."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.models.decomposition.completion.alternating import ridge_by_row
from thetahat.models.decomposition.completion.entries import Entries, require_known_once
from thetahat.models.decomposition.completion.offsets import FILLS, Offsets, offsets_by, row_offsets
from thetahat.models.decomposition.completion.plans import (
    METHODS,
    Factors,
    Plan,
    Setting,
    plan_of,
)
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


def _each(rule: Range) -> Range:
    """A list of values that each obey a rule."""
    return Range(
        lambda value: (
            isinstance(value, list | tuple | np.ndarray | range)
            and len(value) > 0
            and all(rule.holds(each) for each in value)
        ),
        f"a list of such values ({rule.words})",
    )


@with_parameters
class MatrixCompletion(Watched, RowwiseTransformer):
    """Fills in the missing entries of a matrix whose rows resemble each other, such as ratings.

    X is a dense matrix with NaN for missing entries, or a sparse matrix whose stored entries are
    known (stored zeros included) and all others missing. Every entry is described by

        x̂_ij = μ + b_i + c_j + aᵢᵀvⱼ,

    offsets of its row and its column, and factors aᵢ and vⱼ of length k.

    Formula: "als" minimises ½Σ_known (x_ij − x̂_ij)² + ½α(‖A‖² + ‖V‖² + ‖b‖² + ‖c‖²) by alternating
    ridge regressions of rows and columns, and suits large sparse ratings. "soft_impute" minimises
    ½Σ_known (x_ij − z_ij)² + α‖Z‖_*, a convex problem whose duality gap is reported.
    "hard_impute" repeats: fill with Z, Z ← best approximation of rank k. "one_shot" does so once.
    "propagation" follows the known entries of a matrix of rank 1 exactly. "fill" uses the offsets
    of `fill` alone, and is a baseline for the others.

    Cost: for N known entries O(N k² + (m + n)k³) time per iteration of "als" and O(N + (m + n)k)
    memory; O(mn·min(m, n)) time per iteration and O(mn) memory for the methods that use singular
    values; O(N) for "propagation" and "fill".

    Parameters
    ----------
    n_components : int, list of int or None, default=None
        Number of factors (k), the largest rank of the product of factors. More factors fit the
        known entries more closely. None uses 10, or min(m, n) if that is smaller, and does not
        limit the rank of "soft_impute". From a list, the number with the smallest error of
        held-out entries is chosen.
    method : {"als", "soft_impute", "hard_impute", "one_shot", "propagation", "fill"}, \
default="als"
        How the factors are found; see above.
    alpha : float or list of float, default=10.0
        Strength of the penalty on the factors (α) in "als" and "soft_impute". Larger values shrink
        predictions towards the offsets. The best value grows with the size of the entries: 10 suits
        ratings from 1 to 5, and entries of about 1 need less, often 0.01 to 1. Must be at least 0.
        From a list, the value with the smallest error of held-out entries is chosen.
    biases : bool, default=True
        Whether "als" fits offsets of rows and columns besides the factors. Without them all
        offsets are 0.
    fill : {"zero", "mean", "row_mean", "column_mean", "row_column_mean"}, default="mean"
        The values that missing entries are first filled with, by all methods other than "als" and
        "propagation": 0, the mean of all known entries, that of the row or the column, or
        their sum less the mean of all. Rows and columns without entries have the mean of all.
    center : bool, default=False
        Whether to subtract the values of `fill` from all entries first and add them again at the
        end, so that the factors describe deviations from them.
    max_iter : int, default=200
        Maximum number of iterations. Raise it if the fit warns that it did not converge.
    tol : float, default=1e-04
        The fit stops when the duality gap ("soft_impute") or the decrease of the objective in an
        iteration is at most this share of the objective without factors. Smaller values are more
        accurate.
    cv : int, default=5
        Number of folds of the known entries for choosing from lists. Must be at least 2.
    random_state : int, Generator or None, default=None
        Seed of the folds. The fit itself does not use random numbers. None uses the same folds in
        every call.

    Attributes
    ----------
    components_ : array of shape (k, n)
        The factors of the columns (V), in order of decreasing size. The entry of the largest size
        of each is positive.
    row_factors_ : array of shape (m, k)
        The factors of the rows (A).
    mean_ : float
        The offset of all entries (μ).
    row_offsets_ : array of shape (m,)
        The offset of each row (b).
    column_offsets_ : array of shape (n,)
        The offset of each column (c).
    n_components_ : int
        The number of factors, which can be smaller than requested if the others are 0.
    alpha_ : float
        The strength of the penalty that was used.
    cv_errors_ : array of shape (n_candidates, n_folds)
        Root mean squared error of the held-out entries for all pairs of `n_components` and `alpha`,
        those of the first number of components first. Only available if a list was given.
    solution_ : Solution
        Report of the solver: how it stopped, the number of iterations, the remaining gap, and the
        objective after each iteration in ``trace``.
    n_iter_ : int
        Number of iterations that the solver ran.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> nan = np.nan
    >>> X = [[1, nan, nan], [nan, 2, nan], [nan, 6, 9], [nan, nan, 3], [4, 4, nan]]
    >>> model = th.MatrixCompletion(1, method="hard_impute", tol=1e-12).fit(X)
    >>> model.complete(X).round(3).tolist()[3]
    [2.0, 2.0, 3.0]
    >>> model.predict_entries([0, 1], [2, 0]).round(3).tolist()
    [1.5, 2.0]
    """

    n_components: Any = None
    _: KW_ONLY
    method: str = "als"
    alpha: Any = 10.0
    biases: bool = True
    fill: str = "mean"
    center: bool = False
    max_iter: int = 200
    tol: float = 1e-4
    cv: int = 5
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1) | none | _each(whole(1)),
        "method": one_of(*METHODS),
        "alpha": at_least(0, 1e100) | _each(at_least(0, 1e100)),
        "biases": boolean,
        "fill": one_of(*FILLS),
        "center": boolean,
        "max_iter": whole(1),
        "tol": at_least(0),
        "cv": whole(2),
    }
    _accepts_sparse = True
    _leaves_out_missing = True
    _streams = False
    _absent_is_missing: ClassVar[bool] = True
    """Entries that a sparse matrix does not store are missing instead of 0."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> MatrixCompletion:
        """Find the factors of the known entries. Cost: see `MatrixCompletion`.

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, n)
            The matrix: dense with NaN for missing entries, or sparse with the known entries stored.
        """
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        self._require_entries(X, source)
        entries = Entries.of(source.X)
        settings = self._settings(entries)
        if self.method not in ("one_shot", "fill"):
            entries.require_squares(type(self).__name__)
        self.__dict__.pop("cv_errors_", None)
        best = self._chosen(entries, settings) if len(settings) > 1 else settings[0]
        plan = plan_of(entries, best, type(self).__name__)
        filled = offsets_by(self.fill, entries)
        kept = {
            "alpha_": float(best.alpha),
            "_fill_mean": filled.mean,
            "_fill_columns": filled.columns.astype(source.dtype),
        }

        def attributes(theta: Array) -> dict[str, Any]:
            return kept | _attributes(theta, plan=plan, dtype=source.dtype)

        with self._watching(self.max_iter, attributes, X, y) as watch:
            solution = plan.run(best, watch)
        self.__dict__.update(attributes(solution.theta))
        # The parameters of the solver may be a matrix as large as X.
        self.solution_ = replace(solution, theta=self.components_)
        self.n_iter_ = max(1, solution.steps)
        self._warn_unless_converged()
        return self

    def _require_entries(self, X: Any, source: Source) -> None:
        if isinstance(source, InMemory) and source.is_sparse:
            require_known_once(X, source.X, type(self).__name__)

    def _open_again(self, X: Any) -> Source:
        source = super()._open_again(X)
        self._require_entries(X, source)
        return source

    def _settings(self, entries: Entries) -> list[Setting]:
        """One setting for every pair of the lists of parameters."""
        who, least = type(self).__name__, min(entries.shape)
        if not entries.values.size:
            raise DataError(
                f"{who}: X has no known entry: all {entries.shape[0]} × {entries.shape[1]} entries "
                "are missing. Mark missing entries only by NaN, or store the known ones."
            )
        default = least if self.method == "soft_impute" else min(10, least)
        if self.method == "propagation":
            default = 1
        given = default if self.n_components is None else self.n_components
        settings = []
        for k, alpha in product(np.atleast_1d(given).tolist(), np.atleast_1d(self.alpha).tolist()):
            if k > least:
                raise ParameterError(
                    f"{who}: n_components={k} must be at most min(m, n) = {least}, the largest "
                    f"rank of a matrix of {entries.shape[0]} × {entries.shape[1]} entries. Use a "
                    "smaller number, or None."
                )
            if self.method == "propagation" and k != 1:
                raise ParameterError(
                    f"{who}: n_components={k} must be 1 with method='propagation'. Use "
                    "method='hard_impute' or 'als' for a higher rank."
                )
            settings.append(
                Setting(
                    k,
                    self.method,
                    float(alpha),
                    self.biases,
                    self.fill,
                    self.center,
                    self.max_iter,
                    self.tol,
                )
            )
        return settings

    def _chosen(self, entries: Entries, settings: list[Setting]) -> Setting:
        """The setting with the smallest error of held-out entries."""
        n, who = entries.values.size, type(self).__name__
        if n < self.cv:
            raise ParameterError(
                f"{who}: cv={self.cv} folds need at least as many known entries, but X has {n}. "
                "Use fewer folds, or give single values of n_components and alpha."
            )
        seed = 0 if self.random_state is None else self.random_state
        fold = generator(seed).permutation(np.arange(n) % self.cv)
        errors = np.empty((len(settings), self.cv))
        for f in range(self.cv):
            train, test = (entries.take(np.flatnonzero(each)) for each in (fold != f, fold == f))
            for number, setting in enumerate(settings):
                plan = plan_of(train, setting, who)
                found = plan.factors(plan.run(setting, Watch()).theta)
                left = test.values - found.at(test.rows, test.columns)
                errors[number, f] = np.sqrt(np.mean(left**2))
        self.cv_errors_ = errors
        return settings[int(errors.mean(axis=1).argmin())]

    def predict_entries(self, rows: Any, columns: Any) -> Array:
        """Predict entries of the fitted matrix, x̂_ij. Cost: O(k) per entry.

        Parameters
        ----------
        rows : array-like of int, shape (n_entries,)
            Numbers of rows, from 0 to m − 1.
        columns : array-like of int, shape (n_entries,)
            Numbers of columns, from 0 to n − 1; as many as rows.

        Returns
        -------
        array of shape (n_entries,)
            Predicted values; also where the entry is known.
        """
        check_is_fitted(self)
        i = self._numbers(rows, "rows", len(self.row_factors_))
        j = self._numbers(columns, "columns", self.n_features_in_)
        if i.shape != j.shape:
            raise ParameterError(
                f"{type(self).__name__}.predict_entries: rows has {i.size} and columns has "
                f"{j.size} numbers. Pass one column for each row."
            )
        return self._factors().at(i, j).astype(self.components_.dtype)

    def _numbers(self, values: Any, name: str, most: int) -> Array:
        """Numbers of rows or columns, checked."""
        who = f"{type(self).__name__}.predict_entries"
        found = np.atleast_1d(np.asarray(values))
        if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
            raise ParameterError(
                f"{who}: {name} must be a list of whole numbers, but it has dtype {found.dtype} "
                f"and {found.ndim} dimensions."
            )
        out = (found < 0) | (found >= most)
        if out.any():
            raise ParameterError(
                f"{who}: {name}[{int(np.argmax(out))}] = {found[np.argmax(out)]} must be from 0 to "
                f"{most - 1}, because the fitted matrix has {most} {name}. Fit the model to a "
                "matrix that includes this row or column."
            )
        return found.astype(np.intp)

    def _factors(self) -> Factors:
        offsets = Offsets(self.mean_, self.row_offsets_, self.column_offsets_)
        return Factors(offsets, self.row_factors_, self.components_)

    def complete(self, X: Any) -> Array:
        """Fill in the missing entries of the fitted matrix. Cost: O(m n k).

        Parameters
        ----------
        X : array-like, sparse or table of shape (m, n)
            The matrix that was fitted, with the same rows in the same order. Its known entries are
            returned as they are.

        Returns
        -------
        array of shape (m, n)
            The matrix without missing entries.
        """
        source = self._open_whole(X)
        m, n = len(self.row_factors_), self.n_features_in_
        if source.n_rows != m:
            raise DataError(
                f"{type(self).__name__}.complete: X has {source.n_rows} rows, but the fitted "
                f"matrix has {m}. Use transform for other rows."
            )
        require_memory(2 * 8 * m * n, f"{type(self).__name__}.complete", "Use predict_entries.")
        factors = self._factors()
        with one_blas_thread():
            full = factors.rows @ factors.columns + factors.offsets.full()
        return Entries.of(source.X).dense(full).astype(source.dtype, copy=False)

    def _transform_block(self, block: Block) -> Array:
        """Rows completed by factors of their own, given those of the columns."""
        entries = Entries.of(block.X)
        rows, offsets = self._new_rows(entries)
        with one_blas_thread():
            return entries.dense(rows @ self.components_ + self.column_offsets_ + offsets[:, None])

    def _new_rows(self, entries: Entries) -> tuple[Array, Array]:
        """Factors of some rows, and μ + b."""
        k = len(self.components_)
        known = entries.values - self.mean_ - self.column_offsets_[entries.columns]
        if self.method == "als":
            design = self.components_.T.astype(np.float64)
            if self.biases:
                design = np.column_stack([design, np.ones(len(design))])
            found = ridge_by_row(entries, known, design, self.alpha_)
            own = found[:, k] if self.biases else np.zeros(len(found))
            return found[:, :k], self.mean_ + own
        mean = self.mean_
        rule = self.fill if self.center or self.method == "fill" else "zero"
        own = row_offsets(rule, entries, mean)
        design = self.components_.T.astype(np.float64)
        if self.method == "one_shot":
            fill = self._fill_mean + self._fill_columns
            fill = fill + row_offsets(self.fill, entries, self._fill_mean)[:, None]
            away = entries.dense(fill) - mean - own[:, None] - self.column_offsets_
            return away @ (design / np.einsum("ij,ij->j", design, design)), mean + own
        ridge = self.alpha_ if self.method == "soft_impute" else 0.0
        if k and not ridge:
            entries.require_some_in_rows(type(self).__name__, self.method)
        found = ridge_by_row(entries, known - own[entries.rows], design, ridge)
        return found, mean + own


def _attributes(theta: Any, plan: Plan, dtype: Any) -> dict[str, Any]:
    """The fitted attributes for the parameters of the solver."""
    found = plan.factors(theta)
    return {
        "components_": found.columns.astype(dtype),
        "row_factors_": found.rows.astype(dtype),
        "mean_": float(found.offsets.mean),
        "row_offsets_": found.offsets.rows.astype(dtype),
        "column_offsets_": found.offsets.columns.astype(dtype),
        "n_components_": len(found.columns),
    }
