"""Discriminant analysis in the feature space of a kernel (kernel Fisher discriminants)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.estimator.parameters import Range, at_least, non_negative_array, none, whole
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.threads import one_blas_thread, scipy_linalg
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.linalg.tiled_cholesky import cholesky_in_place, cholesky_solve
from thetahat.mathematics.losses.links import softmax
from thetahat.models.kernel.parameters import NamedKernel, in_memory, near_rows
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.features import KernelFeatures


@with_parameters
class KernelDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, Classifier, NamedKernel
):
    """Linear discriminant analysis in the feature space of a kernel, for two or more classes.

    Formula: with the features φ of the kernel, the class means μ_c and the covariance within the
    classes Σ = Σᵢ(φᵢ − μ_{yᵢ})(φᵢ − μ_{yᵢ})ᵀ/n + αI, the score of class c is
    φ(x)ᵀΣ⁻¹μ_c − ½μ_cᵀΣ⁻¹μ_c + log π_c. The discriminants v maximise vᵀBv/vᵀΣv, where B is the
    covariance of the class means; there are at most C − 1 for C classes, and `transform` gives
    vᵀ(φ(x) − μ). With the linear kernel and α = 0 it is linear discriminant analysis.

    Cost: O(n²d + n³) time and at most three matrices of n² numbers, whose size is checked first.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel, by its name or as a value; see `KernelRidge`.
    alpha : float, default=1e-3
        The variance that is added to all directions of the feature space (α). Larger values give
        smoother functions. 0 leaves out directions without variance within the classes, which suits
        kernels with fewer features than rows only. Must be ≥ 0.
    n_components : int or None, default=None
        Number of discriminants that `transform` returns, at most the number of classes minus 1.
        None returns all. Predictions always use all.
    priors : array-like of shape (n_classes,) or None, default=None
        The probabilities of the classes (π). None estimates them by the shares of the training
        rows.

    Attributes
    ----------
    dual_coef_ : array of shape (n_centres, n_discriminants)
        The coefficients of the kernel functions of the training rows in each discriminant.
    intercept_ : array of shape (n_discriminants,)
        The constant of each discriminant.
    means_ : array of shape (n_classes, n_discriminants)
        The class means in the space of the discriminants.
    priors_ : array of shape (n_classes,)
        The probabilities of the classes.
    explained_variance_ratio_ : array of shape (n_discriminants,)
        The share of each discriminant in the variance between the classes.
    X_fit_ : array or sparse array of shape (n_centres, d)
        The training rows that predictions need; for a precomputed kernel, the numbers of its
        columns.
    kernel_ : Kernel
        The kernel with all its parameters.
    classes_ : array of shape (n_classes,)
        The labels in sorted order.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"]
    >>> model = th.KernelDiscriminantAnalysis(th.kernels.Polynomial(degree=2)).fit(X, y)
    >>> model.predict(X).tolist()
    ['same', 'other', 'other', 'same']
    >>> model.transform(X).shape
    (4, 1)
    """

    _parametric = False

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: Any = None
    degree: Any = 3
    coef0: Any = 1
    kernel_params: Any = None
    alpha: float = 1e-3
    n_components: int | None = None
    priors: Any = None

    _ranges: ClassVar[dict[str, Range]] = NamedKernel._ranges | {
        "alpha": at_least(0),
        "n_components": whole(1) | none,
        "priors": non_negative_array | none,
    }

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelDiscriminantAnalysis:
        """Find the discriminants and the class means. Cost: O(n²d + n³).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows; for a precomputed kernel, the matrix of shape (n, n).
        y : array-like of shape (n,)
            The labels of the rows, of any kind.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = in_memory(self._open_classes(X, y, sample_weight), type(self).__name__)
        require_two_weighted_classes(source, self.classes_, type(self).__name__)
        assert source.y is not None
        used = np.flatnonzero(source.row_weights > 0)
        weight, codes = source.row_weights[used].astype(float), source.y[used].astype(np.intp)
        count, total = len(self.classes_), float(weight.sum())
        if not total > count:
            raise DataError(
                f"KernelDiscriminantAnalysis: the number of rows, {total:g}, must be more than the "
                f"number of classes, {count}, because the covariance within classes is estimated. "
                "Add rows."
            )
        components = self._component_count(count)
        self.kernel_ = near_rows(self._kernel(source), source.X)
        require_kernel_matrix(len(used), len(used), np.float64, copies=4)
        features = KernelFeatures.of(self.kernel_, source.X, used)
        rows = features.of_rows(source.X)
        rows = rows if len(rows) == len(used) else rows[used]
        sizes = np.bincount(codes, weight, minlength=count)
        self.priors_ = self._class_shares(sizes / total)
        with one_blas_thread():
            shares = np.zeros((count, len(used)))
            shares[codes, np.arange(len(used))] = weight / sizes[codes]
            means = shares @ rows
            centre = self.priors_ @ means
            apart = np.sqrt(self.priors_)[:, None] * (means - centre)
            within = means[codes]
            np.subtract(rows, within, out=within)
            within *= np.sqrt(weight / total)[:, None]
            solved = _solve(within, apart.T, self.alpha)
            values, vectors = np.linalg.eigh(apart @ solved)
        order = np.argsort(values)[::-1][: count - 1]
        order = order[values[order] > 1e-12 * max(float(values.max()), 1e-300)]
        if not order.size:
            raise DataError(
                f"KernelDiscriminantAnalysis: {self.kernel_!r} gives all classes the same mean, so "
                "that there is no discriminant. Use another kernel, or check the labels."
            )
        values, vectors = values[order], vectors[:, order]
        vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(order))])
        directions = solved @ (vectors / np.sqrt(values))
        self.X_fit_ = features.centres
        self.dual_coef_ = features.coefficients(directions)
        self.intercept_ = -(centre @ directions)
        self.means_ = (means - centre) @ directions
        self.explained_variance_ratio_ = values / values.sum()
        self._components = min(components, len(order))
        return self

    def _component_count(self, count: int) -> int:
        most = count - 1
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"KernelDiscriminantAnalysis: n_components={self.n_components} exceeds the number "
                f"of discriminants, {most} for {count} classes. Use at most {most}, or None."
            )
        return most if self.n_components is None else self.n_components

    def _class_shares(self, found: Array) -> Array:
        if self.priors is None:
            return found
        given = np.asarray(self.priors, dtype=np.float64)
        if given.shape != found.shape or not given.sum() > 0:
            raise ParameterError(
                f"KernelDiscriminantAnalysis: priors must be {len(found)} numbers ≥ 0, one for "
                f"each class, with a positive sum, but is {self.priors!r}."
            )
        return given / given.sum()

    @property
    def _n_features_out(self) -> int:
        return self._components

    def _discriminants(self, X: Any) -> Array:
        source = self._open_again(X)
        expansion = KernelExpansion(self.kernel_, self.X_fit_, self.dual_coef_, self.intercept_)
        return self._expand(source, expansion)

    def transform(self, X: Any) -> Array:
        """Compute the discriminants vᵀ(φ(x) − μ) of every row. Cost: O(n m d) for m training rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_components)
            The discriminants in the order of their share in the variance between the classes.
        """
        return self._discriminants(X)[:, : self._components]

    def _scores(self, X: Any) -> Array:
        places = self._discriminants(X)
        with np.errstate(divide="ignore"):
            level = np.log(self.priors_) - 0.5 * (self.means_**2).sum(axis=1)
        with one_blas_thread():
            return (places @ self.means_.T.astype(places.dtype) + level).astype(places.dtype)

    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes. Cost: O(n m d) for m training rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,) for two classes, or (n, n_classes)
            Logarithms of the class probabilities up to a constant for each row; for two classes
            their difference, which is positive for ``classes_[1]``.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> Array:
        """Predict the probabilities of the classes, by softmax of their scores. Cost: O(n m d).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        return softmax(self._scores(X))

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest score. Cost: O(n m d) for m training rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,)
            The predicted labels.
        """
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]


def _solve(within: Array, right: Array, alpha: float) -> Array:
    """(WᵀW + αI)⁻¹R; for α = 0 in the directions that have variance."""
    scatter = within.T @ within
    if alpha > 0:
        np.einsum("ii->i", scatter)[:] += alpha
        if cholesky_in_place(scatter):
            return cholesky_solve(scatter, right)
    values, vectors = scipy_linalg().eigh(scatter, driver="evd", check_finite=False)
    kept = values > 10 * len(values) * EPSILON * max(float(values[-1]), 0.0)
    vectors = vectors[:, kept]
    return (vectors / values[kept]) @ (vectors.T @ right)
