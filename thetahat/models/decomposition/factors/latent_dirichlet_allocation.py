"""Latent Dirichlet allocation: documents as mixtures of topics, topics as distributions of words.

θ_d ~ Dirichlet(α), β_k ~ Dirichlet(η); each word of document d has a topic drawn from θ_d and is
drawn from β of that topic.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    Range,
    at_least,
    boolean,
    check_ranges,
    fraction,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.checked_value import check_arrays, check_columns
from thetahat.foundation.memory import require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.decomposition.factors.topic_model import TopicModel
from thetahat.models.decomposition.factors.topic_updates import TopicUpdates
from thetahat.models.decomposition.factors.topic_words import Documents, starting_words


@with_parameters
class LatentDirichletAllocation(Watched, TopicModel):
    """Topics of documents: latent Dirichlet allocation by variational Bayes.

    Rows are documents and columns are counts of words. A document is a mixture of topics, and a
    topic is a distribution of words. `components_` has the words of the topics, and `transform`
    the shares of the topics in each document.

    Formula: θ_d ~ Dirichlet(α) and β_k ~ Dirichlet(η). A word of document d has a topic z ~ θ_d and
    is drawn from β_z. The posterior is approximated by q(θ_d) = Dirichlet(γ_d) and q(β_k) =
    Dirichlet(λ_k) that maximise the evidence lower bound E log p(X, θ, z, β) − E log q(θ, z, β):
    γ_dk = α + Σ_w x_dw·φ_dwk and λ_kw = η + Σ_d x_dw·φ_dwk, where φ_dwk ∝ exp(E log θ_dk +
    E log β_kw). The bound is not concave, so that the result depends on the start. Topics start
    near documents that are far from each other.

    Cost: O(nnz·k) per step of the documents, of which there are at most `max_doc_update_iter` in
    each iteration, where nnz is the number of entries that are not 0; memory O((n + d)·k + nnz).
    Dense rows are copied as sparse rows.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics (k). Must be at least 1.
    doc_topic_prior : float or None, default=None
        Prior of the shares of topics in a document (α). Smaller values give documents fewer
        topics. None means 1/k. Must be positive.
    topic_word_prior : float or None, default=None
        Prior of the words of a topic (η). Smaller values give topics fewer words. None means 1/k.
        Must be positive.
    learning_method : {"batch", "online"}, default="batch"
        "batch" updates the topics after all documents. "online" updates them after each batch of
        documents, which needs fewer passes if there are many documents.
    learning_decay : float, default=0.7
        Rate at which the steps of "online" become smaller (κ): step t has the size (τ + t)^−κ.
        Values above 0.5 up to 1 are certain to converge. From 0 to 1.
    learning_offset : float, default=10.0
        Makes the first steps of "online" smaller (τ). Larger values give the first batches less
        weight. Must be greater than 1 for steps smaller than 1, and at least 0.
    max_iter : int, default=10
        Maximum number of passes over the documents. Must be at least 0.
    batch_size : int, default=128
        Number of documents in a batch of "online" and of `partial_fit`. Larger batches are more
        accurate and take longer. Must be at least 1.
    evaluate_every : int, default=-1
        Number of iterations between evaluations of the perplexity of the training documents, which
        take as long as an iteration. 0 or less means no evaluation: all `max_iter` iterations are
        made.
    total_samples : float, default=1e6
        Number of documents that are expected in all calls of `partial_fit`. Must be positive.
    perp_tol : float, default=0.1
        The fit ends when the perplexity changes by less than this from one evaluation to the next.
        Needs `evaluate_every` above 0. Must be at least 0.
    mean_change_tol : float, default=1e-3
        The steps of a document end when its γ changes by less than this on average. Smaller values
        are more accurate and take longer. Must be at least 0.
    max_doc_update_iter : int, default=100
        Maximum number of steps of a document in each iteration. Must be at least 1.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; ``th.config`` sets the number
        of threads.
    verbose : int, default=0
        Whether to print a line for each iteration. 0 prints nothing.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the documents near which topics start. Pass an int for the same result on every
        call.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        Parameters of the words of each topic (λ): expected counts plus the prior. Divided by their
        sum they are the expected distribution of the words.
    exp_dirichlet_component_ : array of shape (n_components, d)
        The exponential of the expected logarithm of the words of each topic, exp(E log β).
    doc_topic_prior_ : float
        The prior of the shares of topics (α).
    topic_word_prior_ : float
        The prior of the words of topics (η).
    random_state_ : Generator
        The generator of the start of the topics.
    n_iter_ : int
        Number of passes over the documents.
    n_batch_iter_ : int
        Number of updates of the topics, plus 1.
    bound_ : float
        Perplexity of the training documents, exp(−bound / number of words).
    solution_ : Solution
        How the fit ended: outcome and iterations. Its ``trace`` holds the perplexities that were
        evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.kron(np.eye(2), np.full((4, 3), 5.0))  # two topics of three words
    >>> model = th.LatentDirichletAllocation(2, random_state=0).fit(X)
    >>> shares = model.transform(X)
    >>> bool(np.all(shares.max(axis=1) > 0.9))
    True
    """

    _prints_itself = True

    n_components: int = 10
    _: KW_ONLY
    doc_topic_prior: float | None = None
    topic_word_prior: float | None = None
    learning_method: str = "batch"
    learning_decay: float = 0.7
    learning_offset: float = 10.0
    max_iter: int = 10
    batch_size: int = 128
    evaluate_every: int = -1
    total_samples: float = 1e6
    perp_tol: float = 1e-1
    mean_change_tol: float = 1e-3
    max_doc_update_iter: int = 100
    n_jobs: int | None = None
    verbose: Any = 0
    random_state: Any = None

    _reads_on_client = True
    _ignores_weights = True
    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1),
        "doc_topic_prior": more_than(0) | none,
        "topic_word_prior": more_than(0) | none,
        "learning_method": one_of("batch", "online"),
        "learning_decay": fraction,
        "learning_offset": at_least(0),
        "max_iter": whole(0),
        "batch_size": whole(1),
        "evaluate_every": whole(-(2**31)),
        "total_samples": more_than(0),
        "perp_tol": at_least(0),
        "mean_change_tol": at_least(0),
        "max_doc_update_iter": whole(1),
        "verbose": whole(0) | boolean,
    }
    _accepts_sparse = True
    _grows_by_steps = True  # max_iter is the number of passes, without a tolerance
    _draws_rows = True
    _tried_when_loaded = False  # max_doc_update_iter may be large

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _check_loaded(self) -> None:
        if self.__sklearn_is_fitted__():
            check_ranges(self)
            check_columns(self)
            is_single = getattr(self.components_, "dtype", None) == np.float32
            dtype = np.float32 if is_single else np.float64
            check_arrays(self, {"components_": (dtype, (None, self.n_features_in_))})

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> LatentDirichletAllocation:
        """Find the topics. Cost: see `LatentDirichletAllocation`.

        Parameters
        ----------
        X : array-like, sparse matrix, table or Source of shape (n, d)
            Counts of words in the training documents, at least 0. Fractions are accepted.
        """
        source = self._open_counts(X)
        documents = Documents(source)
        random = generator(self.random_state)
        words = starting_words(documents, self.n_components, random)
        run = TopicUpdates(self, words, source.n_rows)

        def attributes(theta: Array) -> dict[str, Any]:
            return run.attributes(theta, source.dtype)

        with self._watching(self.max_iter, attributes, X, y) as watch:
            try:
                outcome = self._iterate(run, documents, watch)
            except KeyboardInterrupt as interrupt:
                interrupt.solution = run.solution(Outcome.INTERRUPTED)  # type: ignore[attr-defined]
                raise
        self.__dict__.update(attributes(run.words), solution_=run.solution(outcome))
        self.n_iter_ = run.passes
        self.bound_ = run.evaluate(documents)
        if self.evaluate_every > 0 or outcome is Outcome.OUT_OF_TIME:
            self._warn_unless_converged()
        return self

    def _iterate(self, run: TopicUpdates, documents: Documents, watch: Watch) -> Outcome:
        online = self.learning_method == "online"
        for step in range(1, self.max_iter + 1):
            if online:
                for batch in documents.batches(self.batch_size):
                    run.blend(batch)
            else:
                run.replace(documents)
            line = f"iteration: {step} of max_iter: {self.max_iter}"
            evaluated = self.evaluate_every > 0 and step % self.evaluate_every == 0
            if evaluated:
                run.trace.append(run.evaluate(documents))
                line += f", perplexity: {run.trace[-1]:.4f}"
            if self.verbose:
                print(line)
            run.passes = step
            if evaluated and run.change < self.perp_tol:
                return Outcome.LOCAL
            verdict = watch(step, run.words, run.trace[-1] if run.trace else math.nan)
            if verdict is not Verdict.GO_ON:
                late = verdict is Verdict.OUT_OF_TIME
                return Outcome.OUT_OF_TIME if late else Outcome.INTERRUPTED
        return Outcome.STEPS_EXHAUSTED

    def partial_fit(self, X: Any, y: Any = None) -> LatentDirichletAllocation:
        """Update the topics by some more documents, in batches. Cost: as an iteration of `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix, table or Source of shape (n, d)
            Counts of words in the documents, with the same columns as before.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        if hasattr(self, "components_"):
            check_ranges(self)
            source = self._open_again(X)
            self._require_nonnegative(source)
        else:
            source = self._open_counts(X)
        documents = Documents(source)
        if hasattr(self, "components_"):
            run = TopicUpdates(self, self._words(), float(self.total_samples), self.n_batch_iter_)
        else:
            random = generator(self.random_state)
            words = starting_words(documents, self.n_components, random)
            run = TopicUpdates(self, words, float(self.total_samples))
        for batch in documents.batches(self.batch_size):
            run.blend(batch)
        self.__dict__.update(run.attributes(run.words, source.dtype))
        self.n_iter_ = getattr(self, "n_iter_", 0)
        return self

    def _open_counts(self, X: Any) -> Source:
        source = self._open(X, supervised=False)
        self._require_nonnegative(source)
        require_squares_of_rows(source, who=type(self).__name__)
        k, d = self.n_components, source.n_features
        require_memory(
            8 * 5 * k * (d + source.n_rows),
            f"{type(self).__name__}: {k} topics of {d} words and {source.n_rows} documents",
            "Use fewer topics.",
        )
        return source
