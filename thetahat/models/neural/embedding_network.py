"""Deep learning by semi-supervised embedding: mean loss + Σ_l λ_l·(penalty of pairs at layer l)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.extremes import SMALLEST
from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    at_least,
    check_ranges,
    more_than,
    one_of,
    whole,
)
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.models.neural.mlp_classifier import MLPClassifier
from thetahat.models.neural.network_model import Term
from thetahat.models.neural.parameters import NetworkParameters
from thetahat.models.semi_supervised.neighbour_graph import edge_weights
from thetahat.models.semi_supervised.partial_labels import PartlyLabelled
from thetahat.objective.network.elementwise import Dropout
from thetahat.objective.network.embedding import EmbeddingTerm, MarginPenalty, ScalingPenalty
from thetahat.objective.network.predictor import NetworkPredictor

strengths = at_least(0, LARGEST_FACTOR) | Range(
    lambda value: (
        isinstance(value, Sequence | np.ndarray)
        and not isinstance(value, str)
        and all(at_least(0, LARGEST_FACTOR).holds(each) for each in value)
    ),
    "a sequence of numbers ≥ 0",
)
PAIRS_FOR_UNIT = 1000
"""Random pairs whose mean squared distance is the unit of distances."""


@with_parameters
class EmbeddingNetwork(PartlyLabelled, MLPClassifier):
    """A deep network trained so that similar rows have similar layer outputs (Weston).

    Formula: Ŵ, b̂ = argmin (Σ wᵢ ℓ(yᵢ, f(xᵢ)))/(Σ wᵢ) over the labelled rows + α/(2n)·Σ_l ‖W_l‖²
    + Σ_l λ_l·(mean over pairs (j, k) of r(z_j − z_k)), where z are the outputs of layer l. The
    pairs are neighbours in a graph of all rows, and as many random pairs, drawn again in each step.
    ``pair_loss="margin"`` has r(Δ) = ‖Δ‖² for neighbours and (m − ‖Δ‖)₊² for random pairs;
    ``pair_loss="scaling"`` has r(Δ) = (‖Δ‖² − d_jk)² with the squared distance d_jk of the inputs,
    in units of its mean over random pairs (multidimensional scaling). Rows without a label have the
    label −1; they have no loss, but their pairs connect nearby rows.

    Few labels give the inner layers of a deep network a weak training signal; the penalty of pairs
    adds a training signal for every layer. The objective is not convex: a fit finds a local minimum
    that depends on the initial weights.

    Cost: one search for the neighbours of all rows; O((b + 4 n_pairs) p) per step for b rows of a
    batch and p weights. An epoch is a pass over the labelled rows.

    Parameters
    ----------
    embedding : {"all", "output"}, default="all"
        Layers with a penalty of pairs: every hidden layer and the output, or the output only.
    embedding_alpha : float or sequence, default=0.1
        Strength of the penalty of pairs (λ). Larger values make near rows more alike. A sequence
        gives one for each layer of "all", the output last. 0 is `MLPClassifier` on the labelled
        rows.
    pair_loss : {"margin", "scaling"}, default="margin"
        The penalty of a pair (r): contrastive with a margin, or the scaling of distances.
    margin : float, default=1.0
        Distance from which random pairs have no penalty (m). Larger values spread the outputs more.
        Must be positive.
    n_neighbors : int, default=10
        Number of nearest neighbours with which every row is joined. With fewer rows, all rows are
        joined.
    n_pairs : int, default=100
        Number of pairs of neighbours, and of random pairs, of each step. More pairs make the steps
        less random and take longer.
    max_iter : int, default=500
        Maximum number of epochs, which are passes over the labelled rows.
    tol : float or None, default=None
        Tolerance of the stopping rule. None runs all `max_iter` epochs, because the drawn pairs
        make the objective of an epoch random. Otherwise the fit stops if it has not improved by at
        least `tol` for more than `n_iter_no_change` epochs in a row.
    solver : {"sgd", "adam", "adamw"}, default="adam"
        How the weights are found, by steps on batches of rows. "lbfgs" is not available, because
        the pairs change from step to step.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels in sorted order, without the value −1 (unlabelled).
    transduction_ : array of shape (n,)
        The labels of the training rows: as given, or as predicted for rows without a label.
    n_edges_ : int
        Number of pairs of neighbours.

    References
    ----------
    Weston, Ratle and Collobert (2008), "Deep learning via semi-supervised embedding", ICML.
    Hadsell, Chopra and LeCun (2006), "Dimensionality reduction by learning an invariant mapping",
    CVPR.

    Examples
    --------
    Two groups with one label each; the groups decide, not the distance from the labels:

    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.random.default_rng(0).normal(0.0, [1.0, 0.3], (200, 2))
    >>> X[100:, 1] += 3.0
    >>> truth, y = np.repeat([0, 1], 100), np.full(200, -1)
    >>> y[X[:100, 0].argmin()], y[100 + X[100:, 0].argmax()] = 0, 1
    >>> model = th.EmbeddingNetwork(20, "tanh", embedding_alpha=1.0, margin=3.0,
    ...                             learning_rate_init=0.01, random_state=0)
    >>> bool(model.fit(X, y).score(X, truth) > 0.95)
    True
    """

    _: KW_ONLY
    embedding: str = "all"
    embedding_alpha: Any = 0.1
    pair_loss: str = "margin"
    margin: float = 1.0
    n_neighbors: int = 10
    n_pairs: int = 100
    max_iter: int = 500
    tol: float | None = None

    _accepts_devices = False
    _ranges = NetworkParameters._ranges | {
        "embedding": one_of("all", "output"),
        "embedding_alpha": strengths,
        "pair_loss": one_of("margin", "scaling"),
        "margin": more_than(0, LARGEST_FACTOR),
        "n_neighbors": whole(1),
        "n_pairs": whole(1),
    }
    _everyday, _everyday_params = None, {}
    _search_space = {}  # noqa: RUF012
    _minus_one_is_no_label = True
    _multi_output = False
    _streams = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    @classmethod
    def _example(cls) -> Any:
        """A small network that a few epochs fit."""
        return cls(10, "tanh", learning_rate_init=0.02, max_iter=20)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EmbeddingNetwork:
        """Fit the network to labelled and unlabelled rows.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows with and without labels. Distances between rows should be meaningful:
            scale columns of different units.
        y : array-like of shape (n,)
            The labels of the rows, −1 for rows without a label. To mix text labels with −1, use an
            array of objects.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each labelled row is multiplied by its weight. Rows of weight 0
            are left out. None gives every row weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_ranges(self)
        self._check_combinations()
        source = self._open(X, None, sample_weight, supervised=False)
        assert isinstance(source, InMemory)
        labels, known = self._partial_labels(source.y if y is None else y, source.n_rows)
        encoding = LabelEncoding.of(labels[known])
        if encoding.n_classes < 2:
            raise DataError(
                f"{type(self).__name__}: the labels of y contain one class only, "
                f"{encoding.classes.tolist()[0]!r} (−1 marks rows without a label), but at least "
                "two classes are needed. Label rows of another class."
            )
        before = getattr(self, "classes_", None) if self.warm_start else None
        if before is not None and not np.array_equal(before, encoding.classes):
            raise DataError(
                f"{type(self).__name__}: warm_start=True needs the classes of the last fit, "
                f"{before.tolist()}, but y has {encoding.classes.tolist()}. Set warm_start=False."
            )
        self.classes_, self._several_labels = encoding.classes, False
        codes = np.zeros(source.n_rows, dtype=source.dtype)
        codes[known] = encoding.encode(labels[known])
        labelled = replace(source, y=codes, has_target=True).take(np.flatnonzero(known))
        counted = source.take(np.flatnonzero(source.row_weights > 0))
        further = partial(self._embedding_term, counted.X)
        self._train(*self._with_head(labelled), X, y, further=further)
        self.transduction_ = labels.astype(self.classes_.dtype, copy=True)
        if not known.all():
            self.transduction_[~known] = self.predict(source.take(np.flatnonzero(~known)))
        return self

    def _check_combinations(self, *, resuming: bool = False) -> None:
        if self.solver == "lbfgs":
            raise CapabilityError(
                f"{type(self).__name__}: solver='lbfgs' needs a loss that is a fixed function of "
                "the weights, but new pairs are drawn in each step. Use solver='adam'."
            )
        super()._check_combinations(resuming=resuming)

    @available_if(lambda model: False)
    def partial_fit(self, *data: Any, **params: Any) -> Any:
        """Not available, because neighbours are searched among all rows."""

    def _embedding_term(self, X: Any, predictor: NetworkPredictor) -> Term | None:
        graph = edge_weights(X, int(self.n_neighbors), False, None).tocoo()
        once = graph.row < graph.col
        neighbours = graph.row[once], graph.col[once]
        self.n_edges_ = len(neighbours[0])
        chosen = self._strengths(predictor)
        if not any(chosen.values()) or X.shape[0] < 2:
            return None
        penalty = MarginPenalty(float(self.margin))
        return EmbeddingTerm(
            predictor,
            penalty if self.pair_loss == "margin" else ScalingPenalty(),
            chosen,
            X,
            neighbours,
            int(self.n_pairs),
            _mean_square(X),
        ).add_slope

    def _strengths(self, predictor: NetworkPredictor) -> dict[int, float]:
        """λ by the number of the layer."""
        layers, given = predictor.layers, self.embedding_alpha
        places = [n for n, layer in enumerate(layers) if not isinstance(layer, Dropout)]
        places = places if self.embedding == "all" else places[-1:]
        values = [float(each) for each in np.atleast_1d(given)]
        if np.ndim(given) == 0:
            values = values * len(places)
        if len(values) != len(places):
            raise ParameterError(
                f"{type(self).__name__}: embedding_alpha has {len(values)} entries, but "
                f"embedding={self.embedding!r} has {len(places)} "
                f"{'layer' if len(places) == 1 else 'layers'} with a penalty of pairs. Give one "
                "number for each, or one for all."
            )
        return dict(zip(places, values, strict=True))


def _mean_square(X: Any) -> float:
    """The mean squared distance of fixed random pairs of rows."""
    pairs = np.random.default_rng(0).integers(0, X.shape[0], (2, PAIRS_FOR_UNIT))
    difference = X[pairs[0]] - X[pairs[1]]
    sparse = hasattr(difference, "multiply")
    with np.errstate(over="ignore", under="ignore"):
        square = difference.multiply(difference) if sparse else difference**2
        mean = float(square.sum(axis=1).mean())
    if not np.isfinite(mean) or (mean < SMALLEST and abs(difference).max() > 0):
        raise DataError(
            "EmbeddingNetwork: the squares of the differences between rows of X "
            f"{'under' if mean < 1 else 'over'}flow (up to {abs(difference).max():.2g} in a "
            "column). Rescale X, so that differences are near 1."
        )
    return mean or 1.0
