"""Gaussian process classification by Laplace's approximation."""

from __future__ import annotations

from dataclasses import KW_ONLY
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, one_of, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.checked_value import check_arrays, check_rule
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import require_kernel_matrix
from thetahat.mathematics.kernels.names import is_scikit_learns
from thetahat.mathematics.kernels.stationary import RBF
from thetahat.models.gaussian_process.hyperparameters import (
    GaussianProcess,
    covariance_of,
    not_positive_definite,
)
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.laplace import LaplaceLikelihood, mean_sigmoid
from thetahat.objective.kernel.posterior import moments_given
from thetahat.objective.predictor import in_double


@with_parameters
class GaussianProcessClassifier(Classifier, GaussianProcess):
    """Gaussian process classifier that averages over the posterior of the latent function.

    Formula: the probability of the second of two classes is σ(f(x)), where f is a random function
    with mean 0 and covariance k(x, z). Laplace's approximation replaces the distribution of f given
    the labels by a Gaussian about its mode, so that f(x) has a mean and a variance, and
    P(y = 1 | x) = E σ(f(x)). Far from the training rows the probability approaches 1/2. The
    hyper-parameters of the kernel maximise the approximate marginal likelihood. More than two
    classes have one function each, or one per pair of classes.

    Cost: O(n²d + s·n³) per iteration of the fit for s steps of Newton's method (about 5), and three
    matrices of n² numbers, whose size is checked first. Predictions cost O(n²) per row.

    Parameters
    ----------
    kernel : Kernel or None, default=None
        The covariance function, such as ``4.0 * th.kernels.RBF()``, or a kernel of
        ``sklearn.gaussian_process.kernels``. Its hyper-parameters are starting values;
        ``th.kernels.Bounded`` bounds or fixes them. None means
        ``th.kernels.Constant() * th.kernels.RBF()``.
    max_iter_predict : int, default=100
        Maximum number of steps of Newton's method for the mode. About 5 are usually enough.
    warm_start : bool, default=False
        Whether a further call to `fit` begins with the mode that was found last. It saves time if
        the rows have hardly changed; results are the same.
    copy_X_train : bool, default=True
        Whether to keep a copy of X. Set it to False to save memory if X is not changed after `fit`.
    multi_class : {"one_vs_rest", "one_vs_one"}, default="one_vs_rest"
        How more than two classes are separated: one function for each class against all others, or
        one for each pair of classes. Pairs are faster to fit, because each uses only the rows of
        two classes, but give no probabilities.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, in sorted order.
    n_classes_ : int
        Number of classes that were seen in `fit`.
    estimators_ : list of GaussianProcessClassifier
        The models of two classes, if there are more than two.
    X_train_ : array of shape (n, d)
        The training rows, which predictions need. Only for two classes.
    kernel_ : Kernel or tuple of Kernel
        The kernel with the fitted hyper-parameters, one per function.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> model = th.GaussianProcessClassifier(4.0 * th.kernels.RBF(length_scale=1.0), optimizer=None)
    >>> model = model.fit(X, np.sin(X[:, 0]) > 0)
    >>> model.predict_proba([[1.5], [4.5], [40.0]])[:, 1].round(2).tolist()
    [0.92, 0.08, 0.5]
    """

    kernel: Any = None
    _: KW_ONLY
    optimizer: Any = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    max_iter_predict: int = 100
    warm_start: bool = False
    copy_X_train: bool = True
    random_state: Any = None
    multi_class: str = "one_vs_rest"
    n_jobs: int | None = None

    _ranges: ClassVar[dict[str, Range]] = GaussianProcess._ranges | {
        "max_iter_predict": whole(1),
        "warm_start": boolean,
        "copy_X_train": boolean,
        "multi_class": one_of("one_vs_rest", "one_vs_one"),
    }

    @classmethod
    def _example(cls) -> Any:
        """With one hyper-parameter, which does not end at its bound."""
        return cls(RBF(length_scale=1.0), optimizer=None)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether coefficients exist; an interrupted fit may leave other attributes."""
        return hasattr(self, "estimators_") or hasattr(self, "L_")

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> GaussianProcessClassifier:
        """Fit the hyper-parameters, and find the mode. Cost: O(n²d + n³) per iteration.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows, which are kept for predictions.
        y : array-like of shape (n,)
            Class labels: text, numbers or Booleans.

        Returns
        -------
        self
            The fitted estimator.
        """
        if type(self.kernel).__name__ == "CompoundKernel":
            raise ParameterError(
                "GaussianProcessClassifier: kernel cannot be a CompoundKernel, which holds one "
                "kernel per class. Give the kernel of one class."
            )
        source = self._open_classes(X, y)
        assert isinstance(source, InMemory)
        assert source.y is not None
        n = source.n_rows
        require_squares_of_rows(source, who=type(self).__name__)
        require_kernel_matrix(n, n, np.float64, copies=4)
        self.n_classes_ = len(self.classes_)
        codes = np.asarray(source.y)
        if self.n_classes_ > 2:
            self._fit_several(source.X, codes)
            return self
        self.__dict__.pop("estimators_", None)
        rows = source.X.copy() if self.copy_X_train else source.X
        problem = LaplaceLikelihood(
            covariance_of(self._initial_kernel()),
            in_double(rows),
            codes.astype(np.float64)[:, None],
            self.max_iter_predict,
        )
        before = getattr(self, "alpha_", None)
        if self.warm_start and before is not None and before.shape == (n,):
            problem._modes[:] = [before]
        kept = {"X_train_": rows, "_targets": problem.y[:, 0]}

        def final(kernel: Kernel, problem: LaplaceLikelihood) -> dict[str, Any]:
            return kept | self._final(kernel, problem)

        self._fit_hyperparameters(problem, final, X, y)
        return self

    def _fit_several(self, X: Array, codes: Array) -> None:
        """One model of two classes for each class, or for each pair of classes."""
        for name in ("L_", "alpha_", "X_train_", "_targets", "_root"):
            self.__dict__.pop(name, None)
        k = len(self.classes_)
        rest = self.multi_class == "one_vs_rest"
        random = generator(self.random_state) if self.n_restarts_optimizer else None
        found = []
        for pair in [(c, c) for c in range(k)] if rest else combinations(range(k), 2):
            kept = slice(None) if rest else np.isin(codes, pair)
            member = clone(self)
            if random is not None:
                member.set_params(random_state=int(random.integers(1 << 31)))
            found.append(member.fit(X[kept], codes[kept] == pair[-1]))
        self.estimators_ = found
        self.kernel_ = _together(found)
        self.log_marginal_likelihood_value_ = float(
            np.mean([member.log_marginal_likelihood_value_ for member in found])
        )
        self.solution_ = max((member.solution_ for member in found), key=lambda each: each.steps)
        self.n_iter_ = max(member.n_iter_ for member in found)

    def _final(self, kernel: Kernel, problem: LaplaceLikelihood) -> dict[str, Any]:
        """The attributes of a fit with this kernel."""
        found = problem.mode(kernel)
        if found is None:
            raise not_positive_definite(self, kernel)
        return {
            "L_": np.tril(found.L),
            "alpha_": found.slopes,
            "_root": found.root,
            "log_marginal_likelihood_value_": found.log_likelihood,
        }

    def _check_loaded(self) -> None:
        if "L_" in vars(self):
            n, d = np.shape(self.X_train_)
            check_rule(self, d == self.n_features_in_, "X_train_ must have n_features_in_ columns")
            layout: dict[str, Any] = {name: (np.float64, (n,)) for name in ("alpha_", "_root")}
            check_arrays(
                self, layout | {"_targets": (np.float64, (n,)), "L_": (np.float64, (n, n))}
            )
        elif "estimators_" in vars(self):
            k = self.n_classes_
            count = k if self.multi_class == "one_vs_rest" else k * (k - 1) // 2
            check_rule(self, len(self.estimators_) == count, f"it must have {count} estimators_")

    def latent_mean_and_variance(self, X: Any) -> tuple[Array, Array]:
        """Compute mean and variance of the latent function f(x); for two classes.

        Cost: O(n m²) for n rows and m training rows.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.

        Returns
        -------
        mean : array of shape (n,)
            The mean of f(x), positive for ``classes_[1]``.
        variance : array of shape (n,)
            The variance of f(x), which is that of the prior far from the training rows.
        """
        source = self._open_whole(X)
        if hasattr(self, "estimators_"):
            raise CapabilityError(
                "Returning the mean and variance of the latent function f is only supported for "
                f"binary classification, received {self.n_classes_} classes. Use the models of "
                "estimators_."
            )
        rows, kernel = in_double(source.X), covariance_of(self.kernel_)
        centres = in_double(self.X_train_)
        return moments_given(kernel, centres, self.alpha_, self.L_, rows, self._root)

    def predict(self, X: Any) -> Array:
        """Predict the most probable class. Cost: O(n m d) for two classes.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        labels : array of shape (n,)
            Predicted labels, of the type of the labels given to `fit`.
        """
        source = self._open_whole(X)
        if not hasattr(self, "estimators_"):
            kernel = covariance_of(self.kernel_)
            mean = KernelExpansion(kernel, in_double(self.X_train_), self.alpha_)
            return self.classes_[(mean(in_double(source.X)) > 0).astype(np.intp)]
        if self.multi_class == "one_vs_rest":
            return self.classes_[self._shares(source.X).argmax(axis=1)]
        votes = np.zeros((source.n_rows, self.n_classes_))
        pairs = combinations(range(self.n_classes_), 2)
        for (first, second), member in zip(pairs, self.estimators_, strict=True):
            share = member.predict_proba(source.X)[:, 1]
            # The probabilities decide between classes with equally many votes.
            votes[:, second] += (share > 0.5) + 1e-3 * share
            votes[:, first] += (share <= 0.5) + 1e-3 * (1 - share)
        return self.classes_[votes.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class, averaged over the latent function.

        Cost: O(n m²) for n rows and m training rows.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Rows to classify, with the same columns as in `fit`.

        Returns
        -------
        probabilities : array of shape (n, n_classes)
            Probabilities in the order of ``classes_``.
        """
        source = self._open_whole(X)
        if hasattr(self, "estimators_"):
            if self.multi_class == "one_vs_one":
                raise CapabilityError(
                    "one_vs_one multi-class mode does not support predicting probability "
                    "estimates. Use multi_class='one_vs_rest'."
                )
            return self._shares(source.X)
        mean, variance = self.latent_mean_and_variance(X)
        shares = [mean_sigmoid(sign * mean, variance) for sign in (-1.0, 1.0)]
        return np.column_stack(shares).astype(source.dtype, copy=False)

    @property
    def base_estimator_(self) -> Any:
        """The model itself for two classes, else the list of models, one per function."""
        return getattr(self, "estimators_", self)

    def _shares(self, X: Array) -> Array:
        """Probabilities of all classes: those of each class against the rest, normalised."""
        found = np.column_stack([each.predict_proba(X)[:, 1] for each in self.estimators_])
        return found / found.sum(axis=1, keepdims=True)

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Compute the approximate log marginal likelihood, and optionally its derivatives.

        For more than two classes it is the mean over the functions. Cost: O(n²d + n³).

        Parameters
        ----------
        theta : array-like of shape (p,) or (n_functions·p,), optional
            Logarithms of the hyper-parameters of the kernel that are not fixed, the same for all
            functions, or those of each. None means those of the fit.
        eval_gradient : bool, default=False
            Whether to return the derivatives by the entries of theta as well; for two classes.
        clone_kernel : bool, default=True
            If False, ``kernel_`` is replaced by the kernel with this theta.

        Returns
        -------
        value : float
            The logarithm of the marginal likelihood.
        gradient : array of shape (p,)
            Its derivatives. Only returned if ``eval_gradient=True``.
        """
        check_is_fitted(self)
        if theta is None:
            if eval_gradient:
                raise ParameterError(
                    "Gradient can only be evaluated for theta!=None. Pass the logarithms of the "
                    "hyper-parameters, such as theta=model.kernel_.theta."
                )
            return self.log_marginal_likelihood_value_
        theta = np.asarray(theta, dtype=np.float64).reshape(-1)
        if hasattr(self, "estimators_"):
            return self._likelihood_of_several(theta, eval_gradient, clone_kernel)
        problem = LaplaceLikelihood(
            covariance_of(self.kernel_),
            in_double(self.X_train_),
            self._targets[:, None],
            self.max_iter_predict,
        )
        return self._likelihood_at(problem, theta, eval_gradient, clone_kernel)

    def _likelihood_of_several(self, theta: Array, eval_gradient: bool, clone_kernel: bool) -> Any:
        if eval_gradient:
            raise CapabilityError(
                "Gradient of log-marginal-likelihood not implemented for multi-class GPC. Use "
                "the models of estimators_."
            )
        k, p = len(self.estimators_), len(self.estimators_[0].kernel_.theta)
        if len(theta) not in (p, k * p):
            raise DataError(
                f"Shape of theta must be either {p} or {k * p}, but theta has {len(theta)} entries."
            )
        each = np.broadcast_to(theta, (k, p)) if len(theta) == p else theta.reshape(k, p)
        values = [
            member.log_marginal_likelihood(own, clone_kernel=clone_kernel)
            for member, own in zip(self.estimators_, each, strict=True)
        ]
        if not clone_kernel:
            self.kernel_ = _together(self.estimators_)
        return float(np.mean(values))


def _together(members: list[GaussianProcessClassifier]) -> Any:
    """The kernels of several functions: a tuple, or a compound of scikit-learn's kernels."""
    kernels = [member.kernel_ for member in members]
    if not is_scikit_learns(kernels[0]):
        return tuple(kernels)
    from sklearn.gaussian_process.kernels import CompoundKernel

    return CompoundKernel(kernels)
