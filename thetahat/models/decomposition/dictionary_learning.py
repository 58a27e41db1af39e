"""Dictionary learning: atoms D and sparse codes U with X ≈ UD, found by alternation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.models.decomposition.coded_rows import CodedRows
from thetahat.models.decomposition.sparse_coding import Coder
from thetahat.models.decomposition.sparse_factorisation import (
    Factorisation,
    InTurns,
    principal_directions,
)

_array = Range(lambda value: isinstance(value, np.ndarray), "an array")
_function = Range(callable, "a function")


@with_parameters
class DictionaryLearning(Watched, CodedRows):
    """Dictionary learning: a set of atoms such that every row is a sparse combination of them.

    Formula: U, D = argmin ½‖X − UD‖² + alpha·‖U‖₁ subject to ‖d_k‖ ≤ 1 for every atom. Codes and
    atoms are updated in alternation: for fixed D each row of U is a lasso problem; for fixed U each
    atom has a closed form. The objective never increases. It is not convex, so the result is a
    local optimum; it is deterministic.

    Cost: per iteration O(n k (d + s)) for codes with s non-zeros and O(k² d) for atoms, with rows
    coded in parallel; memory O(n k) besides the rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of atoms (k). None uses the number of columns (d).
    alpha : float, default=1
        Strength of the L1 penalty on the codes. Larger values give sparser codes. Must be at least
        0.
    max_iter : int, default=1000
        Maximum number of iterations, each of which updates all codes and all atoms.
    tol : float, default=1e-8
        Tolerance: the fit stops when an iteration decreases the objective by less than this
        fraction of it.
    fit_algorithm : {"lars", "cd"}, default="lars"
        Has no effect. Accepted for compatibility with scikit-learn. Codes are optimal to rounding
        in either case.
    code_init : array of shape (n, k) or None, default=None
        Initial codes. Used only if ``dict_init`` is given too.
    dict_init : array of shape (k, d) or None, default=None
        Initial atoms. Used only if ``code_init`` is given too.
    callback : callable or None, default=None
        Function that is called every five iterations with a dictionary of the current
        ``dictionary``, ``code`` and ``errors``.
    verbose : bool or int, default=False
        Whether to print the progress. True or 1 prints one line per second and how the fit ended,
        larger values print every iteration.
    random_state : int, RandomState or None, default=None
        Has no effect. Accepted for compatibility with scikit-learn. The fit is deterministic.
    positive_dict : bool, default=False
        If True, all entries of the atoms are at least 0.

    Attributes
    ----------
    error_ : list of float
        The objective after each iteration.
    n_iter_ : int
        Number of iterations of the fit.
    solution_ : Solution
        How the fit ended: outcome, iterations and gap.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.array([[4.0, 0.0], [0.0, 3.0], [5.0, 0.0], [0.0, -2.0]])
    >>> model = th.DictionaryLearning(alpha=0.1).fit(X)
    >>> np.abs(model.components_).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    n_components: int | None = None
    _: KW_ONLY
    alpha: float = 1
    max_iter: int = 1000
    tol: float = 1e-8
    fit_algorithm: str = "lars"
    code_init: Array | None = None
    dict_init: Array | None = None
    callback: Callable[[dict[str, Any]], None] | None = None
    verbose: Any = False
    random_state: Any = None
    positive_dict: bool = False

    _ranges: ClassVar[dict[str, Range]] = CodedRows._ranges | {
        "n_components": whole(1) | none,
        "alpha": at_least(0),
        "max_iter": whole(0),
        "tol": at_least(0),
        "fit_algorithm": one_of("lars", "cd"),
        "code_init": _array | none,
        "dict_init": _array | none,
        "callback": _function | none,
        "positive_dict": boolean,
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> DictionaryLearning:
        """Compute the atoms. Cost: O(n k (d + s) + k² d) per iteration.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        require_squares_of_rows(source, who=type(self).__name__)
        k = self.n_components or source.n_features
        self._coder(k, source.n_features)  # raises errors of `transform` early
        coder = Coder("lasso_cd", float(self.alpha), 1, self.positive_code, self.transform_max_iter)
        problem = Factorisation(
            source.X.astype(np.float64, copy=False), coder, self.positive_dict, self.callback
        )
        dictionary, codes = self._start(source, k)

        def attributes(theta: Array) -> dict[str, Array]:
            return {"components_": np.asarray(theta, dtype=source.dtype)}

        with self._watching(self.max_iter, attributes, X, y) as watch:
            self.solution_ = minimise(
                problem,
                InTurns(codes),
                problem.admissible(dictionary),
                tolerance=self.tol,
                max_steps=self.max_iter,
                watch=watch,
                reason="alternates between codes and atoms, each simple with the other fixed",
                keep_trace=True,
            )
        self.__dict__.update(attributes(self.solution_.theta))
        self.error_ = list(self.solution_.trace[1:])
        self.n_iter_ = self.solution_.steps
        if self.max_iter:
            self._warn_unless_converged()
        return self

    def _start(self, source: InMemory, k: int) -> tuple[Array, Array]:
        """Unit atoms, and the initial codes of the first lasso problems."""
        n, d = source.n_rows, source.n_features
        if self.code_init is None or self.dict_init is None:
            return principal_directions(source, k), np.zeros((n, k))
        for name, shape in (("dict_init", (k, d)), ("code_init", (n, k))):
            if getattr(self, name).shape != shape:
                raise DataError(
                    f"DictionaryLearning: {name} has shape {getattr(self, name).shape}, but must "
                    f"have shape {shape} for {n} rows, {d} columns and {k} atoms."
                )
        dictionary = np.array(self.dict_init, dtype=np.float64)
        length = np.maximum(np.linalg.norm(dictionary, axis=1), 1.0)
        codes = np.array(self.code_init, dtype=np.float64, order="C") * length
        return dictionary / length[:, None], codes
