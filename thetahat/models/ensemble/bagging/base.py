"""Bagging: one estimator fitted to many bootstrap samples, and the mean of the predictions.

    f(x) = (1/M) Σ fₘ(x),      variance of f: ρσ² + (1 − ρ)σ²/M

for members of variance σ² and correlation ρ. Averaging reduces the variance and keeps the bias. The
rows that a member did not draw (e⁻¹ ≈ 37 % of them) can be used to test it.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from thetahat.data.resampling import take_columns, take_rows
from thetahat.estimator.parameters import check_ranges
from thetahat.estimator.watching import keep_so_far, with_callbacks
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.ensemble.bagging.bootstrap_draws import Draws, plan_draws
from thetahat.models.ensemble.bagging.out_of_bag import (
    OutOfBagError,
    OutOfBagErrors,
    OutOfBagPredictions,
)
from thetahat.models.ensemble.bagging.parameters import BaggingParameters
from thetahat.models.ensemble.combination.base import Ensemble, average, precision_of
from thetahat.models.ensemble.combination.metadata_routing import (
    routed,
    rows_of_params,
    takes_weights,
)
from thetahat.models.ensemble.combination.rows_as_given import rows_as_given
from thetahat.models.ensemble.last_fit import LastFit
from thetahat.models.ensemble.members import MemberSequence
from thetahat.models.ensemble.progress import print_end
from thetahat.models.tree.growth.sorted_rows import SortedRows, packed_alike
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.single import SingleTree

FEW_ROWS = 512
"""Up to this many rows, starting threads takes longer than predicting."""

OF_THE_LAST_FIT = (
    "oob_score_",
    "oob_prediction_",
    "oob_decision_function_",
    "_left_out",
    "_packed",
)
"""Attributes that a new fit deletes unless it sets them."""


class Bagging(BaggingParameters, MemberSequence, Ensemble):
    """M copies of an estimator, each fitted to its own sample of rows and columns.

    Attributes
    ----------
    estimator_ : estimator
        The unfitted base estimator that was copied.
    estimators_ : list of estimators
        The fitted members. There are fewer than ``n_estimators`` if the time limit was reached or
        the fit was interrupted.
    estimators_samples_ : list of arrays
        Numbers of the rows drawn for each member.
    estimators_features_ : list of arrays
        Numbers of the columns drawn for each member.
    """

    _draws_rows = True

    _draws: Draws
    _left_out: OutOfBagErrors
    _packed: PackedTrees | None
    _seeds: list[int]
    estimators_features_: list[Array]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self._base())
        tags.input_tags.sparse = base.input_tags.sparse
        tags.input_tags.allow_nan = base.input_tags.allow_nan
        return tags

    def _base(self) -> Any:
        """The estimator that is copied."""
        return self._default() if self.estimator is None else self.estimator

    @abstractmethod
    def _default(self) -> Any:
        """The estimator used when `estimator` is None."""

    @abstractmethod
    def _answer_of(self, member: Any, X: Any, method: str, params: dict[str, Any]) -> Array:
        """Output to average: predictions, or probabilities of all classes."""

    @abstractmethod
    def _score_out_of_bag(
        self, y: Array, answers: OutOfBagPredictions, weight: Array | None
    ) -> dict[str, Any]:
        """Attributes of the out-of-bag predictions and their score."""

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit every member to its own sample of rows and columns. Cost: M fits.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows, of any kind that the base estimator accepts.
        y : array-like of shape (n,), or (n, k) for regressors of several outputs
            Class label or target value of each training row.
        sample_weight : array-like of shape (n,), optional
            Row weights. Rows are drawn with probabilities proportional to their weights. None gives
            every row weight 1.
        **fit_params
            Passed to the ``fit`` method of the members through scikit-learn's metadata routing.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._fit_bag(X, y, sample_weight, fit_params)
        return self

    def oob_error(self, level: float = 0.95) -> OutOfBagError:
        """Estimate the error from the out-of-bag rows, with a confidence interval.

        The error is the error rate of a classifier, with a Wilson interval, or the mean squared
        error of a regressor, with an interval of Student's t distribution. All rows of positive
        weight count alike. Requires ``oob_score=True``. Cost: O(n).

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the interval, between 0 and 1.

        Returns
        -------
        error, low, high : float
            The estimate, and the lower and upper bound of its confidence interval.
        """
        return self._require_out_of_bag().error(level)

    def _mean_and_deviation(self, X: Any, params: dict[str, Any]) -> tuple[Array, Array]:
        """Mean and standard deviation over the members."""
        outputs = self._outputs(X, params)
        mean = average(outputs)
        return mean, np.std(outputs, axis=0, ddof=min(1, len(outputs) - 1)).astype(mean.dtype)

    def _fit_bag(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        self._check_parameters()
        X, n_rows = self._require_rows(X, y)
        last = LastFit.of(self)
        X = self._rows(X, reset=True)
        y = self._targets(y, n_rows, precision_of([X]))
        last.require_same(self)
        weight = self._weights(sample_weight, n_rows)
        before = getattr(self, "estimators_", []) if self.warm_start else []
        seeds = self._seeds_after(len(before))
        if not seeds:
            return
        self.estimator_ = self._base()
        params = routed(self, "fit", params)["estimator"]["fit"]
        draws = self._plan(n_rows, weight)
        # Lists of this fit, stored at its end, because several threads may fit one model.
        found: dict[str, Any] = {
            "_draws": draws,
            "estimators_": list(before),
            "estimators_features_": list(self.estimators_features_) if before else [],
            "_seeds": list(self._seeds) if before else [],
        }
        members = found["estimators_"]
        shareable = draws.all_columns and not params
        rows_of_trees = SortedRows.of(self._prototype(), X, y) if shareable else None
        answers, started = OutOfBagPredictions(n_rows), time.monotonic()

        def work(seed: int) -> tuple[int, Any, Array | None]:
            if rows_of_trees is None:
                member = self._fitted(draws, seed, X, y, params)
            else:
                member = rows_of_trees.grown(_counts(draws, seed), seeds_of(seed, 1)[0])
            rows = draws.out_of_bag(seed) if self.oob_score else None
            if rows is None or not len(rows):
                return seed, member, None
            seen = _seen_by(draws, take_rows(X, rows), seed)
            return seed, member, self._answer_of(member, seen, "predict", {})

        def keep(done: tuple[int, Any, Array | None]) -> None:
            seed, member, answer = done
            members.append(member)
            found["estimators_features_"].append(draws.columns_of(seed))
            found["_seeds"].append(seed)
            if answer is not None:
                answers.add(draws.out_of_bag(seed), answer)
            if getattr(self, "_skl_callbacks", None):
                self.__dict__.update(found)  # callbacks may predict with the members so far

        try:
            self._run(seeds, work, keep, members, X, y)
        except KeyboardInterrupt as interrupt:
            if members:
                keep_so_far(self, interrupt, **found)
                self._forget_all_but(found)
            raise
        every = np.arange(self.n_features_in_)
        if all(np.array_equal(columns, every) for columns in found["estimators_features_"]):
            found["_packed"] = packed_alike(members)
        if self.oob_score:
            found |= self._score_out_of_bag(y, answers, weight)
        self.__dict__.update(found)
        self._forget_all_but(found)
        print_end(self, len(members), self.n_estimators, "members", started)

    def _forget_all_but(self, found: dict[str, Any]) -> None:
        """Delete what the last fit has set and this one has not."""
        for name in OF_THE_LAST_FIT:
            if name not in found:
                self.__dict__.pop(name, None)

    def _check_parameters(self) -> None:
        check_ranges(self)
        who = type(self).__name__
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                f"{who}: oob_score=True: Out of bag estimation only available if bootstrap=True."
            )
        if self.oob_score and self.warm_start:
            raise ParameterError(
                f"{who}: Out of bag estimate only available if warm_start=False, because the "
                "out-of-bag predictions of earlier members are not stored."
            )

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return rows_as_given(self, X, self._base(), reset=reset)

    def _seeds_after(self, fitted: int) -> list[int]:
        """Seeds of the members that remain to be fitted; existing members keep theirs."""
        more = self.n_estimators - fitted
        if more < 0:
            raise ParameterError(
                f"{type(self).__name__}: n_estimators={self.n_estimators} must be larger or equal "
                f"to len(estimators_)={fitted} when warm_start==True. Increase it."
            )
        if more == 0:
            warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
            )
        random = generator(self.random_state)
        return [int(seed) for seed in random.integers(2**63, size=self.n_estimators)[fitted:]]

    def _plan(self, n_rows: int, weight: Array | None) -> Draws:
        draws = plan_draws(
            n_rows,
            self.n_features_in_,
            max_samples=self.max_samples,
            max_features=self.max_features,
            bootstrap=self.bootstrap,
            bootstrap_features=self.bootstrap_features,
            weight=weight,
            who=type(self).__name__,
        )
        if weight is not None and not self.bootstrap:
            warn(
                f"When fitting {type(self).__name__} with sample_weight it is recommended to use "
                "bootstrap=True, because without replacement rows cannot be drawn in proportion to "
                "their weights.",
            )
        return draws

    def _fitted(self, draws: Draws, seed: int, X: Any, y: Array, params: dict[str, Any]) -> Any:
        """A copy of the estimator fitted to the sample of this seed.

        If the estimator supports weights, rows drawn k times have weight k and are not copied.
        """
        member = self._copy(seed)
        rows, X = draws.rows_of(seed), _seen_by(draws, X, seed)
        if takes_weights(member) and self._all_drawn(y, rows):
            return member.fit(X, y, **{**params, "sample_weight": _counts(draws, seed)})
        try:
            params = rows_of_params(params, rows, draws.n_rows)
            return member.fit(take_rows(X, rows), take_rows(y, rows), **params)
        except Exception as failure:
            self._explain(y, rows, failure)
            raise

    def _prototype(self) -> Any:
        """The estimator to copy. Trees choose at random between columns of equal gain.

        Otherwise all members would use the first of these columns, even where it is not
        informative.
        """
        member = clone(self.estimator_)
        return member.set_params(ties="random") if isinstance(member, SingleTree) else member

    def _copy(self, seed: int) -> Any:
        member = self._prototype()
        seed_member(member, seed)
        return member

    def _all_drawn(self, y: Array, rows: Array) -> bool:
        """Whether ignoring the rows that were not drawn loses no class of y."""
        return True

    def _explain(self, y: Array, rows: Array, failure: Exception) -> None:
        """Raise a clearer error if the sample is the cause of a failure."""

    @property
    def estimators_samples_(self) -> list[Array]:
        """Numbers of the rows drawn for each member, recomputed from its seed."""
        check_is_fitted(self)
        return [self._draws.rows_of(seed) for seed in self._seeds]

    def _mean(self, X: Any, params: dict[str, Any]) -> Array:
        """Mean of the predictions of the members; trees of one kind are evaluated together."""
        check_is_fitted(self)
        packed = getattr(self, "_packed", None)
        if packed is None or params or packed.n_trees != len(self.estimators_):
            return average(self._outputs(X, params))
        rows = self.estimators_[0]._rows(self._rows(X, reset=False))
        mean = (packed.sum(rows) / packed.n_trees).astype(rows.dtype, copy=False)
        return mean if hasattr(self, "classes_") else mean[:, 0]

    def _outputs(self, X: Any, params: dict[str, Any], method: str = "predict") -> list[Array]:
        """Output of each member for each row, in order."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)

        def work(place: int) -> Array:
            columns = self.estimators_features_[place]
            whole = np.array_equal(columns, np.arange(self.n_features_in_))
            seen = X if whole else take_columns(X, columns)
            return self._answer_of(self.estimators_[place], seen, method, params)

        places = range(len(self.estimators_))
        if X.shape[0] <= FEW_ROWS:
            return [work(place) for place in places]
        found = []
        for output in parallel_map(work, places):
            if isinstance(output, Failure):
                raise output.error
            found.append(output)
        return found

    def _require_out_of_bag(self) -> OutOfBagErrors:
        check_is_fitted(self)
        if not hasattr(self, "_left_out"):
            raise CapabilityError(
                f"{type(self).__name__}: out-of-bag predictions are not available. Fit with "
                "oob_score=True."
            )
        return self._left_out

    def _routes(self, mapping: MethodMapping) -> MetadataRouter:
        mapping.add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self._base(), method_mapping=mapping)


def _counts(draws: Draws, seed: int) -> Array:
    """Number of times each row was drawn."""
    return np.bincount(draws.rows_of(seed), minlength=draws.n_rows).astype(np.float64)


def _seen_by(draws: Draws, X: Any, seed: int) -> Any:
    return X if draws.all_columns else take_columns(X, draws.columns_of(seed))


def seed_member(member: Any, seed: int) -> None:
    """Seed every random choice of an estimator and of the estimators inside it."""
    names = sorted(member.get_params(deep=True))
    chosen = [name for name in names if name.split("__")[-1] == "random_state"]
    if chosen:
        member.set_params(**dict(zip(chosen, seeds_of(seed, len(chosen)), strict=True)))


def seeds_of(seed: int, count: int) -> list[int]:
    """Seeds for the random choices inside a member."""
    return [int(each) for each in np.random.default_rng([seed, 2]).integers(2**31 - 1, size=count)]
