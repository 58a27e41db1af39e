"""The linear support vector machine: ½‖β‖² + C·Σ wᵢ ξᵢ with yᵢ f(xᵢ) ≥ 1 − ξᵢ, ξᵢ ≥ 0.

At the optimum the slack is ξᵢ = [1 − yᵢ f(xᵢ)]₊, so the problem is the hinge loss with an L2
penalty: F = (Σ wᵢ [1 − yᵢ f(xᵢ)]₊)/(Σ wᵢ) + λ/2‖β‖² with λ = 1/(C·Σw). C = ∞ allows no slack and
gives the hard margin.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.class_weights import class_weighted, weights_of_classes
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.views import one_against_rest
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.parameters import Range, one_of
from thetahat.estimator.sparsify import Sparsifies
from thetahat.estimator.watching import WatchedSolver, with_callbacks
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.mathematics.losses.margin import Hinge, SquaredHinge
from thetahat.mathematics.losses.multiclass.crammer_singer import CrammerSinger
from thetahat.mathematics.optimizers.dual.augmented_lagrangian import AugmentedLagrangian
from thetahat.mathematics.optimizers.joined import joined
from thetahat.mathematics.optimizers.loop import Method
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.proximal.proximal_newton import ProximalNewton
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.linear.margin.cost_and_bias import (
    CostAndBias,
    coefficients,
    judged,
    pull,
    support_rows,
)
from thetahat.models.linear.margin.hard_margin import hard_margin, without_slack
from thetahat.models.linear.margin.l1_path import minimise_along_path
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.subsampled_start import subsampled_start

LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
ENOUGH_STEPS = 1000
"""Number of steps after which a solver that has not converged is considered to have failed."""
SIDES = np.array(["wrong", "inside", "on", "outside"])


@with_parameters
class LinearSVC(Sparsifies, CostAndBias, WatchedSolver, LinearClassifier):
    """Linear support vector classifier.

    Formula: min ½‖β‖² + C·Σ wᵢ [1 − yᵢ f(xᵢ)]₊ (or its square) with f(x) = xᵀβ + b and yᵢ = ±1.
    This is equivalent to minimising slack ξᵢ ≥ 0 with yᵢ f(xᵢ) ≥ 1 − ξᵢ, and to the mean hinge loss
    with L2 penalty λ = 1/(C·Σw). With C = ∞ no slack is allowed (hard margin). β depends only on
    the support vectors, which are the rows with yᵢ f(xᵢ) ≤ 1.

    As in scikit-learn, the intercept is penalised too, as the coefficient of a constant column;
    `LinearModel(loss="hinge")` does not penalise it.

    Cost: O(n d²) for each of a few Newton steps; O(n d) per iteration of coordinate descent if
    there are many columns. Newton's method starts from the solution for some of the rows if these
    are in memory, so the coefficients from a `Source` agree to `tol`, not bit for bit.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Penalty on the coefficients. "l1" sets coefficients exactly to zero; it requires
        ``loss="squared_hinge"``. With "l1" and a large C, the solver stops at gradient entries of
        at most the fraction `tol` of the largest one at β = 0, but at most 1000·`tol`.
    loss : {"squared_hinge", "hinge"} or Loss, default="squared_hinge"
        Loss to minimise. "hinge" is the standard loss of support vector machines, [1 − y f]₊;
        "squared_hinge" is its square. Any other loss for labels ±1 works too, including your own
        ``th.loss(function, targets="signs")``; the objective is then ½‖β‖² + C·Σ wᵢ ℓ(yᵢ, f(xᵢ)).
    dual : bool or "auto", default="auto"
        Whether to solve the dual problem. "auto" chooses by the size of the data. ``loss="hinge"``
        is always solved through its dual, and ``penalty="l1"`` never is.
    C : float, default=1.0
        Inverse of the strength of the penalty. Larger values allow less slack and fit the training
        rows more closely; smaller values give smaller coefficients. Must be positive;
        ``C=math.inf`` requires that the classes are separable (hard margin).
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        How to fit more than two classes. "ovr" fits one classifier per class against the rest;
        "crammer_singer" fits all classes jointly with the loss max_m (1[m ≠ y] + f_m − f_y), which
        is slower and rarely more accurate.
    max_iter : int, default=1000
        Maximum number of iterations: Newton steps, or passes over the rows in coordinate descent
        (ten times as many for "crammer_singer"). If the hinge loss has not converged after 1000
        iterations because C is very large, an equivalent problem with a smaller C is solved.

    Attributes
    ----------
    intercept_ : array of shape (1,) or (n_classes,), or 0.0
        Estimated intercepts (b̂); 0.0 if ``fit_intercept=False``.
    support_ : array of shape (n_support,)
        Row numbers of the support vectors. Only available if the dual was solved, like
        ``dual_coef_`` and ``support_vectors_``.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        Dual coefficients yᵢαᵢ of the support vectors: αᵢ = C·wᵢ inside the margin, and less on it.
        ``coef_`` equals ``dual_coef_ @ support_vectors_``.
    solution_ : Solution
        Report of the solver: how it stopped, the number of iterations and the remaining optimality
        gap, for the class with the worst result.

    Examples
    --------
    >>> import math
    >>> import thetahat as th
    >>> X, y = [[0.0], [1.0], [3.0], [9.0]], ["left", "left", "right", "right"]
    >>> wide = th.LinearSVC(C=math.inf, loss="hinge", intercept_scaling=1000).fit(X, y)
    >>> wide.coef_.round(4).tolist(), wide.intercept_.round(4).tolist(), wide.support_.tolist()
    ([[1.0]], [-2.0], [1, 2])
    >>> wide.margin_side(X, y).tolist()
    ['outside', 'on', 'on', 'outside']
    """

    penalty: str = "l2"
    loss: Any = "squared_hinge"
    _: KW_ONLY
    multi_class: str = "ovr"
    class_weight: Any = None

    _everyday = "linear support vectors"
    _ranges = CostAndBias._ranges | {
        "penalty": one_of("l1", "l2"),
        "loss": one_of("hinge", "squared_hinge")
        | Range(lambda value: isinstance(value, Loss), "a loss such as th.losses.SignLogistic()"),
        "multi_class": one_of("ovr", "crammer_singer"),
    }

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearSVC:
        source = self._open_classes(X, y, sample_weight)
        self._require_known_combination()
        risks = self._risks(source)
        how = self._method(risks[0])  # all classes have the same rows
        found: list[Solution] = []

        def attributes(theta: Array) -> dict[str, Any]:
            """Attributes during a fit; classes that are not fitted yet have zero coefficients."""
            thetas = [solution.theta for solution in found] + [theta]
            thetas += [risk.predictor.zeros() for risk in risks[len(thetas) :]]
            return self._split(thetas, risks, source)

        with one_blas_thread():  # set once, not in each of many short passes
            with self._watching(self.max_iter, attributes, X, y) as watch:
                for number, risk in enumerate(risks):
                    found.append(self._solve(risk, number, how, watch))
            self.solution_ = joined(found)
            self.__dict__.update(self._split([each.theta for each in found], risks, source))
            self.n_iter_ = self._iterations(how[0], self.solution_.steps)
            self._keep_support(found, risks, source)
        self._warn_unless_converged()
        return self

    def margin_side(self, X: Any, y: Any, tolerance: float = 1e-6) -> Array:
        """Determine on which side of the margin rows lie. Cost: O(n d k) for k classes.

        The side follows from the score m of the row's own class: "outside" if m > 1, "on" if m = 1,
        "inside" if 0 < m < 1 and "wrong" if m ≤ 0. Rows strictly outside do not influence β.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to evaluate, with the same columns as in `fit`.
        y : array-like of shape (n,)
            Class labels of these rows.
        tolerance : float, default=1e-6
            Largest distance of a score from 1 that still counts as on the margin.

        Returns
        -------
        sides : array of shape (n,)
            "outside", "on", "inside" or "wrong" for each row.
        """
        from thetahat.data.columns.labels import LabelEncoding

        codes = LabelEncoding(self.classes_).encode(np.asarray(y))
        z = self._raw(X)
        if z.shape[1] == 1:
            score = np.where(codes == 1, z[:, 0], -z[:, 0])
        else:
            score = z[np.arange(len(codes)), codes]
            if self.multi_class == "crammer_singer":
                rivals = z.copy()
                rivals[np.arange(len(codes)), codes] = -np.inf
                score = score - rivals.max(axis=1)
        place = (score > 0).astype(int) + (score >= 1 - tolerance) + (score > 1 + tolerance)
        return SIDES[place]

    def _risks(self, source: Source) -> list[EmpiricalRisk]:
        """One risk per class against the rest; one in all for two classes or Crammer-Singer."""
        classes = len(self.classes_)
        weighted = partial(class_weighted, classes=self.classes_, who="LinearSVC")
        hard = self.C == np.inf
        cost = 1.0 if hard else float(self.C)
        if self.multi_class == "crammer_singer" and classes > 2:
            if hard:
                raise ParameterError(
                    "LinearSVC: C=inf is not available with multi_class='crammer_singer'. Use "
                    "multi_class='ovr', or a large finite C."
                )
            if not isinstance(source, InMemory):
                raise CapabilityError(
                    "LinearSVC: multi_class='crammer_singer' needs the rows in memory, but these "
                    "are read block by block. Use multi_class='ovr'."
                )
            source = weighted(source, class_weight=self.class_weight)
            return [self._risk(source, CrammerSinger(), cost, outputs=classes)]
        loss = self.loss if isinstance(self.loss, Loss) else LOSSES[self.loss]
        if hard or self.multi_class == "crammer_singer":
            loss = Hinge()
        if self.multi_class == "crammer_singer":
            # Only the difference of two scores matters, so each class has half of it.
            cost *= 2.0
        if classes == 2:
            sources = [one_against_rest(weighted(source, class_weight=self.class_weight), 1)]
        elif self.class_weight is None:
            sources = [one_against_rest(source, code) for code in range(classes)]
        else:
            # As in scikit-learn, the weight of a class only applies in its own problem.
            own = weights_of_classes(source, self.classes_, self.class_weight, "LinearSVC")
            sources = [
                one_against_rest(weighted(source, class_weight={label: own[code]}), code)
                for code, label in enumerate(self.classes_.tolist())
            ]
        return [self._risk(each, loss, cost, sparse=self.penalty == "l1") for each in sources]

    def _solve(
        self, risk: EmpiricalRisk, number: int, how: tuple[Method, str, int], watch: Watch
    ) -> Solution:
        if self.C == np.inf:
            label = self.classes_.tolist()[1 if len(self.classes_) == 2 else number]
            return hard_margin(risk, repr(label), tolerance=self.tol, watch=watch)
        method, reason, steps = how
        tolerance = self._tolerance(risk, method)
        if isinstance(method, ProximalNewton):
            return minimise_along_path(
                risk, tolerance=tolerance, max_steps=steps, watch=watch, reason=reason
            )
        start = subsampled_start(risk, method) if isinstance(method, Newton) else None
        found = minimise(
            risk, method, start, tolerance=tolerance, max_steps=steps, watch=watch, reason=reason
        )
        failed = found.outcome is Outcome.STUCK
        if found.outcome is Outcome.STEPS_EXHAUSTED:
            failed = self.max_iter >= ENOUGH_STEPS
        if failed and isinstance(method, AugmentedLagrangian):
            return without_slack(risk, found, tolerance=tolerance, watch=watch)
        return judged(found, method, steps)

    def _split(
        self, thetas: list[Array], risks: list[EmpiricalRisk], source: Source
    ) -> dict[str, Any]:
        parts = [coefficients(theta, risk) for theta, risk in zip(thetas, risks, strict=True)]
        coef = np.vstack([np.atleast_2d(part[0].T) for part in parts])
        bias = np.hstack([part[1] for part in parts])
        return {
            "coef_": np.ascontiguousarray(coef, dtype=source.dtype),
            "intercept_": bias.astype(source.dtype) if self.fit_intercept else 0.0,
        }

    def _keep_support(
        self, found: list[Solution], risks: list[EmpiricalRisk], source: Source
    ) -> None:
        """Store the support vectors and their dual coefficients if the dual was solved.

        A multiplier mᵢ of the mean risk becomes wᵢmᵢ/(λ·Σw) in β = Σ (…)·xᵢ; those of Crammer and
        Singer already have that unit.
        """
        for name in ("support_", "dual_coef_", "support_vectors_"):
            self.__dict__.pop(name, None)
        if any(solution.multipliers is None for solution in found):
            return
        pulls: list[Array] = []
        for solution, risk in zip(found, risks, strict=True):
            multipliers = np.asarray(solution.multipliers)
            if multipliers.ndim == 2:
                pulls.extend(multipliers.T)
                continue
            pulls.append(multipliers if self.C == np.inf else pull(multipliers, risk))
        stacked = np.vstack(pulls)
        self.support_ = support_rows(stacked.T, source)
        self.dual_coef_ = stacked[:, self.support_].astype(source.dtype)
        if isinstance(source, InMemory):
            self.support_vectors_ = source.X[self.support_]

    def _require_known_combination(self) -> None:
        """Raise an error for combinations of parameters without a solver, as scikit-learn does."""
        given = f"penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r}"
        rule = remedy = ""
        own = isinstance(self.loss, Loss)
        if own and self.loss.targets not in (Targets.SIGNS, Targets.REAL):
            rule = f"the loss needs targets {self.loss.targets.value}, but these are −1 and +1"
            remedy = "Use th.loss(function, targets='signs') or LogisticRegression"
        elif own and (self.multi_class == "crammer_singer" or self.C == np.inf):
            rule = "multi_class='crammer_singer' and C=inf always use the hinge loss"
            remedy = "Use multi_class='ovr' and a finite C, or loss='hinge'"
        elif self.multi_class == "crammer_singer" or self.C == np.inf:
            if self.penalty == "l1":
                rule = "multi_class='crammer_singer' and C=inf always use an L2 penalty"
                remedy = "Use penalty='l2'"
        elif self.penalty == "l1" and self.loss == "hinge":
            rule = "no solver combines penalty='l1' with loss='hinge'"
            remedy = "Use loss='squared_hinge', or penalty='l2'"
        elif self.penalty == "l1" and self.dual is True:
            rule, remedy = "penalty='l1' cannot be solved in the dual", "Use dual=False"
        elif self.loss == "hinge" and self.dual is False:
            rule = "loss='hinge' can only be solved in the dual"
            remedy = "Use dual=True or dual='auto'"
        if rule:
            raise ParameterError(
                f"LinearSVC: Unsupported set of arguments ({given}): {rule}. {remedy}."
            )
