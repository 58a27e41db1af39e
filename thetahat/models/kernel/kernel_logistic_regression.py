"""Kernel logistic regression: argmin C·Σ wᵢ log(1 + e^{−yᵢf(xᵢ)}) + ½‖f‖² over kernel functions."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.estimator.parameters import more_than
from thetahat.estimator.source_scores import ScoredClassifier
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.mathematics.losses.base import Loss
from thetahat.mathematics.losses.likelihood import Logistic
from thetahat.mathematics.losses.links import log_sum_exp, softplus
from thetahat.mathematics.losses.multiclass.class_scores import SoftmaxCrossEntropy
from thetahat.models.kernel.machine import KernelMachine
from thetahat.models.kernel.parameters import in_memory


@with_parameters
class KernelLogisticRegression(ScoredClassifier, KernelMachine):
    """Logistic regression with a function of a kernel, for two or more classes.

    Formula: f̂ = argmin C·Σ wᵢ log(1 + e^{−yᵢf(xᵢ)}) + ½‖f‖² over f(x) = Σⱼ cⱼ k(x, xⱼ) + b, and
    P(y = 1 | x) = 1/(1 + e^{−f(x)}). More than two classes have one function each, and softmax
    gives the probabilities. Unlike the support vector machine (`KernelModel` with the hinge loss),
    every row has a coefficient that is not 0, and the scores are probabilities.

    Cost: O(n³) time per Newton step and three matrices of n² numbers, whose size is checked first;
    with m centres (``n_components``) O(n m²) and n·m numbers.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the penalty. Smaller values give smoother functions. Must be
        positive.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels in sorted order.

    Examples
    --------
    >>> import thetahat as th
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["same", "other", "other", "same"]
    >>> model = th.KernelLogisticRegression(C=100.0).fit(X, y)
    >>> model.predict(X).tolist()
    ['same', 'other', 'other', 'same']
    """

    C: float = 1.0
    kernel: Any = "rbf"
    _: KW_ONLY
    n_components: int | str | None = "auto"
    centers: str = "uniform"
    solver: Any = "auto"
    fit_intercept: bool = True
    max_iter: int | None = None
    tol: float = 1e-8
    random_state: Any = None

    _ranges = KernelMachine._ranges | {"C": more_than(0)}
    _everyday = "kernel logistic regression"
    _everyday_params: ClassVar[dict[str, Any]] = {"n_components": 300}
    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "C": (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
        "kernel": ("rbf", RBF(sigma=1.0), RBF(sigma=2.0), RBF(sigma=4.0), "laplacian", "matern"),
        "n_components": (300, 1000),
    }

    @property
    def loss(self) -> Loss:
        """Softmax cross-entropy, of which the logistic loss is the case of two classes."""
        return SoftmaxCrossEntropy()

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelLogisticRegression:
        """Fit the functions of the classes. Cost: O(n³) per step, or O(n m²) with m centres.

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
        n_classes = len(self.classes_)
        self.loss_ = Logistic() if n_classes == 2 else SoftmaxCrossEntropy()
        strength = 1.0 / (self.C * float(source.row_weights.sum()))
        self._fit_function(source, 0 if n_classes == 2 else n_classes, strength, X, y)
        return self

    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the probabilities of the classes. Cost: O(n m d).

        The result is exact even where the probability itself would round to 0.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n, n_classes)
        """
        z = self.raw_prediction(X)
        if z.ndim == 1:
            return np.column_stack([-softplus(z), -softplus(-z)])
        return np.asarray(z - log_sum_exp(z)[:, None])
