"""Orthogonal matching pursuit as functions of X and y, or of XᵀX and Xᵀy."""

from __future__ import annotations

from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.data.validation import as_source
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.foundation.docstrings import described_like
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.linalg.matching_pursuit import Pursuit, pursue
from thetahat.mathematics.linalg.square import as_gram
from thetahat.models.linear.sparse.orthogonal_matching_pursuit import pursuit_of, steps_allowed


@needs_memory
def orthogonal_mp(
    X: Any,
    y: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    precompute: Any = False,
    copy_X: bool = True,
    return_path: bool = False,
    return_n_iter: bool = False,
) -> Any:
    """Solve a sparse regression problem by orthogonal matching pursuit, without an intercept.

    Formula: that of `OrthogonalMatchingPursuit`. Cost: O(n d) per iteration and target; with
    `precompute`, O(n d²) for one Gram matrix and O(s d) per iteration and target.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Training data; in signal processing, the dictionary with one atom per column.
    y : array-like of shape (n,) or (n, n_targets)
        Target values, one column per target.
    n_nonzero_coefs : int or None, default=None
        Number of columns to select. None selects a tenth of the columns, at least one. Ignored if
        `tol` is given.
    tol : float or None, default=None
        Select columns until the squared norm of the residual, ‖r‖², is at most this value.
        Overrides `n_nonzero_coefs`.
    precompute : bool or "auto", default=False
        Whether to form the Gram matrix XᵀX. It makes each iteration faster and pays off for many
        selected columns or targets. "auto" chooses by the size of X.
    copy_X : bool, default=True
        Has no effect, because X is never changed. Accepted for compatibility with scikit-learn.
    return_path : bool, default=False
        Whether to return the coefficients after every iteration, along a last axis.
    return_n_iter : bool, default=False
        Whether to return the number of iterations as well.

    Returns
    -------
    coef : array of shape (d,) or (d, n_targets)
        The coefficients. With ``return_path=True`` there is one more axis, one entry per iteration.
    n_iter : int or array of shape (n_targets,)
        Number of iterations. Only returned if ``return_n_iter=True``.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.orthogonal_mp(np.eye(3), np.array([1.0, -5.0, 2.0]), n_nonzero_coefs=1).tolist()
    [0.0, -5.0, 0.0]
    """
    source = as_source(X, y, who="orthogonal_mp")
    assert isinstance(source, InMemory)
    _require_tolerance(tol, "orthogonal_mp")
    most = steps_allowed(n_nonzero_coefs, tol, source.n_features, who="orthogonal_mp")
    found, _, _ = pursuit_of(
        source,
        most,
        -1.0 if tol is None else float(tol),
        intercept=False,
        precompute=precompute,
        keep_path=return_path,
    )
    return _shaped(found, source.n_outputs == 0, return_path, return_n_iter)


@described_like(orthogonal_mp)
def orthogonal_mp_gram(
    Gram: Any,
    Xy: Any,
    *,
    n_nonzero_coefs: int | None = None,
    tol: float | None = None,
    norms_squared: Any = None,
    copy_Gram: bool = True,
    copy_Xy: bool = True,
    return_path: bool = False,
    return_n_iter: bool = False,
) -> Any:
    """Orthogonal matching pursuit from the products XᵀX and Xᵀy only.

    Formula: that of `OrthogonalMatchingPursuit`. Cost: O(s d) per iteration and target; targets run
    in parallel.

    Parameters
    ----------
    Gram : array-like of shape (d, d)
        The Gram matrix of the columns, XᵀX. Must be symmetric, with a diagonal that is not
        negative.
    Xy : array-like of shape (d,) or (d, n_targets)
        Product of the columns with the targets, Xᵀy.
    tol : float or None, default=None
        Select columns until the squared norm of the residual, ‖r‖², is at most this value.
        Overrides `n_nonzero_coefs` and needs `norms_squared`.
    norms_squared : float or array-like of shape (n_targets,), optional
        Squared norm ‖y‖² of each target. Required if `tol` is given.
    copy_Gram, copy_Xy : bool, default=True
        Have no effect, because neither array is changed. Accepted for compatibility with
        scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> th.orthogonal_mp_gram(np.eye(2), np.array([1.0, -5.0]), n_nonzero_coefs=1).tolist()
    [0.0, -5.0]
    """
    gram, c = np.asarray(Gram, dtype=np.float64), np.asarray(Xy, dtype=np.float64)
    d = gram.shape[0]
    if gram.ndim != 2 or gram.shape != (d, d) or c.ndim not in (1, 2) or c.shape[0] != d:
        raise DataError(
            f"orthogonal_mp_gram: Gram must have shape (d, d) and Xy (d,) or (d, n_targets), but "
            f"they have {gram.shape} and {c.shape}. Pass X.T @ X and X.T @ y."
        )
    if not (np.isfinite(gram).all() and np.isfinite(c).all()):
        raise DataError(
            "orthogonal_mp_gram: Gram or Xy contains NaN or infinity. Drop the rows of X and y "
            "that contain them."
        )
    gram = as_gram(gram, d, who="orthogonal_mp_gram: Gram")
    _require_tolerance(tol, "orthogonal_mp_gram")
    if tol is not None and norms_squared is None:
        raise ParameterError(
            f"orthogonal_mp_gram: tol={tol!r} needs norms_squared, because tol is compared with "
            "‖r‖². Pass ‖y‖² of each target as norms_squared."
        )
    most = steps_allowed(n_nonzero_coefs, tol, d, who="orthogonal_mp_gram")
    columns = c.reshape(d, -1)
    # Without ‖y‖² a lower bound is used: it only decides what counts as rounding.
    squares = _stand_in(gram, columns) if norms_squared is None else np.atleast_1d(norms_squared)
    squares = np.broadcast_to(np.asarray(squares, dtype=np.float64), columns.shape[1:])
    found = pursue(
        gram, columns.T, squares, most, -1.0 if tol is None else float(tol), keep_path=return_path
    )
    return _shaped(found, c.ndim == 1, return_path, return_n_iter)


def _stand_in(gram: Array, columns: Array) -> Array:
    """A lower bound of ‖y‖²: max (xⱼᵀy)²/‖xⱼ‖²."""
    diagonal = np.diagonal(gram)[:, None]
    return (columns**2 / np.where(diagonal > 0, diagonal, np.inf)).max(axis=0)


def _require_tolerance(tol: float | None, who: str) -> None:
    if tol is not None and not tol >= 0:
        raise ParameterError(
            f"{who}: tol={tol!r} must be a number ≥ 0, because it is compared with ‖r‖²."
        )


def _shaped(found: Pursuit, one: bool, path: bool, n_iter: bool) -> Any:
    coef = found.coef.T
    if path:
        assert found.path is not None
        coef = np.moveaxis(found.path, 2, 0)[:, :, : max(1, int(found.columns.max()))]
    steps: Any = int(found.columns[0]) if one else found.columns
    coef = coef[:, 0] if one else coef
    return (coef, steps) if n_iter else coef
