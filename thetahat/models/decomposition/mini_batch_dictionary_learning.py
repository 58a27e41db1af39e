"""Dictionary learning by small batches of rows: atoms D and sparse codes U with X ≈ UD."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from thetahat.data.extremes import require_squares_of_rows
from thetahat.data.in_memory import InMemory
from thetahat.estimator.batches import batch_after
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.estimator.watching import Watched, with_callbacks
from thetahat.foundation.checked_value import check_arrays
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict, Watch
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.decomposition.coded_rows import CodedRows
from thetahat.models.decomposition.sparse_coding import Coder
from thetahat.models.decomposition.sparse_factorisation import (
    Factorisation,
    Sums,
    principal_directions,
)

_array = Range(lambda value: isinstance(value, np.ndarray), "an array")
_function = Range(callable, "a function")


@with_parameters
class MiniBatchDictionaryLearning(Watched, CodedRows):
    """Dictionary learning by small batches of rows, faster than `DictionaryLearning` for many rows.

    The codes of a batch are computed for the current atoms. Sums over all batches so far, in which
    older batches count less, then give the next atoms. A step costs the same for any number of
    rows.

    Formula: for batch t with codes U_t = argmin ½‖X_t − UD‖² + alpha·‖U‖₁, the sums are
    A ← β_t A + U_tᵀU_t/b and B ← β_t B + U_tᵀX_t/b, and the atoms minimise ½tr(DᵀAD) − tr(DᵀB)
    subject to ‖d_k‖ ≤ 1. β_t rises to 1, so that early batches are forgotten.

    Cost: per step O(b k (d + s)) for the codes of b rows with s non-zeros and O(k² d) for the
    atoms; memory O(k (k + d)) besides the rows.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of atoms (k). None uses the number of columns (d).
    alpha : float, default=1
        Strength of the L1 penalty on the codes. Larger values give sparser codes. Must be at least
        0.
    max_iter : int, default=1000
        Maximum number of passes over the rows; a pass is n / batch_size steps.
    fit_algorithm : {"lars", "cd"}, default="lars"
        Has no effect. Accepted for compatibility with scikit-learn. Codes are optimal to rounding
        in either case.
    batch_size : int, default=256
        Number of rows of a batch. Larger batches are more accurate and take longer.
    shuffle : bool, default=True
        Whether to bring the rows into random order once before batches are formed.
    dict_init : array of shape (k, d) or None, default=None
        Initial atoms. None uses the principal directions of the rows; for `partial_fit` those of
        the first batch.
    verbose : bool or int, default=False
        Whether to print the progress. True or 1 prints one line per second and how the fit ended,
        larger values print every iteration.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of the rows. Pass an int for the same result on every call.
    positive_dict : bool, default=False
        If True, all entries of the atoms are at least 0.
    callback : callable or None, default=None
        Function that is called after every step with a dictionary of the current ``dictionary``,
        ``step`` and ``batch_cost``.
    tol : float, default=0.001
        The fit ends when the norm of the change of the atoms in a step, divided by the number of
        atoms, is at most this value. 0 switches this rule off.
    max_no_improvement : int or None, default=10
        The fit ends after this number of steps without a lower running mean of the objective. None
        switches this rule off.

    Attributes
    ----------
    n_iter_ : int
        Number of passes over the rows, the last of which may be incomplete.
    n_steps_ : int
        Number of batches that were used.
    solution_ : Solution
        How the steps of `fit` ended: outcome, number of steps, and the objective per row of every
        batch.

    References
    ----------
    Mairal, Bach, Ponce and Sapiro (2009), "Online dictionary learning for sparse coding", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.tile([[4.0, 0.0], [0.0, 3.0], [5.0, 0.0], [0.0, -2.0]], (50, 1))
    >>> model = th.MiniBatchDictionaryLearning(alpha=0.1, batch_size=20, random_state=0).fit(X)
    >>> np.abs(model.components_).round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    n_components: int | None = None
    _: KW_ONLY
    alpha: float = 1
    max_iter: int = 1000
    fit_algorithm: str = "lars"
    batch_size: int = 256
    shuffle: bool = True
    dict_init: Array | None = None
    verbose: Any = False
    random_state: Any = None
    positive_dict: bool = False
    callback: Callable[[dict[str, Any]], None] | None = None
    tol: float = 1e-3
    max_no_improvement: int | None = 10

    _ranges: ClassVar[dict[str, Range]] = CodedRows._ranges | {
        "n_components": whole(1) | none,
        "alpha": at_least(0),
        "max_iter": whole(0),
        "fit_algorithm": one_of("lars", "cd"),
        "batch_size": whole(1),
        "shuffle": boolean,
        "dict_init": _array | none,
        "positive_dict": boolean,
        "callback": _function | none,
        "tol": at_least(0),
        "max_no_improvement": whole(0) | none,
    }
    _visits_rows_in_order = True
    _grows_by_steps = True  # tol is a change of the atoms, which random batches do not let vanish

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> MiniBatchDictionaryLearning:
        """Compute the atoms by random batches. Cost: O(b k (d + s) + k² d) per step.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            Training rows with finite numbers.

        Returns
        -------
        self
            The fitted estimator.
        """
        source = self._opened(X)
        n = source.n_rows
        run = self._begun(source)
        rows = source.X.astype(np.float64, copy=False)
        if self.shuffle:
            rows = rows[generator(self.random_state).permutation(n)]
        size = min(self.batch_size, n)
        per_pass = math.ceil(n / size)
        ending = _Ending(self, n, size, len(run.dictionary))

        def attributes(theta: Array) -> dict[str, Array]:
            return {"components_": theta.astype(source.dtype)}

        with self._watching(int(self.max_iter) * per_pass, attributes, X, y) as watch:
            try:
                outcome = self._advance(run, ending, rows, int(self.max_iter) * per_pass, watch)
            except KeyboardInterrupt as interrupt:
                interrupt.solution = ending.solution(run, Outcome.INTERRUPTED)  # type: ignore[attr-defined]
                raise
        self.solution_ = ending.solution(run, outcome)
        self._keep(run, source.dtype)
        self.n_iter_ = math.ceil(run.step / per_pass)
        if self.max_iter:
            self._warn_unless_converged()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> MiniBatchDictionaryLearning:
        """Improve the atoms by one batch. Cost: O(n k (d + s) + k² d) for n rows.

        Parameters
        ----------
        X : array-like or table of shape (n, d)
            A batch of rows, with the same columns as before. The first batch gives the initial
            atoms.
        y : None
            Has no effect. Accepted for compatibility with scikit-learn.

        Returns
        -------
        self
            The fitted estimator.
        """
        first = not hasattr(self, "components_")
        width: Any = getattr(self, "n_features_in_", None)
        with batch_after(self, X, first=first):
            source = self._opened(X)
        if first:
            run = self._begun(source)
        else:
            k = self.n_components or width
            if len(self.components_) != k:
                raise ParameterError(
                    f"{type(self).__name__}.partial_fit: n_components={self.n_components}, but the "
                    f"batches so far gave {len(self.components_)} atoms. Call fit to start again."
                )
            atoms = self.components_.astype(np.float64)
            run = _Batches(
                self._fit_coder, self.positive_dict, atoms, self._square.copy(),
                self._cross.copy(), self.n_steps_,
            )  # fmt: skip
        run.advance(source.X.astype(np.float64, copy=False), source.n_rows)
        self._keep(run, source.dtype)
        return self

    def _opened(self, X: Any) -> InMemory:
        source = self._open(X, supervised=False)
        assert isinstance(source, InMemory)
        require_squares_of_rows(source, who=type(self).__name__)
        # Raises errors of `transform` early.
        self._coder(self.n_components or source.n_features, source.n_features)
        return source

    @property
    def _fit_coder(self) -> Coder:
        return Coder("lasso_cd", float(self.alpha), 1, self.positive_code, self.transform_max_iter)

    def _begun(self, source: InMemory) -> _Batches:
        """The run before its first batch."""
        k, d = self.n_components or source.n_features, source.n_features
        if self.dict_init is None:
            atoms = principal_directions(source, k)
        elif self.dict_init.shape != (k, d):
            raise DataError(
                f"{type(self).__name__}: dict_init has shape {self.dict_init.shape}, but must have "
                f"shape {(k, d)} for {d} columns and {k} atoms."
            )
        else:
            atoms = np.array(self.dict_init, dtype=np.float64, order="C")
            atoms /= np.maximum(np.linalg.norm(atoms, axis=1), 1.0)[:, None]
        empty = Factorisation(np.empty((0, d)), self._fit_coder, self.positive_dict)
        atoms = empty.admissible(atoms)
        return _Batches(
            self._fit_coder, self.positive_dict, atoms, np.zeros((k, k)), np.zeros((k, d)), 0
        )

    def _advance(
        self, run: _Batches, ending: _Ending, rows: Array, steps: int, watch: Watch
    ) -> Outcome:
        """Batches in turn until a rule of `_Ending` holds, the limit is reached or time is up."""
        starts = range(0, len(rows), ending.size)
        while run.step < steps:
            begin = starts[run.step % len(starts)]
            before = run.dictionary
            batch = rows[begin : begin + ending.size]
            cost = run.advance(batch, ending.size)
            if ending.reached(run, cost, len(batch), before):
                return Outcome.LOCAL
            if self.callback is not None:
                self.callback({"dictionary": run.dictionary, "step": run.step, "batch_cost": cost})
            verdict = watch(run.step, run.dictionary, cost)
            if verdict is not Verdict.GO_ON:
                late = verdict is Verdict.OUT_OF_TIME
                return Outcome.OUT_OF_TIME if late else Outcome.INTERRUPTED
        return Outcome.STEPS_EXHAUSTED

    def _keep(self, run: _Batches, dtype: Any) -> None:
        self.components_ = run.dictionary.astype(dtype)
        self._square, self._cross, self.n_steps_ = run.square, run.cross, run.step

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if self.__sklearn_is_fitted__():
            k, d = self.components_.shape
            check_arrays(self, {"_square": (np.float64, (k, k)), "_cross": (np.float64, (k, d))})


