"""Dictionaries and sparse codes as functions that return arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from thetahat.foundation.types import Array
from thetahat.models.decomposition.dictionary_learning import DictionaryLearning
from thetahat.models.decomposition.mini_batch_dictionary_learning import (
    MiniBatchDictionaryLearning,
)
from thetahat.models.decomposition.sparse_coder import SparseCoder


def sparse_encode(
    X: Any,
    dictionary: Any,
    *,
    gram: Any = None,
    cov: Any = None,
    algorithm: str = "lasso_lars",
    n_nonzero_coefs: int | None = None,
    alpha: float | None = None,
    copy_cov: bool = True,
    init: Any = None,
    max_iter: int = 1000,
    n_jobs: int | None = None,
    check_input: bool = True,
    verbose: Any = 0,
    positive: bool = False,
) -> Array:
    """Compute sparse codes of rows for a given dictionary, as `SparseCoder` does.

    Formula: U = argmin ½‖X − UD‖² + alpha·‖U‖₁ ("lasso_lars", "lasso_cd"), or a greedy choice of
    few atoms per row ("omp", "lars"), or sign(XDᵀ)·[|XDᵀ| − alpha]₊ ("threshold"). Cost:
    O(n k (d + s)) for k atoms and codes with s non-zeros, with rows coded in parallel.

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        The rows to code, with finite numbers.
    dictionary : array-like of shape (k, d)
        The atoms (D), one per row. They should have norm 1, or the penalty is not the same for all
        of them.
    gram, cov : array-like, optional
        Have no effect, because DDᵀ and DXᵀ are computed from `dictionary` and `X`. Accepted for
        compatibility with scikit-learn.
    algorithm : {"lasso_lars", "lasso_cd", "lars", "omp", "threshold"}, default="lasso_lars"
        How the codes are computed. "lasso_lars" and "lasso_cd" give the same optimum.
    n_nonzero_coefs : int or None, default=None
        Number of atoms per row for "omp" and "lars". None uses d/10, at least 1.
    alpha : float or None, default=None
        Penalty of "lasso_lars" and "lasso_cd", threshold of "threshold". None uses 1.
    copy_cov, check_input : bool, default=True
        Have no effect: nothing is overwritten, and X is always checked. Accepted for compatibility
        with scikit-learn.
    init : array-like of shape (n, k), optional
        Has no effect, because codes are optimal to rounding from any start. Accepted for
        compatibility with scikit-learn.
    max_iter : int, default=1000
        Maximum number of coordinate descent sweeps per row.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    verbose : int, default=0
        Has no effect, because there is no progress to print. Accepted for compatibility with
        scikit-learn.
    positive : bool, default=False
        Whether all codes must be at least 0.

    Returns
    -------
    code : array of shape (n, k)
        The codes (U), in the precision of X.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> atoms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    >>> X = [[3.0, 4.0], [0.0, -2.0]]
    >>> th.functions.sparse_encode(X, atoms, algorithm="omp", n_nonzero_coefs=1).round(3).tolist()
    [[0.0, 0.0, 5.0], [0.0, -2.0, 0.0]]
    """
    model = SparseCoder(
        dictionary,
        transform_algorithm=algorithm,
        transform_n_nonzero_coefs=n_nonzero_coefs,
        transform_alpha=alpha,
        n_jobs=n_jobs,
        positive_code=positive,
        transform_max_iter=max_iter,
    )
    return np.asarray(model.transform(X))


def dict_learning(
    X: Any,
    n_components: int | None,
    *,
    alpha: float,
    max_iter: int = 100,
    tol: float = 1e-8,
    method: str = "lars",
    n_jobs: int | None = None,
    dict_init: Array | None = None,
    code_init: Array | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
    verbose: Any = False,
    random_state: Any = None,
    return_n_iter: bool = False,
    positive_dict: bool = False,
    positive_code: bool = False,
    method_max_iter: int = 1000,
) -> tuple[Any, ...]:
    """Find atoms such that every row is a sparse combination of them, as `DictionaryLearning` does.

    Formula: U, D = argmin ½‖X − UD‖² + alpha·‖U‖₁ subject to ‖d_k‖ ≤ 1 for every atom, a local
    optimum. Cost: O(n k (d + s) + k² d) per iteration for codes with s non-zeros; see
    `DictionaryLearning`, which also codes new rows.

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        The rows, with finite numbers.
    n_components : int or None
        Number of atoms (k). None uses the number of columns.
    alpha : float
        Strength of the L1 penalty on the codes. Larger values give sparser codes.
    max_iter : int, default=100
        Maximum number of iterations, each of which updates all codes and all atoms.
    tol : float, default=1e-8
        The iterations stop when one decreases the objective by less than this fraction of it.
    method : {"lars", "cd"}, default="lars"
        Has no effect. Accepted for compatibility with scikit-learn. Codes are optimal to rounding
        in either case.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    dict_init, code_init : array of shape (k, d) and of shape (n, k), optional
        Initial atoms and codes, which are used only if both are given.
    callback : callable or None, default=None
        Function that is called every five iterations with a dictionary of the current
        ``dictionary``, ``code`` and ``errors``.
    verbose : bool, default=False
        Whether to print the progress. False prints nothing.
    random_state : int, RandomState or None, default=None
        Has no effect, because the result is deterministic. Accepted for compatibility with
        scikit-learn.
    return_n_iter : bool, default=False
        Whether to return the number of iterations, too.
    positive_dict, positive_code : bool, default=False
        Whether all entries of the atoms, or all codes, must be at least 0.
    method_max_iter : int, default=1000
        Maximum number of coordinate descent sweeps per row.

    Returns
    -------
    code : array of shape (n, k)
        The codes (U): the best ones for the returned atoms.
    dictionary : array of shape (k, d)
        The atoms (D), one per row.
    errors : list of float
        The objective after each iteration.
    n_iter : int
        Number of iterations, with ``return_n_iter=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[4.0, 0.0], [0.0, 3.0], [5.0, 0.0], [0.0, -2.0]])
    >>> code, dictionary, errors = th.functions.dict_learning(X, 2, alpha=0.1)
    >>> (code @ dictionary).round(3).tolist()
    [[3.9, 0.0], [0.0, 2.9], [4.9, 0.0], [0.0, -1.9]]
    """
    model = DictionaryLearning(
        n_components,
        alpha=alpha,
        max_iter=max_iter,
        tol=tol,
        fit_algorithm=method,
        transform_algorithm="lasso_cd",
        n_jobs=n_jobs,
        code_init=code_init,
        dict_init=dict_init,
        callback=callback,
        verbose=verbose,
        random_state=random_state,
        positive_code=positive_code,
        positive_dict=positive_dict,
        transform_max_iter=method_max_iter,
    ).fit(X)
    found = np.asarray(model.transform(X)), model.components_, model.error_
    return (*found, model.n_iter_) if return_n_iter else found


def dict_learning_online(
    X: Any,
    n_components: int | None = 2,
    *,
    alpha: float = 1,
    max_iter: int = 100,
    return_code: bool = True,
    dict_init: Array | None = None,
    callback: Callable[[dict[str, Any]], None] | None = None,
    batch_size: int = 256,
    verbose: Any = False,
    shuffle: bool = True,
    n_jobs: int | None = None,
    method: str = "lars",
    random_state: Any = None,
    positive_dict: bool = False,
    positive_code: bool = False,
    method_max_iter: int = 1000,
    tol: float = 1e-3,
    max_no_improvement: int | None = 10,
) -> Any:
    """Find atoms by small batches of rows, as `MiniBatchDictionaryLearning` does.

    Formula: that of `dict_learning`, where sums over the batches so far, in which older batches
    count less, give the next atoms. Cost: O(b k (d + s) + k² d) per step for batches of b rows and
    codes with s non-zeros; see `MiniBatchDictionaryLearning`, which also takes further batches.

    Parameters
    ----------
    X : array-like or table of shape (n, d)
        The rows, with finite numbers.
    n_components : int or None, default=2
        Number of atoms (k). None uses the number of columns.
    alpha : float, default=1
        Strength of the L1 penalty on the codes. Larger values give sparser codes.
    max_iter : int, default=100
        Maximum number of passes over the rows.
    return_code : bool, default=True
        Whether to return the codes of the rows, too.
    dict_init : array of shape (k, d), optional
        Initial atoms. None uses the principal directions of the rows.
    callback : callable or None, default=None
        Function that is called after every step with a dictionary of the current ``dictionary``,
        ``step`` and ``batch_cost``.
    batch_size : int, default=256
        Number of rows of a batch. Larger batches are more accurate and take longer.
    verbose : bool, default=False
        Whether to print the progress. False prints nothing.
    shuffle : bool, default=True
        Whether to bring the rows into random order once before batches are formed.
    n_jobs : int or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn; set the number of threads with
        ``th.config(threads=...)``.
    method : {"lars", "cd"}, default="lars"
        Has no effect. Accepted for compatibility with scikit-learn. Codes are optimal to rounding
        in either case.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of the rows. Pass an int for the same result on every call.
    positive_dict, positive_code : bool, default=False
        Whether all entries of the atoms, or all codes, must be at least 0.
    method_max_iter : int, default=1000
        Maximum number of coordinate descent sweeps per row.
    tol : float, default=0.001
        The steps end when the norm of the change of the atoms, divided by their number, is at most
        this value. 0 switches this rule off.
    max_no_improvement : int or None, default=10
        The steps end after this number of them without a lower running mean of the objective. None
        switches this rule off.

    Returns
    -------
    code : array of shape (n, k)
        The codes (U): the best ones for the returned atoms. Only with ``return_code=True``.
    dictionary : array of shape (k, d)
        The atoms (D), one per row.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.tile([[4.0, 0.0], [0.0, 3.0], [5.0, 0.0], [0.0, -2.0]], (50, 1))
    >>> code, dictionary = th.functions.dict_learning_online(X, alpha=0.1, random_state=0)
    >>> (code @ dictionary)[:4].round(3).tolist()
    [[3.9, 0.0], [0.0, 2.9], [4.9, 0.0], [0.0, -1.9]]
    """
    model = MiniBatchDictionaryLearning(
        n_components,
        alpha=alpha,
        max_iter=max_iter,
        fit_algorithm=method,
        batch_size=batch_size,
        shuffle=shuffle,
        dict_init=dict_init,
        transform_algorithm="lasso_cd",
        verbose=verbose,
        n_jobs=n_jobs,
        random_state=random_state,
        positive_code=positive_code,
        positive_dict=positive_dict,
        transform_max_iter=method_max_iter,
        callback=callback,
        tol=tol,
        max_no_improvement=max_no_improvement,
    ).fit(X)
    if not return_code:
        return model.components_
    return np.asarray(model.transform(X)), model.components_
