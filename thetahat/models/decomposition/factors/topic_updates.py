"""The updates of the topics in one fit of latent Dirichlet allocation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.decomposition.factors.topic_words import Documents, Inference, Topics


@dataclass
class TopicUpdates:
    """λ of one fit, with its updates."""

    model: Any
    words: Array
    total: float
    updates: int = 1
    passes: int = 0
    trace: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prior = prior_or_share(self.model.topic_word_prior, self.model.n_components)
        self.how = self.model._inference()

    def replace(self, documents: Documents) -> None:
        """λ ← η + expected counts of all documents."""
        topics, found = Topics(self.words), None
        for block in documents.blocks():
            counts = topics.expected_counts(block, self.how)
            found = counts if found is None else found + counts
        if found is not None:
            found += self.prior
            self.words = found
        self.updates += 1

    def blend(self, batch: Any) -> None:
        """λ ← (1 − ρ)λ + ρ(η + expected counts, as if all documents were like the batch)."""
        counts = Topics(self.words).expected_counts(batch, self.how)
        rate = (self.model.learning_offset + self.updates) ** -self.model.learning_decay
        counts *= rate * self.total / batch.shape[0]
        counts += rate * self.prior
        counts += (1.0 - rate) * self.words
        self.words = counts
        self.updates += 1

    @property
    def change(self) -> float:
        """How much the last evaluation changed the perplexity."""
        if len(self.trace) < 2:
            return math.inf
        return abs(self.trace[-1] - self.trace[-2])

    def evaluate(self, documents: Documents) -> float:
        """The perplexity of all documents."""
        topics = Topics(self.words)
        bound = bound_of_documents(topics, documents, self.how) - topics.divergence(self.prior)
        return perplexity_of(bound, documents.n_words)

    def attributes(self, words: Array, dtype: Any) -> dict[str, Any]:
        return {
            "components_": np.ascontiguousarray(words.T, dtype=dtype),
            "doc_topic_prior_": self.how.prior,
            "topic_word_prior_": self.prior,
            "n_batch_iter_": self.updates,
        }

    def solution(self, outcome: Outcome) -> Solution:
        return Solution(
            theta=self.words,
            outcome=outcome,
            solver=f"{self.model.learning_method} variational Bayes",
            reason=f"learning_method={self.model.learning_method!r}",
            steps=self.passes,
            value=self.trace[-1] if self.trace else math.nan,
            gap=self.change,
            gap_kind="change of the perplexity",
            message=outcome.value,
            trace=tuple(self.trace),
        )


def bound_of_documents(topics: Topics, documents: Documents, how: Inference) -> float:
    return sum(topics.bound_of_documents(block, how) for block in documents.blocks())


def perplexity_of(bound: float, n_words: float) -> float:
    return math.exp(min(-bound / n_words, 700.0)) if n_words > 0 else math.nan


def prior_or_share(value: float | None, k: int) -> float:
    return 1.0 / k if value is None else float(value)
