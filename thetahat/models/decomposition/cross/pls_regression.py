"""Partial least squares: least squares on the few directions of X that vary with the target."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import splits_of
from thetahat.estimator.parameters import Range, one_of, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.deflation import Components, components_of
from thetahat.models.decomposition.cross.scatter import Frame, scatter_of
from thetahat.models.decomposition.cross.two_blocks import TwoBlocks

MOST_TRIED = 20
"""Largest number of components that cross-validation tries."""


@with_parameters
class PLSRegression(TwoBlocks):
    """Partial least squares regression, for one or several targets.

    The first component is the direction of X with the largest covariance with y; each further
    component is found in the same way in what the components before leave of X. y is then
    explained by least squares on the components. In contrast to principal components, directions
    that vary much but have nothing to do with y are not used.

    Formula: for centred X̂ = X and one target, repeat z = X̂X̂ᵀy, ŷ ← ŷ + z(zᵀy)/(zᵀz),
    X̂ ← (I − zzᵀ/zᵀz)X̂. The z are orthogonal. After k components β̂ is the least squares solution
    in the Krylov space of Xᵀy, XᵀXXᵀy, …, (XᵀX)ᵏ⁻¹Xᵀy, and with as many components as the rank of X
    it is the ordinary least squares solution. With several targets, z = X̂w with the first left
    singular vector w of X̂ᵀY.

    Cost: O(n d² + k d²) time and O(d²) memory from one pass over the rows, in memory or on disk;
    for many columns and few components k + 3 passes of O(n d) and O(d k) memory.

    Parameters
    ----------
    n_components : int or "cv", default=2
        Number of components (k). More components fit the training rows more closely. "cv" tries
        1, 2, … up to 20 and keeps the number with the smallest mean squared error of the held-out
        rows in the folds of `cv`. At most min(n, d).
    algorithm : {"svd", "nipals"}, default="svd"
        How the first singular vectors are found if there are several targets: directly, or by
        power iterations until `tol` as in scikit-learn. Both give the same weights up to `tol`.
    cv : int, splitter or iterable, default=5
        Folds for ``n_components="cv"``. An int is the number of folds; a splitter of scikit-learn
        or an iterable of (train, test) row numbers is used as given.

    Attributes
    ----------
    x_scores_ : array of shape (n, n_components)
        The scores of the training rows (T), which are orthogonal. Only available if the rows are
        in memory.
    y_scores_ : array of shape (n, n_components)
        The scores of the targets, after the components before. Only available if the rows are in
        memory.
    n_components_ : int
        The number of components that were fitted.
    cv_errors_ : array of shape (n_folds, n_tried)
        Mean squared error of the held-out rows for each number of components, in the units of
        scaled targets. Only available with ``n_components="cv"``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [2.0, 5.0, 4.0]])
    >>> y = np.array([0.1, 0.9, 6.2, 11.9])
    >>> model = th.PLSRegression(n_components=2).fit(X, y)
    >>> model.predict(X).round(1).tolist()
    [0.3, 0.6, 6.5, 11.8]
    """

    _: KW_ONLY
    algorithm: str = "svd"
    cv: Any = 5

    _ranges: ClassVar[dict[str, Range]] = TwoBlocks._ranges | {
        "n_components": whole(1) | one_of("cv"),
        "algorithm": one_of("svd", "nipals"),
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PLSRegression:
        """Find the components and the coefficients. Cost: see `PLSRegression`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows. A `Source` (see ``th.scan``) is read block by block and contains the
            target.
        y : array-like of shape (n,) or (n, n_targets), optional
            Target values. Leave it out if X is a `Source`.
        """
        source = self._open(X, y, sample_weight, check_finite=False)
        most = min(source.n_rows, source.n_features)
        rule = "min(n_samples, n_features)"
        self._require_components(
            1 if self.n_components == "cv" else self.n_components, source, most, rule
        )
        self.__dict__.pop("cv_errors_", None)
        k = self._chosen(source) if self.n_components == "cv" else self.n_components
        frame, found = self._components(source, k)
        self._keep(frame, found, source)
        self.n_components_ = k
        for name in ("x_scores_", "y_scores_"):
            self.__dict__.pop(name, None)
        if isinstance(source, InMemory):
            self.x_scores_, self.y_scores_ = self._training_scores(source)
        if not found.converged:
            warn(
                f"{type(self).__name__}: Maximum number of iterations reached: the power "
                f"iterations of a component did not reach tol={self.tol:g} in {self.max_iter}. "
                "Raise max_iter, or use algorithm='svd'.",
                ConvergenceWarning,
            )
        return self

    def _components(self, source: Source, k: int) -> tuple[Frame, Components]:
        about = scatter_of(source, scale=self.scale, n_components=k)
        power = self.algorithm == "nipals"
        found = components_of(about, k, power=power, max_iter=self.max_iter, tol=self.tol)
        return about.frame, found

    def _chosen(self, source: Source) -> int:
        """The number of components with the smallest error of held-out rows."""
        who = type(self).__name__
        if not isinstance(source, InMemory):
            raise CapabilityError(
                f"{who}: n_components='cv' needs its rows in memory, but these are read block by "
                "block. Load them with X, y, sample_weight = source.arrays(), or give a number."
            )
        folds = splits_of(self.cv, source.X, source.y, who=who)
        if source.weight is not None:
            self._require_weight(source.weight, folds)
        most = min(min(len(train) for train, _ in folds) - 1, source.n_features, MOST_TRIED)
        self._require_components(1, source, most, "the smallest number of training rows in a fold")
        self.cv_errors_ = np.stack(
            [self._errors(source.take(train), source.take(test), most) for train, test in folds]
        )
        return int(self.cv_errors_.mean(axis=0).argmin()) + 1

    def _require_weight(self, weight: Array, folds: list[tuple[Array, Array]]) -> None:
        for number, (train, test) in enumerate(folds):
            if np.count_nonzero(weight[train]) < 2 or not weight[test].any():
                raise DataError(
                    f"{type(self).__name__}: fold {number} of cv={self.cv!r:.80} has fewer than 2 "
                    "training rows or no held-out row of positive weight. Drop rows of weight 0, "
                    "or shuffle the folds: cv=KFold(shuffle=True)."
                )

    def _errors(self, train: InMemory, test: InMemory, most: int) -> Array:
        """Mean squared errors of the test rows with 1, …, `most` components."""
        frame, found = self._components(train, most)
        R = found.x_rotations / frame.x_scale[:, None]
        X = test.X - frame.x_mean if isinstance(test.X, np.ndarray) else test.X
        T = X @ R - (0.0 if isinstance(test.X, np.ndarray) else frame.x_mean @ R)
        assert test.y is not None
        y = test.y if test.y.ndim == 2 else test.y[:, None]
        left = (y - frame.y_mean) / frame.y_scale
        errors = np.empty(most)
        for a in range(most):
            left = left - np.outer(T[:, a], found.y_loadings[:, a])
            errors[a] = np.average((left**2).mean(axis=1), weights=test.weight)
        return errors
