"""Shared by kernel models of any loss: the fit through features, and predictions from centres."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from thetahat.data.columns.schema import Schema
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.any_loss import AnyLoss
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.estimator.risk_minimiser import RiskMinimiser
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError, IllConditionedWarning
from thetahat.foundation.memory import memory_for, require_memory
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.mathematics.kernels.base import Kernel
from thetahat.mathematics.kernels.gram import TOO_LARGE, require_kernel_matrix
from thetahat.mathematics.kernels.names import suited
from thetahat.mathematics.linalg.tiled_cholesky import memory_of_factors
from thetahat.mathematics.losses.box_dual import has_box_alone
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2
from thetahat.models.kernel.parameters import OfKernel, kept_rows, near_rows
from thetahat.objective.choose import LARGEST_SKETCH
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.kernel.centres import RULES, choose_centres
from thetahat.objective.kernel.expansion import KernelExpansion
from thetahat.objective.kernel.features import (
    FeatureCoefficients,
    KernelFeatures,
    gram_of,
    not_a_kernel,
)
from thetahat.objective.kernel.gram_rows import gram_rows
from thetahat.objective.kernel.least_squares import least_norm_coefficients, ridge_coefficients
from thetahat.objective.kernel.support_dual import BoxDual, minimise_dual
from thetahat.objective.predictor import LinearPredictor, in_double

MOST_EXACT_ROWS = 10_000
"""Rows up to which "auto" uses all of them: time grows with their cube, memory with the square."""
USUAL_CENTRES = 1500
"""Centres that "auto" draws from more rows."""
CACHE = 1 << 30
"""Bytes of kernel rows that the solver of support vectors may keep."""
PAIRS_PER_ROW = 100
"""Pairs of dual variables that are changed, per row, before another solver is tried."""
STALLED_GAP = 1e-6
"""Duality gap of the mean loss up to which a solver that rounding stopped has converged."""
ROUNDING_OF_NORM = 1e-8
"""A negative squared norm of a function, relative to its terms, that may be rounding errors."""


class KernelMachine(RiskMinimiser, AnyLoss, OfKernel):
    """A function f(x) = Σⱼ αⱼ k(x, xⱼ) + b with a loss, and the penalty α/2·‖f‖².

    Parameters
    ----------
    kernel : str or Kernel, default="rbf"
        The kernel (k): a value such as ``th.kernels.RBF(sigma=2.0)``, a sum or product of kernels,
        or a name: "rbf", "linear", "polynomial", "laplacian", "matern", "rational_quadratic",
        "cosine". The name of a kernel of distances means one whose bandwidth is the root of the
        total variance of the columns, ``th.kernels.bandwidth(X, "std")``. "precomputed" means that
        X is a kernel matrix.
    n_components : int, "auto" or None, default="auto"
        Number of training rows that are used as centres (Nyström's approximation). More centres are
        more accurate and cost more time and memory. None uses all rows, which is exact. "auto" uses
        all of up to 10,000 rows, and 1,500 centres for more rows; ``solution_.reason`` says which.
    centers : {"uniform", "kmeans++", "leverage"}, default="uniform"
        How the centres are drawn. "uniform" gives every row the same chance. "kmeans++" draws rows
        far from each other, and "leverage" prefers rows with a high leverage score: both represent
        small groups of rows that lie apart, and take a little longer.
    solver : str or Method, default="auto"
        The method that minimises the objective, as in `LinearModel`. "auto" chooses by the loss and
        the sizes; ``solution_.reason`` says why.
    fit_intercept : bool, default=True
        Whether to fit an intercept (b), which is not penalised.
    max_iter : int or None, default=None
        Maximum number of iterations of the solver. None takes the solver's own limit. Increase it
        when a warning reports that the solver did not converge.
    tol : float, default=1e-8
        Tolerance of the solver for its optimality gap. Smaller values give more digits and need
        more iterations.
    random_state : int, Generator or None, default=None
        Seed for drawing the centres if `n_components` is given. Pass an int for the same result on
        every call.

    Attributes
    ----------
    dual_coef_ : array of shape (n_centres,) or (n_centres, n_classes)
        The coefficients of the kernel functions of the centres.
    X_fit_ : array or sparse array of shape (n_centres, d)
        The training rows that are centres; for a precomputed kernel, the numbers of its columns.
    support_ : array of shape (n_centres,)
        The numbers of these rows among the training rows.
    intercept_ : float or array of shape (n_classes,)
        The intercept, or one for each class.
    kernel_ : Kernel
        The kernel with all its parameters.
    loss_ : Loss
        The loss that was minimised.
    """

    _generative = False
    _parametric = False
    _multi_output = False
    _ranges: ClassVar[dict[str, Range]] = {
        "n_components": whole(1) | one_of("auto") | none,
        "centers": one_of(*RULES),
        "fit_intercept": boolean,
        "max_iter": whole(1) | none,
        "tol": at_least(0),
    }

    kernel: Any
    n_components: int | str | None
    centers: str
    solver: Any
    fit_intercept: bool
    max_iter: int | None
    tol: float
    random_state: Any
    kernel_: Kernel
    dual_coef_: Array

    def __sklearn_is_fitted__(self) -> bool:
        """Whether coefficients exist; an interrupted fit may leave ``classes_`` without them."""
        return hasattr(self, "dual_coef_")

    def _fit_function(
        self, source: InMemory, n_scores: int, strength: float, X: Any, y: Any
    ) -> None:
        """Minimise the mean loss plus strength/2·‖f‖² over functions f of the kernel."""
        self.kernel_ = self._kernel(source)
        if self.fit_intercept:
            self.kernel_ = near_rows(self.kernel_, source.X)
        centres = self._centres(source)
        exact = self._n_centres(source) is None
        if exact and self.loss_.quadratic and self.solver == "auto":
            self._fit_least_squares(source, strength, centres)
            return
        if exact and not n_scores and self._fit_support(source, strength, centres, X, y):
            return
        self._require_features(source.n_rows, len(centres))
        features = KernelFeatures.of(self.kernel_, source.X, centres)
        self._fit_features(features, features.of_rows(source.X), source, n_scores, strength, X, y)
        if exact:
            self._keep_support(source, strength)
        self._state_centres(self._n_centres(source), source.n_rows)

    def _require_features(self, n: int, m: int, *, copies: int = 1, squares: int = 0) -> None:
        """Raise an error unless features of n rows and m centres fit, and matrices of a solver.

        Solvers form Hessians of a few thousand columns at most.
        """
        require_kernel_matrix(m, m, np.float64, copies=3)
        require_memory(
            8 * (copies * n * m + squares * m * m + 4 * min(m, LARGEST_SKETCH) ** 2),
            f"{type(self).__name__}: {m} features of {n} rows, with the matrices of the solver,",
            TOO_LARGE,
        )

    def _fit_features(
        self,
        features: FeatureCoefficients,
        values: Array,
        source: InMemory,
        n_scores: int,
        strength: float,
        X: Any,
        y: Any,
    ) -> None:
        """Minimise the mean loss plus strength/2·‖β‖² over βᵀφ(x), with φ of the rows as values."""
        rows = rows_of_features(source, values)
        self._fit_rows(features, rows, n_scores, strength, X, y)

    def _fit_rows(
        self,
        features: FeatureCoefficients,
        rows: Source,
        n_scores: int,
        strength: float,
        X: Any,
        y: Any,
    ) -> None:
        """The same, for rows whose columns are the features."""
        predictor = LinearPredictor(rows.n_features, n_scores, self.fit_intercept)
        risk = EmpiricalRisk(predictor, self.loss_, L2(strength), rows)
        self._minimise(
            risk,
            X,
            y,
            solver=self.solver,
            tolerance=self.tol,
            max_steps=self.max_iter,
            attributes=partial(self._attributes, features=features),
        )

    def _kernel(self, source: InMemory) -> Kernel:
        return suited(self.kernel, source.X, source.row_weights)

    def _n_centres(self, source: InMemory) -> int | None:
        """The number of centres to draw; None if all rows are centres."""
        if self.n_components == "auto":
            many = np.count_nonzero(source.row_weights > 0) > MOST_EXACT_ROWS
            return USUAL_CENTRES if many else None
        return None if self.n_components is None else int(self.n_components)

    def _centres(self, source: InMemory) -> Array:
        """The rows that become centres: all of positive weight, or some of them."""
        used = np.arange(source.n_rows)
        if source.weight is not None:
            used = np.flatnonzero(source.weight > 0)
        m = self._n_centres(source)
        if m is None or m >= len(used):
            return used
        random = generator(self.random_state)
        return choose_centres(self.kernel_, source.X, used, source.weight, m, self.centers, random)

    def _state_centres(self, m: int | None, n_rows: int) -> None:
        """Add to the reason of the solution that an approximation was used."""
        if m is None or m >= n_rows:
            return
        cause = f"{m} of {n_rows} rows are centres ({self.centers})"
        if self.n_components == "auto":
            cause += f", because there are more than {MOST_EXACT_ROWS} rows"
        reason = f"Nyström's approximation: {cause}; {self.solution_.reason}"
        self.solution_ = replace(self.solution_, reason=reason)

    def _fit_least_squares(self, source: InMemory, strength: float, used: Array) -> None:
        """The squared loss in closed form: one Cholesky factor of K + n·αI."""
        assert source.y is not None
        X = in_double(source.X)
        n = len(used)
        require_kernel_matrix(n, n, np.float64, beside=memory_of_factors(n))
        weight = None if source.weight is None else source.weight[used]
        total = float(len(used)) if weight is None else float(weight.sum())
        targets = source.y[used].astype(np.float64)[:, None]

        def matrix() -> Array:
            K = gram_of(self.kernel_, X, used)
            return K.copy() if np.shares_memory(K, source.X) else K

        rest = (targets, total * strength, weight)
        found = ridge_coefficients(matrix(), *rest, intercept=self.fit_intercept)
        if found is None:
            found = least_norm_coefficients(matrix(), *rest, intercept=self.fit_intercept)
            if found is None:
                raise not_a_kernel(self.kernel_, matrix())
            warn(
                f"{type(self).__name__}: the kernel matrix plus n·alpha={total * strength:g} on "
                "its diagonal is singular up to rounding. The solution of least norm is used. "
                "Scale the columns, or increase alpha.",
                IllConditionedWarning,
            )
        self.X_fit_, self.support_ = kept_rows(self.kernel_, source.X, used), used
        self.dual_coef_ = found.coefficients[:, 0]
        self.intercept_ = found.intercept[0]
        self.n_iter_ = 1
        self.solution_ = Solution(
            theta=self.dual_coef_,
            outcome=Outcome.EXACT,
            solver=found.solver,
            reason=found.reason,
            message=Outcome.EXACT.value,
        )

    def _fit_support(self, source: InMemory, strength: float, used: Array, X: Any, y: Any) -> bool:
        """Minimise the dual by the solver of `SVC` and `SVR`; False if it does not suit the loss.

        Its box of row i is that of the loss times Cᵢ = wᵢ/(λ·Σw), and its gap is one of the mean
        loss divided by λ.
        """
        loss = self.loss_
        if not has_box_alone(loss) or self.solver != "auto" or not self.fit_intercept:
            return False
        most = self.max_iter
        if not loss.zero_on_a_range:
            # No dual variable stays at 0: pairs may need more steps than another solver takes time.
            if most is not None:
                return False
            most = PAIRS_PER_ROW * len(used)
        targets = np.asarray(source.y, dtype=np.float64)[used]
        cost = source.row_weights[used] / (source.row_weights.sum() * strength)
        box = loss.dual_box(targets)
        dual = BoxDual(-targets, cost * box.lower, cost * box.upper, float(box.kink))
        which = None if len(used) == source.n_rows else used
        rows = gram_rows(self.kernel_, in_double(source.X), which, memory_for(CACHE), False)
        with self._watching(None, partial(self._support, source, used), X, y) as watch:
            found = minimise_dual(rows, dual, tolerance=self.tol, max_steps=most, watch=watch)
        if found.outcome is Outcome.STEPS_EXHAUSTED and not loss.zero_on_a_range:
            return False
        terms = found.beta * (found.gradient + targets)  # gradient = Kβ − y
        if terms.sum() < -ROUNDING_OF_NORM * np.abs(terms).sum():
            raise DataError(
                f"{self.kernel_!r}: the squared norm of the fitted function is {terms.sum():.3g}, "
                "but no kernel gives a negative one. Use a sum or product of kernels, the features "
                "of th.SimilarityFeatures, or SVC or SVR, which accept any function."
            )
        if found.outcome is Outcome.STALLED and not found.gap * strength <= STALLED_GAP:
            return False
        self.__dict__.update(self._support(source, used, found.beta, found.offsets[0]))
        theta = np.zeros(source.n_rows)
        theta[used] = found.beta
        outcome = Outcome.CONVERGED if found.outcome is Outcome.STALLED else found.outcome
        self.solution_ = Solution(
            theta=theta,
            outcome=outcome,
            solver="smo",
            reason=f"{loss.name} loss under a kernel: pairs of dual variables, by their gain",
            steps=found.steps,
            value=strength * (found.gap - found.value),
            gap=strength * found.gap,
            gap_kind="duality gap",
            message=outcome.value,
            multipliers=theta,
        )
        self.n_iter_ = max(1, found.steps)
        self._warn_unless_converged()
        return True

    def _support(
        self, source: InMemory, used: Array, beta: Array, offset: float = 0.0
    ) -> dict[str, Any]:
        """The rows with a coefficient; the first one if all coefficients are 0."""
        places = np.flatnonzero(beta) if beta.any() else np.zeros(1, dtype=np.intp)
        support = used[places]
        return {
            "X_fit_": kept_rows(self.kernel_, source.X, support),
            "support_": support,
            "dual_coef_": beta[places],
            "intercept_": np.float64(offset),
        }

    def _attributes(
        self, theta: Array, risk: EmpiricalRisk, features: FeatureCoefficients
    ) -> dict[str, Any]:
        beta, intercept = risk.predictor.split(theta)
        intercept = np.asarray(intercept, dtype=np.float64)
        if risk.predictor.n_outputs and self.fit_intercept:
            intercept = intercept - intercept.mean()  # softmax: a common level changes nothing
        return {
            "X_fit_": features.centres,
            "support_": features.which,
            "dual_coef_": features.coefficients(beta),
            "intercept_": intercept[()],
        }

    def _keep_support(self, source: InMemory, strength: float) -> None:
        """Use the dual variables of the rows, if the solver found them: rows with 0 are left out.

        β = Σ sᵢ mᵢ φ(xᵢ)/λ with shares sᵢ = wᵢ/Σw, so that the coefficient of row i is sᵢ mᵢ/λ.
        """
        found = self.solution_.multipliers
        if found is None or found.ndim != 1:
            return
        coefficients = found * source.row_weights / source.row_weights.sum() / strength
        support = np.flatnonzero(coefficients)
        if not support.size:
            return
        self.X_fit_, self.support_ = kept_rows(self.kernel_, source.X, support), support
        self.dual_coef_ = coefficients[support]

    def raw_prediction(self, X: Any) -> Array:
        """Compute the raw prediction f(x) = Σⱼ αⱼ k(x, xⱼ) + b. Cost: O(n m d) for m centres.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            The rows to predict; for a precomputed kernel, the values of the kernel for new rows and
            all training rows.

        Returns
        -------
        array of shape (n,), or (n, n_classes) for losses with one score per class
        """
        source = self._open_again(X)
        centres = self.X_fit_
        expansion = KernelExpansion(self.kernel_, centres, self.dual_coef_, self.intercept_)
        return self._expand(source, expansion)


def rows_of_features(source: InMemory, values: Array) -> InMemory:
    """The rows with their targets and weights, and features in the place of their columns."""
    return replace(
        source,
        X=values,
        y=np.asarray(source.y, dtype=np.float64),
        n_features=values.shape[1],
        dtype=np.dtype(np.float64),
        schema=Schema(),
    )
