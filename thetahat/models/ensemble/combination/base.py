"""Parts shared by all ensembles: members fitted in parallel and kept in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter, validate_data

from thetahat.data.columns.labels import LabelEncoding
from thetahat.data.validation import as_target, as_weight
from thetahat.estimator.base import Estimator
from thetahat.estimator.classifier import Classifier
from thetahat.estimator.source_scores import ScoredRegressor
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError
from thetahat.foundation.many_fits import Failure, parallel_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict
from thetahat.models.ensemble.combination.rows_as_given import (
    block_as_given,
    refuse_source,
    require_rows,
)

Task = TypeVar("Task")
Done = TypeVar("Done")


class Ensemble(Watched, Estimator, ABC):
    """Models that predict together.

    Members are fitted in parallel, each with its share of the threads, and are kept in order, so
    that results do not depend on the number of threads. A fit collects them in a list of its own
    and stores it at the end, because several threads may fit one model. Ctrl-C, a callback or
    ``th.config(max_time=...)`` keep the members that were finished.
    """

    _generative = False
    _parametric = False
    _streams = False

    estimators_: list[Any]

    def __sklearn_is_fitted__(self) -> bool:
        return bool(getattr(self, "estimators_", None))

    def _require_rows(self, X: Any, y: Any) -> tuple[Any, int]:
        """X and its number of rows.

        X stays as it is, because members may accept what others do not; only input that cannot be
        indexed by rows becomes an array.
        """
        return require_rows(X, y, type(self).__name__)

    @abstractmethod
    def _targets(self, y: Any, n_rows: int, dtype: Any = np.float64) -> Array:
        """Targets to which the members are fitted."""

    def _remember_columns(self, X: Any) -> None:
        validate_data(self, X, skip_check_array=True, reset=True)

    def _same_columns(self, X: Any) -> Any:
        """X as the members take it, with its columns compared with those of `fit`."""
        X = block_as_given(self, X)
        refuse_source(X, type(self).__name__)
        if getattr(X, "ndim", 2) == 2:  # otherwise the members raise the error
            validate_data(self, X, skip_check_array=True, reset=False)
        return X

    def _weights(self, sample_weight: Any, n_rows: int) -> Array | None:
        if sample_weight is None:
            return None
        return as_weight(sample_weight, n_rows, type(self).__name__)

    def _run(
        self,
        tasks: Sequence[Task],
        work: Callable[[Task], Done],
        keep: Callable[[Done], None],
        members: list[Any],
        X: Any,
        y: Any,
    ) -> int:
        """``keep(work(task))`` for each task in order, within the time limit; the number done.

        ``members`` are those that ``keep`` has collected so far, which the callbacks are shown.
        """
        done = 0
        attributes = lambda members: {"estimators_": members}  # noqa: E731
        with self._watching(len(tasks), attributes, X, y) as watch:
            with closing(parallel_map(watch.in_time(work), tasks)) as results:
                for found in results:
                    if isinstance(found, Failure):
                        raise found.error
                    keep(found)
                    done += 1
                    if getattr(self, "_skl_callbacks", None):
                        self.estimators_ = list(members)  # callbacks may look at the estimator
                    verdict = watch(done, list(members), np.nan)
                    if verdict is not Verdict.GO_ON and done < len(tasks):
                        self._warn_of_fewer(done, len(tasks), verdict)
                        break
        return done

    def _warn_of_fewer(self, done: int, planned: int, verdict: Verdict) -> None:
        warn(
            f"{type(self).__name__}: {verdict.value} after {done} of {planned} fits; the model "
            "consists of these members. Increase th.config(max_time=...), or use fewer members.",
            ConvergenceWarning,
        )


class EnsembleRegressor(ScoredRegressor, Ensemble):
    """Members that predict numbers."""

    def _targets(self, y: Any, n_rows: int, dtype: Any = np.float64) -> Array:
        self._warn_column_vector(y)
        return as_target(y, n_rows, dtype, type(self).__name__, self._multi_output)


class EnsembleClassifier(Classifier, Ensemble):
    """Members that are fitted to the codes 0, …, C−1 of the labels ``classes_``."""

    def _targets(self, y: Any, n_rows: int, dtype: Any = None) -> Array:
        labels = self._labels(y)
        if len(labels) != n_rows:
            raise DataError(
                f"{type(self).__name__}: Found input variables with inconsistent numbers of "
                f"samples: X has {n_rows} rows, y has {len(labels)}. Pass one label per row."
            )
        encoding = LabelEncoding.of(labels)
        self.classes_ = encoding.classes
        return encoding.encode(labels)

    def _of_all_classes(self, member: Any, found: Array, *, labels: bool = False) -> Array:
        """One column per class; a class that a member was not fitted to gets probability 0.

        Members were fitted to codes or, if they were fitted elsewhere, to the labels themselves.
        """
        seen = np.asarray(getattr(member, "classes_", np.arange(found.shape[1])))
        if labels:
            seen = LabelEncoding(self.classes_).encode(seen)
        if np.array_equal(seen, np.arange(len(self.classes_))):
            return found
        wide = np.zeros((len(found), len(self.classes_)), dtype=found.dtype)
        wide[:, seen.astype(np.intp)] = found
        return wide

    def _scores_of_all_classes(self, member: Any, found: Array, *, labels: bool = False) -> Array:
        """One score per class; a class that a member was not fitted to gets the row's lowest.

        Members that were fitted to all classes keep their scores, which may be one per pair of
        classes, or one column for two classes.
        """
        seen = np.asarray(member.classes_)
        if labels:
            seen = LabelEncoding(self.classes_).encode(seen)
        if len(seen) == len(self.classes_):
            return found
        scores = np.stack([-found, found], axis=1) if found.ndim == 1 else found
        if scores.shape[1] != len(seen):
            raise CapabilityError(
                f"{type(self).__name__}: a fold has rows of {len(seen)} of {len(self.classes_)} "
                f"classes, and the decision_function of a {type(member).__name__} gives "
                f"{scores.shape[1]} scores for them, not one per class. Use stratified folds, or "
                "stack_method='predict'."
            )
        wide = np.repeat(scores.min(axis=1)[:, None], len(self.classes_), axis=1)
        wide[:, seen.astype(np.intp)] = scores
        return wide


def require_weighable(member: Any, name: str, who: str) -> None:
    """Raise an error if weights are given for a member that does not support them."""
    if not has_fit_parameter(member, "sample_weight"):
        raise CapabilityError(
            f"{who}: sample_weight was given, but {name!r}, a {type(member).__name__}, does not "
            "support sample weights. Remove this member, or leave the weights out."
        )


def average(outputs: Sequence[Array], weights: Array | None = None) -> Array:
    """Σ wₘfₘ/Σ wₘ, summed in the order of the members and returned in their precision."""
    share = np.ones(len(outputs)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = np.zeros(outputs[0].shape)
    for weight, output in zip(share, outputs, strict=True):
        total += weight * output
    return (total / share.sum()).astype(precision_of(outputs), copy=False)


def precision_of(outputs: Sequence[Array]) -> Any:
    """float32 if all outputs are float32, else float64."""
    single = all(getattr(each, "dtype", None) == np.float32 for each in outputs)
    return np.float32 if single else np.float64
