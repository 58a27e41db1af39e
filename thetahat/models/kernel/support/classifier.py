"""Shared by SVC and NuSVC: one function for each pair of classes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from thetahat.data.class_weights import weights_of_classes
from thetahat.data.in_memory import InMemory
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.estimator.parameters import Range, boolean, one_of
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.joined import joined
from thetahat.mathematics.optimizers.solution import Solution
from thetahat.models.kernel.support.machine import SupportVectors, TrainingRows
from thetahat.models.kernel.support.probabilities import coupled, fit_sigmoid, sigmoid
from thetahat.objective.kernel.support_dual import DualSolution

FOLDS = 5
"""Folds of the scores from which probabilities are learned."""


def _has_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError(
            "predict_proba is not available when probability=False. Set probability=True and fit "
            "again."
        )
    return True


class SupportVectorClassifier(Classifier, SupportVectors):
    """A classifier with one support vector machine for each pair of classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, as ``{label: weight}``; multiplies `sample_weight`. "balanced" sets
        the weights inversely proportional to the class frequencies, so that all classes have the
        same total weight. None gives every class weight 1.
    probability : bool, default=False
        Whether to learn probabilities, by Platt's sigmoid of scores from cross-validation with 5
        folds, which makes `fit` about five times slower. They may disagree with `predict`.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of `decision_function` for more than two classes: one column for each class ("ovr"),
        or one for each pair of classes ("ovo"). It has no influence on the fit.
    break_ties : bool, default=False
        Whether `predict` breaks ties between classes with equally many votes by their scores, at
        the cost of `decision_function`. Otherwise the first class of them is predicted. Requires
        ``decision_function_shape="ovr"``.
    random_state : int, Generator or None, default=None
        Seed for the folds if ``probability=True``. Pass an int for the same result on every call.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels in sorted order.
    class_weight_ : array of shape (n_classes,)
        The weight of each class.
    dual_coef_ : array or sparse array of shape (n_classes - 1, n_support)
        The coefficients of the support vectors, yᵢαᵢ. For more than two classes, each support
        vector is part of n_classes − 1 functions, in the order of the other classes.
    intercept_ : array of shape (n_classes * (n_classes - 1) / 2,)
        The intercept of each function.
    coef_ : array or sparse array of shape (n_classes * (n_classes - 1) / 2, d)
        The coefficients of the columns, for the linear kernel only.
    n_iter_ : array of shape (n_classes * (n_classes - 1) / 2,)
        The number of iterations for each pair of classes.
    probA_, probB_ : arrays of shape (n_classes * (n_classes - 1) / 2,)
        The parameters of the sigmoids, P = 1/(1 + e^{A·f + B}); empty if ``probability=False``.
    """

    _parametric = False

    class_weight: Any
    probability: Any
    decision_function_shape: str
    break_ties: bool
    random_state: Any

    _ranges: ClassVar[dict[str, Range]] = SupportVectors._ranges | {
        "probability": boolean,
        "decision_function_shape": one_of("ovr", "ovo"),
        "break_ties": boolean,
    }

    @abstractmethod
    def _fit_pair(
        self,
        training: TrainingRows,
        which: Array | None,
        signs: Array,
        weight: Array,
        labels: tuple[Any, Any],
    ) -> tuple[Array, float, DualSolution]:
        """β and b of one pair of classes, and the solution; signs are ±1, first all +1."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit one function for each pair of classes. Cost: between O(n²d) and O(n³).

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows; for a precomputed kernel, the matrix of shape (n, n).
        y : array-like of shape (n,)
            The labels of the rows, of any kind.
        sample_weight : array-like of shape (n,), optional
            Row weights, which multiply C. A row of weight 2 counts as two equal rows. None gives
            every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open_classes(X, y, sample_weight)
        who = type(self).__name__
        require_two_weighted_classes(source, self.classes_, who)
        rows, used, weight = self._begin(source)
        if self.class_weight is None:
            self.class_weight_ = np.ones(len(self.classes_))
        else:
            self.class_weight_ = weights_of_classes(rows, self.classes_, self.class_weight, who)
        codes = np.asarray(rows.y)[used].astype(np.intp)
        weight = weight * self.class_weight_[codes]
        order = np.argsort(codes, kind="stable")
        order = order[weight[order] > 0]
        self._fit_pairs(rows, used[order], codes[order], weight[order])
        self._finish()
        return self

    def _fit_pairs(self, rows: InMemory, used: Array, codes: Array, weight: Array) -> None:
        k = len(self.classes_)
        training = self._training_rows(rows, n_problems=k * (k - 1) // 2)
        given = training.are_a_matrix
        in_order = np.array_equal(used, np.arange(rows.n_rows))
        if not given and not in_order:
            training = replace(training, X=training.X[used])
        pairs = [(1, 0)] if k == 2 else list(combinations(range(k), 2))
        ends = np.searchsorted(codes, np.arange(k + 1))
        weights, offsets = np.zeros((len(used), len(pairs))), np.zeros(len(pairs))
        found: list[Solution] = []
        steps, sigmoids, flat = [], [], []
        random = generator(self.random_state) if self.probability else None
        for column, (a, b) in enumerate(pairs):
            low, high = min(a, b), max(a, b)
            places = np.r_[ends[low] : ends[low + 1], ends[high] : ends[high + 1]]
            signs = np.where(codes[places] == a, 1.0, -1.0)
            which = None if len(places) == len(used) and (in_order or not given) else places
            which = used[places] if given and which is not None else which
            if not len(np.unique(signs)) == 2:  # a class whose rows all have weight 0
                offsets[column] = float(np.sign(signs.sum()))
                steps.append(0)
                continue
            labels = (self.classes_[[a]].tolist()[0], self.classes_[[b]].tolist()[0])
            beta, offset, solution = self._fit_pair(training, which, signs, weight[places], labels)
            if solution.flat:
                flat.append(labels)
            weights[places, column], offsets[column] = beta, offset
            found.append(self._solution(solution, used[places], rows.n_rows, beta))
            steps.append(solution.steps)
            if random is not None:
                scores = self._held_out(training, places, used, signs, weight, labels, random)
                sigmoids.append(fit_sigmoid(scores, signs > 0, weight[places]))
        support = np.flatnonzero(weights.any(axis=1))
        self._n_support = np.bincount(codes[support], minlength=k).astype(np.int32)
        self.intercept_ = offsets
        own = _by_other_class(weights[support], codes[support], pairs, k)
        self.dual_coef_ = self._shared_format(own, rows)
        self._keep(rows, used[support], weights[support], offsets)
        self.n_iter_ = np.array(steps, dtype=np.int32)
        self.solution_ = joined(found)
        self.probA_ = np.array([each[0] for each in sigmoids])
        self.probB_ = np.array([each[1] for each in sigmoids])
        if flat:
            self._warn_of_flat(flat)

    def _warn_of_flat(self, pairs: list[tuple[Any, Any]]) -> None:
        """Warn that the functions of these pairs of classes are constant up to rounding errors."""

    def _held_out(
        self,
        training: TrainingRows,
        places: Array,
        used: Array,
        signs: Array,
        weight: Array,
        labels: tuple[Any, Any],
        random: np.random.Generator,
    ) -> Array:
        """Scores of the rows of a pair, each from a fit without its fold."""
        X, given = training.X, training.are_a_matrix
        scores = np.empty(len(places))
        shuffled = random.permutation(len(places))
        for fold in range(min(FOLDS, len(places))):
            out = shuffled[fold::FOLDS]
            rest = np.setdiff1d(np.arange(len(places)), out)
            if len(np.unique(signs[rest])) < 2:
                scores[out] = signs[rest][0] if len(rest) else 0.0
                continue
            train = used[places[rest]] if given else places[rest]
            test = used[places[out]] if given else places[out]
            beta, offset, _ = self._fit_pair(
                training, train, signs[rest], weight[places[rest]], labels
            )
            support = np.flatnonzero(beta)
            centres = training.kernel.rows(X, train[support])
            scores[out] = training.kernel.block(X[test], centres) @ beta[support] + offset
        return scores

    def _pair_scores(self, X: Any) -> Array:
        return self._scores(X)

    def decision_function(self, X: Any) -> Array:
        """Compute the scores of the classes. Cost: O(n m d) for m support vectors.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,), (n, n_classes) or (n, n_classes * (n_classes - 1) / 2)
            For two classes f(x), positive for ``classes_[1]``. For more classes and "ovo", f(x) of
            each pair i < j, positive for class i; for "ovr", the votes of each class plus a number
            below 1/3 that grows with its scores.
        """
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        if self.decision_function_shape == "ovo":
            return scores
        return self._votes(scores, with_scores=True)

    def predict(self, X: Any) -> Array:
        """Predict the label of each row. Cost: O(n m d) for m support vectors.

        For more than two classes, the class with most votes of the pairs is predicted.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n,)
            The predicted labels.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ParameterError(
                f"{type(self).__name__}: break_ties must be False when decision_function_shape is "
                "'ovo'. Use decision_function_shape='ovr'."
            )
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes_[np.argmax(self._votes(scores, with_scores=self.break_ties), axis=1)]

    def _votes(self, scores: Array, with_scores: bool) -> Array:
        """The votes of each class, and its scores between −1/3 and 1/3."""
        k = len(self.classes_)
        votes = np.zeros((len(scores), k), dtype=scores.dtype)
        sums = np.zeros_like(votes)
        for column, (i, j) in enumerate(combinations(range(k), 2)):
            wins = scores[:, column] > 0
            votes[:, i] += wins
            votes[:, j] += ~wins
            sums[:, i] += scores[:, column]
            sums[:, j] -= scores[:, column]
        return votes + sums / (3 * (np.abs(sums) + 1)) if with_scores else votes

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Predict the probabilities of the classes. Cost: O(n m d) for m support vectors.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n, n_classes)
        """
        scores = self._pair_scores(X)
        if not len(self.probA_):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False. Fit the model "
                "again with probability=True."
            )
        first = sigmoid(scores.astype(np.float64), self.probA_, self.probB_)
        if len(self.classes_) == 2:
            found = np.column_stack([1 - first[:, 0], first[:, 0]])
        else:
            found = coupled(first, len(self.classes_))
        return found.astype(scores.dtype)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """Predict the logarithms of the probabilities of the classes. Cost: that of the former.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to classify.

        Returns
        -------
        array of shape (n, n_classes)
        """
        return np.log(self.predict_proba(X))

    def _linear_coefficients(self) -> Any:
        if len(self.classes_) == 2:
            return super()._linear_coefficients()
        rows = self.support_vectors_
        weights = np.zeros((rows.shape[0], len(self.intercept_)))
        dual = self.dual_coef_
        dual = dual.toarray() if hasattr(dual, "toarray") else dual
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        for column, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            weights[ends[i] : ends[i + 1], column] = dual[j - 1, ends[i] : ends[i + 1]]
            weights[ends[j] : ends[j + 1], column] = dual[i, ends[j] : ends[j + 1]]
        if isinstance(rows, np.ndarray):
            return weights.T @ rows
        from scipy.sparse import csr_array

        return csr_array(weights.T) @ rows


def _by_other_class(
    weights: Array, codes: Array, pairs: list[tuple[int, int]], n_classes: int
) -> Array:
    """Coefficients of shape (k − 1, n_support): those of a row of class i against each other class.

    Class j is in row j − 1 if j > i, and in row j otherwise.
    """
    if n_classes == 2:
        return np.ascontiguousarray(weights.T)
    found = np.zeros((n_classes - 1, len(weights)))
    for column, (i, j) in enumerate(pairs):
        found[j - 1, codes == i] = weights[codes == i, column]
        found[i, codes == j] = weights[codes == j, column]
    return found
