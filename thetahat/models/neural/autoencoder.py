"""The autoencoder: a network with a narrow middle layer that reproduces its inputs."""

from __future__ import annotations

from typing import Any

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.watching import with_callbacks
from thetahat.models.neural.autoencoder_model import AutoencoderModel


@with_parameters
class Autoencoder(AutoencoderModel):
    """Autoencoder: a network that compresses each row to a few numbers and reconstructs it.

    Formula: f̂, ĝ = argmin (Σ wᵢ ‖xᵢ − g(f(xᵢ))‖²/2)/(Σ wᵢ) + α/(2n)·Σ_l ‖W_l‖², with an encoder f
    from d columns to k codes and a decoder g back, both networks. The codes z = f(x) are features
    for other models. Without hidden layers and with linear units, the best codes span the subspace
    of the first k principal components; hidden layers make the map nonlinear. The objective is not
    convex: a fit finds a local minimum that depends on the initial weights. Columns of different
    units should be scaled first.

    Cost: O(n p) per epoch for n rows and p weights; memory for the weights, twice as much for the
    averages of "adam", and for the outputs of all layers of one batch.

    References
    ----------
    Hinton and Salakhutdinov (2006), "Reducing the dimensionality of data with neural networks",
    Science 313.

    Examples
    --------
    Points of a parabola have one code each, from which both columns are reconstructed:

    >>> import numpy as np
    >>> import thetahat as th
    >>> t = np.linspace(-1, 1, 200)
    >>> X = np.column_stack([t, t**2])
    >>> model = th.Autoencoder(1, hidden_layer_sizes=20, activation="tanh", solver="lbfgs",
    ...                        alpha=0.0, max_iter=1000, random_state=0).fit(X)
    >>> model.transform(X).shape, bool(model.score(X) > 0.999)
    ((200, 1), True)
    >>> float(th.PCA(1).fit(X).explained_variance_ratio_[0].round(2))
    0.79
    """

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Autoencoder:
        """Fit the encoder and the decoder.

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
        self._train(target, head, X, None)
        self.n_components_ = int(self.n_components)
        return self
