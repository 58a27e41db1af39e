"""Standard errors, tests and intervals for estimators fitted by maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from thetahat.data.source import Block, Source
from thetahat.data.summaries.frame import dense_rows
from thetahat.estimator.risk_minimiser import RiskMinimiser
from thetahat.foundation.arguments import shown
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.families import Family, family_of
from thetahat.mathematics.optimizers.smooth.newton import Newton
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.mathematics.penalties.norms import NoPenalty
from thetahat.models.linear.bayesian.posterior import normal_quantile
from thetahat.models.linear.inference.importance import are_importances
from thetahat.models.linear.inference.likelihood_evidence import (
    MOST_STEPS,
    LikelihoodEvidence,
    likelihood_evidence,
)
from thetahat.models.linear.inference.likelihood_summary import (
    LikelihoodRatio,
    LikelihoodSummary,
    summarise_likelihood,
)
from thetahat.models.linear.inference.nested import (
    require_same_rows_and_targets,
    warn_of_other_columns,
)
from thetahat.models.linear.inference.sandwich import (
    check_kind,
    meat,
    require_rows,
    require_same_rows,
)
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.predictor import LinearPredictor

CHEAP_HESSIAN = 64
"""Number of parameters up to which a Hessian costs little more than a gradient."""


@dataclass(frozen=True)
class FittedParts:
    """The parts of the objective that was minimised, without the rows."""

    predictor: LinearPredictor
    loss: Any
    penalty: Any
    class_weights: Array | None = None
    """Weights of the classes, which the row weights contain."""

    @property
    def family(self) -> Family | None:
        return family_of(self.loss)

    @property
    def is_penalised(self) -> bool:
        strength = getattr(self.penalty, "alpha", 1.0)
        return not isinstance(self.penalty, NoPenalty) and strength != 0


class LikelihoodInference(RiskMinimiser):
    """A linear model with standard errors and tests if it was fitted by maximum likelihood.

    Placed before `RiskMinimiser` among the base classes of an estimator, it stores the information
    matrix at the maximum after ``_minimise``: one pass over the rows, if the solver formed Hessians
    or they are small. Otherwise, and for robust covariances, `summary` needs the rows again.
    """

    _likelihood: LikelihoodEvidence | None
    _fitted: FittedParts

    def _minimise(
        self,
        risk: EmpiricalRisk,
        X: Any,
        y: Any,
        *,
        class_weights: Array | None = None,
        **options: Any,
    ) -> None:
        self._likelihood = None
        super()._minimise(risk, X, y, **options)
        assert isinstance(risk.predictor, LinearPredictor)
        self._fitted = FittedParts(risk.predictor, risk.loss, risk.penalty, class_weights)
        solution = self.solution_
        formed = solution.solver == Newton.name or solution.outcome is Outcome.EXACT
        small = risk.predictor.n_parameters <= CHEAP_HESSIAN
        if (formed or small) and self._refusal() is None:
            self._likelihood, theta = self._evidence_in(risk.source)
            if not np.array_equal(theta, solution.theta):
                self.solution_ = replace(solution, theta=theta, value=risk.value(theta))
                self.__dict__.update(self._attributes(theta, risk=risk))

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        level: float = 0.95,
        covariance: str = "model",
    ) -> LikelihoodSummary:
        """Compute standard errors, Wald and likelihood-ratio tests, and the quality of the fit.

        Only available for fits without a penalty whose loss is the likelihood of a distribution.

        Row weights count rows. Class weights are importances: they multiply the loss of a row
        without adding rows, so that standard errors come from the sandwich formula H⁻¹MH⁻¹, and
        χ², AIC and BIC, which need a likelihood, are NaN.

        Cost: O(d³); if rows are given, one more pass over them, O(n d²).

        Parameters
        ----------
        X, y, sample_weight : optional
            The data given to `fit`. Needed for a robust covariance, and for solvers that do not
            form the Hessian.
        level : float, default=0.95
            Confidence level of the intervals, between 0 and 1.
        covariance : {"model", "HC0", "HC1", "HC2", "HC3"}, default="model"
            Estimator of the covariance of the coefficients. "model" uses the likelihood. The others
            are robust: they remain valid if the variance of y differs from the one that the
            likelihood assumes.

        Returns
        -------
        summary : LikelihoodSummary
            The summary, which prints as a table.
        """
        check_is_fitted(self)
        check_kind(covariance)
        source = None if X is None else self._rows_again(X, y, sample_weight)
        evidence = self._certain(source)
        if covariance == "model":
            matrix = evidence.covariance()
        else:
            require_rows(covariance, X)
            assert source is not None
            matrix = self._robust(source, evidence, covariance)
        family = self._fitted.family
        assert family is not None
        return summarise_likelihood(
            evidence,
            matrix,
            self._coefficient_names(),
            family=family.name,
            dispersed=family.dispersed,
            level=level,
            kind=covariance,
            solver=self.solution_.solver,
            class_weighted=are_importances(self._fitted.class_weights),
        )

    def likelihood_ratio_test(self, smaller: LikelihoodInference) -> LikelihoodRatio:
        """Test this model against a smaller model with some of its columns. Cost: O(1).

        Parameters
        ----------
        smaller : fitted estimator
            A model of the same family, fitted to the same rows with fewer columns. Other rows,
            weights or targets are an error, columns that this model does not have a warning.

        Returns
        -------
        test : LikelihoodRatio
            Statistic, degrees of freedom and p-value. A small p-value means that the smaller model
            fits significantly worse.
        """
        who = type(self).__name__
        if not isinstance(smaller, LikelihoodInference):
            raise ParameterError(
                f"{who}: the smaller model is {shown(smaller)}, but a likelihood-ratio test needs "
                "another fitted model of the same family, such as one more fitted "
                f"{who} with fewer columns."
            )
        check_is_fitted(self)
        check_is_fitted(smaller)
        if any(are_importances(model._fitted.class_weights) for model in (self, smaller)):
            raise CapabilityError(
                f"{who}: a likelihood-ratio test needs a likelihood, which a fit with class "
                "weights does not have, because they multiply the loss of a row without adding "
                "rows. Fit both models with class_weight=None, or use the Wald tests of summary()."
            )
        ours, theirs = self._certain(None), smaller._certain(None)
        if type(self._fitted.loss) is not type(smaller._fitted.loss):
            raise DataError(
                f"{who}: a likelihood-ratio test needs two models with the same rows and the "
                f"same loss, but the losses are {self._fitted.loss!r} and "
                f"{smaller._fitted.loss!r}. Fit both models with the same loss."
            )
        require_same_rows_and_targets(ours, theirs, who)
        degrees = ours.n_parameters - theirs.n_parameters
        gain = ours.log_likelihood - theirs.log_likelihood
        if degrees <= 0 or gain < -1e-6 * abs(ours.log_likelihood):
            raise DataError(
                f"The other model is not nested in this one: it has {theirs.n_parameters} "
                f"parameters and log-likelihood {theirs.log_likelihood:.6g}, this one has "
                f"{ours.n_parameters} and {ours.log_likelihood:.6g}. Call the method of the larger "
                "model, and pass a model with some of its columns."
            )
        warn_of_other_columns(ours, theirs, who)
        return LikelihoodRatio.of(2 * max(gain, 0.0), degrees)

    def predict_interval(
        self, X: Any, *, level: float = 0.95, kind: str = "confidence"
    ) -> tuple[Array, Array]:
        """Compute confidence intervals for the mean E[y | x]. Cost: O(n d²).

        Formula: link⁻¹(z ± q·√(xᵀH⁻¹x)): the interval is computed for the score z, which is
        approximately normal, and then transformed by the link.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Rows to predict, with the same columns as in `fit`.
        level : float, default=0.95
            Confidence level of the intervals, between 0 and 1.
        kind : {"confidence"}, default="confidence"
            Kind of interval. Only intervals for the mean are available, not for a new value of y.

        Returns
        -------
        low, high : arrays of shape (n,)
            Lower and upper bounds.
        """
        check_is_fitted(self)
        if kind != "confidence":
            raise ParameterError(
                f"kind={kind!r} must be 'confidence' (for the mean). Intervals for a new y are not "
                "available, because y is not normally distributed around its mean."
            )
        evidence, predictor = self._certain(None), self._fitted.predictor
        if predictor.n_outputs:
            raise CapabilityError(
                "predict_interval needs one score per row, but this model has one per class. Fit "
                "the class of interest against the others, or use th.bootstrap."
            )
        rows = self._open_again(X)
        half, root = normal_quantile(level), evidence.root
        family = self._fitted.family
        assert family is not None
        if family.dispersed:
            from scipy import stats

            half = float(stats.t.ppf(0.5 + level / 2, evidence.degrees))

        def deviation(block: Block) -> Array:
            design = predictor.design(dense_rows(block))
            # R x̃ first: with columns far from zero, x̃ᵀVx̃ would cancel to nothing.
            return np.linalg.norm(design @ root.T, axis=1)

        z = rows.map_rows(lambda block: predictor.raw(block.X, self.solution_.theta))
        half = half * rows.map_rows(deviation)
        mean = self._fitted.loss.mean
        return mean(z - half), mean(z + half)

    def _certain(self, source: Source | None) -> LikelihoodEvidence:
        """The evidence of the fit, or of the given rows; an error if there is none."""
        refusal = self._refusal()
        if refusal is not None:
            raise CapabilityError(refusal)
        evidence = self._likelihood
        if source is not None:
            # Where `fit` had the Hessian, θ̂ is already at the maximum of its rows.
            found, _ = self._evidence_in(source, MOST_STEPS if evidence is None else 0)
            if evidence is not None:
                require_same_rows(found.n, found.loss, (evidence.n, evidence.loss))
            evidence = found
        if evidence is None:
            raise CapabilityError(
                f"Standard errors need the Hessian, which solver={self.solution_.solver!r} does "
                'not compute. Pass the rows again, summary(X, y), or fit with solver="newton".'
            )
        if evidence.trouble:
            raise CapabilityError(f"Standard errors do not exist: {evidence.trouble}")
        return evidence

    def _refusal(self) -> str | None:
        parts, who = self._fitted, type(self).__name__
        if parts.is_penalised:
            return (
                f"{who}: no valid standard errors are known for a penalised fit "
                f"({parts.penalty!r}), because the penalty biases the estimate by an amount that "
                "is not known from the data. Fit without a penalty, or resample the rows with "
                "th.bootstrap."
            )
        if parts.family is None:
            return (
                f"{who}: standard errors are available for normal, Bernoulli, categorical and "
                "Poisson likelihoods and for losses that declare their family, but not for the "
                f"loss {type(parts.loss).__name__}. Resample the rows with th.bootstrap."
            )
        outcome = self.solution_.outcome
        if not (outcome.success or outcome is Outcome.STALLED):
            return (
                f"{who}: the fit stopped before the maximum of the likelihood "
                f"({outcome.value}), and standard errors are only valid there. "
                "Raise max_iter and fit again."
            )
        return None

    def _evidence_in(
        self, source: Source, most_steps: int = MOST_STEPS
    ) -> tuple[LikelihoodEvidence, Array]:
        parts = self._fitted
        assert parts.family is not None
        return likelihood_evidence(
            source,
            parts.predictor,
            parts.loss,
            parts.family,
            self.solution_.theta,
            most_steps,
            parts.class_weights,
        )

    def _rows_again(self, X: Any, y: Any, sample_weight: Any) -> Source:
        """The rows of `fit`, opened by a copy so that this model does not change."""
        other = clone(self)
        if hasattr(self, "classes_"):
            weights = getattr(self, "class_weight", None)
            return other._open_classes(X, y, sample_weight, class_weight=weights)
        return other._open(X, y, sample_weight)

    def _robust(self, source: Source, evidence: LikelihoodEvidence, kind: str) -> Array:
        predictor, loss, theta = self._fitted.predictor, self._fitted.loss, self.solution_.theta
        if predictor.n_outputs:
            raise CapabilityError(
                "Robust covariances need one score per row, but this model has one per class. "
                "Use covariance='model', or th.bootstrap."
            )
        factor, of_class = evidence.factor, self._fitted.class_weights
        assert factor is not None

        def influence(block: Block) -> tuple[Array, Array, Array]:
            y, z = np.asarray(block.y, dtype=np.float64), predictor.raw(block.X, theta)
            rows = predictor.design(block.X) @ factor.T
            leverage = loss.curvature(y, z) * np.einsum("ij,ij->i", rows, rows)
            return rows, loss.gradient(y, z), leverage

        def importance(block: Block) -> Array:
            assert of_class is not None
            return of_class[np.asarray(block.y).astype(np.intp)]

        def values(block: Block) -> Array:
            y = np.asarray(block.y, dtype=np.float64)
            return loss.value(y, predictor.raw(block.X, theta))

        found = meat(source, influence, values, kind, importance if of_class is not None else None)
        found.warn_of_lone_rows(self._coefficient_names(), factor.T, type(self).__name__)
        middle = found.squares
        if kind == "HC1":
            middle = middle * evidence.n / evidence.degrees
        return factor.T @ middle @ factor

    def _coefficient_names(self) -> list[str]:
        """Names in the order of the raveled estimates: columns, then intercept, for each class."""
        known = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(self.n_features_in_)] if known is None else list(known)
        if self._fitted.predictor.fit_intercept:
            names = [*names, "(intercept)"]
        family = self._fitted.family
        k = self._fitted.predictor.n_outputs - bool(family and family.symmetric)
        if k <= 0:
            return names
        classes = getattr(self, "classes_", np.arange(k + 1))
        others = np.delete(classes[: k + 1], getattr(self._fitted.loss, "reference", 0))
        shown = [f"{each:g}" if isinstance(each, float) else str(each) for each in others.tolist()]
        return [f"{label}: {name}" for name in names for label in shown]
