"""Documents under fitted topics: shares of topics, and the bound of the evidence."""

from __future__ import annotations

from abc import ABC
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.decomposition.factors.nonnegative_entries import require_nonnegative
from thetahat.models.decomposition.factors.topic_updates import (
    bound_of_documents,
    perplexity_of,
    prior_or_share,
)
from thetahat.models.decomposition.factors.topic_words import (
    Documents,
    Inference,
    Topics,
    counts_of,
)
from thetahat.models.preprocessing.rowwise import RowwiseTransformer


class _WithTopics:
    """The types of parameters and fitted attributes."""

    n_components: int
    doc_topic_prior: float | None
    total_samples: float
    mean_change_tol: float
    max_doc_update_iter: int
    random_state: Any
    components_: Array
    topic_word_prior_: float


class TopicModel(ClassNamePrefixFeaturesOutMixin, RowwiseTransformer, _WithTopics, ABC):
    """A transformer of counts of words to shares of topics; a subclass defines `fit`."""

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def _require_nonnegative(self, source: Source) -> None:
        require_nonnegative(
            source, self._label, who=type(self).__name__, remedy="pass counts of words"
        )

    def _inference(self) -> Inference:
        return Inference(
            prior_or_share(self.doc_topic_prior, self.n_components),
            self.max_doc_update_iter,
            self.mean_change_tol,
        )

    def _words(self) -> Array:
        return np.ascontiguousarray(self.components_.T, dtype=np.float64)

    @property
    def exp_dirichlet_component_(self) -> Array:
        """The exponential of the expected logarithm of the words of each topic."""
        from scipy.special import psi

        found = self.components_.astype(np.float64)
        expected = psi(found) - psi(found.sum(axis=1))[:, None]
        return np.exp(expected).astype(self.components_.dtype, copy=False)

    @property
    def random_state_(self) -> np.random.Generator:
        """The generator of the start of the topics."""
        return generator(self.random_state)

    def transform(self, X: Any, *, normalize: bool = True) -> Any:
        """Compute the shares of the topics in each document. Cost: O(nnz·k) per step.

        The shares of a document do not depend on other documents.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            Counts of words, with the same columns as in `fit`.
        normalize : bool, default=True
            Whether the shares of a document sum to 1. Otherwise they are the parameters of its
            posterior distribution (γ), which sum to the number of words plus k·α.

        Returns
        -------
        array of shape (n, n_components)
            The shares, in the precision of X; a table if requested by ``set_output``.
        """
        check_is_fitted(self)
        source = self._open_again(X)
        self._require_nonnegative(source)
        if normalize:
            return super().transform(X)
        found = source.map_rows(lambda block: self._parameters(block))
        return found.astype(source.dtype, copy=False)

    def fit_transform(self, X: Any, y: Any = None, *, normalize: bool = True) -> Any:
        """Find the topics and return their shares in each document. Cost: that of both.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            Counts of words in the training documents, at least 0.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        normalize : bool, default=True
            Whether the shares of a document sum to 1, as in `transform`.

        Returns
        -------
        array of shape (n, n_components)
            The shares, in the precision of X; a table if requested by ``set_output``.
        """
        return self.fit(X, y).transform(X, normalize=normalize)

    def _parameters(self, block: Block) -> Array:
        """γ of each document of a block."""
        return Topics(self._words()).shares(counts_of(block.X), self._inference())

    def _transform_block(self, block: Block) -> Array:
        gamma = self._parameters(block)
        return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))

    def score(self, X: Any, y: Any = None) -> float:
        """Compute the evidence lower bound of the documents. Larger is better. Cost: a pass.

        Parameters
        ----------
        X : array-like, sparse matrix, table or Source of shape (n, d)
            Counts of words, with the same columns as in `fit`.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        float
            The bound of log p(X), a sum over all documents.
        """
        return self._bound(X)[0]

    def perplexity(self, X: Any, sub_sampling: bool = False) -> float:
        """Compute the perplexity, exp(−bound / number of words). Smaller is better. Cost: a pass.

        Parameters
        ----------
        X : array-like, sparse matrix, table or Source of shape (n, d)
            Counts of words, with the same columns as in `fit`.
        sub_sampling : bool, default=False
            Whether X is a sample of `total_samples` documents, so that its part of the bound is
            multiplied by total_samples / n.

        Returns
        -------
        float
            The perplexity. Documents without any word have none, which is an error.
        """
        bound, documents = self._bound(X, sub_sampling)
        if not documents.n_words > 0:
            raise DataError(
                f"{type(self).__name__}.perplexity: X contains no words (all counts are 0), but "
                "the perplexity is an average over words. Give documents with words, or use score."
            )
        times = float(self.total_samples) / documents.source.n_rows if sub_sampling else 1.0
        return perplexity_of(bound, times * documents.n_words)

    def _bound(self, X: Any, sub_sampling: bool = False) -> tuple[float, Documents]:
        check_is_fitted(self)
        source = self._open_again(X)
        self._require_nonnegative(source)
        documents, topics = Documents(source), Topics(self._words())
        bound = bound_of_documents(topics, documents, self._inference())
        if sub_sampling:
            bound *= float(self.total_samples) / source.n_rows
        return bound - topics.divergence(self.topic_word_prior_), documents
