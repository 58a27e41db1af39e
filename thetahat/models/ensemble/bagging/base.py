"""Bagging: the same learner fitted to many bootstrap samples, and the mean of what they say.

    f(x) = (1/M) Σ fₘ(x),      variance of f: ρσ² + (1 − ρ)σ²/M

for members of variance σ² and correlation ρ: averaging takes away what the samples disagree about,
and leaves the bias as it was. The rows that a member did not draw (e⁻¹ ≈ 37 % of them) test it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from thetahat.data.resampling import take_columns, take_rows
from thetahat.estimator.parameters import Range, boolean, check_ranges, none, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.randomness import generator
from thetahat.foundation.types import Array
from thetahat.models.ensemble.bagging.bootstrap_draws import Draws, plan_draws
from thetahat.models.ensemble.bagging.out_of_bag import OutOfBagErrors, OutOfBagPredictions
from thetahat.models.ensemble.combination.base import Ensemble, average, precision_of
from thetahat.models.ensemble.combination.metadata_routing import (
    routed,
    rows_of_params,
    takes_weights,
)
from thetahat.models.ensemble.combination.rows_as_given import rows_as_given
from thetahat.models.tree.growth.sorted_rows import SortedRows, packed_alike
from thetahat.models.tree.packed import PackedTrees
from thetahat.models.tree.single import SingleTree

FEW_ROWS = 512
"""Up to so many rows, waking threads takes longer than predicting."""

OF_THE_LAST_FIT = (
    "oob_score_",
    "oob_prediction_",
    "oob_decision_function_",
    "_left_out",
    "_packed",
)
"""Attributes that must not outlive it."""

part = Range(
    lambda value: isinstance(value, float | np.floating) and bool(0 < value <= 1),
    "a part in (0, 1]",
)
learner = Range(
    lambda value: hasattr(value, "fit") and hasattr(value, "predict"),
    "an estimator with fit and predict",
)


class Bagging(Ensemble):
    """M copies of a learner, each fitted to its own draw of rows and columns."""

    _ranges = {  # noqa: RUF012
        "estimator": learner | none,
        "n_estimators": whole(1),
        "max_samples": whole(1) | part | none,
        "max_features": whole(1) | part,
        "bootstrap": boolean,
        "bootstrap_features": boolean,
        "oob_score": boolean,
        "warm_start": boolean,
    }
    _draws_rows = True

    estimator: Any
    _draws: Draws
    _left_out: OutOfBagErrors
    _packed: PackedTrees | None
    _seeds: list[int]
    n_estimators: int
    estimators_features_: list[Array]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self._base())
        tags.input_tags.sparse = base.input_tags.sparse
        tags.input_tags.allow_nan = base.input_tags.allow_nan
        return tags

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def _base(self) -> Any:
        """The learner that is copied."""
        return self._default() if self.estimator is None else self.estimator

    @abstractmethod
    def _default(self) -> Any:
        """The learner where none is given."""

    @abstractmethod
    def _answer_of(self, member: Any, X: Any, method: str, params: dict[str, Any]) -> Array:
        """What is averaged: by "predict", numbers, or probabilities of all classes."""

    @abstractmethod
    def _judge_left_out(self, y: Array, answers: OutOfBagPredictions, weight: Array | None) -> None:
        """Keep what the members say of rows they did not draw, and its score."""

    def _fit_bag(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> None:
        self._check_parameters()
        X, n_rows = self._require_rows(X, y)
        X = self._rows(X, reset=True)
        y = self._targets(y, n_rows, precision_of([X]))
        weight = self._weights(sample_weight, n_rows)
        before = getattr(self, "estimators_", []) if self.warm_start else []
        seeds = self._seeds_after(len(before))
        if not seeds:
            return
        self.estimator_ = self._base()
        params = routed(self, "fit", params)["estimator"]["fit"]
        self._start(before, n_rows, weight)
        shareable = self._draws.all_columns and not params
        rows_of_trees = SortedRows.of(self._prototype(), X, y) if shareable else None
        answers = OutOfBagPredictions(n_rows)

        def work(seed: int) -> tuple[int, Any, Array | None]:
            if rows_of_trees is None:
                member = self._fitted(seed, X, y, params)
            else:
                member = rows_of_trees.grown(self._counts(seed), seeds_of(seed, 1)[0])
            rows = self._draws.left_out(seed) if self.oob_score else None
            if rows is None or not len(rows):
                return seed, member, None
            seen = self._seen_by(take_rows(X, rows), seed)
            return seed, member, self._answer_of(member, seen, "predict", {})

        def keep(found: tuple[int, Any, Array | None]) -> None:
            seed, member, answer = found
            self.estimators_.append(member)
            self.estimators_features_.append(self._draws.columns_of(seed))
            self._seeds.append(seed)
            if answer is not None:
                answers.add(self._draws.left_out(seed), answer)

        self._run(seeds, work, keep, X, y)
        every = np.arange(self.n_features_in_)
        if all(np.array_equal(columns, every) for columns in self.estimators_features_):
            self._packed = packed_alike(self.estimators_)
        if self.oob_score:
            self._judge_left_out(y, answers, weight)

    def _check_parameters(self) -> None:
        check_ranges(self)
        who = type(self).__name__
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                f"{who}: oob_score=True: Out of bag estimation only available if bootstrap=True."
            )
        if self.oob_score and self.warm_start:
            raise ParameterError(
                f"{who}: Out of bag estimate only available if warm_start=False: rows seen before "
                "are not kept."
            )

    def _rows(self, X: Any, *, reset: bool) -> Any:
        return rows_as_given(self, X, self._base(), reset=reset)

    def _seeds_after(self, fitted: int) -> list[int]:
        """The seeds of the members still to be fitted; those before keep theirs."""
        more = self.n_estimators - fitted
        if more < 0:
            raise ParameterError(
                f"{type(self).__name__}: n_estimators={self.n_estimators} must be larger or equal "
                f"to len(estimators_)={fitted} when warm_start==True. Raise it."
            )
        if more == 0:
            warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
            )
        random = generator(self.random_state)
        return [int(seed) for seed in random.integers(2**63, size=self.n_estimators)[fitted:]]

    def _start(self, before: list[Any], n_rows: int, weight: Array | None) -> None:
        for name in OF_THE_LAST_FIT:
            self.__dict__.pop(name, None)
        self._draws = plan_draws(
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
                "bootstrap=True: only rows that can be drawn again come as often as they weigh.",
            )
        self.estimators_ = list(before)
        if not before:
            self.estimators_features_ = []
            self._seeds = []

    def _fitted(self, seed: int, X: Any, y: Array, params: dict[str, Any]) -> Any:
        """A copy of the learner fitted to the draw of this seed.

        Rows drawn k times have weight k where the learner takes weights: nothing is copied.
        """
        member = self._copy(seed)
        rows, X = self._draws.rows_of(seed), self._seen_by(X, seed)
        if takes_weights(member) and self._all_drawn(y, rows):
            return member.fit(X, y, **{**params, "sample_weight": self._counts(seed)})
        try:
            params = rows_of_params(params, rows, self._draws.n_rows)
            return member.fit(take_rows(X, rows), take_rows(y, rows), **params)
        except Exception as failure:
            self._explain(y, rows, failure)
            raise

    def _prototype(self) -> Any:
        """The learner to copy: trees take any of the columns that gain alike, lest all members
        agree on the first of them where it means nothing.
        """
        member = clone(self.estimator_)
        return member.set_params(ties="random") if isinstance(member, SingleTree) else member

    def _copy(self, seed: int) -> Any:
        member = self._prototype()
        seed_member(member, seed)
        return member

    def _counts(self, seed: int) -> Array:
        """How often each row was drawn."""
        rows = self._draws.rows_of(seed)
        return np.bincount(rows, minlength=self._draws.n_rows).astype(np.float64)

    def _seen_by(self, X: Any, seed: int) -> Any:
        return X if self._draws.all_columns else take_columns(X, self._draws.columns_of(seed))

    def _all_drawn(self, y: Array, rows: Array) -> bool:
        """Whether weights of zero leave nothing in y that the draw does not hold."""
        return True

    def _explain(self, y: Array, rows: Array, failure: Exception) -> None:
        """Say what is wrong with a draw, where it is the draw."""

    @property
    def estimators_samples_(self) -> list[Array]:
        """The rows of each member, drawn again from its seed."""
        check_is_fitted(self)
        return [self._draws.rows_of(seed) for seed in self._seeds]

    def _mean(self, X: Any, params: dict[str, Any]) -> Array:
        """The mean of what the members answer; of trees alike, all in one walk."""
        check_is_fitted(self)
        packed = getattr(self, "_packed", None)
        if packed is None or params or packed.n_trees != len(self.estimators_):
            return average(self._outputs(X, params))
        rows = self.estimators_[0]._rows(self._rows(X, reset=False))
        mean = (packed.sum(rows) / packed.n_trees).astype(rows.dtype, copy=False)
        return mean if hasattr(self, "classes_") else mean[:, 0]

    def _outputs(self, X: Any, params: dict[str, Any], method: str = "predict") -> list[Array]:
        """What each member answers for each row, in order."""
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

    def _require_left_out(self) -> OutOfBagErrors:
        check_is_fitted(self)
        if not hasattr(self, "_left_out"):
            raise CapabilityError(
                f"{type(self).__name__}: nothing is known of the rows left out. Fit with "
                "oob_score=True."
            )
        return self._left_out

    def _routes(self, mapping: MethodMapping) -> MetadataRouter:
        mapping.add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self._base(), method_mapping=mapping)


def seed_member(member: Any, seed: int) -> None:
    """Fix every random choice of a model and of the models inside it."""
    names = sorted(member.get_params(deep=True))
    chosen = [name for name in names if name.split("__")[-1] == "random_state"]
    if chosen:
        member.set_params(**dict(zip(chosen, seeds_of(seed, len(chosen)), strict=True)))


def seeds_of(seed: int, count: int) -> list[int]:
    """Seeds for the random choices inside a member."""
    return [int(each) for each in np.random.default_rng([seed, 2]).integers(2**31 - 1, size=count)]
