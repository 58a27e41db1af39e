"""The linear support vector machine: ½‖β‖² + C·Σ wᵢ ξᵢ with yᵢ f(xᵢ) ≥ 1 − ξᵢ, ξᵢ ≥ 0.

At the optimum the slack is ξᵢ = [1 − yᵢ f(xᵢ)]₊, so the same problem is the hinge loss with an L2
penalty: F = (Σ wᵢ [1 − yᵢ f(xᵢ)]₊)/(Σ wᵢ) + λ/2‖β‖² with λ = 1/(C·Σw). C = ∞ forbids slack: the
hard margin.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks

from thetahat.data.class_weights import class_weighted, weights_of_classes
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.data.views.one_against_rest import OneAgainstRest
from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.estimator.parameters import Range, boolean, more_than, one_of, whole
from thetahat.estimator.sparsify import Sparsifies
from thetahat.estimator.watching import Watched
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.losses.base import Loss, Targets
from thetahat.mathematics.losses.margin import Hinge, SquaredHinge
from thetahat.mathematics.losses.multiclass.crammer_singer import CrammerSinger
from thetahat.mathematics.optimizers.dual.augmented_lagrangian import AugmentedLagrangian
from thetahat.mathematics.optimizers.joined import joined
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.models.linear.margin.cost_and_bias import (
    CostAndBias,
    coefficients,
    pull,
    support_rows,
)
from thetahat.models.linear.margin.hard_margin import hard_margin, without_slack
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.subsampled_start import subsampled_start

LOSSES: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
PATIENT = 1000
"""Steps after which a machine that is not there yet has lost its way; fewer are just few."""
SIDES = np.array(["wrong", "inside", "on", "outside"])


class LinearSVC(Sparsifies, CostAndBias, Watched, LinearClassifier):
    """Linear support vector machine: soft and hard margin, hinge and squared hinge.

    Formula: min ½‖β‖² + C·Σ wᵢ [1 − yᵢ f(xᵢ)]₊ (or its square) with f(x) = xᵀβ + b: equally, slack
    ξᵢ ≥ 0 with yᵢ f(xᵢ) ≥ 1 − ξᵢ; equally, the mean hinge loss with L2 penalty λ = 1/(C·Σw). With
    C = ∞ no slack is allowed. Only rows with yᵢ f(xᵢ) ≤ 1 have a say in β. The bias is penalised as
    the coefficient of a constant column; `LinearModel(loss="hinge")` leaves it free.

    Cost: O(n d²) for each of a few Newton steps; O(n d) per sweep where there are many columns.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        "l1" (with the squared hinge only) sets coefficients to zero.
    loss : {"squared_hinge", "hinge"} or Loss, default="squared_hinge"
        [1 − y f]₊² or [1 − y f]₊; or a loss of y = ±1, your own ``th.loss(function,
        targets="signs")`` too: then min ½‖β‖² + C·Σ wᵢ ℓ(yᵢ, f(xᵢ)).
    dual : bool or "auto", default="auto"
        Whether the dual is solved. The hinge always is solved through its dual.
    tol : float, default=1e-4
        The fit stops when the largest entry of the gradient of the objective above is `tol`, or
        its duality gap `tol`/100 (for coordinate methods: that share of the objective of β = 0).
    C : float, default=1.0
        Cost of slack; ``math.inf`` for a hard margin.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One machine per class against the rest, or one for all: max_m (1[m ≠ y] + f_m − f_y).
    fit_intercept : bool, default=True
        Whether there is a bias.
    intercept_scaling : float, default=1
        The entry of the constant column; the larger, the less the bias is shrunk.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    verbose : int, default=0
        Ignored; follow a fit with ``set_callbacks``.
    random_state : int, Generator or RandomState, optional
        Order of the rows for the coordinate methods; always the same if None.
    max_iter : int, default=1000
        Most Newton steps or sweeps; ten times as many sweeps for "crammer_singer". Where 1000 steps
        for the hinge are not enough, a cost so high that no row needs slack is lowered first.

    Attributes
    ----------
    coef_ : array of shape (1 or C, d)
        β, one row per class; one row in all for two classes.
    intercept_ : array of shape (1 or C,), or 0.0
        b.
    classes_ : array of shape (C,)
        The labels.
    support_ : array of shape (n_support,)
        The rows with a say in β. This and the next two are there when the dual was solved.
    dual_coef_ : array of shape (1 or C, n_support)
        yᵢαᵢ of each: αᵢ = C·wᵢ inside the margin, less on it. β = dual_coef_ @ support_vectors_.
    support_vectors_ : array or sparse of shape (n_support, d)
        Those rows, where they are in memory.
    solution_ : Solution
        Outcome, steps and gap; the worst of the classes.
    n_iter_ : int
        Steps or sweeps taken.

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

    _everyday = "linear support vectors"
    _ranges = {  # noqa: RUF012
        "penalty": one_of("l1", "l2"),
        "loss": one_of("hinge", "squared_hinge")
        | Range(lambda value: isinstance(value, Loss), "a loss such as th.losses.SignLogistic()"),
        "dual": boolean | one_of("auto"),
        "tol": more_than(0),
        "C": more_than(0),
        "multi_class": one_of("ovr", "crammer_singer"),
        "fit_intercept": boolean,
        "intercept_scaling": more_than(0),
        "max_iter": whole(1),
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: Any = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LinearSVC:
        """Fit to rows in memory (X, y) or to a source that brings its own labels.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Labels; None when X is a `Source`.
        sample_weight : array-like of shape (n,), optional
            A row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        source = self._open_classes(X, y, sample_weight)
        self._require_known_combination()
        risks = self._risks(source)
        found: list[Solution] = []

        def attributes(theta: Array) -> dict[str, Any]:
            """The machines that are done, the one in work, and nothing yet of the others."""
            thetas = [solution.theta for solution in found] + [theta]
            thetas += [risk.predictor.zeros() for risk in risks[len(thetas) :]]
            return self._split(thetas, risks, source)

        with self._watching(self.max_iter, attributes, X, y) as watch:
            for number, risk in enumerate(risks):
                found.append(self._solve(risk, number, watch))
        self.solution_ = joined(found)
        self.__dict__.update(self._split([each.theta for each in found], risks, source))
        self.n_iter_ = self._iterations(self._method(risks[0])[0], self.solution_.steps)
        self._keep_support(found, risks, source)
        self._warn_unless_converged()
        return self

    def margin_side(self, X: Any, y: Any, tolerance: float = 1e-6) -> Array:
        """On which side of the margin rows lie: "outside", "on", "inside" or "wrong".

        By the signed score m of the row's own class: m > 1, m = 1, 0 < m < 1 or m ≤ 0; rows
        strictly outside have no say in β. Cost: O(n d C).

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows.
        y : array-like of shape (n,)
            Their labels.
        tolerance : float
            How far from 1 a score may be and still count as on the margin.

        Returns
        -------
        array of shape (n,) of words
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
        """One risk per machine: a single one for two classes, or for all by Crammer and Singer."""
        classes = len(self.classes_)
        weighted = partial(class_weighted, classes=self.classes_, who="LinearSVC")
        hard = self.C == np.inf
        cost = 1.0 if hard else float(self.C)
        if self.multi_class == "crammer_singer" and classes > 2:
            if hard:
                raise ParameterError(
                    "LinearSVC: C=inf needs one machine per class. Use multi_class='ovr', or a "
                    "large finite C."
                )
            if not isinstance(source, InMemory):
                raise CapabilityError(
                    "LinearSVC: multi_class='crammer_singer' needs its rows in memory, and these "
                    "are read block by block. Use multi_class='ovr'."
                )
            source = weighted(source, class_weight=self.class_weight)
            return [self._risk(source, CrammerSinger(), cost, outputs=classes)]
        loss = self.loss if isinstance(self.loss, Loss) else LOSSES[self.loss]
        if hard or self.multi_class == "crammer_singer":
            loss = Hinge()
        if self.multi_class == "crammer_singer":
            # Of two scores only the difference counts, so each class carries half of it.
            cost *= 2.0
        if classes == 2:
            sources = [OneAgainstRest.of(weighted(source, class_weight=self.class_weight), 1)]
        elif self.class_weight is None:
            sources = [OneAgainstRest.of(source, code) for code in range(classes)]
        else:
            # As in scikit-learn: the weight of a class counts in its own machine only.
            own = weights_of_classes(source, self.classes_, self.class_weight, "LinearSVC")
            sources = [
                OneAgainstRest.of(weighted(source, class_weight={label: own[code]}), code)
                for code, label in enumerate(self.classes_.tolist())
            ]
        return [self._risk(each, loss, cost, sparse=self.penalty == "l1") for each in sources]

    def _solve(self, risk: EmpiricalRisk, number: int, watch: Watch) -> Solution:
        if self.C == np.inf:
            label = self.classes_.tolist()[1 if len(self.classes_) == 2 else number]
            return hard_margin(risk, repr(label), tolerance=self.tol, watch=watch)
        method, reason, steps = self._method(risk)
        tolerance = self._tolerance(risk, method)
        start = subsampled_start(risk, method) if isinstance(method, Newton) else None
        found = minimise(
            risk, method, start, tolerance=tolerance, max_steps=steps, watch=watch, reason=reason
        )
        lost = found.outcome is Outcome.STUCK
        if found.outcome is Outcome.STEPS_EXHAUSTED:
            lost = self.max_iter >= PATIENT
        if lost and isinstance(method, AugmentedLagrangian):
            return without_slack(risk, found, tolerance=tolerance, watch=watch)
        return found

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
        """The rows with a pull, and how hard each pulls; nothing where only the primal was solved.

        A multiplier mᵢ of the mean risk is wᵢmᵢ/(λ·Σw) in β = Σ (…)·xᵢ; those of Crammer and Singer
        have that unit already.
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
        """Refuse what no solver serves, as scikit-learn does."""
        given = f"penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r}"
        rule = remedy = ""
        own = isinstance(self.loss, Loss)
        if own and self.loss.targets not in (Targets.SIGNS, Targets.REAL):
            rule = f"the loss is for targets {self.loss.targets.value}, and these are −1 and +1"
            remedy = "Give th.loss(function, targets='signs'), or use LogisticRegression"
        elif own and (self.multi_class == "crammer_singer" or self.C == np.inf):
            rule = "multi_class='crammer_singer' and C=inf have a loss of their own, the hinge"
            remedy = "Use multi_class='ovr' and a finite C, or loss='hinge'"
        elif self.multi_class == "crammer_singer" or self.C == np.inf:
            if self.penalty == "l1":
                rule, remedy = "both have an L2 penalty", "Use penalty='l2'"
        elif self.penalty == "l1" and self.loss == "hinge":
            rule = "penalty='l1' and loss='hinge' have no common solver"
            remedy = "Use loss='squared_hinge', or penalty='l2'"
        elif self.penalty == "l1" and self.dual is True:
            rule, remedy = "penalty='l1' has no dual here", "Use dual=False"
        elif self.loss == "hinge" and self.dual is False:
            rule, remedy = "loss='hinge' is solved in its dual", "Use dual=True or dual='auto'"
        if rule:
            raise ParameterError(
                f"LinearSVC: Unsupported set of arguments ({given}): {rule}. {remedy}."
            )
