"""The general form: f̂ = argmin (Σ wᵢ ℓ(yᵢ, f(xᵢ) + b))/(Σ wᵢ) + α/2·‖f‖², f = Σⱼ cⱼ k(·, xⱼ)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import LARGEST_FACTOR, more_than
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import CapabilityError
from thetahat.foundation.randomness import generator
from thetahat.foundation.watch import Watch
from thetahat.mathematics.kernels.given import Precomputed
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.kernels.names import named as named_kernel
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.mathematics.losses import named as named_loss
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.kernel.blocks import features_of_blocks, loaded, suited_to_blocks
from thetahat.models.kernel.machine import MOST_EXACT_ROWS, USUAL_CENTRES, KernelMachine
from thetahat.models.kernel.parameters import in_memory, kept_rows
from thetahat.objective.kernel.features import KernelFeatures, gram_of
from thetahat.objective.kernel.perceptron_steps import perceptron_steps
from thetahat.objective.predictor import in_double

MOST_PASSES = 100
"""Passes of the perceptron over the rows."""


@with_parameters
class KernelModel(KernelMachine):
    """A function of a kernel with any loss and an automatic choice of the solver.

    Formula: f̂, b̂ = argmin (Σ wᵢ ℓ(yᵢ, f(xᵢ) + b))/(Σ wᵢ) + α/2·‖f‖² over all functions
    f(x) = Σⱼ cⱼ k(x, xⱼ), with ‖f‖² = cᵀKc. The squared loss gives kernel ridge regression, the
    logistic loss kernel logistic regression, the hinge loss the support vector machine, the
    epsilon-insensitive loss support vector regression, and the quantile loss kernel quantile
    regression. The perceptron loss is smallest for f = 0, whatever the penalty: here it stands for
    the steps of the perceptron, as in `KernelPerceptron`, in at most `max_iter` (100) passes over
    the rows, and `alpha` has no effect.

    With K = LLᵀ the problem is that of a linear model with the features L and the penalty "l2", so
    every loss and every solver of `LinearModel` works. Losses with a dual give sparse coefficients:
    only the support vectors are kept. Rows that depend on others are left out of the centres. The
    hinge and the epsilon-insensitive loss have the solver of `SVC` and `SVR`, unless there are
    fewer centres than rows, another `solver` is given, or there is no intercept. The absolute and
    the quantile loss try it first, for at most 100 steps per row.

    Cost: O(n³) time and three matrices of n² numbers (one for the squared loss), whose size is
    checked first; with m centres (``n_components``) O(n m²) time and n·m numbers. The solver of
    `SVC` takes between O(n²d) and O(n³) time, and at most 1 GiB for rows of the kernel matrix.

    Parameters
    ----------
    loss : str or Loss, default="squared"
        The loss of one row, as a function of its target and raw prediction (ℓ): a name or a value,
        as in `LinearModel`. With a loss of classes the model is a classifier.
    alpha : float, default=0.001
        Strength of the penalty on the function, alpha/2·‖f‖², which is added to the mean loss.
        Larger values give smoother functions. Must be positive. `KernelRidge` with penalty a has
        ``alpha=a / n``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> smooth = th.KernelModel(kernel=th.kernels.RBF(sigma=1.0), alpha=1e-6).fit(X, y)
    >>> bool(np.abs(smooth.predict(X) - y).max() < 1e-3)
    True
    >>> labels = np.where(np.abs(X[:, 0] - 3.0) < 1.5, "inside", "outside")
    >>> machine = th.KernelModel("hinge").fit(X, labels)
    >>> machine.predict([[0.0], [3.0], [6.0]]).tolist(), len(machine.support_) < 50
    (['outside', 'inside', 'outside'], True)
    """

    loss: Any = "squared"
    kernel: Any = "rbf"
    alpha: float = 1e-3
    _: KW_ONLY
    n_components: int | str | None = "auto"
    centers: str = "uniform"
    solver: Any = "auto"
    fit_intercept: bool = True
    max_iter: int | None = None
    tol: float = 1e-8
    random_state: Any = None

    _streams = True
    _reads_on_client = True
    _ranges = KernelMachine._ranges | {"alpha": more_than(0, LARGEST_FACTOR)}
    _everyday = "kernel machine"
    _everyday_params: ClassVar[dict[str, Any]] = {"n_components": 300}
    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "alpha": (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1),
        "kernel": ("rbf", RBF(sigma=1.0), RBF(sigma=2.0), RBF(sigma=4.0), "laplacian", "matern"),
        "n_components": (300, 1000),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelModel:
        """Fit the function to all rows. Cost: O(n³), or O(n m²) with m centres.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training rows; for a precomputed kernel, the matrix of shape (n, n). A `Source` (see
            ``th.scan``) is read block by block and contains the targets; it needs ``n_components``,
            and up to 10,000 rows are loaded with "auto".
        y : array-like of shape (n,)
            The targets, which must suit the loss: numbers, counts, or labels of any kind for a
            loss of classes.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        self.loss_ = named_loss(self.loss)
        source, n_scores = self._rows(X, y, sample_weight)
        perceptron = self.loss_.smallest_at_zero and self.solver == "auto"
        if not isinstance(source, InMemory) and (m := self._n_centres_of_blocks(source)):
            if perceptron:
                raise CapabilityError(
                    "KernelModel: the steps of the perceptron visit all rows in their order, "
                    "which must be in memory, but these are read block by block. Use "
                    'loss="hinge", or X, y, sample_weight = source.arrays().'
                )
            self.kernel_ = suited_to_blocks(self.kernel, source)
            require_kernel_matrix(m, m, np.float64, copies=3)
            random = generator(self.random_state)
            features, rows = features_of_blocks(self.kernel_, source, m, self.centers, random)
            self._fit_rows(features, rows, n_scores, self.alpha, X, y)
            self._state_centres(m, source.n_rows)
            return self
        rows = in_memory(source if isinstance(source, InMemory) else loaded(source), "KernelModel")
        if perceptron:
            self._fit_perceptron(rows)
        else:
            self._fit_function(rows, n_scores, self.alpha, X, y)
        return self

    def _fit_perceptron(self, source: InMemory) -> None:
        """Make the steps of the perceptron, with the intercept as one more feature, which is 1."""
        self.kernel_ = self._kernel(source)
        centres, X, one = self._centres(source), in_double(source.X), float(self.fit_intercept)
        used = np.flatnonzero(source.row_weights > 0)
        signs = np.where(np.asarray(source.y)[used] > 0, 1.0, -1.0)
        steps = signs * source.row_weights[used]
        features = None
        if len(centres) == len(used):
            require_kernel_matrix(len(used), len(used), np.float64)
            values = gram_of(self.kernel_, X, used)
        else:
            self._require_features(len(used), len(centres))
            features = KernelFeatures.of(self.kernel_, X, centres)
            values = features.of_rows(X)[used]

        kernel = values if features is None else lambda i: values @ values[i]
        most = self.max_iter or MOST_PASSES
        counts, f, passes = perceptron_steps(
            kernel, signs, steps, most, constant=one, watch=Watch()
        )
        weights, places = counts * steps, np.flatnonzero(counts)
        if features is None:
            self.support_, self.dual_coef_ = used[places], weights[places]
            self.X_fit_ = kept_rows(self.kernel_, source.X, self.support_)
        else:
            self.support_, self.X_fit_ = features.which, features.centres
            self.dual_coef_ = features.coefficients(weights @ values)
        self.intercept_, self.n_iter_ = np.asarray(one * weights.sum())[()], passes
        wrong = float(np.mean((f > 0) != (signs > 0)))
        early = Outcome.OUT_OF_TIME if passes < most else Outcome.STEPS_EXHAUSTED
        outcome = early if wrong else Outcome.CONVERGED
        loss = self.loss_.value(signs, f)
        self.solution_ = Solution(
            theta=weights,
            outcome=outcome,
            solver="perceptron",
            reason="the perceptron loss is smallest at 0: steps until a pass makes no mistake",
            steps=passes,
            value=float(np.average(loss, weights=np.abs(steps))),
            gap=wrong,
            gap_kind="share of rows on the wrong side",
            message=outcome.value,
        )
        self._state_centres(self._n_centres(source), source.n_rows)
        self._warn_unless_converged()

    def _n_centres_of_blocks(self, source: Source) -> int | None:
        """The number of centres of rows that are read block by block; None if they are so few."""
        if self.n_components is None:
            raise CapabilityError(
                "KernelModel: n_components=None compares all pairs of rows, which must be in "
                "memory, but these are read block by block. Give the number of centres of "
                "Nyström's approximation, such as n_components=1000, or load the rows with "
                "X, y, sample_weight = source.arrays()."
            )
        if isinstance(named_kernel(self.kernel), Precomputed):
            raise CapabilityError(
                "KernelModel: a precomputed kernel matrix must be in memory, but its rows are read "
                "block by block. Give the rows themselves and the name of the kernel, or load the "
                "matrix with X, y, sample_weight = source.arrays()."
            )
        if self.n_components == "auto":
            return USUAL_CENTRES if source.n_rows > MOST_EXACT_ROWS else None
        return min(int(self.n_components), source.n_rows)
