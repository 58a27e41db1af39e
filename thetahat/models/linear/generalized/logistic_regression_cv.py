"""Logistic regression whose C and l1_ratio are chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from thetahat.data.class_weights import class_weighted
from thetahat.data.in_memory import InMemory
from thetahat.data.source import Block
from thetahat.estimator.parameters import Range, at_least, boolean, none, one_of, whole
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.config import config, settings
from thetahat.foundation.products import product
from thetahat.foundation.threads import ordered_map
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Watch
from thetahat.mathematics.optimizers.loop import minimise
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.models.linear.generalized.class_scorer import class_scorer
from thetahat.models.linear.generalized.logistic_classifier import LogisticClassifier
from thetahat.models.linear.generalized.logistic_objective import (
    LogisticObjective,
    loss_of,
    solver_of,
    strength_and_share,
)
from thetahat.models.linear.generalized.logistic_regression import LogisticRegression
from thetahat.objective.choose import method_for
from thetahat.objective.predictor import in_double

DEFAULT = "warn"
"""What scikit-learn's parameters hold whose default is about to change; the old one is meant."""

positive_array = Range(
    lambda value: (
        isinstance(value, np.ndarray | list | tuple)
        and len(value) > 0
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


class LogisticRegressionCV(LogisticClassifier):
    """`LogisticRegression` with C and l1_ratio of the best mean score over folds.

    Formula: for each fold and l1_ratio, β̂(C) = argmin C Σ wᵢ ℓᵢ + R(β) along all C, each from the
    last; then (C, l1_ratio) of the best mean score on the rows left out, and a fit of all rows.

    Cost: that of folds × Cs × l1_ratios warm fits, folds side by side; rows in memory. When
    ``th.config(max_time=...)`` is over, values of C not yet tried are judged by the last fit.

    Parameters
    ----------
    Cs : int or array, default=10
        The values of C; a number of them from 1e−4 to 1e4.
    l1_ratios : array, optional
        The values of l1_ratio; by default 0, the L2 penalty.
    cv : int, splitter or None
        The folds; 5 stratified ones by default.
    scoring : str, callable or None
        What to maximise; accuracy by default.
    refit : bool, default=True
        Fit all rows with the best parameters; else average the best coefficients of the folds.
    use_legacy_attributes : bool, default="warn"
        The shapes of ``C_``, ``l1_ratio_``, ``scores_``, ``coefs_paths_`` and ``n_iter_`` that
        scikit-learn had before (True, the default) or will have (False).
    fit_intercept, dual, penalty, solver, tol, max_iter, class_weight, n_jobs, verbose
        As in `LogisticRegression`.
    intercept_scaling, random_state
        As in `LogisticRegression`.

    Attributes
    ----------
    classes_, coef_, intercept_, solution_
        As in `LogisticRegression`, of the final fit.
    Cs_, l1_ratios_ : array
        The values tried.
    C_, l1_ratio_ : array of shape (1 or C,), or float
        The values chosen.
    scores_ : dict of arrays (folds, Cs[, l1_ratios]), or array (folds, l1_ratios, Cs)
        Scores on the rows left out.
    coefs_paths_ : dict of arrays (folds, Cs[, l1_ratios], d + 1), or one array of all
        Coefficients, the intercept last.
    n_iter_ : array (1, folds, Cs[, l1_ratios]) or (folds, l1_ratios, Cs)
        Steps taken.

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

    _ranges = {  # noqa: RUF012
        "Cs": whole(1) | positive_array,
        "l1_ratios": array_of_shares | one_of(DEFAULT) | none,
        "penalty": one_of("deprecated", "l2", "l1", "elasticnet"),
        "dual": boolean,
        "tol": at_least(0) | none,
        "fit_intercept": boolean,
        "max_iter": whole(1),
        "refit": boolean,
        "use_legacy_attributes": boolean | one_of(DEFAULT),
    }
    _streams = False
    _splits_rows = True
    scores_: Any
    coefs_paths_: Any
    C_: Any
    l1_ratio_: Any

    def __init__(
        self,
        *,
        Cs: Any = 10,
        l1_ratios: Any = DEFAULT,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str = "deprecated",
        scoring: Any = DEFAULT,
        solver: Any = "lbfgs",
        tol: float | None = 1e-4,
        max_iter: int = 100,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Any = None,
        use_legacy_attributes: Any = DEFAULT,
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    @classmethod
    def _example(cls) -> LogisticRegressionCV:
        """With three folds, for which three rows of a class are enough."""
        return cls(cv=3)

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LogisticRegressionCV:
        """Fit; parameters as in `LogisticRegression.fit`, with rows in memory."""
        rows = self._open_classes(X, y, sample_weight)
        assert isinstance(rows, InMemory)
        self.Cs_ = np.logspace(-4, 4, self.Cs) if np.ndim(self.Cs) == 0 else np.asarray(self.Cs)
        ratios = self._ratios()
        weighed = class_weighted(rows, self.classes_, self.class_weight, type(self).__name__)
        assert isinstance(weighed, InMemory)
        watch = Watch()
        paths = self._paths(rows, weighed, ratios, watch)
        scores = np.array([[path.scores for path in fold] for fold in paths])
        finish = partial(self._finish, weighed, scores=scores, ratios=ratios, X=X, y=y)
        watch.in_time(finish)(paths)
        self._keep_paths(paths, scores, ratios)
        return self

    def _ratios(self) -> list[float]:
        given = (
            [0.0] if self.l1_ratios is None or isinstance(self.l1_ratios, str) else self.l1_ratios
        )
        return [strength_and_share(self.penalty, 1.0, ratio)[1] for ratio in given]

    def _paths(
        self, rows: InMemory, weighed: InMemory, ratios: list[float], watch: Watch
    ) -> list[list[FoldPath]]:
        """Fits along Cs for each fold (outer) and each l1_ratio (inner), side by side."""
        by_accuracy = self.scoring in (None, DEFAULT, "accuracy")
        scorer = (
            None if by_accuracy else class_scorer(LogisticRegression(), self.scoring, self.classes_)
        )
        labels = self.classes_[np.asarray(rows.y).astype(np.intp)]
        folds = list(check_cv(self.cv, labels, classifier=True).split(rows.X, labels))
        limits = settings()

        def work(task: tuple[Array, Array, float]) -> FoldPath:
            train, test, ratio = task
            # Folds share the threads, so each runs on one.
            with config(threads=1, memory=limits.memory):
                path = self._path(weighed.take(train), ratio, watch)
                held = rows.take(test)
                if scorer is None:
                    return replace(path, scores=_accuracies(path.coefs, held))
                options = {} if held.weight is None else {"sample_weight": held.weight}
                told = labels[test]
                scores = [scorer(model, held.X, told, **options) for model in self._models(path)]
            return replace(path, scores=np.array(scores, dtype=float))

        tasks = [(train, test, ratio) for train, test in folds for ratio in ratios]
        found = list(ordered_map(work, tasks))
        early = sum(path.n_early for path in found)
        if early and self.tol is not None:
            warn(
                f"LogisticRegressionCV: {early} of {len(found) * len(self.Cs_)} fits along the "
                f"paths ran out of {'time' if watch.is_over else 'steps'}. Raise "
                f"{'max_time' if watch.is_over else 'max_iter'} or tol, or scale the columns.",
                ConvergenceWarning,
            )
        width = len(ratios)
        return [found[start : start + width] for start in range(0, len(found), width)]

    def _path(self, train: InMemory, ratio: float, watch: Watch) -> FoldPath:
        """Fits along Cs, each from the last; once time is up, the last stands for all others."""
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

    def _objective(self, source: InMemory) -> LogisticObjective:
        n_classes = len(self.classes_)
        return LogisticObjective(source, loss_of(self.classes_), n_classes, self.fit_intercept)

    def _models(self, path: FoldPath) -> Iterator[LogisticRegression]:
        """A fitted `LogisticRegression` for every C of a path."""
        for coef in path.coefs:
            model = LogisticRegression()
            model.classes_, model.n_features_in_ = self.classes_, self.n_features_in_
            model.coef_ = np.ascontiguousarray(coef[:, :-1])
            model.intercept_ = np.ascontiguousarray(coef[:, -1])
            yield model

    def _finish(
        self,
        weighed: InMemory,
        paths: list[list[FoldPath]],
        scores: Array,
        ratios: list[float],
        X: Any,
        y: Any,
    ) -> None:
        """The final coefficients, C_ and l1_ratio_ as numbers."""
        # Like scikit-learn, ties go to the smallest C and then to the first l1_ratio.
        by_fold = scores.transpose(0, 2, 1).reshape(len(scores), -1)
        best = by_fold.sum(axis=0).argmax() if self.refit else by_fold.argmax(axis=1)
        at_c, at_ratio = np.divmod(np.broadcast_to(best, len(scores)), len(ratios))
        each = [paths[i][at_ratio[i]].coefs[at_c[i]] for i in range(len(scores))]
        mean = np.mean(each, axis=0, dtype=float)
        chosen = slice(1) if self.refit else slice(None)
        self.C_ = float(np.mean(self.Cs_[at_c[chosen]]))
        self.l1_ratio_ = float(np.mean(np.asarray(ratios)[at_ratio[chosen]]))
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
        if self.refit:  # else there is no final fit that could
            super()._warn_unless_converged()

    def _keep_paths(self, paths: list[list[FoldPath]], scores: Array, ratios: list[float]) -> None:
        """``scores_``, ``coefs_paths_``, ``n_iter_``, in the shapes asked for."""
        coefs = np.array([[path.coefs for path in fold] for fold in paths])
        if not self.fit_intercept:
            coefs = coefs[..., :-1]
        steps = np.array([[path.steps for path in fold] for fold in paths], dtype=np.int32)
        self.l1_ratios_ = np.asarray(ratios)
        if self.use_legacy_attributes is False:
            self.scores_, self.coefs_paths_, self.n_iter_ = scores, coefs, steps
            return
        # Folds, Cs, l1_ratios; without l1_ratios there is no axis for them.
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


@dataclass(frozen=True)
class FoldPath:
    """Coefficients (Cs, scores, d + 1), steps and scores along Cs; how many fits ended early."""

    coefs: Array
    steps: Array
    n_early: int
    scores: Array


def _accuracies(coefs: Array, held: InMemory) -> Array:
    """The share of rows told right at every C: one product for all of them."""
    n_strengths, n_scores, width = coefs.shape
    flat = coefs.reshape(-1, width)

    def right(block: Block) -> Array:
        z = product(in_double(block.X), flat[:, :-1].T) + flat[:, -1]
        z = z.reshape(block.n_rows, n_strengths, n_scores)
        told = z[:, :, 0] > 0 if n_scores == 1 else z.argmax(axis=2)
        return told == np.asarray(block.y)[:, None]

    return np.average(held.map_rows(right), axis=0, weights=held.weight)


def _is_given(ratios: Any) -> bool:
    return ratios is not None and not isinstance(ratios, str)
