"""Shared by SVC and NuSVC: one function for each pair of classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from thetahat.data.class_weights import weights_of_classes
from thetahat.data.in_memory import InMemory
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.linear_classifier import require_two_weighted_classes
from thetahat.estimator.parameters import Range, boolean, one_of
from thetahat.estimator.sparsify import in_sparse_interface
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array, Matrix
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.joined import worst
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.kernel.parameters import around
from thetahat.models.kernel.support.machine import SupportVectors
from thetahat.models.kernel.support.pairs import PairExpansion, PairFit, columns_of_classes
from thetahat.models.kernel.support.probabilities import coupled, fit_sigmoid, sigmoid
from thetahat.models.kernel.support.rows import TrainingRows
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
    dual_coef_ : array or sparse matrix of shape (n_classes - 1, n_support)
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

    def _fit_small_pairs(
        self,
        training: TrainingRows,
        used: Array,
        ends: Array,
        weight: Array,
        pairs: Array,
        watch: Watch,
    ) -> tuple[Array, dict[int, PairFit]]:
        """The coefficients of shape (n_classes − 1, n), and the pairs that are fitted already."""
        return np.zeros((len(ends) - 2, len(used))), {}

    def _fit_pairs(self, rows: InMemory, used: Array, codes: Array, weight: Array) -> None:
        k = len(self.classes_)
        training = self._training_rows(rows, n_problems=k * (k - 1) // 2)
        given = training.are_a_matrix
        in_order = np.array_equal(used, np.arange(rows.n_rows))
        if not given and not in_order:
            training = replace(training, X=training.X[used])
        ends = np.searchsorted(codes, np.arange(k + 1))
        pairs = np.column_stack(np.triu_indices(k, 1))
        watch = Watch()  # one limit of time for all pairs
        coefficients, found = self._fit_small_pairs(training, used, ends, weight, pairs, watch)
        sigmoids, flat = [], []
        random = generator(self.random_state) if self.probability else None
        for pair, (low, high) in enumerate(pairs.tolist()):
            if pair in found and random is None:
                continue
            places = np.r_[ends[low] : ends[low + 1], ends[high] : ends[high + 1]]
            first = ends[low + 1] - ends[low]
            positive = high if k == 2 else low
            signs = np.where(codes[places] == positive, 1.0, -1.0)
            which = None if len(places) == len(used) and (in_order or not given) else places
            which = used[places] if given and which is not None else which
            if not 0 < first < len(places):  # a class whose rows all have weight 0
                found[pair] = PairFit(float(np.sign(signs.sum())), Outcome.EXACT, 0, 0.0, 0.0)
                continue
            labels = tuple(self.classes_[[positive, low + high - positive]].tolist())
            if pair not in found:
                fit = watch.in_time(partial(self._fit_pair, training, which, signs, weight[places]))
                beta, offset, end = fit(labels)
                if end.flat:
                    flat.append(labels)
                coefficients[high - 1, places[:first]] = beta[:first]
                coefficients[low, places[first:]] = beta[first:]
                found[pair] = PairFit(offset, end.outcome, end.steps, end.value, end.gap)
            if random is not None:
                scores = self._held_out(training, places, used, signs, weight, labels, random)
                sigmoids.append(fit_sigmoid(scores, signs > 0, weight[places]))
        fits = [found[pair] for pair in range(len(pairs))]
        self._keep_pairs(rows, used, codes, coefficients, fits)
        self.probA_ = np.array([each[0] for each in sigmoids])
        self.probB_ = np.array([each[1] for each in sigmoids])
        if flat:
            self._warn_of_flat(flat)

    def _keep_pairs(
        self, rows: InMemory, used: Array, codes: Array, coefficients: Array, fits: list[PairFit]
    ) -> None:
        k = len(self.classes_)
        support = np.flatnonzero(coefficients.any(axis=0))
        own, classes = np.ascontiguousarray(coefficients[:, support]), codes[support]
        self._n_support = np.bincount(classes, minlength=k).astype(np.int32)
        self.intercept_ = np.array([fit.offset for fit in fits])
        self.dual_coef_ = self._shared_format(own, rows)
        classes = self._keep(rows, used[support], own.T, self.intercept_, classes)
        self._ends = np.searchsorted(classes, np.arange(k + 1))
        self.n_iter_ = np.array([fit.steps for fit in fits], dtype=np.int32)
        theta = np.zeros((k - 1, rows.n_rows))
        theta[:, used] = coefficients
        total = replace(
            worst(fits),
            steps=max(fit.steps for fit in fits),
            value=sum(fit.value for fit in fits),
            gap=max(fit.gap for fit in fits),
        )
        self.solution_ = self._solution(total, theta[0] if k == 2 else theta)

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

    def _expansion(self) -> Callable[[Matrix], Array]:
        if self._weights.shape[1] == len(self._offsets):  # two classes, or a file of version 0.1
            return super()._expansion()
        return PairExpansion(self.kernel_, self._centres, self._weights, self._ends, self._offsets)

    def _pair_weights(self) -> Array:
        """The coefficients of the centres, with one column for each pair of classes."""
        if self._weights.shape[1] == len(self._offsets):
            return self._weights
        found = np.zeros((len(self._weights), len(self._offsets)))
        for c, columns in enumerate(columns_of_classes(len(self.classes_))):
            own = slice(self._ends[c], self._ends[c + 1])
            found[own, columns] = self._weights[own]
        return found

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
        scores = self._scores(X)
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
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return self.classes_[(scores[:, 0] > 0).astype(np.intp)]
        return self.classes_[np.argmax(self._votes(scores, with_scores=self.break_ties), axis=1)]

    def _votes(self, scores: Array, with_scores: bool) -> Array:
        """The votes of each class, and its scores between −1/3 and 1/3."""
        k = len(self.classes_)
        votes = np.zeros((len(scores), k), dtype=scores.dtype)
        sums = np.zeros_like(votes)
        for c, columns in enumerate(columns_of_classes(k)):
            of_former, of_later = scores[:, columns[:c]], scores[:, columns[c:]]
            votes[:, c] = (of_later > 0).sum(axis=1) + (of_former <= 0).sum(axis=1)
            if with_scores:
                sums[:, c] = of_later.sum(axis=1) - of_former.sum(axis=1)
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
        scores = self._scores(X)
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
        rows, dual = around(self._middle, self.support_vectors_), self.dual_coef_
        dual = dual.toarray() if hasattr(dual, "toarray") else dual
        found = np.zeros((len(self.intercept_), rows.shape[1]))
        ends = np.concatenate([[0], np.cumsum(self._n_support)])
        for c, columns in enumerate(columns_of_classes(len(self.classes_))):
            own = slice(ends[c], ends[c + 1])
            found[columns] += dual[:, own] @ rows[own]
        if isinstance(rows, np.ndarray):
            return found
        from scipy.sparse import csr_array

        return in_sparse_interface(csr_array(found))