@dataclass
class _Batches:
    """The atoms, and the sums over all batches so far from which they are computed."""

    coder: Coder
    positive: bool
    dictionary: Array
    square: Array
    cross: Array
    step: int

    def advance(self, X: Array, b: int) -> float:
        """Improve the atoms by a batch of b rows, the last may have fewer; the objective per row.

        A shorter batch counts less: with the weight of a whole one, its rows would count more than
        all others.
        """
        problem = Factorisation(X, self.coder, self.positive)
        codes = np.zeros((len(X), len(self.dictionary)))
        sums = problem.code(self.dictionary, codes)
        # Batches count as rows do, and the first ones less.
        seen = (self.step + 1) * b if self.step < b - 1 else b * b + self.step + 1 - b
        kept = (seen + 1 - b) / (seen + 1)
        self.square = kept * self.square + sums.square / b
        self.cross = kept * self.cross + sums.cross / b
        every = Sums(self.square, self.cross, sums.value, sums.misfit)
        self.dictionary = problem.atoms(self.dictionary, codes, every)
        self.step += 1
        return sums.value / len(X)


@dataclass
class _Ending:
    """When steps end: by a small change, or without a lower running mean of the objective.

    The running mean begins with the mean over the first pass. A single batch may be far below all
    others, in particular the short one at the end of a pass, and would end the fit at once.
    """

    model: MiniBatchDictionaryLearning
    n_rows: int
    size: int
    n_atoms: int
    average: float = 0.0
    counted: int = 0
    least: float = math.inf
    without: int = 0
    change: float = math.inf
    costs: list[float] = field(default_factory=list)

    def reached(self, run: _Batches, cost: float, n_rows: int, before: Array) -> bool:
        self.costs.append(cost)
        if n_rows == self.size:  # few rows change little
            self.change = float(np.linalg.norm(run.dictionary - before)) / self.n_atoms
        starting = run.step <= min(100, math.ceil(self.n_rows / self.size))
        self.counted += n_rows
        rate = n_rows / self.counted if starting else min(n_rows / (self.n_rows + 1), 1.0)
        self.average += rate * (cost - self.average)
        if starting:
            return False
        if self.model.tol > 0 and self.change <= self.model.tol:
            return True
        self.without = 0 if self.average < self.least else self.without + 1
        self.least = min(self.least, self.average)
        limit = self.model.max_no_improvement
        return limit is not None and self.without >= limit

    def solution(self, run: _Batches, outcome: Outcome) -> Solution:
        """The report of the steps so far."""
        return Solution(
            theta=run.dictionary,
            outcome=outcome,
            solver="mini-batch",
            reason="steps by random batches cost the same for any number of rows",
            steps=run.step,
            value=self.average,
            gap=self.change,
            gap_kind="change of the atoms in the last step",
            message=outcome.value,
            trace=tuple(self.costs),
        )
