"""AdaBoost for classification: weak classifiers fitted to rows reweighted by earlier errors.

F(x) = Σ_m α_m G_m(x),   a stagewise minimum of   Σᵢ wᵢ e^{−yᵢF(xᵢ)}
"""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import between, one_of
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.adaboost.base import AdaBoostParameters, Record, counted_rows
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


@with_parameters
class AdaBoostClassifier(WeightBoostedClassifier):
    """AdaBoost classifier: a weighted vote of weak classifiers.

    Each iteration fits a classifier to the weighted rows and then increases the weights of the rows
    it misclassifies, so that the next one concentrates on them. All variants minimise the
    exponential loss Σ w e^{−m} step by step, where m = y·F is the margin.

    Formula: with row weights w and the weighted error ε = Σ w·1[y ≠ G]/Σw of the learner G of an
    iteration,

    - ``"discrete"``: α = log((1 − ε)/ε) + log(K − 1) for K classes; misclassified rows get w ←
      w·e^α; the prediction is sign Σ αG (the class with the largest Σ α·1[G = k]);
    - ``"adaptive_beta"``: β = ε/(1 − ε); correctly classified rows get w ← βw; α = log(1/β)/Σ
      log(1/β); the prediction is sign(Σ αh − ½) with h ∈ {0, 1}. For two classes this is the same
      model as "discrete", with votes that sum to 1; for more classes it requires ε < ½;
    - ``"fixed_beta"``: β = (½ − γ)/(½ + γ) in all iterations; the prediction is the majority. If
      every learner has ε ≤ ½ − γ, the training error after T iterations is at most (1 − 4γ²)^{T/2}
      ≤ e^{−2Tγ²};
    - ``"real"``: f = ½·log(p/(1 − p)) from the probabilities of the learner; w ← w·e^{−yf}; the
      prediction is sign Σ f. For more classes f_k = (K − 1)(log p_k − mean log p).

    The learning rate ν multiplies α (and f). Boosting ends early when a learner makes no error (its
    vote then outweighs all others) or is no better than guessing; see ``stopped_``.

    Cost: one fit of the learner per iteration, plus O(n·K).

    Parameters
    ----------
    estimator : classifier or None, default=None
        The weak learner to boost. None uses a decision stump, a tree with one split. A learner
        whose ``fit`` has no parameter ``sample_weight`` is fitted to rows drawn in proportion to
        the weights.
    learning_rate : float, default=1.0
        Shrinks the contribution of each learner by this factor (ν). Smaller values need more
        iterations. Must be positive. With ``algorithm="fixed_beta"`` it must be 1.
    algorithm : {"discrete", "real", "adaptive_beta", "fixed_beta"}, default="discrete"
        Variant of AdaBoost; see the formulas above. "real" needs a learner with ``predict_proba``.
    gamma : float, default=0.1
        Assumed advantage over guessing of every learner, used by ``algorithm="fixed_beta"`` only
        (γ). Must lie between 0 and ½.
    resample : bool or "auto", default="auto"
        If True, rows are drawn in proportion to the weights; a learner that supports weights
        receives weights multiplied by exponential random numbers instead (the Bayesian bootstrap).
        If False, the learner receives the weights. "auto" draws rows only for learners that do not
        support weights.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The class labels, in sorted order.
    n_classes_ : int
        Number of classes in the training data (K).
    training_errors_ : array of shape (n_iterations,)
        Training error of the model after each iteration.
    training_error_bound_ : array of shape (n_iterations,)
        Upper bound on the training error: Π 2√(ε(1 − ε)) for two classes and ν = 1, in general Π
        ((1 − ε)e^{−α/2} + ε·e^{α/2}). For "real" it is Π Σ w e^{−yf}/Σw, and NaN for more than two
        classes.
    exponential_loss_ : array of shape (n_iterations,)
        Mean exponential loss Σ w e^{−m}/Σw after each iteration.

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

    _: KW_ONLY
    algorithm: str = "discrete"
    gamma: float = 0.1
    resample: bool | str = "auto"

    _ranges = {  # noqa: RUF012
        **AdaBoostParameters._ranges,
        "algorithm": one_of("discrete", "real", "adaptive_beta", "fixed_beta"),
        "gamma": between(0, 0.5),
    }

    def _fit_learners(self, X: Any, y: Any, sample_weight: Any) -> None:
        source = self._open_classes(X, y, sample_weight, check_finite=False, least=1)
        assert isinstance(source, InMemory)
        source, weight = counted_rows(source)
        self.n_classes_, self._total = len(self.classes_), float(weight.sum())
        codes = np.asarray(source.y).astype(np.intp)
        source = replace(source, y=codes)
        learners = self._learners(source, self.classes_, self._answer, self._answer_of_values)
        record = Record(count_mistakes=_Mistakes(codes, weight, self._scores))
        self._boost(learners, self._judge(codes), weight, record, X, y)

    # The variant of AdaBoost.

    @property
    def _floor(self) -> float:
        """Smallest probability used: that of half a row among all rows."""
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
                "AdaBoostClassifier: algorithm='fixed_beta' needs learning_rate=1, because gamma "
                f"determines the step; got learning_rate={self.learning_rate!r}. Set it to 1."
            )
        return Votes(right, 0.5, fixed_vote=float(np.log((0.5 + self.gamma) / (0.5 - self.gamma))))

    def _attributes(self, record: Record) -> dict[str, Any]:
        found = super()._attributes(record)
        rounds, votes = record.n_rounds, found["estimator_weights_"]
        loss = np.array(record.losses[:rounds])
        if self.algorithm == "real":
            bound = loss if self.n_classes_ == 2 else np.full(rounds, np.nan)
        else:
            # A row is misclassified only if half the votes are against it: m ≤ (½ − chance)·Σα.
            chance = 1.0 / self.n_classes_ if self.algorithm == "discrete" else 0.5
            with np.errstate(over="ignore", invalid="ignore"):
                bound = loss * np.exp((0.5 - chance) * np.cumsum(votes[:rounds]))
            bound = np.where(loss == 0.0, 0.0, bound)
        bound = np.where(found["estimator_errors_"][:rounds] == 0.0, 0.0, bound)
        if self.algorithm == "adaptive_beta" and rounds:
            found["estimator_weights_"] = votes / votes.sum()
        return found | {
            "exponential_loss_": loss,
            "training_error_bound_": bound,
            "training_errors_": np.array(record.mistakes[:rounds]),
        }

    # Predictions of learners, and scores from them.

    def _default_learner(self) -> Any:
        return DecisionTreeClassifier(max_depth=1)

    def _answer(self, learner: Any, rows: Array) -> Array:
        """Predicted class codes, or class probabilities with ``algorithm="real"``."""
        if shares_columns(learner):
            return self._answer_of_values(learner.tree_.values)[learner.tree_.apply(rows)]
        if self.algorithm != "real":
            return np.searchsorted(self.classes_, learner.predict(rows))
        if not hasattr(learner, "predict_proba"):
            raise ParameterError(
                "AdaBoostClassifier: algorithm='real' needs probabilities, but "
                f"{type(learner).__name__} has no predict_proba. Use algorithm='discrete'."
            )
        probability = np.zeros((rows.shape[0], self.n_classes_))
        probability[:, np.searchsorted(self.classes_, learner.classes_)] = learner.predict_proba(
            rows
        )
        return probability

    def _answer_of_values(self, values: Array) -> Array:
        """Predictions of nodes with these class proportions."""
        return values if self.algorithm == "real" else values.argmax(axis=1)

    def _node_values(self, tree: Tree, vote: float) -> Array:
        scores = self._scores(self._answer_of_values(tree.values), vote)
        return scores.reshape(tree.node_count, -1)

    def _scores(self, answer: Array, vote: float) -> Array:
        if self.algorithm == "real":
            return scores_of_odds(answer, vote, self._floor)
        return scores_of_votes(answer, vote, self.n_classes_)


class _Mistakes:
    """Training error after each iteration, from the running scores."""

    def __init__(self, codes: Array, weight: Array, scores: Any) -> None:
        self.codes, self.weight, self.scores = codes, weight, scores
        self.total: Any = 0.0

    def __call__(self, made: Round) -> float:
        self.total = self.total + self.scores(made.answer, made.judgement.vote)
        named = self.total > 0 if self.total.ndim == 1 else self.total.argmax(axis=1)
        return float(np.average(named != self.codes, weights=self.weight))
