"""Logistic regression whose C and l1_ratio are chosen by cross-validation."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from thetahat.data.class_weights import class_weighted
from thetahat.data.in_memory import InMemory
from thetahat.data.row_subset import some_rows, target_arrays
from thetahat.data.source import Source
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.fold_routing import RoutesToFolds, splits_of
from thetahat.estimator.parameters import Range, at_least, boolean, more_than, none, one_of, whole
from thetahat.estimator.watching import with_callbacks
from thetahat.foundation.arguments import returned_number
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.config import config, settings
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.linear.generalized.class_scorer import class_scorer
from thetahat.models.linear.generalized.fold_path import FoldPath, accuracies, fitted_models
from thetahat.models.linear.generalized.logistic_classifier import LogisticClassifier
from thetahat.models.linear.generalized.logistic_objective import (
    LogisticObjective,
    loss_of,
    solver_of,
    strength_and_share,
)
from thetahat.models.linear.generalized.logistic_regression import LogisticRegression
from thetahat.objective.choose import method_for

DEFAULT = "warn"
"""Default of parameters that scikit-learn is about to change; it means the old default."""

positive_array = Range(
    lambda value: (
        isinstance(value, np.ndarray | list | tuple)
        and len(value) > 0
        and np.asarray(value).dtype.kind not in "US"
        and bool(np.all(np.asarray(value, dtype=float) > 0))
    ),
    "an array of numbers > 0",
)
array_of_shares = Range(
    lambda value: (
        isinstance(value, np.ndarray | list | tuple)
        and len(value) > 0
        and all(0 <= (each or 0.0) <= 1 for each in value)
    ),
    "an array of numbers between 0 and 1",
)


@with_parameters
class LogisticSearch:
    """Penalties to choose from. Fields of the last base class are the first parameters."""

    _: KW_ONLY
    Cs: Any = 10
    l1_ratios: Any = DEFAULT
    cv: Any = None
    scoring: Any = DEFAULT
    refit: bool = True


@with_parameters
class LogisticRegressionCV(RoutesToFolds, LogisticClassifier, LogisticSearch):
    """Logistic regression that chooses C and l1_ratio by cross-validation.

    Formula: for each fold and l1_ratio, β̂(C) = argmin C Σ wᵢ ℓᵢ + R(β) is computed for all C, each
    starting from the previous solution. The pair (C, l1_ratio) with the best mean score on the
    held-out rows is used for a final fit to all rows.

    Cost: folds × Cs × l1_ratios fits, with the folds in parallel. The workers of a Dask cluster
    select the rows of the folds and compute the sums of each step. If ``th.config(max_time=...)``
    is exceeded, the remaining values of C reuse the last fit.

    Parameters
    ----------
    Cs : int or array-like, default=10
        Values of C to try, the inverse of the penalty strength; smaller values mean a stronger
        penalty. An int gives that many values on a logarithmic scale from 1e-4 to 1e4.
    l1_ratios : array-like or None, default="warn"
        Values of the L1 share to try, between 0 (L2 penalty) and 1 (L1 penalty). None and "warn"
        use the L2 penalty only.
    cv : int, splitter, iterable or None, default=None
        Folds for the cross-validation. An int is the number of stratified folds; a splitter of
        scikit-learn or an iterable of (train, test) row numbers is used as given. None means 5
        stratified folds.
    penalty : {"deprecated", "l2", "l1", "elasticnet"}, default="deprecated"
        Deprecated in scikit-learn; use `l1_ratios` instead. "l2" means ``l1_ratios=[0]``, "l1"
        means ``l1_ratios=[1]``, and "elasticnet" uses `l1_ratios` as given.
    scoring : str, callable or None, default="warn"
        Score on the held-out rows used to choose the parameters: a name known to scikit-learn or a
        scorer; greater is better. None and "warn" use the accuracy.
    tol : float or None, default=1e-4
        Tolerance of the solver. It stops when the largest entry of the gradient of the mean
        objective (with an L1 penalty, the largest violation of the optimality conditions) is at
        most `tol`. None runs `max_iter` iterations without a warning.
    refit : bool, default=True
        Whether to fit all rows with the best parameters. If False, the coefficients of the best
        parameters are averaged over the folds.
    use_legacy_attributes : bool, default="warn"
        Whether ``C_``, ``l1_ratio_``, ``scores_``, ``coefs_paths_`` and ``n_iter_`` have the shapes
        of older versions of scikit-learn. "warn" means True. False gives one array or number each.

    Attributes
    ----------
    Cs_ : array of shape (n_cs,)
        The values of C that were tried.
    l1_ratios_ : array of shape (n_l1_ratios,)
        The values of l1_ratio that were tried.
    C_ : array of shape (1,) or (n_classes,), or float
        The value of C that was chosen.
    l1_ratio_ : array of shape (1,) or (n_classes,), or float
        The value of l1_ratio that was chosen.
    scores_ : dict of arrays (folds, Cs[, l1_ratios]), or array (folds, l1_ratios, Cs)
        Scores on the held-out rows of each fold.
    coefs_paths_ : dict of arrays (folds, Cs[, l1_ratios], d + 1), or one array
        Coefficients of every fit, with the intercept last.
    n_iter_ : array (1, folds, Cs[, l1_ratios]) or (folds, l1_ratios, Cs)
        Number of iterations of every fit.
    solution_ : Solution
        Report of the solver for the final fit: how it stopped, the number of iterations and the
        remaining optimality gap.

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.linspace(-3.0, 3.0, 40)[:, None]
    >>> y = (X[:, 0] + np.sin(9 * X[:, 0]) > 0).astype(int)
    >>> model = th.LogisticRegressionCV(Cs=5, use_legacy_attributes=False).fit(X, y)
    >>> model.scores_.shape
    (5, 1, 5)
    """

    _: KW_ONLY
    penalty: str = "deprecated"
    intercept_scaling: float = 1.0
    use_legacy_attributes: Any = DEFAULT

    _ranges = {  # noqa: RUF012
        "Cs": whole(1) | positive_array,
        "l1_ratios": array_of_shares | one_of(DEFAULT) | none,
        "penalty": one_of("deprecated", "l2", "l1", "elasticnet"),
        "dual": boolean,
        "intercept_scaling": more_than(0),
        "tol": at_least(0) | none,
        "fit_intercept": boolean,
        "max_iter": whole(1),
        "refit": boolean,
        "use_legacy_attributes": boolean | one_of(DEFAULT),
    }
    _splits_rows = True

    @classmethod
    def _example(cls) -> LogisticRegressionCV:
        """An instance with three folds, so that three rows per class are enough."""
        return cls(cv=3)

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> LogisticRegressionCV:
        """Choose C and l1_ratio by cross-validation and fit the classifier to all rows.

        Parameters
        ----------
        X : array-like, sparse, table or Source of shape (n, d)
            Training data. A `Source` is read again for every step of every fit; its targets are
            held in memory.
        y : array-like of shape (n,)
            Class labels: text, numbers or Booleans. Leave it out if X is a `Source`.
        """
        for_folds = self._for_folds(params)
        rows = self._open_classes(X, y, sample_weight)
        self.Cs_ = np.logspace(-4, 4, self.Cs) if np.ndim(self.Cs) == 0 else np.asarray(self.Cs)
        ratios = self._ratios()
        weighed = class_weighted(rows, self.classes_, self.class_weight, type(self).__name__)
        watch = Watch()
        paths = self._paths(rows, weighed, ratios, watch, for_folds)
        scores = np.array([[path.scores for path in fold] for fold in paths])
        finish = partial(self._finish, weighed, scores=scores, ratios=ratios, X=X, y=y)
        watch.in_time(finish)(paths)
        self._keep_paths(paths, scores, ratios)
        return self

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score predictions by `scoring`, the accuracy by default. Cost: one prediction.

        Returns
        -------
        float
            The score; larger is better.
        """
        if self._by_accuracy:
            return super().score(X, y, sample_weight)
        check_is_fitted(self)
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        found = class_scorer(self, self.scoring, self.classes_)(self, X, y, **options)
        return returned_number(found, "LogisticRegressionCV: the scorer")

    @property
    def _by_accuracy(self) -> bool:
        return self.scoring is None or self.scoring in (DEFAULT, "accuracy")

    def _ratios(self) -> list[float]:
        given = (
            [0.0] if self.l1_ratios is None or isinstance(self.l1_ratios, str) else self.l1_ratios
        )
        return [strength_and_share(self.penalty, 1.0, ratio)[1] for ratio in given]

    def _paths(
        self,
        rows: Source,
        weighed: Source,
        ratios: list[float],
        watch: Watch,
        for_folds: dict[str, Any],
    ) -> list[list[FoldPath]]:
        """Fits for all Cs, for each fold (outer list) and l1_ratio (inner list), in parallel."""
        scorer = (
            None
            if self._by_accuracy
            else class_scorer(LogisticRegression(), self.scoring, self.classes_)
        )
        codes, weight = target_arrays(rows)
        labels = self.classes_[np.asarray(codes).astype(np.intp)]
        to_split = rows.X if isinstance(rows, InMemory) else np.empty((len(labels), 0))
        folds = splits_of(
            self.cv, to_split, labels, who=type(self).__name__, classifier=True, **for_folds
        )
        limits = settings()

        def work(task: tuple[Array, Array, float]) -> FoldPath:
            train, test, ratio = task
            # The folds run in parallel, so each uses one thread.
            with config(threads=1, memory=limits.memory):
                path = self._path(_taken(weighed, train), ratio, watch)
                held = _taken(rows, test)
                if scorer is None:
                    return replace(path, scores=accuracies(path.coefs, held))
                weights = None if weight is None else weight[test]
                options = {} if weights is None else {"sample_weight": weights}
                truth = labels[test]
                held_rows = held.X if isinstance(held, InMemory) else held
                scores = [
                    returned_number(
                        scorer(model, held_rows, truth, **options),
                        "LogisticRegressionCV: the scorer",
                    )
                    for model in fitted_models(path, self.classes_)
                ]
            return replace(path, scores=np.array(scores, dtype=float))

        tasks = [(train, test, ratio) for train, test in folds for ratio in ratios]
        found = list(ordered_map(work, tasks))
        early = sum(path.n_early for path in found)
        if early and self.tol is not None:
            warn(
                f"LogisticRegressionCV: {early} of {len(found) * len(self.Cs_)} fits during the "
                f"cross-validation ran out of {'time' if watch.is_over else 'iterations'}. Raise "
                f"{'max_time' if watch.is_over else 'max_iter'} or tol, or scale the columns.",
                ConvergenceWarning,
            )
        width = len(ratios)
        return [found[start : start + width] for start in range(0, len(found), width)]

    def _path(self, train: Source, ratio: float, watch: Watch) -> FoldPath:
        """Fits for all Cs, each from the previous one; if time is up, the last fit is reused."""
        objective = self._objective(train)
        theta, early = None, 0
        coefs: list[Array] = []
        steps: list[int] = []
        for C in self.Cs_:
            if coefs and watch.is_over:
                coefs.append(coefs[-1])
                steps.append(1)
                early += 1
                continue
            risk = objective.risk(float(C), ratio)
            method, _ = method_for(risk, solver_of(self.solver, self.random_state))
            solution = minimise(
                risk,
                method,
                theta,
                tolerance=self._aim(risk),
                max_steps=0 if watch.is_over else self.max_iter,
                watch=watch,
            )
            theta = solution.theta
            found = self._attributes(theta, risk)
            coefs.append(np.column_stack([found["coef_"], found["intercept_"]]))
            steps.append(max(1, solution.steps))
            ended = solution.outcome in (Outcome.STEPS_EXHAUSTED, Outcome.OUT_OF_TIME)
            early += ended and not solution.gap <= (self.tol or np.inf)
        return FoldPath(np.array(coefs), np.array(steps), early, np.empty(0))

    def _objective(self, source: Source) -> LogisticObjective:
        n_classes = len(self.classes_)
        return LogisticObjective(source, loss_of(self.classes_), n_classes, self.fit_intercept)

    def _finish(
        self,
        weighed: Source,
        paths: list[list[FoldPath]],
        scores: Array,
        ratios: list[float],
        X: Any,
        y: Any,
    ) -> None:
        """The final coefficients, and C_ and l1_ratio_ as numbers."""
        # As in scikit-learn, ties are resolved by the smallest C and then the first l1_ratio.
        by_fold = scores.transpose(0, 2, 1).reshape(len(scores), -1)
        best = by_fold.sum(axis=0).argmax() if self.refit else by_fold.argmax(axis=1)
        at_c, at_ratio = np.divmod(np.broadcast_to(best, len(scores)), len(ratios))
        each = [paths[i][at_ratio[i]].coefs[at_c[i]] for i in range(len(scores))]
        mean = np.mean(each, axis=0, dtype=float)
        chosen = slice(1) if self.refit else slice(None)
        self.C_: Any = float(np.mean(self.Cs_[at_c[chosen]]))
        self.l1_ratio_: Any = float(np.mean(np.asarray(ratios)[at_ratio[chosen]]))
        risk = self._objective(weighed).risk(self.C_, self.l1_ratio_)
        start = risk.predictor.pack(np.ascontiguousarray(mean[:, :-1].T), mean[:, -1])
        self._minimise(
            risk,
            X,
            y,
            solver=solver_of(self.solver, self.random_state),
            tolerance=self._aim(risk),
            max_steps=self.max_iter if self.refit else 0,
            start=start,
        )

    def _warn_unless_converged(self) -> None:
        if self.refit:  # without refit there is no final fit to warn about
            super()._warn_unless_converged()

    def _keep_paths(self, paths: list[list[FoldPath]], scores: Array, ratios: list[float]) -> None:
        """Set ``scores_``, ``coefs_paths_`` and ``n_iter_`` in the requested shapes."""
        coefs = np.array([[path.coefs for path in fold] for fold in paths])
        if not self.fit_intercept:
            coefs = coefs[..., :-1]
        steps = np.array([[path.steps for path in fold] for fold in paths], dtype=np.int32)
        self.l1_ratios_ = np.asarray(ratios)
        if self.use_legacy_attributes is False:
            self.scores_: Any = scores
            self.coefs_paths_: Any = coefs
            self.n_iter_ = steps
            return
        # Axes: folds, Cs, l1_ratios; the last one only exists if l1_ratios are given.
        only = slice(None) if _is_given(self.l1_ratios) else 0
        labels = self.classes_[1:] if coefs.shape[3] == 1 else self.classes_
        self.n_iter_ = steps.swapaxes(1, 2)[None, :, :, only]
        shown = scores.swapaxes(1, 2)[:, :, only]
        self.scores_ = {label: shown.copy() for label in labels}
        self.coefs_paths_ = {
            label: coefs[:, :, :, c].swapaxes(1, 2)[:, :, only] for c, label in enumerate(labels)
        }
        self.C_ = np.full(len(labels), self.C_)
        self.l1_ratio_ = np.full(len(labels), self.l1_ratio_)


def _taken(source: Source, rows: Array) -> Source:
    return source.take(rows) if isinstance(source, InMemory) else some_rows(source, rows)


def _is_given(ratios: Any) -> bool:
    return ratios is not None and not isinstance(ratios, str)
