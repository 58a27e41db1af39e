"""The stacked autoencoder: layers trained one by one, each on the codes of the one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.columns.schema import Schema
from thetahat.data.source import Block, Source
from thetahat.data.views import View
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.models.neural.autoencoder_model import AutoencoderModel
from thetahat.models.neural.checkpoint import Checkpoint
from thetahat.models.neural.placement import counted_rows
from thetahat.models.neural.trained_network import TO_BE_CONTINUED
from thetahat.objective.network.dense import Dense
from thetahat.objective.network.layer import Layer
from thetahat.objective.network.predictor import NetworkPredictor

SHARED = (
    "solver", "alpha", "batch_size", "learning_rate", "learning_rate_init", "power_t", "shuffle",
    "tol", "verbose", "momentum", "nesterovs_momentum", "early_stopping", "validation_fraction",
    "beta_1", "beta_2", "epsilon", "n_iter_no_change", "max_fun", "penalty", "l1_ratio",
    "initialisation",
)  # fmt: skip
"""Parameters of the training that all levels share."""


@with_parameters
class StackedAutoencoder(AutoencoderModel):
    """Stacked autoencoder: a deep autoencoder whose layers are first trained one by one.

    Formula: with codes z⁰ = x, level l finds encoder and decoder layers
    f̂_l, ĝ_l = argmin Σ wᵢ ‖zᵢ^{l−1} − g_l(f_l(zᵢ^{l−1}))‖²/(2 Σ wᵢ) (greedy pretraining). Then the
    whole network x ↦ g_1(… g_L(f_L(… f_1(x)))) starts from these layers and is trained as in
    `Autoencoder` (fine-tuning). Deep networks with small initial weights learn slowly, because
    their gradients shrink from layer to layer; pretrained layers are a better start. The layers
    can also start a classifier: see `pretrained_layers`. With `checkpoint`, an interrupted fit
    continues in the level where it was; a time limit is that of all levels together.

    Cost: O(n p_l) per epoch of level l with p_l weights, then O(n p) per epoch of the fine-tuning;
    the codes of one level of all rows in memory at a time, or none if the rows are on disk.

    Parameters
    ----------
    pretraining_iter : int, default=50
        Maximum number of epochs of each level, or of iterations of "lbfgs". Must be at least 1.

    Attributes
    ----------
    pretraining_losses_ : array of shape (n_levels,)
        The objective of each level at the end of its pretraining.

    References
    ----------
    Hinton and Salakhutdinov (2006), "Reducing the dimensionality of data with neural networks",
    Science 313.

    Examples
    --------
    Pretrained layers start a classifier:

    >>> import thetahat as th
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16
    >>> stack = th.StackedAutoencoder(20, hidden_layer_sizes=(40,), learning_rate_init=0.01,
    ...                               max_iter=5, pretraining_iter=5, tol=None, random_state=0)
    >>> stack.fit(X).transform(X).shape
    (1797, 20)
    >>> model = th.MLPClassifier(stack.pretrained_layers(), alpha=1, solver="lbfgs",
    ...                          max_iter=1000, tol=0.001, random_state=0)
    >>> bool(model.fit(X[:200], y[:200]).score(X[200:], y[200:]) > 0.8)
    True
    """

    _: KW_ONLY
    pretraining_iter: int = 50

    _ranges = AutoencoderModel._ranges | {"pretraining_iter": whole(1)}

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> StackedAutoencoder:
        """Train the layers one by one, then all together.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows. Columns of similar size are learned faster.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. None gives every row
            weight 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        target, head = self._open_rows(X, sample_weight)
        self._check_combinations()
        plain = self._predictor(head, target.n_features).layers
        whole, how = Watch(), dict[str, Any]()  # the time limit is that of all stages
        if self.warm_start and hasattr(self, "coefs_"):
            how["layers"] = plain
        else:
            how = self._pretrain(target, plain, whole)
        train: Callable[[Source], None] = partial(self._train, head=head, X=X, y=None, **how)
        whole.in_time(train)(target)
        self.layers_ = plain
        self.n_components_ = int(self.n_components)
        return self

    def _pretrain(self, target: Source, plain: tuple[Layer, ...], whole: Watch) -> dict[str, Any]:
        """How to train the layers together after the levels, from the outside to the code.

        The layers have the weights of their levels. The generators of both stages are made first,
        so that a fit that continues from a file can set them to what they were.
        """
        random, tuning = generator(self.random_state), generator(self.random_state)
        layers, losses = list(plain), list[float]()
        places = [place for place, layer in enumerate(plain) if isinstance(layer, Dense)]
        whole_fit = kept = self._stages(target, random, tuning)
        if kept is not None and kept.earlier is None:
            kept = None  # an old file, which has the last stage only
        source = View.of(target, _without_target, n_outputs=0, has_target=False)
        for level in range(len(places) // 2):
            into, back = places[level], places[-1 - level]
            encoder, decoder = plain[into], plain[back]
            assert isinstance(encoder, Dense)
            assert isinstance(decoder, Dense)
            seed = int(random.integers(np.iinfo(np.int32).max))
            known = [] if kept is None or kept.earlier is None else kept.earlier[level : level + 1]
            if known:
                W, b, V, c, loss = known[0]
            else:
                model = _Level(
                    encoder.units,
                    code_activation=encoder.function,
                    output_activation=decoder.function,
                    loss="squared_error" if level else self.loss,
                    max_iter=self.pretraining_iter,
                    random_state=seed,
                    **{name: getattr(self, name) for name in SHARED},
                )
                model._kept = kept
                whole.in_time(model.fit)(source)
                (W, V), (b, c), loss = model.coefs_, model.intercepts_, np.array(model.loss_)
                if kept is not None and model.solution_.outcome in TO_BE_CONTINUED:
                    kept.is_paused = True  # the next fit continues this level
                elif kept is not None:
                    kept.end_stage(W, b, V, c, loss)
            losses.append(float(loss))
            layers[into] = Dense(encoder.units, encoder.function, (W, b))
            layers[back] = Dense(decoder.units, decoder.function, (V, c))
            predictor = NetworkPredictor((encoder,), source.n_features, encoder.units)
            theta = np.concatenate([W.reshape(-1), b])
            change = partial(_encoded, predictor=predictor, theta=theta)
            source = View.of(source, change, n_features=encoder.units, schema=Schema())
        self.pretraining_losses_ = np.array(losses)
        if whole_fit is not None:
            whole_fit.is_last = True
        return {"layers": tuple(layers), "random": tuning, "kept": whole_fit}

    def _stages(self, target: Source, *generators: np.random.Generator) -> Checkpoint | None:
        """The file of all stages, if there is one."""
        if self.checkpoint is None:
            return None
        kept = Checkpoint.of(self, counted_rows(target, type(self).__name__))
        kept.begin_stages(*generators)
        return kept


@with_parameters
class _Level(AutoencoderModel):
    """An autoencoder of one layer each way, whose output units may have an activation."""

    _: KW_ONLY
    hidden_layer_sizes: Any = ()
    output_activation: Any = "identity"

    _kept: Checkpoint | None = None

    def fit(self, source: Source) -> _Level:
        target, head = self._open_rows(source, None)
        self._train(target, head, source, None, kept=self._kept)
        self.n_components_ = int(self.n_components)
        return self

    def _output_function(self) -> Any:
        return self.output_activation

    def _warn_unless_converged(self) -> None:
        """No warning: the fine-tuning continues from these weights."""


_Level.__name__ = StackedAutoencoder.__name__  # messages name the model that the user made


def _without_target(block: Block) -> Block:
    return replace(block, y=None)


def _encoded(block: Block, predictor: NetworkPredictor, theta: Array) -> Block:
    X = block.X if block.X.dtype == theta.dtype else block.X.astype(theta.dtype)
    return replace(block, X=predictor.outputs(X, theta, 1))
