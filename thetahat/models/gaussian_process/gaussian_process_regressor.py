"""Gaussian process regression: y = f(x) + noise, where f has mean 0 and covariance k(x, z)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows, require_squares_of_target
from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, non_negative_array, none, whole
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.precision import EPSILON
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import interruptible, one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.kernels.noise import White
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.mathematics.linalg.tiled_cholesky import memory_of_factors
from thetahat.models.gaussian_process.hyperparameters import (
    GaussianProcess,
    covariance_of,
    not_positive_definite,
)
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.marginal_likelihood import MarginalLikelihood
from thetahat.objective.kernel.posterior import covariance_given, moments_given
from thetahat.objective.predictor import in_double


@with_parameters
class GaussianProcessRegressor(ScoredRegressor, GaussianProcess):
    """Regression with a Gaussian process, whose predictions have standard deviations.

    Formula: f is a random function with mean 0 and covariance k(x, z), and y = f(x) + ε with
    ε ~ N(0, α). Given the training rows, f(x) has the mean k(x)ᵀ(K + αI)⁻¹y and the variance
    k(x, x) − k(x)ᵀ(K + αI)⁻¹k(x). The mean is that of `KernelRidge` with the same α. The
    hyper-parameters of the kernel, such as length scales and the level of noise, maximise the
    marginal likelihood log p(y | X) = −½yᵀ(K + αI)⁻¹y − ½ log det(K + αI) − n/2·log 2π.

    Cost: O(n²d + n³) per iteration of the fit, and one matrix of n² numbers, whose size is checked
    first. Predictions cost O(n d) per row, and O(n²) with standard deviations.

    Parameters
    ----------
    kernel : Kernel or None, default=None
        The covariance function, such as ``th.kernels.RBF() + th.kernels.White()``, or a kernel of
        ``sklearn.gaussian_process.kernels``. Its hyper-parameters are starting values;
        ``th.kernels.Bounded`` bounds or fixes them. None means
        ``th.kernels.Constant() * th.kernels.RBF()``.
    alpha : float or array of shape (n,), default=1e-10
        Variance of the noise, which is added to the diagonal of the kernel matrix (α). Larger
        values give smoother functions and better conditioned matrices. An array gives each
        training row its own. Use ``th.kernels.White`` if the variance is to be fitted.
    normalize_y : bool, default=False
        Whether to subtract the mean of y and divide by its standard deviation in the fit. Use it if
        the mean of y is far from 0, because the prior has mean 0. Predictions have the units of y.
    copy_X_train : bool, default=True
        Whether to keep a copy of X. Set it to False to save memory if X is not changed after `fit`.
    n_targets : int or None, default=None
        Number of targets of samples that are drawn before `fit`. If given, y must have as many.

    Attributes
    ----------
    X_train_ : array of shape (n, d)
        The training rows, which predictions need.
    y_train_ : array of shape (n,) or (n, n_targets)
        The training targets, normalised if `normalize_y` is set.
    L_ : array of shape (n, n)
        The lower triangular Cholesky factor of K + αI.
    alpha_ : array of shape (n,) or (n, n_targets)
        The coefficients (K + αI)⁻¹y of the kernel functions of the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 6.0, 12)[:, None]
    >>> kernel = th.kernels.RBF(length_scale=1.0)
    >>> model = th.GaussianProcessRegressor(kernel, alpha=1e-4).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.5], [20.0]], return_std=True)
    >>> mean.round(2).tolist(), std.round(2).tolist()
    ([1.0, 0.0], [0.01, 1.0])
    """

    kernel: Any = None
    _: KW_ONLY
    alpha: Any = 1e-10
    optimizer: Any = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    normalize_y: bool = False
    copy_X_train: bool = True
    n_targets: int | None = None
    random_state: Any = None

    _ranges: ClassVar[dict[str, Range]] = GaussianProcess._ranges | {
        "alpha": at_least(0) | non_negative_array,
        "normalize_y": boolean,
        "copy_X_train": boolean,
        "n_targets": whole(1) | none,
    }
    _multi_output = True

    @classmethod
    def _example(cls) -> Any:
        """With noise in the kernel, so that no hyper-parameter ends at its bound."""
        return cls(RBF(length_scale=1.0) + White(0.1), normalize_y=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether coefficients exist; an interrupted fit may leave other attributes."""
        return hasattr(self, "alpha_")

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> GaussianProcessRegressor:
        """Fit the hyper-parameters, and factor the covariance. Cost: O(n²d + n³) per iteration.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, which are kept for predictions.
        y : array-like of shape (n,) or (n, n_targets)
            Target values of the training rows. Several targets are independent processes with the
            same kernel.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, y)
        assert isinstance(source, InMemory)
        assert source.y is not None
        n = source.n_rows
        require_squares_of_rows(source, who=type(self).__name__)
        require_squares_of_target(source, who=type(self).__name__)
        require_kernel_matrix(n, n, np.float64, beside=memory_of_factors(n))
        noise = self._noise(n)
        targets = source.y.astype(np.float64).reshape(n, -1)
        if self.n_targets not in (None, targets.shape[1]):
            raise DataError(
                "The number of targets seen in `y` is different from the parameter `n_targets`: "
                f"y has {targets.shape[1]}, but n_targets={self.n_targets}. Leave n_targets out."
            )
        mean, scale = np.zeros(targets.shape[1]), np.ones(targets.shape[1])
        if self.normalize_y:
            mean, scale = targets.mean(axis=0), targets.std(axis=0)
            scale[scale <= 10 * EPSILON * np.abs(mean)] = 1.0
        self._y_train_mean, self._y_train_std = mean, scale
        targets = (targets - mean) / scale
        rows = source.X.copy() if self.copy_X_train else source.X
        problem = MarginalLikelihood(
            covariance_of(self._initial_kernel()), in_double(rows), targets, noise
        )
        self._noise_variance, self.X_train_ = noise, rows
        self.y_train_ = targets if source.n_outputs else targets[:, 0]
        self._fit_hyperparameters(problem, self._final, X, y)
        return self

    def _noise(self, n: int) -> Any:
        noise = np.asarray(self.alpha, dtype=np.float64).ravel()
        if len(noise) not in (1, n):
            raise ParameterError(
                "GaussianProcessRegressor: alpha must be a scalar or an array with same number of "
                f"entries as y. It has {len(noise)} entries, but y has {n} rows."
            )
        return float(noise[0]) if len(noise) == 1 else noise

    def _final(self, kernel: Kernel, problem: MarginalLikelihood) -> dict[str, Any]:
        """The attributes of a fit with this kernel."""
        found = problem.factored(kernel)
        if found is None:
            raise not_positive_definite(self, kernel)
        for row in range(len(found.L) - 1):  # in place, without another matrix
            found.L[row, row + 1 :] = 0.0
        flat = self.y_train_.ndim == 1
        return {
            "L_": found.L,
            "alpha_": found.coefficients[:, 0] if flat else found.coefficients,
            "log_marginal_likelihood_value_": found.log_likelihood,
        }

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict the mean of f(x), and optionally its standard deviation or covariance.

        Before `fit`, the predictions are those of the prior: mean 0 and covariance k.
        Cost: O(n m d) for n rows and m training rows, and O(n m²) with the standard deviation.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        return_std : bool, default=False
            Whether to return the standard deviation of each row as well.
        return_cov : bool, default=False
            Whether to return the covariance matrix of all rows as well.

        Returns
        -------
        mean : array of shape (n,) or (n, n_targets)
            The predicted means.
        std : array of shape (n,) or (n, n_targets)
            The standard deviations. Only returned if ``return_std=True``. They include the noise
            of a ``White`` kernel, but not `alpha`.
        cov : array of shape (n, n) or (n, n, n_targets)
            The covariance matrix. Only returned if ``return_cov=True``.
        """
        if return_std and return_cov:
            raise RuntimeError(
                "At most one of return_std or return_cov can be requested. Take the root of the "
                "diagonal of the covariance as the standard deviation."
            )
        if not self.__sklearn_is_fitted__():
            return self._prior(X, return_std, return_cov)
        source = self._open_whole(X)
        rows, kernel = in_double(source.X), covariance_of(self.kernel_)
        centres = in_double(self.X_train_)
        columns = self.alpha_.reshape(len(centres), -1)
        n, squares = source.n_rows, self._y_train_std**2
        if return_std:
            mean, variances = moments_given(kernel, centres, columns, self.L_, rows)
            spread = np.sqrt(variances[:, None] * squares)
            return _squeezed(self._in_units_of_y(mean)), _squeezed(spread)
        mean = self._in_units_of_y(KernelExpansion(kernel, centres, columns)(rows))
        if not return_cov:
            return _squeezed(mean).astype(source.dtype, copy=False)
        require_kernel_matrix(n, n + len(centres), np.float64, copies=2 + len(squares))
        joint = covariance_given(kernel, centres, self.L_, rows)
        return _squeezed(mean), _squeezed(joint[:, :, None] * squares)

    def _in_units_of_y(self, mean: Array) -> Array:
        return mean * self._y_train_std + self._y_train_mean

    def _prior(self, X: Any, return_std: bool, return_cov: bool) -> Any:
        rows = self._open_rows(X)
        n, k = len(rows), self.n_targets or 1
        kernel = covariance_of(self._initial_kernel())
        mean = _squeezed(np.zeros((n, k)))
        if return_cov:
            require_kernel_matrix(n, n, np.float64, copies=1 + k)
            return mean, _squeezed(np.repeat(kernel.gram(rows)[:, :, None], k, axis=2))
        if return_std:
            spread = np.sqrt(np.asarray(kernel.diagonal(rows), dtype=np.float64))
            return mean, _squeezed(np.repeat(spread[:, None], k, axis=1))
        return mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draw functions from the posterior, or before `fit` from the prior, at the given rows.

        Formula: f ~ N(mean, covariance) as `predict` returns them. Cost: O(n³ + n² n_samples).

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows at which the functions are evaluated.
        n_samples : int, default=1
            Number of functions to draw.
        random_state : int, Generator or None, default=0
            Seed for the draws. Pass an int for the same result on every call.

        Returns
        -------
        array of shape (n, n_samples) or (n, n_targets, n_samples)
            The values of the functions.
        """
        random = generator(random_state)
        mean, joint = self.predict(X, return_cov=True)
        n = len(mean)
        # The decomposition takes four matrices of its own, beside the covariance and a copy.
        require_kernel_matrix(n, n, np.float64, copies=6)
        means, joints = mean.reshape(n, -1), joint.reshape(n, n, -1)

        def draw(k: int) -> Array:
            with one_blas_thread():
                return random.multivariate_normal(
                    means[:, k], joints[:, :, k], n_samples, check_valid="ignore", method="eigh"
                ).T

        targets = range(means.shape[1])
        drawn = [interruptible(partial(draw, k), float(n) ** 3) for k in targets]
        return drawn[0] if mean.ndim == 1 else np.stack(drawn, axis=1)

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Compute the logarithm of the marginal likelihood, and optionally its derivatives.

        Formula: −½yᵀ(K + αI)⁻¹y − ½ log det(K + αI) − n/2·log 2π, summed over the targets.
        Cost: O(n²d + n³).

        Parameters
        ----------
        theta : array-like of shape (p,), optional
            Logarithms of the hyper-parameters of the kernel that are not fixed. None means those
            of the fit.
        eval_gradient : bool, default=False
            Whether to return the derivatives by the entries of theta as well.
        clone_kernel : bool, default=True
            If False, ``kernel_`` is replaced by the kernel with this theta.

        Returns
        -------
        value : float
            The logarithm of the marginal likelihood.
        gradient : array of shape (p,)
            Its derivatives. Only returned if ``eval_gradient=True``.
        """
        if theta is None:
            if eval_gradient:
                raise ParameterError(
                    "Gradient can only be evaluated for theta!=None. Pass the logarithms of the "
                    "hyper-parameters, such as theta=model.kernel_.theta."
                )
            return self.log_marginal_likelihood_value_
        targets = self.y_train_.reshape(len(self.X_train_), -1)
        problem = MarginalLikelihood(
            covariance_of(self.kernel_), in_double(self.X_train_), targets, self._noise_variance
        )
        return self._likelihood_at(problem, theta, eval_gradient, clone_kernel)


def _squeezed(values: Array) -> Array:
    """Without the last axis if there is one target."""
    return values[..., 0] if values.shape[-1] == 1 else values
