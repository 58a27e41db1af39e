"""Nested tuning: every fold tunes its models on its own training rows.

A score on held-out rows flatters a model whose settings were chosen with the help of these rows.
Here the settings of a fold are chosen by a search inside the training rows of this fold, and so are
the members and the weights of the stack. The held-out rows of the fold are used for its score
alone. The score is therefore that of the whole procedure: tune, choose, fit.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from thetahat.data.resampling import take_rows
from thetahat.evaluation.cross_fitting import OutOfTime, Progress
from thetahat.evaluation.evaluate import Evaluation, evaluate_all
from thetahat.evaluation.folds import Fold
from thetahat.evaluation.metrics import scorers_for
from thetahat.evaluation.tuning.halving import SETTINGS, outputs_of
from thetahat.evaluation.tuning.inner_folds import TrainingRows
from thetahat.evaluation.tuning.prepared import PreparedColumns
from thetahat.evaluation.tuning.search_space import Setting, settings_of, space_of
from thetahat.evaluation.tuning.stack import MOST_MEMBERS, best_members, stacked
from thetahat.evaluation.tuning.stack import NAME as STACK
from thetahat.evaluation.tuning.time_plan import TimePlan
from thetahat.evaluation.tuning.tuned import TunedFit, tuned_fit
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.ensemble.combination.stacking_classifier import StackingClassifier
from thetahat.models.ensemble.combination.stacking_regressor import StackingRegressor


class NestedTuning:
    """Fits models for `cross_fit`: tunes each on the training rows of the fold, within its share.

    Models that cannot be finished within the time limit are left out, if two others can.
    `order` is the time of every row if later rows are predicted from earlier ones, and `weights`
    are the row weights of the fits.
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        X: Any,
        y: Array,
        folds: list[Fold],
        *,
        scoring: Any,
        limit: float,
        groups: Array | None = None,
        order: Array | None = None,
        weights: Array | None = None,
        seed: int = 0,
        n_settings: int = SETTINGS,
    ) -> None:
        if STACK in models:
            raise ParameterError(
                f"compare: a model is named {STACK!r}, which is the name of the stack of the tuned "
                "models. Give it another name."
            )
        first = next(iter(models.values()))
        self.rows = TrainingRows(X, np.asarray(y), is_classifier(first), groups, order, weights)
        self.folds, self.seed = folds, seed
        self.fits: dict[tuple[str, int], TunedFit] = {}
        self.stopped = Event()
        self.no_stack = ""
        """Why a requested stack was left out."""
        self._prepared = PreparedColumns()
        random = np.random.default_rng(seed)
        self.settings: dict[str, list[Setting]] = {}
        for name, model in models.items():
            self.settings[name] = settings_of(model, space_of(model), n_settings, random)
        scorers = {name: scorers_for(model, scoring, folds, True) for name, model in models.items()}
        self._scorers = {name: next(iter(found.values())) for name, found in scorers.items()}
        self.n_train = max(len(train) for train, _ in folds)
        self.plan = TimePlan(
            models,
            {name: len(found) for name, found in self.settings.items()},
            self.rows,
            self.n_train,
            max(len(test) for _, test in folds),
            len(folds),
            limit,
            seed,
        )
        self.models = {name: models[name] for name in self.plan.names}
        """The models, those with the shortest fits first; in the end, those that are finished."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Models without values to try, what was done to keep the time limit, a missing stack."""
        found = []
        fixed = [name for name, model in self.models.items() if not space_of(model)]
        if fixed:
            declare = "it declares" if len(fixed) == 1 else "they declare"
            found.append(
                f"not tuned, because {declare} no values of parameters to try: {_listed(fixed)}"
            )
        return (*found, *self.notes_about_time, *filter(None, [self.no_stack]))

    @property
    def notes_about_time(self) -> tuple[str, ...]:
        """The models that are fitted to a part of the rows, and those that are left out."""
        found = []
        for name in self.models:
            sizes = self._sizes(name)
            if sizes and min(sizes) < min(len(train) for train, _ in self.folds):
                least, most = min(sizes), max(sizes)
                size = f"{least:,}" if least == most else f"{least:,} to {most:,}"
                found.append(
                    f"{name} is fitted to {size} of {self.n_train:,} training rows, to keep the "
                    "time limit"
                )
        late = [name for name in self.plan.names if name in self.plan.late]
        if late:
            found.append(f"left out, because the time limit is too short: {_listed(late)}")
        return tuple(found)

    def _sizes(self, name: str) -> list[int]:
        """The numbers of rows of the fits of a model."""
        return [found.n_rows for (one, _), found in self.fits.items() if one == name]

    def fit(self, name: str, number: int) -> Any:
        """A model, tuned and fitted on the training rows of a fold."""
        share = self.plan.start(name, number)
        if share is None:
            raise OutOfTime
        found = tuned_fit(
            self.models[name],
            self.settings[name],
            self.rows.of(self.models[name]).take(self._training(number)),
            self._scorers[name],
            share,
            seed=self.seed,
            stop=lambda: self.stopped.is_set() or time.monotonic() > self.plan.deadline,
            prepared=self._prepared,
            place=number,
        )
        self.fits[name, number] = found
        self.plan.end(name, number, found.n_rows, found.took)
        return found.model

    def _training(self, number: int) -> Array:
        """The training rows of a fold, without those of weight 0, which decide nothing."""
        rows = self.folds[number][0]
        return rows if self.rows.weights is None else rows[self.rows.weights[rows] != 0]

    def evaluated(
        self,
        X: Any,
        y: Any,
        options: Mapping[str, Any],
        *,
        stack: bool,
        progress: bool | Progress,
        stopped: list[str] | None,
    ) -> dict[str, Evaluation]:
        """The evaluations of the tuned models, and of their stack if there is one.

        A requested stack that cannot be made is left out with a warning. `options` and `stopped`
        are those of `evaluate_all`.
        """
        halted: list[str] = []
        try:
            found = evaluate_all(
                self.models,
                X,
                y,
                progress=progress,
                fitter=self.fit,
                stopped=halted,
                **options,
            )
        finally:
            self.stopped.set()  # fits that an interrupt or an error left running end soon
        interrupted = [name for name in halted if name not in self.plan.late]
        if interrupted and stopped is None:
            raise KeyboardInterrupt
        if stopped is not None:
            stopped += interrupted
        self.models = {name: model for name, model in self.models.items() if name not in halted}
        self.no_stack = self.why_no_stack() if stack and not interrupted else ""
        if self.no_stack:
            warn(f"compare: {self.no_stack}", UserWarning)
        elif stack and not interrupted:
            kind = StackingClassifier if self.rows.classifier else StackingRegressor
            found |= evaluate_all(
                {STACK: kind([])},
                X,
                y,
                progress=False,
                fitter=lambda _, number: self.fit_stack(number),
                **options,
            )
            timed = [
                replace(fit, fit_seconds=fit.fit_seconds + self._seconds(fit.fold))
                for fit in found[STACK].fits
            ]
            found[STACK] = replace(found[STACK], fits=tuple(timed))
        return found

    def why_no_stack(self) -> str:
        """Why there is no stack of the models; "" if there is one.

        Every fold needs at least two members, and the held-out rows must show all classes.
        """
        held = self.rows.y[np.concatenate([test for _, test in self.folds])]
        if self.rows.classifier and np.unique(held).size < np.unique(self.rows.y).size:
            return (
                f"{STACK} is left out, because some classes are in no held-out row. Use folds that "
                "hold out every class"
            )
        for number in range(len(self.folds)):
            count = len(self._members(number))
            if count < 2:
                return (
                    f"{STACK} is left out, because it needs two models, and fold {number + 1} has "
                    f"{count or 'none'}. Models that predict the same for every row, classifiers "
                    "without probabilities, and models whose search was cut short do not count. "
                    "Give more models, more rows or more time"
                )
        return ""

    def fit_stack(self, number: int) -> Any:
        """A stack of the models of a fold that were best in the searches on its training rows."""
        train, members = self._training(number), self._members(number)
        searches = {name: self.fits[name, number].search for name in members}
        held = train[searches[members[0]].held]
        return stacked(
            {name: self.fits[name, number].model for name in members},
            {name: found.outputs for name, found in searches.items() if found.outputs is not None},
            take_rows(self.rows.X, held),
            self.rows.y[held],
            classifier=self.rows.classifier,
            weights=None if self.rows.weights is None else self.rows.weights[held],
        )

    def _members(self, number: int) -> list[str]:
        """The best models of a fold by their searches, whose outputs are for the same rows."""
        searches = {name: self.fits[name, number].search for name in self.models}
        known = {
            name: found.outputs
            for name, found in searches.items()
            if found.outputs is not None and not self.rows.of(self.models[name]).pairwise
        }
        most = max(map(len, known.values()), default=0)
        same = {name: outputs for name, outputs in known.items() if len(outputs) == most}
        chosen = best_members({name: searches[name].score for name in same}, same)
        train = self._training(number)
        if chosen and self.rows.classifier:
            held = self.rows.y[train[searches[chosen[0]].held]]
            if np.unique(held).size < np.unique(self.rows.y[train]).size:
                return []
        return chosen

    def _seconds(self, number: int) -> float:
        """Seconds of the searches and fits of the members of a stack."""
        return sum(self.fits[name, number].took.clock for name in self._members(number))

    def seconds_of_fit(self, name: str) -> float:
        """Seconds of the longest fit with a chosen setting, or of the members of a stack."""
        folds = range(len(self.folds))
        names = {number: self._members(number) if name == STACK else [name] for number in folds}
        return max(sum(self.fits[one, k].took.fit_clock for one in names[k]) for k in folds)

    def with_models(self, evaluation: Evaluation) -> Evaluation:
        """An evaluation of a tuned model with the fitted model of every fold."""
        fits = []
        for fit in evaluation.fits:
            if evaluation.name == STACK:
                fitted = self.fit_stack(fit.fold)
            else:
                fitted = self.fits[evaluation.name, fit.fold].model
            fits.append(replace(fit, estimator=fitted))
        return replace(evaluation, fits=tuple(fits))

    def setting(self, name: str) -> Setting:
        """The setting that most folds have chosen; the first of them if several are as frequent."""
        chosen = [self.fits[name, number].setting for number in range(len(self.folds))]
        usual = Counter(map(repr, chosen)).most_common(1)[0][0]
        return next(each for each in chosen if repr(each) == usual)

    def final_model(self, name: str) -> Any:
        """A model fitted to all rows with the setting that most folds have chosen; or the stack."""
        if name == STACK:
            return self.final_stack()
        sizes, whole = self._sizes(name), min(len(train) for train, _ in self.folds)
        rows = self.rows.of(self.models[name])
        if max(sizes) < whole:
            rows = rows.take(rows.sample(max(sizes), self.seed))
        model = clone(self.models[name]).set_params(**self.setting(name))
        return model.fit(rows.X, rows.y, **rows.weighted())

    def final_stack(self) -> Any:
        """A stack of models fitted to all rows; its weights come from the folds' held-out rows."""
        in_fold: Counter[str] = Counter()
        for number in range(len(self.folds)):
            in_fold.update(self._members(number))
        members = [name for name, _ in in_fold.most_common(MOST_MEMBERS)]
        held = np.concatenate([test for _, test in self.folds])
        classes = np.unique(self.rows.y) if self.rows.classifier else None
        outputs = {}
        for name in members:
            parts = [
                outputs_of(self.fits[name, number].model, take_rows(self.rows.X, test), classes)
                for number, (_, test) in enumerate(self.folds)
            ]
            outputs[name] = np.concatenate([part for part in parts if part is not None])
        return stacked(
            {name: self.final_model(name) for name in members},
            outputs,
            take_rows(self.rows.X, held),
            self.rows.y[held],
            classifier=self.rows.classifier,
            weights=None if self.rows.weights is None else self.rows.weights[held],
        )


def _listed(names: list[str]) -> str:
    return ", ".join(map(str, names))
