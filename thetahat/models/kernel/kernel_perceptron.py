"""The kernel perceptron: a halfspace in the feature space of a kernel, learned from mistakes."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, whole
from thetahat.estimator.watching import warn_of_time
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.models.kernel.parameters import NamedKernel, in_memory, kept_rows
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.features import gram_of
from thetahat.objective.kernel.perceptron_steps import perceptron_steps
from thetahat.objective.predictor import in_double


@with_parameters
class KernelPerceptron(Classifier, NamedKernel):
    """Perceptron in the feature space of a kernel, for two classes.

    Formula: ŷ = sign f(x) with f(x) = Σ yᵢ k(xᵢ, x) over the mistakes made so far; after a mistake
    at row i, the term yᵢ k(xᵢ, ·) is added. This is the perceptron w ← w + y·φ(x) for the features
    φ of the kernel, but w is never formed. If the features separate the classes with margin ρ and
    have norm at most R, it makes at most R²/ρ² mistakes. The rows are visited in their order,
    repeatedly until a pass makes no mistake.

    Cost: O(n²d) time and one matrix of n² numbers, whose size is checked first, and O(n) for each
    mistake.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel, by its name or as a value; see `KernelRidge`.
    max_iter : int, default=100
        Maximum number of passes over the rows. Classes that the features do not separate need all
        of them. ``th.config(max_time=...)`` ends them earlier, after a pass, with a warning.

    Attributes
    ----------
    dual_coef_ : array of shape (n_support,)
        The number of mistakes at each of the rows in ``support_``, times its sign yᵢ.
    support_ : array of shape (n_support,)
        The numbers of the training rows at which mistakes were made.
    X_fit_ : array or sparse array of shape (n_support, d)
        These rows, which predictions need; for a precomputed kernel, the numbers of its columns.
    n_mistakes_ : int
        Number of mistakes in all passes.
    n_iter_ : int
        Number of passes over the rows.
    separated_ : bool
        Whether the last pass made no mistake, so that the classes are separated.
    kernel_ : Kernel
        The kernel with all its parameters.
    classes_ : array of shape (2,)
        The labels in sorted order; the second has the sign +1.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"]
    >>> model = th.KernelPerceptron(th.kernels.Polynomial(degree=2)).fit(X, y)
    >>> model.predict(X).tolist(), model.separated_
    (['same', 'other', 'other', 'same'], True)
    """

    _parametric = False

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: Any = None
    degree: Any = 3
    coef0: Any = 1
    kernel_params: Any = None
    max_iter: int = 100

    _ranges: ClassVar[dict[str, Range]] = NamedKernel._ranges | {"max_iter": whole(1)}
    _visits_rows_in_order = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any = None) -> KernelPerceptron:
        """Visit the rows until no mistake is made. Cost: O(n²d), and O(n) for each mistake.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows in the order of the visits; for a precomputed kernel, the matrix of shape
            (n, n).
        y : array-like of shape (n,)
            The labels of the rows, of two kinds.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = in_memory(self._open_classes(X, y, most=2), type(self).__name__)
        self.kernel_ = self._kernel(source)
        require_kernel_matrix(source.n_rows, source.n_rows, np.float64)
        K = gram_of(self.kernel_, in_double(source.X), np.arange(source.n_rows))
        signs = np.where(np.asarray(source.y) > 0, 1.0, -1.0)
        counts, scores, self.n_iter_ = perceptron_steps(
            K, signs, signs, self.max_iter, watch=Watch()
        )
        self.support_ = np.flatnonzero(counts)
        self.dual_coef_ = (counts * signs)[self.support_]
        self.X_fit_ = kept_rows(self.kernel_, source.X, self.support_)
        self.n_mistakes_ = int(counts.sum())
        self.separated_ = bool(np.array_equal(scores > 0, signs > 0))
        if not self.separated_ and self.n_iter_ < self.max_iter:
            warn_of_time(self)
        return self

    def decision_function(self, X: Any) -> Array:
        """Compute f(x) = Σ yᵢ k(xᵢ, x) over the mistakes. Cost: O(n m d) for m support rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,)
            Positive for ``classes_[1]``.
        """
        source = self._open_again(X)
        return self._expand(source, KernelExpansion(self.kernel_, self.X_fit_, self.dual_coef_))

    def predict(self, X: Any) -> Array:
        """Predict the label of each row by the sign of f(x). Cost: O(n m d) for m support rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,)
            The predicted labels.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp)]
