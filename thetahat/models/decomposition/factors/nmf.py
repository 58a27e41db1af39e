"""Non-negative matrix factorisation: X ≈ WH with W ≥ 0 and H ≥ 0."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, boolean, one_of
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.decomposition.factors.nonnegative_model import NonnegativeModel
from thetahat.models.decomposition.factors.nonnegative_problem import NonnegativeFactors
from thetahat.models.decomposition.factors.nonnegative_start import given_start
from thetahat.models.decomposition.factors.nonnegative_steps import (
    CoordinateSteps,
    MultiplicativeSteps,
)


@with_parameters
class NMF(Watched, NonnegativeModel):
    """Non-negative matrix factorisation: rows as sums of non-negative parts.

    All entries of the rows, of the components and of their weights are at least 0, so that parts
    are only added and never subtracted. Components of images are often parts of them, and
    components of counts of words are topics.

    Formula: X ≈ WH, where W, H ≥ 0 minimise D(X, WH) + d·a_W·(ρ·Σw + (1 − ρ)·Σw²/2) + n·a_H·(ρ·Σh +
    (1 − ρ)·Σh²/2). D is ½‖X − WH‖², or Σ x·log(x/(WH)) − x + WH for "kullback-leibler". The
    multiplicative update of the latter is w_ik ← w_ik·Σ_j h_kj·x_ij/(WH)_ij / Σ_j h_kj, and in the
    same way for H. W and H are updated in turn, and the objective never increases. It is not
    convex, so that the result is a local minimum and depends on the start.

    Cost: O(nnz·k + (n + d)·k²) per iteration, where nnz is the number of entries that are not 0 for
    sparse rows and n·d otherwise. Sparse rows stay sparse. Memory O((n + d)·k), and as much as X
    again for sparse rows and for arrays that are not in C order.

    Parameters
    ----------
    solver : {"cd", "mu"}, default="cd"
        "cd" is coordinate descent, which is faster and needs `beta_loss` "frobenius". "mu" uses
        multiplicative updates, which take any `beta_loss` and keep entries of 0 that the start has.
    tol : float, default=1e-4
        The iterations of "cd" stop when the projected gradient is at most this share of that in the
        first iteration, those of "mu" when ten iterations decrease the error by less than this
        share of the first error. Smaller values are more accurate and need more iterations. With 0
        all `max_iter` iterations are made. Must be at least 0.
    max_iter : int, default=200
        Maximum number of iterations. Must be at least 1.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random numbers of `init` and `shuffle`.
    shuffle : bool, default=False
        Whether "cd" visits the components in a random order, which can help to avoid poor local
        minima.

    Attributes
    ----------
    n_iter_ : int
        The number of iterations.
    solution_ : Solution
        How the fit ended: outcome, iterations and gap. Its ``trace`` holds the objective at the
        start and after each iteration.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]])
    >>> model = th.NMF(n_components=2, tol=1e-8).fit(X)
    >>> model.inverse_transform(model.transform(X)).round(3).tolist()
    [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 3.0], [1.0, 2.0, 3.0]]
    """

    _: KW_ONLY
    solver: str = "cd"
    shuffle: bool = False

    _ranges: ClassVar[dict[str, Range]] = NonnegativeModel._ranges | {
        "solver": one_of("cd", "mu"),
        "shuffle": boolean,
    }

    @classmethod
    def _example(cls) -> Any:
        """One component, whose optimum is unique; others depend on rounding errors of the start."""
        return cls(1, init="random")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> NMF:
        """Compute the components. Cost: see `NMF`.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            Training rows with finite numbers that are at least 0.
        W : array-like of shape (n, n_components), optional
            First weights of the rows, for `init` "custom".
        H : array-like of shape (n_components, d), optional
            First components, for `init` "custom".
        """
        self._factorise(X, y, W, H)
        return self

    @with_callbacks
    def fit_transform(self, X: Any, y: Any = None, W: Any = None, H: Any = None) -> Array:
        """Compute the components and return the weights of the rows. Cost: see `NMF`.

        Parameters
        ----------
        X : array-like, sparse matrix or table of shape (n, d)
            Training rows with finite numbers that are at least 0.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.
        W : array-like of shape (n, n_components), optional
            First weights of the rows, for `init` "custom".
        H : array-like of shape (n_components, d), optional
            First components, for `init` "custom".

        Returns
        -------
        array of shape (n, n_components)
            The weights of the components in each row (W).
        """
        return self._factorise(X, y, W, H)

    def _factorise(self, X: Any, y: Any, W: Any, H: Any) -> Array:
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        problem = self._problem(source, H)
        first_W, first_Ht = self._start(source, problem.k, W, H)

        def attributes(theta: Array) -> dict[str, Any]:
            found = np.ascontiguousarray(problem.split(theta)[1].T, dtype=source.dtype)
            return {"components_": found, "n_components_": problem.k}

        with self._watching(self.max_iter, attributes, X, y) as watch, one_blas_thread():
            self.solution_ = minimise(
                problem,
                self._method(),
                np.concatenate([first_W.ravel(), first_Ht.ravel()]),
                tolerance=self.tol,
                max_steps=self.max_iter,
                watch=watch,
                reason=f"solver={self.solver!r}",
                keep_trace=True,
            )
        self.__dict__.update(attributes(self.solution_.theta))
        self.n_iter_ = self.solution_.steps
        weights, Ht = problem.split(self.solution_.theta.astype(source.dtype, copy=False))
        if self.solver == "cd":
            # The best weights for the final components, as `transform` computes them.
            weights = self._best(source.X, self.components_)
        self.reconstruction_err_ = problem.error(weights, np.ascontiguousarray(Ht))
        if self.tol > 0:
            self._warn_unless_converged()
        return np.array(weights)

    def _weights_for(self, X: Any, H: Any) -> Array:
        """The weights of the rows for components that are given, as `transform` computes them."""
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        k = np.shape(H)[0] if self.n_components == "auto" and np.ndim(H) else self.n_components
        k = source.n_features if k is None or k == "auto" else int(k)
        found = given_start(H, (k, source.n_features), "H", "NMF", "update_H=False needs it")
        self.components_ = np.ascontiguousarray(found, dtype=source.dtype)
        self.n_components_ = k
        return np.asarray(self.transform(X))

    def _method(self) -> Method:
        if self.solver == "mu":
            return MultiplicativeSteps()
        return CoordinateSteps(generator(self.random_state) if self.shuffle else None)

    @property
    def _multiplies(self) -> bool:
        return self.solver == "mu"

    def _problem(self, source: InMemory, H: Any) -> NonnegativeFactors:
        if self.solver == "cd" and self._order != 2:
            raise ParameterError(
                f"NMF: Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = "
                f"{self.beta_loss!r}, only 'frobenius'. Use solver='mu'."
            )
        return self._factors(source, H)
