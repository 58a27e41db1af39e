"""Independent components and non-negative factors as functions that return arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.foundation.caller_warning import warn
from thetahat.foundation.types import Array
from thetahat.models.decomposition.factors.fast_ica import FastICA
from thetahat.models.decomposition.factors.nmf import NMF


def fastica(
    X: Any,
    n_components: int | None = None,
    *,
    algorithm: str = "parallel",
    whiten: Any = "unit-variance",
    fun: Any = "logcosh",
    fun_args: Any = None,
    max_iter: int = 200,
    tol: float = 1e-4,
    w_init: Any = None,
    whiten_solver: str = "svd",
    random_state: Any = None,
    return_X_mean: bool = False,
    compute_sources: bool = True,
    return_n_iter: bool = False,
) -> tuple[Any, ...]:
    """Unmix sources that are independent and not Gaussian, as `FastICA` does.

    Formula: S = (X − μ)(WK)ᵀ, where K whitens the rows and W turns them so that the columns of S
    are as far from Gaussian variables as possible. Cost: O(n d²) time for the whitening and O(n k²)
    per iteration; see `FastICA`, which also transforms new rows.

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        The rows, mixtures of the sources, with finite numbers.
    n_components : int or None, default=None
        Number of components (k). None uses the number of directions in which the centred rows vary.
    algorithm : {"parallel", "deflation"}, default="parallel"
        Whether all components are computed at once, or one after another.
    whiten : {"unit-variance", "arbitrary-variance"} or False, default="unit-variance"
        Scale of the sources: variance 1, or 1/n. False assumes that the rows are white already.
    fun : {"logcosh", "exp", "cube"} or callable, default="logcosh"
        The derivative of the contrast, as in `FastICA`.
    fun_args : dict, optional
        Arguments of `fun`, such as ``{"alpha": 1.5}`` for "logcosh".
    max_iter : int, default=200
        Maximum number of iterations, in "deflation" of each component.
    tol : float, default=1e-4
        Iterations stop when no direction turns by more than this, measured as 1 − |cosine|.
    w_init : array-like of shape (k, k), optional
        Start of the rotation. None draws normal numbers.
    whiten_solver : {"svd", "eigh"}, default="svd"
        Whether singular values of the rows are used where the covariance is not accurate enough, or
        always eigenvalues of the covariance.
    random_state : int, Generator or None, default=None
        Seed of the start. None uses a fixed seed.
    return_X_mean : bool, default=False
        Whether to return the mean of each column, too.
    compute_sources : bool, default=True
        Whether to compute the sources of the rows.
    return_n_iter : bool, default=False
        Whether to return the number of iterations, too.

    Returns
    -------
    K : array of shape (k, d) or None
        The whitening matrix. None with ``whiten=False``.
    W : array of shape (k, k)
        The matrix that unmixes white rows, so that WK unmixes centred ones.
    S : array of shape (n, k) or None
        The sources of the rows. None with ``compute_sources=False``.
    X_mean : array of shape (d,) or None
        The mean of each column, with ``return_X_mean=True``. None with ``whiten=False``.
    n_iter : int
        Number of iterations, with ``return_n_iter=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> t = np.linspace(0, 20, 2000)
    >>> sources = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t))])
    >>> X = sources @ [[1.0, 0.5], [1.0, 2.0]]
    >>> K, W, S = th.functions.fastica(X)
    >>> bool(np.allclose((X - X.mean(axis=0)) @ (W @ K).T, S))
    True
    """
    model = FastICA(
        n_components,
        algorithm=algorithm,
        whiten=whiten,
        fun=fun,
        fun_args=fun_args,
        max_iter=max_iter,
        tol=tol,
        w_init=w_init,
        whiten_solver=whiten_solver,
        random_state=random_state,
    ).fit(X)
    K, mean, W = None, None, model.components_
    if model.whiten:
        K, mean = model.whitening_, model.mean_
        W = (W @ np.linalg.pinv(K)).astype(W.dtype, copy=False)
    found: list[Any] = [K, W, model.transform(X) if compute_sources else None]
    if return_X_mean:
        found.append(mean)
    if return_n_iter:
        found.append(model.n_iter_)
    return tuple(found)


def non_negative_factorization(
    X: Any,
    W: Any = None,
    H: Any = None,
    n_components: Any = "auto",
    *,
    init: str | None = None,
    update_H: bool = True,
    solver: str = "cd",
    beta_loss: Any = "frobenius",
    tol: float = 1e-4,
    max_iter: int = 200,
    alpha_W: float = 0.0,
    alpha_H: Any = "same",
    l1_ratio: float = 0.0,
    random_state: Any = None,
    verbose: Any = 0,
    shuffle: bool = False,
) -> tuple[Array, Array, int]:
    """Factorise a matrix into two that have no negative entries, X ≈ WH, as `NMF` does.

    Formula: W, H = argmin D(X, WH) + penalties over W, H ≥ 0, a local minimum that depends on the
    start; with ``update_H=False``, W = argmin D(X, WH) + penalty of W for the given H. Cost:
    O(nnz·k + (n + d)·k²) per iteration; see `NMF`, which also transforms new rows.

    Parameters
    ----------
    X : array-like, sparse matrix or table of shape (n, d)
        The rows, with finite numbers that are at least 0.
    W : array-like of shape (n, k), optional
        First weights of the rows, for `init` "custom".
    H : array-like of shape (k, d), optional
        First components, for `init` "custom"; the components with ``update_H=False``.
    n_components : int, "auto" or None, default="auto"
        Number of components (k). "auto" uses the number of rows of `H` where it is used, and the
        number of columns otherwise.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        Where the iterations start, as in `NMF`.
    update_H : bool, default=True
        Whether to compute the components, too. False keeps those in `H`.
    solver : {"cd", "mu"}, default="cd"
        Coordinate descent, or multiplicative updates, which take any `beta_loss`.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        Divergence of X from WH, as in `NMF`.
    tol : float, default=1e-4
        Tolerance of the iterations, as in `NMF`. Smaller values are more accurate.
    max_iter : int, default=200
        Maximum number of iterations. Must be at least 1.
    alpha_W : float, default=0.0
        Strength of the penalty of W. Larger values give smaller weights.
    alpha_H : float or "same", default="same"
        Strength of the penalty of H. "same" uses `alpha_W`.
    l1_ratio : float, default=0.0
        Share of the L1 penalty, which sets entries to 0. From 0 to 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random numbers of `init` and `shuffle`.
    verbose : int, default=0
        Whether to print the progress. 0 prints nothing.
    shuffle : bool, default=False
        Whether "cd" visits the components in a random order.

    Returns
    -------
    W : array of shape (n, k)
        The weights of the components in each row.
    H : array of shape (k, d)
        The components.
    n_iter : int
        Number of iterations. With ``update_H=False`` it is 1, because every row is solved on its
        own.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]])
    >>> W, H, n_iter = th.functions.non_negative_factorization(X, n_components=2, tol=1e-8)
    >>> (W @ H).round(3).tolist()
    [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]]
    """
    model = NMF(
        n_components,
        init=init,
        solver=solver,
        beta_loss=beta_loss,
        tol=tol,
        max_iter=max_iter,
        random_state=random_state,
        alpha_W=alpha_W,
        alpha_H=alpha_H,
        l1_ratio=l1_ratio,
        verbose=verbose,
        shuffle=shuffle,
    )
    if update_H:
        weights = model.fit_transform(X, W=W, H=H)
        return weights, model.components_, model.n_iter_
    if W is not None:
        warn(
            "non_negative_factorization: When update_H=False, the provided initial W is not used, "
            "because the weights are determined by X and H. Leave W out.",
            RuntimeWarning,
        )
    return model._weights_for(X, H), model.components_, 1
