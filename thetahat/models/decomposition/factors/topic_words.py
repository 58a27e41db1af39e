"""Variational inference for topics: one pass over the documents, and the bound of the evidence.

q(β_k) = Dirichlet(λ_k) for the words of a topic, q(θ_d) = Dirichlet(γ_d) for the topics of a
document, and φ_dwk ∝ exp(E log θ_dk + E log β_kw) for the topic of a word. λ is kept with one row
per word, because the words of a document are read together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thetahat import _native
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source, blocks_of
from thetahat.foundation.cached import cached_property
from thetahat.foundation.threads import n_threads
from thetahat.foundation.types import Array, Matrix, SparseMatrix

NONE, NO_ROWS = np.empty(0), np.empty((0, 0))
SHARED_FROM = 100_000
"""Products of words and topics below which one thread is faster than several."""


START_SHAPE = 100.0
"""λ starts from gamma variables of this shape and mean 1, so that topics differ a little."""
START_SHARE = 0.3
"""Weight of the words of a document in the start of a topic, relative to all others."""
SEEDS_FROM = 20
"""Documents per topic among which those of the start are drawn, and at least ten times as many."""


def counts_of(X: Matrix) -> Matrix:
    """The rows as sparse counts, with the words of each row in order. Cost: O(nnz), or O(n d)."""
    import scipy.sparse as sp

    if isinstance(X, np.ndarray):
        return sp.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


@dataclass(frozen=True)
class Documents:
    """The rows of a source as sparse counts, all at once or block by block."""

    source: Source

    @cached_property
    def _whole(self) -> Matrix | None:
        return counts_of(self.source.whole.X) if isinstance(self.source, InMemory) else None

    def taken(self, numbers: Array) -> Matrix:
        """The rows of these numbers, in their order. Cost: one pass over blocks of a file."""
        import scipy.sparse as sp

        if self._whole is not None:
            return self._whole[numbers]
        order, parts, start = np.argsort(numbers), [], 0
        ascending = numbers[order]
        for block in self.blocks():
            inside = np.searchsorted(ascending, [start, start + block.shape[0]])
            parts.append(block[ascending[slice(*inside)] - start])
            start += block.shape[0]
        return sp.csr_array(sp.vstack(parts))[np.argsort(order)]

    def blocks(self) -> Iterator[Matrix]:
        if self._whole is not None:
            yield self._whole
        else:
            for block in self.source.blocks():
                yield counts_of(block.X)

    def batches(self, size: int) -> Iterator[Matrix]:
        """Consecutive rows, at most `size` at a time."""
        if self._whole is None:
            for block in blocks_of(self.source, size):
                yield counts_of(block.X)
        else:
            for start in range(0, self._whole.shape[0], size):
                yield self._whole[start : start + size]

    @cached_property
    def n_words(self) -> float:
        return float(sum(block.sum(dtype=np.float64) for block in self.blocks()))


def starting_words(documents: Documents, k: int, random: np.random.Generator) -> Array:
    """λ of shape (d, k) that starts every topic near a document, far from those of the others.

    Documents are drawn as in k-means++, by the squared Hellinger distances 2 − 2·Σ_w √(p_w·q_w) of
    their words from the nearest document that was drawn. Cost: O(k) times the words of at most
    20·k documents, or 200, and a pass over the rows of a file.
    """
    import scipy.sparse as sp

    n, d = documents.source.n_rows, documents.source.n_features
    words: Array = random.gamma(START_SHAPE, 1.0 / START_SHAPE, (d, k))
    few = random.permutation(n)[: max(SEEDS_FROM * k, 10 * SEEDS_FROM)]
    some = documents.taken(few).astype(np.float64)
    totals = np.asarray(some.sum(axis=1)).ravel()
    used = totals > 0
    scale = sp.dia_array((np.where(used, 1.0 / np.where(used, totals, 1.0), 0.0)[None], [0]),
                         shape=(len(few), len(few)))  # fmt: skip
    some = sp.csr_array(scale @ some)
    roots = np.sqrt(some)
    apart = 2.0 * used
    for topic in range(k):
        if not apart.any():
            break
        chosen = int(random.choice(len(few), p=apart / apart.sum()))
        place = slice(some.indptr[chosen], some.indptr[chosen + 1])
        column, share = some.indices[place], some.data[place]
        words[column, topic] += START_SHARE * words[:, topic].sum() * share
        root = np.zeros(some.shape[1])
        root[column] = np.sqrt(share)
        away = 2.0 - 2.0 * (roots @ root)
        apart = np.minimum(apart, np.where(away > 1e-9, away, 0.0))
    return words


class Inference(NamedTuple):
    """How γ of a document is found: its prior, and when its steps end."""

    prior: float
    steps: int
    tolerance: float


@dataclass(frozen=True)
class Topics:
    """λ with one row per word, and exp(E log β) scaled word by word."""

    words: Array
    """λ of shape (d, k)."""

    @cached_property
    def _expected(self) -> tuple[Array, Array]:
        """exp(E log β − shift), and the shift of each word."""
        weights, shift = np.empty_like(self.words), np.empty(len(self.words))
        threads = n_threads() if self.words.size >= SHARED_FROM else 1
        _native.dirichlet_weights(self.words, self.words.sum(axis=0), threads, weights, shift)
        return weights, shift

    def _threads(self, counts: SparseMatrix) -> int:
        return n_threads() if counts.nnz * self.words.shape[1] >= SHARED_FROM else 1

    def shares(self, counts: Matrix, how: Inference) -> Array:
        """γ of each document. Cost: O(nnz·k) per step."""
        return self._infer(counts, how, NO_ROWS, NONE, NONE)

    def expected_counts(self, counts: SparseMatrix, how: Inference) -> Array:
        """Σ_d c_dw φ_dwk for every word and topic. Cost: O(nnz·k) per step."""
        theta, ratio = np.empty((counts.shape[0], self.words.shape[1])), np.empty(counts.nnz)
        self._infer(counts, how, theta, ratio, NONE)
        found = np.empty_like(self.words)
        _native.topic_counts(
            ratio,
            counts.indices,
            counts.indptr,
            theta,
            self._expected[0],
            self._threads(counts),
            found,
        )
        return found

    def bound_of_documents(self, counts: Matrix, how: Inference) -> float:
        """E log p(words) − KL(q(θ) ‖ p(θ)), summed over the documents."""
        values = np.empty(counts.shape[0])
        gamma = self._infer(counts, how, NO_ROWS, NONE, values)
        return float(values.sum()) - dirichlet_divergence(gamma, how.prior)

    def divergence(self, prior: float) -> float:
        """KL(q(β) ‖ p(β)), summed over the topics. Cost: O(d k)."""
        return dirichlet_divergence(np.ascontiguousarray(self.words.T), prior)

    def _infer(
        self, counts: SparseMatrix, how: Inference, theta: Array, ratio: Array, values: Array
    ) -> Array:
        gamma = np.empty((counts.shape[0], self.words.shape[1]))
        _native.topic_shares(
            counts.data,
            counts.indices,
            counts.indptr,
            *self._expected,
            how.prior,
            how.steps,
            how.tolerance,
            self._threads(counts),
            gamma,
            theta,
            ratio,
            values,
        )
        return gamma


def dirichlet_divergence(parameters: Array, prior: float) -> float:
    """Σ over rows of KL(Dirichlet(row) ‖ Dirichlet(prior, …, prior)). Cost: O(size)."""
    from scipy.special import gammaln, psi

    n, k = parameters.shape
    totals = parameters.sum(axis=1)
    expected = psi(parameters) - psi(totals)[:, None]
    found = float(np.einsum("ij,ij->", parameters - prior, expected))
    found += float(gammaln(totals).sum() - gammaln(parameters).sum())
    constant: Any = k * gammaln(prior) - gammaln(k * prior)
    return found + n * float(constant)
