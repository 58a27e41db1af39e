"""A vote of different classifiers: most votes, or the largest mean probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if

from thetahat.estimator.parameters import boolean, one_of
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.base import EnsembleClassifier, average
from thetahat.models.ensemble.combination.voting import Voting


def _is_soft(model: Any) -> bool:
    if model.voting != "soft":
        raise AttributeError(
            f"predict_proba is not available when voting={model.voting!r}: members vote with "
            'labels. Use voting="soft".'
        )
    return True


class VotingClassifier(Voting, EnsembleClassifier):
    """Different classifiers vote: by their labels, or by the mean of their probabilities.

    Formula: "hard" ŷ = argmax_c Σ αₘ 1[ŷₘ = c], the first class where votes tie; "soft"
    ŷ = argmax_c Σ αₘPₘ(c|x).

    Cost: one fit and one prediction of each member, side by side.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The members by name, of thetahat or your own: pipelines, searches, anything that predicts.
        X reaches them as you gave it. "drop" in the place of one leaves it out.
    voting : {"hard", "soft"}, default="hard"
        Labels or probabilities.
    weights : array-like of shape (n_members,), optional
        α; all alike by default.
    n_jobs, verbose
        Kept for compatibility: ``th.config(threads=...)`` governs, and callbacks report progress.
    flatten_transform : bool, default=True
        Whether `transform` of a soft vote has one row per row, or one table per member.

    Attributes
    ----------
    estimators_ : list of classifiers
        The fitted members that are not dropped; they know the labels by the codes 0, 1, …
    named_estimators_ : Bunch
        The same by name.
    classes_ : array of shape (C,)
        The labels.
    le_ : LabelEncoder
        From labels to codes and back.

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

    _ranges = {"voting": one_of("hard", "soft"), "flatten_transform": boolean}  # noqa: RUF012

    def __init__(
        self,
        estimators: list[tuple[str, Any]],
        *,
        voting: str = "hard",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    @classmethod
    def _example(cls) -> VotingClassifier:
        from thetahat.models.linear.generalized.logistic_regression import LogisticRegression

        members = [("loose", LogisticRegression()), ("strict", LogisticRegression(C=0.01))]
        return cls(members, voting="soft")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # a hard vote says codes
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any
    ) -> VotingClassifier:
        """Fit every member to all rows.

        Parameters
        ----------
        X : anything the members take, of n rows
            Features.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows; every member must take them.
        **fit_params
            Routed to the members, with scikit-learn's metadata routing.

        Returns
        -------
        self
        """
        self._fit_voters(X, y, sample_weight, fit_params)
        return self

    def predict(self, X: Any) -> Array:
        """The class with most votes, or the largest mean probability.

        Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.

        Returns
        -------
        array of shape (n,)
        """
        shares = self.predict_proba(X) if self.voting == "soft" else self._votes(X)
        return self.classes_[shares.argmax(axis=1)]

    @available_if(_is_soft)
    def predict_proba(self, X: Any) -> Array:
        """Σ αₘPₘ(c|x) / Σ αₘ, with ``voting="soft"``. Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.

        Returns
        -------
        array of shape (n, C)
        """
        return average(self._probabilities(X), self._share)

    def transform(self, X: Any) -> Array:
        """What each member says: codes of labels, or probabilities.

        Cost: one prediction of each member.

        Parameters
        ----------
        X : anything the members take, of n rows
            The rows.

        Returns
        -------
        array of shape (n, n_members); (n, n_members·C) for a soft vote, or (n_members, n, C) with
        ``flatten_transform=False``
        """
        if self.voting == "hard":
            return np.column_stack(self._each(X, "predict"))
        found = self._probabilities(X)
        return np.hstack(found) if self.flatten_transform else np.asarray(found)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns of `transform`. Cost: O(n_members·C)."""
        names = self._names_out()
        if self.voting == "hard":
            return np.asarray(names, dtype=object)
        if not self.flatten_transform:
            raise ParameterError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`: there are no columns to name."
            )
        each = range(len(self.classes_))
        return np.asarray([f"{name}{code}" for name in names for code in each], dtype=object)

    @property
    def le_(self) -> LabelEncoder:
        """From labels to codes and back."""
        return LabelEncoder().fit(self.classes_)

    def _probabilities(self, X: Any) -> list[Array]:
        found = self._each(X, "predict_proba")
        pairs = zip(self.estimators_, found, strict=True)
        return [self._of_all_classes(member, each) for member, each in pairs]

    def _votes(self, X: Any) -> Array:
        """The weight of the members that name each class."""
        votes = self._each(X, "predict")
        share = np.ones(len(votes)) if self._share is None else self._share
        rows = np.arange(len(votes[0]))
        total = np.zeros((len(rows), len(self.classes_)))
        for weight, codes in zip(share, votes, strict=True):
            total[rows, codes.astype(np.intp)] += weight
        return total
