"""Voting of different classifiers: majority vote, or largest mean probability."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if

from thetahat.data.arrays import as_array
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import boolean, one_of
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import EnsembleClassifier, average
from thetahat.models.ensemble.combination.voting import Voting


def _is_soft(model: Any) -> bool:
    if model.voting != "soft":
        raise AttributeError(
            f"predict_proba is not available when voting={model.voting!r}, which uses labels only. "
            'Use voting="soft".'
        )
    return True


class SeveralLabelColumns(DataError, NotImplementedError):
    """Raised for several label columns; scikit-learn raises a NotImplementedError."""


@with_parameters
class VotingClassifier(Voting, EnsembleClassifier):
    """Voting classifier: a majority vote of different classifiers, or their mean probabilities.

    Formula: "hard" ŷ = argmax_c Σ αₘ 1[ŷₘ = c], the first class in case of ties; "soft" ŷ =
    argmax_c Σ αₘPₘ(c|x).

    Cost: one fit and one prediction of each member, run in parallel.

    Parameters
    ----------
    voting : {"hard", "soft"}, default="hard"
        Whether to count the predicted labels ("hard") or to average the predicted probabilities
        ("soft"). "soft" needs members with ``predict_proba`` and works best if they are calibrated.
    flatten_transform : bool, default=True
        Shape of the output of `transform` with ``voting="soft"``: (n, n_members·n_classes) if True,
        (n_members, n, n_classes) if False.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    le_ : LabelEncoder
        Encoder that converts labels to codes and back.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> random = np.random.default_rng(0)
    >>> X = random.standard_normal((100, 2))
    >>> y = np.where(X[:, 0] > 0, "yes", "no")
    >>> members = [("logistic", th.LogisticRegression()), ("ridge", th.RidgeClassifier())]
    >>> th.VotingClassifier(members).fit(X, y).predict([[2.0, 0.0], [-2.0, 0.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    estimators: list[tuple[str, Any]]
    _: KW_ONLY
    voting: str = "hard"
    weights: Any = None
    n_jobs: int | None = None
    flatten_transform: bool = True
    verbose: bool = False

    _ranges = {"voting": one_of("hard", "soft"), "flatten_transform": boolean}  # noqa: RUF012

    @classmethod
    def _example(cls) -> VotingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        members = [("loose", LogisticRegression()), ("strict", LogisticRegression(C=0.01))]
        return cls(members, voting="soft")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # hard voting returns codes
        return tags

    def _targets(self, y: Any, n_rows: int, dtype: Any = None) -> Array:
        shape = (y if hasattr(y, "shape") else as_array(y, "y", type(self).__name__)).shape
        if len(shape) == 2 and shape[1] > 1:
            raise SeveralLabelColumns(
                "VotingClassifier only supports binary or multiclass classification: y should be a "
                f"1d array, got an array of shape {shape} instead. Fit one VotingClassifier per "
                "column, or use sklearn.multioutput.MultiOutputClassifier."
            )
        return super()._targets(y, n_rows, dtype)

    def predict(self, X: Any) -> Array:
        """Predict the class with the most votes, or with the largest mean probability.

        Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n,)
            The predicted class labels.
        """
        shares = self.predict_proba(X) if self.voting == "soft" else self._votes(X)
        return self.classes_[shares.argmax(axis=1)]

    @available_if(_is_soft)
    def predict_proba(self, X: Any) -> Array:
        """Predict the weighted mean of the class probabilities of the members.

        Formula: Σ αₘPₘ(c|x) / Σ αₘ. Available with ``voting="soft"``. Cost: one prediction of each
        member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to predict, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return average(self._probabilities(X), self._share)

    def transform(self, X: Any) -> Array:
        """Return the outputs of the members: class codes, or probabilities.

        Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            Rows to transform, with the same columns as in `fit`.

        Returns
        -------
        array of shape (n, n_members), or (n, n_members·n_classes) for soft voting
            With ``flatten_transform=False``, soft voting gives the shape (n_members, n, n_classes).
        """
        if self.voting == "hard":
            return np.column_stack(self._each(X, "predict"))
        found = self._probabilities(X)
        return np.hstack(found) if self.flatten_transform else np.asarray(found)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        names = self._names_out()
        if self.voting == "hard":
            return np.asarray(names, dtype=object)
        if not self.flatten_transform:
            raise ParameterError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`: the output has no columns. Set flatten_transform=True."
            )
        each = range(len(self.classes_))
        return np.asarray([f"{name}{code}" for name in names for code in each], dtype=object)

    @property
    def le_(self) -> LabelEncoder:
        """Encoder that converts labels to codes and back."""
        return LabelEncoder().fit(self.classes_)

    def _probabilities(self, X: Any) -> list[Array]:
        found = self._each(X, "predict_proba")
        pairs = zip(self.estimators_, found, strict=True)
        return [self._of_all_classes(member, each) for member, each in pairs]

    def _votes(self, X: Any) -> Array:
        """Total weight of the members that predict each class."""
        votes = self._each(X, "predict")
        share = np.ones(len(votes)) if self._share is None else self._share
        rows = np.arange(len(votes[0]))
        total = np.zeros((len(rows), len(self.classes_)))
        for weight, codes in zip(share, votes, strict=True):
            total[rows, codes.astype(np.intp)] += weight
        return total
