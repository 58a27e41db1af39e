"""Partial least squares for classes: a classifier on the scores that vary with the labels."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from sklearn.base import clone, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from thetahat.data.columns.schema import Schema
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block, Source
from thetahat.data.views import View, sign_targets
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, none
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.types import Array
from thetahat.models.decomposition.cross.deflation import components_of
from thetahat.models.decomposition.cross.scatter import scatter_of
from thetahat.models.decomposition.cross.x_scores import XScores
from thetahat.models.generative.linear_discriminant_analysis import LinearDiscriminantAnalysis

_classifier = Range(
    lambda value: (
        not isinstance(value, type)
        and hasattr(value, "fit")
        and hasattr(value, "predict")
        and not is_regressor(value)
    ),
    "a classifier",
)


def _has(method: str) -> Any:
    """Whether the classifier of the scores, fitted or not, has a method."""

    def check(model: PLSClassifier) -> bool:
        return hasattr(getattr(model, "classifier_", None) or model._unfitted(), method)

    return check


@with_parameters
class PLSClassifier(Classifier, XScores):
    """Partial least squares for classification (PLS-DA).

    Few directions of X are found that vary with the labels, and a simple classifier is fitted to
    the scores of the rows on them. This suits tables with more columns than rows and strongly
    correlated columns, such as spectra, where a classifier of all columns is not determined.

    Formula: Y has one column per class, +1 for the rows of the class and −1 for the others (a
    single column for two classes). The scores t = Rᵀ(x − x̄)/s are those of `PLSRegression` of Y on
    X, and the class is that of ``classifier``, linear discriminant analysis by default, given t.

    Cost: that of `PLSRegression` with one target per class, and of the classifier on k columns.

    Parameters
    ----------
    n_components : int, default=2
        Number of components (k). More components keep more of X; choose the number by
        cross-validation, for example with ``th.search``. At most min(n, d).
    classifier : classifier or None, default=None
        The classifier that is fitted to the scores, for example ``th.LogisticRegression()``. None
        uses ``th.LinearDiscriminantAnalysis()``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels in sorted order.
    classifier_ : classifier
        The classifier that was fitted to the scores; its labels are the numbers of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 10)
    >>> X = rng.normal(size=(20, 50)) + np.where(y == "a", 1.0, -1.0)[:, None]
    >>> model = th.PLSClassifier(n_components=1).fit(X, y)
    >>> model.transform(X).shape, model.score(X, y)
    ((20, 1), 1.0)
    """

    _: KW_ONLY
    classifier: Any = None

    _ranges: ClassVar[dict[str, Range]] = XScores._ranges | {"classifier": none | _classifier}
    _parametric = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PLSClassifier:
        """Find the directions and fit the classifier. Cost: see `PLSClassifier`.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows. A `Source` (see ``th.scan``) is read block by block and contains the
            labels.
        y : array-like of shape (n,), optional
            Class labels. Leave it out if X is a `Source`.

        Returns
        -------
        self
            The fitted classifier.
        """
        source = self._open_classes(X, y, sample_weight, check_finite=False)
        most, rule = min(source.n_rows, source.n_features), "min(n_samples, n_features)"
        self._require_components(self.n_components, source, most, rule)
        targets = sign_targets(source, len(self.classes_))
        about = scatter_of(targets, scale=self.scale, n_components=self.n_components)
        found = components_of(about, self.n_components)
        self._keep_x(about.frame, found, source.dtype)
        scores = View.of(source, self._change_block, n_features=self.n_components, schema=Schema())
        self.classifier_ = self._fitted(scores)
        return self

    def _unfitted(self) -> Any:
        return LinearDiscriminantAnalysis() if self.classifier is None else clone(self.classifier)

    def _fitted(self, scores: Source) -> Any:
        """The classifier of the scores, whose labels are the codes of the classes."""
        classifier = self._unfitted()
        if not isinstance(scores, InMemory):
            return classifier.fit(scores)
        assert scores.y is not None
        if scores.weight is None:
            return classifier.fit(scores.X, scores.y.astype(int))
        if not has_fit_parameter(classifier, "sample_weight"):
            raise CapabilityError(
                f"{type(self).__name__}: {type(classifier).__name__}.fit takes no sample_weight. "
                "Use another classifier, or leave the weights out."
            )
        return classifier.fit(scores.X, scores.y.astype(int), sample_weight=scores.weight)

    def _of_scores(self, X: Any, method: str) -> Array:
        check_is_fitted(self)
        answer = getattr(self.classifier_, method)

        def block(part: Block) -> Array:
            return answer(self._change_block(part).X)

        return self._open_again(X).map_rows(block)

    def predict(self, X: Any) -> Array:
        """Predict the class of each row. Cost: O(n d k).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            Predicted labels.
        """
        found = self._of_scores(X, "predict").astype(int)
        return self.classes_[found]

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Compute the probability of each class given the scores. Cost: O(n d k).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities, in the order of ``classes_``; each row sums to 1.
        """
        return self._of_scores(X, "predict_proba")

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes. Cost: O(n d k).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,) or (n, n_classes)
            The class with the largest score is predicted; for two classes the second one if the
            score is positive.
        """
        return self._of_scores(X, "decision_function")
