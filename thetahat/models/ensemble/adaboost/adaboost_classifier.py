"""AdaBoost: weak classifiers, each fitted to the rows that the ones before got wrong.

F(x) = Σ_m α_m G_m(x),   stagewise least of   Σᵢ wᵢ e^{−yᵢF(xᵢ)}
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.in_memory import InMemory
from thetahat.estimator.parameters import Range, one_of
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.adaboost.base import RANGES, Record, counted_rows
from thetahat.models.ensemble.adaboost.classifier import WeightBoostedClassifier
from thetahat.models.ensemble.adaboost.rounds import Round
from thetahat.models.ensemble.adaboost.votes import (
    HalfLogOdds,
    Votes,
    scores_of_odds,
    scores_of_votes,
)
from thetahat.models.ensemble.adaboost.weak_trees import shares_columns
from thetahat.models.tree.classification import DecisionTreeClassifier
from thetahat.models.tree.structure import Tree

_half = Range(lambda value: isinstance(value, float) and 0 < value < 0.5, "a number in (0, ½)")


class AdaBoostClassifier(WeightBoostedClassifier):
    """Boosted weak classifiers, in the forms of the literature.

    Formula: with weights w and the error ε = Σ w·1[y ≠ G]/Σw of the learner G of a round,

    - ``"discrete"``: α = log((1 − ε)/ε) + log(K − 1) for K classes, wrong rows w ← w·e^α, answer
      sign Σ αG (the class with the largest Σ α·1[G = k]);
    - ``"adaptive_beta"``: β = ε/(1 − ε), right rows w ← βw, α = log(1/β)/Σ log(1/β), answer
      sign(Σ αh − ½) of h ∈ {0, 1}. With two classes the same model as the first, written with
      shares of votes; with more, it asks for ε < ½;
    - ``"fixed_beta"``: β = (½ − γ)/(½ + γ) in all rounds, answer the majority. If each learner has
      ε ≤ ½ − γ, the training error is at most (1 − 4γ²)^{T/2} ≤ e^{−2Tγ²} after T rounds;
    - ``"real"``: f = ½·log(p/(1 − p)) of the learner's probabilities, w ← w·e^{−yf}, answer
      sign Σ f; with more classes f_k = (K − 1)(log p_k − mean log p).

    Each is stagewise descent on Σ w e^{−m} with the margin m = y·F. The learning rate ν multiplies
    α (and f). Rounds end early when a learner makes no error (it decides alone) or does no better
    than guessing; ``stopped_`` says so.

    Cost: one fit of the learner per round, plus O(n·K).

    Parameters
    ----------
    estimator : classifier, default=None
        The weak learner; None is a decision stump. Without ``sample_weight`` in its ``fit``, it is
        given rows drawn in proportion to the weights.
    n_estimators : int, default=50
        Rounds at most.
    learning_rate : float, default=1.0
        ν.
    random_state : int, Generator, RandomState or None, default=None
        For the draws of rows, and for the learner if it makes random choices.
    algorithm : {"discrete", "real", "adaptive_beta", "fixed_beta"}, default="discrete"
        The form.
    gamma : float, default=0.1
        γ of the fixed form: how much better than guessing each learner is promised to be.
    resample : bool or "auto", default="auto"
        Draw rows in proportion to the weights in place of weighing them; "auto": where the learner
        takes no weights. With True, one that takes them gets them times exponential random numbers
        (the Bayesian bootstrap).

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels.
    n_classes_ : int
        K.
    estimator_ : classifier
        The learner that was boosted.
    estimators_ : list of classifiers
        Those fitted, in their order.
    estimator_weights_, estimator_errors_ : arrays of shape (n_estimators,)
        α and ε of each round; 0 and 1 for rounds that were not made.
    training_errors_ : array of shape (rounds,)
        Error on the training rows of the model after each round.
    training_error_bound_ : array of shape (rounds,)
        What it cannot exceed: Π 2√(ε(1 − ε)) with two classes and ν = 1, in general
        Π ((1 − ε)e^{−α/2} + ε·e^{α/2}). For the real form Π Σ w e^{−yf}/Σw, and NaN with more
        than two classes.
    exponential_loss_ : array of shape (rounds,)
        Σ w e^{−m}/Σw after each round.
    stopped_ : str
        Why the rounds ended.
    feature_importances_ : array of shape (d,)
        What the learners make of each column, averaged by their votes.
    n_features_in_, feature_names_in_
        The columns of `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.arange(10.0)[:, None]
    >>> y = np.array([0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
    >>> model = th.AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> model.estimator_errors_.round(4)
    array([0.3   , 0.2143, 0.1818])
    >>> bool((model.training_errors_ <= model.training_error_bound_).all())
    True
    """

    _ranges = {  # noqa: RUF012
        **RANGES,
        "algorithm": one_of("discrete", "real", "adaptive_beta", "fixed_beta"),
        "gamma": _half,
    }

    n_classes_: int
    training_errors_: Array
    training_error_bound_: Array
    exponential_loss_: Array

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        algorithm: str = "discrete",
        gamma: float = 0.1,
        resample: bool | str = "auto",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.algorithm = algorithm
        self.gamma = gamma
        self.resample = resample

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> AdaBoostClassifier:
        """Make the rounds. Cost: one fit of the learner each.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The rows; what the learner takes.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._choose_learner()
        source = self._open_classes(X, y, sample_weight, check_finite=False, least=1)
        assert isinstance(source, InMemory)
        source, weight = counted_rows(source)
        self.n_classes_, self._total = len(self.classes_), float(weight.sum())
        codes = np.asarray(source.y).astype(np.intp)
        source = replace(source, y=codes)
        learners = self._learners(source, self.classes_, self._answer, self._answer_of_values)
        record = Record(count_mistakes=_Mistakes(codes, weight, self._scores))
        self._boost(learners, self._judge(codes), weight, record, X, y)
        return self

    # The form of boosting.

    @property
    def _floor(self) -> float:
        """Probabilities nearer to 0 than half a row of all are not believed."""
        return 0.5 / (self._total + 1.0)

    def _judge(self, codes: Array) -> Votes | HalfLogOdds:
        if self.algorithm == "real":
            return HalfLogOdds(codes, self._floor, self.learning_rate)

        def right(answer: Array) -> Array:
            return answer == codes

        if self.algorithm == "discrete":
            return Votes(right, 1.0 / self.n_classes_, self.learning_rate)
        if self.algorithm == "adaptive_beta":
            return Votes(right, 0.5, self.learning_rate)
        if self.learning_rate != 1.0:
            raise ParameterError(
                f"AdaBoostClassifier: learning_rate={self.learning_rate!r} has no place in "
                "algorithm='fixed_beta', whose factor gamma fixes. Set learning_rate=1."
            )
        return Votes(right, 0.5, fixed_vote=float(np.log((0.5 + self.gamma) / (0.5 - self.gamma))))

    def _attributes(self, record: Record) -> dict[str, Any]:
        found = super()._attributes(record)
        rounds, votes = record.n_rounds, found["estimator_weights_"]
        loss = np.array(record.losses[:rounds])
        if self.algorithm == "real":
            bound = loss if self.n_classes_ == 2 else np.full(rounds, np.nan)
        else:
            # A row is lost only if half the votes are against it: m ≤ (½ − chance)·Σα.
            chance = 1.0 / self.n_classes_ if self.algorithm == "discrete" else 0.5
            bound = loss * np.exp((0.5 - chance) * np.cumsum(votes[:rounds]))
        bound = np.where(found["estimator_errors_"][:rounds] == 0.0, 0.0, bound)
        if self.algorithm == "adaptive_beta" and rounds:
            found["estimator_weights_"] = votes / votes.sum()
        return found | {
            "exponential_loss_": loss,
            "training_error_bound_": bound,
            "training_errors_": np.array(record.mistakes[:rounds]),
        }

    # Answers of learners, and scores from them.

    def _default_learner(self) -> Any:
        return DecisionTreeClassifier(max_depth=1)

    def _answer(self, learner: Any, rows: Array) -> Array:
        """Codes of classes, or their probabilities for the real form."""
        if shares_columns(learner):
            return self._answer_of_values(learner.tree_.values)[learner.tree_.apply(rows)]
        if self.algorithm != "real":
            return np.searchsorted(self.classes_, learner.predict(rows))
        if not hasattr(learner, "predict_proba"):
            raise ParameterError(
                f"AdaBoostClassifier: algorithm='real' needs probabilities, and "
                f"{type(learner).__name__} has no predict_proba. Use algorithm='discrete'."
            )
        probability = np.zeros((rows.shape[0], self.n_classes_))
        probability[:, np.searchsorted(self.classes_, learner.classes_)] = learner.predict_proba(
            rows
        )
        return probability

    def _answer_of_values(self, values: Array) -> Array:
        """What nodes with these class proportions answer."""
        return values if self.algorithm == "real" else values.argmax(axis=1)

    def _node_values(self, tree: Tree, vote: float) -> Array:
        scores = self._scores(self._answer_of_values(tree.values), vote)
        return scores.reshape(tree.node_count, -1)

    def _scores(self, answer: Array, vote: float) -> Array:
        if self.algorithm == "real":
            return scores_of_odds(answer, vote, self._floor)
        return scores_of_votes(answer, vote, self.n_classes_)


class _Mistakes:
    """The training error after each round, from the running scores."""

    def __init__(self, codes: Array, weight: Array, scores: Any) -> None:
        self.codes, self.weight, self.scores = codes, weight, scores
        self.total: Any = 0.0

    def __call__(self, made: Round) -> float:
        self.total = self.total + self.scores(made.answer, made.judgement.vote)
        named = self.total > 0 if self.total.ndim == 1 else self.total.argmax(axis=1)
        return float(np.average(named != self.codes, weights=self.weight))
