"""Bayesian model averaging: models weighted by their probability given the data.

P(y|x, D) = Σ P(y|x, fₘ, D) P(fₘ|D),      P(fₘ|D) ∝ P(D|fₘ) P(fₘ)
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy.special import logsumexp

from thetahat.data.resampling import take_rows
from thetahat.data.source import row_weights
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import check_ranges, one_of
from thetahat.foundation.arguments import numbers
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.averaging.model_evidence import (
    BIC,
    CROSS_VALIDATED,
    EXACT,
    FITTED,
    bic_evidence,
    exact_evidence,
)
from thetahat.models.ensemble.combination.metadata_routing import rows_of_params
from thetahat.models.ensemble.combination.named_members import NamedMembers, fitted_member
from thetahat.models.ensemble.combination.out_of_fold import Fold, folds_of


@with_parameters
class ModelAveraging(NamedMembers):
    """Models fitted to all rows, and their posterior probabilities.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The models as (name, estimator) pairs. They can be estimators of thetahat or others,
        including pipelines; classifiers need ``predict_proba``. Replace an estimator by "drop" to
        leave it out.
    evidence : {"auto", "exact", "bic", "cv"}, default="auto"
        How the evidence P(D|fₘ) is computed. "exact" integrates over the parameters, "bic" uses the
        BIC, "cv" uses cross-validation. "auto" takes the first of these that is available for all
        models.
    prior : array-like of shape (n_models,) or None, default=None
        Prior probabilities of the models, up to a factor (P(fₘ)). Must be positive. None gives all
        models the same probability.
    cv : int, splitter, iterable or None, default=None
        Folds for cross-validation: a number of folds, a splitter, or an iterable of (train, test)
        rows. None uses 5 folds. Used only with cross-validated evidence.

    Attributes
    ----------
    posterior_ : array of shape (n_models,)
        Posterior probability of each model (P(fₘ|D)).
    log_evidences_ : array of shape (n_models,)
        Logarithm of the evidence of each model (log P(D|fₘ)).
    log_evidence_ : float
        Logarithm of the total evidence, log P(D) = log Σ P(D|fₘ) P(fₘ).
    approximation_ : str
        Kind of evidence that was used: "exact", "exact at fitted hyperparameters", "bic" or "cv".
    """

    _ranges = {"evidence": one_of("auto", EXACT, BIC, CROSS_VALIDATED)}  # noqa: RUF012
    _splits_rows = True

    estimators: list[tuple[str, Any]]
    _: KW_ONLY
    evidence: str = "auto"
    prior: Any = None
    cv: Any = None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "posterior_")

    @abstractmethod
    def _score_fold(self, member: Any, X: Any, y: Array) -> Array:
        """Quantities to store for the held-out rows of a fold."""

    @abstractmethod
    def _log_density(
        self, scores: Array, y: Array, weight: Array, place: int, noise: list[float | None]
    ) -> float:
        """Σ w log p(yᵢ | …) from the stored quantities, for the member at this position.

        The entry of ``noise`` at this position becomes that of rows the member has not seen.
        """

    def _fit_members(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        check_ranges(self)
        active = self._active()
        prior = self._prior()
        X, n_rows = self._require_rows(X, y)
        targets = self._targets(y, n_rows)
        weight = self._weights(sample_weight, n_rows)
        given = self._params_of_members(active, weight, params)
        self._remember_columns(X)
        members: list[Any] = []
        self._fit_named(active, given, X, targets, members)
        active = active[: len(members)]
        names = [name for name, _ in active]
        counted = row_weights(weight, n_rows)
        noise = [self._noise(member, X, targets, counted) for member in members]
        found = self._known_evidence(members, names)
        if found is None:
            fits = active, given, members
            found = self._cross_validated(fits, X, targets, counted, noise), CROSS_VALIDATED
        evidences, approximation = found
        joint = evidences + np.log([prior[name] for name in names])
        total = float(logsumexp(joint))
        # All at once, so that fits in several threads do not leave parts of two models.
        self.__dict__.update(
            estimators_=members,
            _fitted_names=names,
            log_evidences_=evidences,
            approximation_=approximation,
            log_evidence_=total,
            posterior_=np.exp(joint - total),
            **self._attributes_of(noise),
        )

    def _prior(self) -> dict[str, float]:
        """Prior probability of every member by name; they sum to 1."""
        names = [name for name, _ in self.estimators]
        who = type(self).__name__
        share = np.ones(len(names))
        if self.prior is not None:
            share = numbers(self.prior, "prior", who, finite=False)
        if share.shape != (len(names),):
            raise ParameterError(
                f"{who}: prior has {share.size} entries for {len(names)} estimators. Use one "
                "probability per estimator, or None."
            )
        bad = np.flatnonzero(~(np.isfinite(share) & (share > 0)))
        if bad.size:
            raise ParameterError(
                f"{who}: prior probabilities must be > 0 and finite; got "
                f"prior[{bad[0]}]={share[bad[0]]:g}, that of {names[bad[0]]!r}. Use 'drop' to "
                "leave a model out."
            )
        return dict(zip(names, (share / share.sum()).tolist(), strict=True))

    def _noise(self, member: Any, X: Any, y: Array, weight: Array) -> float | None:
        """The standard deviation of y about a member, where the comparison needs it."""
        return None

    def _attributes_of(self, noise: list[float | None]) -> dict[str, Any]:
        """Further attributes of the fitted model."""
        return {}

    def _known_evidence(self, members: list[Any], names: list[str]) -> tuple[Array, str] | None:
        """The best evidence that all members provide without cross-validation, if any."""
        if self.evidence in ("auto", EXACT):
            exact = [exact_evidence(member) for member in members]
            self._require_known(exact, members, names, EXACT)
            pairs = [pair for pair in exact if pair is not None]
            if len(pairs) == len(exact):
                kind = EXACT if all(pair[1] == EXACT for pair in pairs) else FITTED
                return np.array([pair[0] for pair in pairs]), kind
        if self.evidence in ("auto", BIC):
            values = [bic_evidence(member) for member in members]
            self._require_known(values, members, names, BIC)
            if all(value is not None for value in values):
                return np.array(values, dtype=float), BIC
        return None

    def _require_known(
        self, values: list[Any], members: list[Any], names: list[str], kind: str
    ) -> None:
        if self.evidence != kind or all(value is not None for value in values):
            return
        place = next(place for place, value in enumerate(values) if value is None)
        reason = {
            EXACT: "has no log_evidence_ under a proper prior; only BayesianLinearRegression and "
            "BayesianRidge have one",
            BIC: "has no BIC; only fits by maximum likelihood, without a penalty, have one",
        }[kind]
        raise CapabilityError(
            f"{type(self).__name__}: evidence={kind!r} is not available: {names[place]!r}, a "
            f"{type(members[place]).__name__}, {reason}. Use evidence='cv', or 'auto'."
        )

    def _cross_validated(
        self,
        fits: tuple[list[tuple[str, Any]], dict[str, dict[str, Any]], list[Any]],
        X: Any,
        y: Array,
        weight: Array,
        noise: list[float | None],
    ) -> Array:
        """Log density of held-out rows under each member, by cross-validation.

        ``fits`` are the members as given, the arguments of their fits, and the fitted members.
        """
        active, given, members = fits
        who, n_rows = type(self).__name__, len(y)
        folds = folds_of(self.cv, y, classifier=hasattr(self, "classes_"), who=who)
        parts = [(place, fold) for place in range(len(active)) for fold in folds]
        kept: list[list[tuple[Array, Array]]] = [[] for _ in active]

        def work(part: tuple[int, Fold]) -> tuple[int, Array, Array]:
            place, (train, test) = part
            name, member = active[place]
            params = rows_of_params(given[name], train, n_rows)
            copy = fitted_member(name, member, take_rows(X, train), y[train], params)
            return place, test, self._score_fold(copy, take_rows(X, test), y[test])

        def keep(found: tuple[int, Array, Array]) -> None:
            kept[found[0]].append(found[1:])

        if self._run(parts, work, keep, members, X, y) < len(parts):
            raise CapabilityError(
                f"{who}: the time limit was reached before every model was fitted to every fold, "
                "so the models cannot be compared. Increase th.config(max_time=...), or use fewer "
                "folds."
            )
        found = []
        for place, pieces in enumerate(kept):
            scores = np.empty((n_rows, *pieces[0][1].shape[1:]))
            for test, score in pieces:
                scores[test] = score
            found.append(self._log_density(scores, y, weight, place, noise))
        return np.array(found)
