"""Transductive support vector machines: the labels of unlabelled rows are variables of the fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from thetahat.data.in_memory import InMemory
from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    at_least,
    inner_fraction,
    more_than,
    none,
    whole,
)
from thetahat.estimator.watching import keep_so_far, with_callbacks
from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.foundation.watch import Verdict
from thetahat.mathematics.losses.base import Loss, Smooth, Targets
from thetahat.mathematics.optimizers.minimisation import minimise
from thetahat.mathematics.optimizers.solution import Outcome, Solution
from thetahat.mathematics.penalties.norms import L2
from thetahat.models.kernel.machine import KernelMachine, rows_of_features
from thetahat.models.semi_supervised.machine import PartlyLabelledMachine, PartlyLabelledRows
from thetahat.objective.choose import method_for
from thetahat.objective.empirical_risk import EmpiricalRisk
from thetahat.objective.kernel.features import KernelFeatures
from thetahat.objective.predictor import LinearPredictor
from thetahat.objective.stopping import tolerance_for


@with_parameters
class TransductiveSVM(PartlyLabelledMachine):
    """Support vector machine that labels unlabelled rows so that few lie inside the margin.

    Formula: f̂, b̂, û = argmin (Σ wᵢ ℓ(yᵢ, f(xᵢ) + b))/(Σ wᵢ) over the labelled rows
    + γ·(Σ wⱼ ℓ(uⱼ, f(xⱼ) + b))/(Σ wⱼ) over the unlabelled rows + α/2·‖f‖², where the labels
    uⱼ = ±1 are chosen too. A given share of them is positive; otherwise all could be equal.
    Unlabelled rows have the label −1 in y, and there are two classes.

    The function for given labels is a kernel machine, as in `KernelModel`; the best labels for a
    given function are those of its largest scores. The two steps alternate, and neither increases
    the objective. The weight γ starts small and is doubled until it is reached, because many local
    minima appear with it. The result is a local minimum, as ``solution_.outcome`` says: another
    ``alpha``, kernel or number of stages may give a better one. This helps if the classes are
    separated by regions with few rows, and can make predictions worse otherwise.

    Cost: one fit of a kernel machine per round, O(n³) time, or O(n m²) with m centres
    (``n_components``), and n·m numbers for the features.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        The loss of a row with a label: "hinge", "squared_hinge", "logistic", "squared" (of labels
        ±1) or another loss of two classes.
    alpha : float, default=0.001
        Strength of the penalty on the function, alpha/2·‖f‖². Larger values give smoother
        functions. Must be positive.
    unlabelled_weight : float, default=1.0
        Weight of the mean loss of the unlabelled rows against that of the labelled rows (γ). Larger
        values move the boundary further away from unlabelled rows. 0 ignores them.
    positive_share : float or None, default=None
        Share of the unlabelled rows that get the second class, ``classes_[1]``. Must lie between 0
        and 1. None means the share among the labelled rows.
    n_stages : int, default=10
        Number of weights of the unlabelled rows that are used one after the other; each is twice
        the one before. 1 uses the full weight at once.
    max_rounds : int, default=100
        Maximum number of rounds with one weight; a round fits the function and labels the rows.

    Attributes
    ----------
    transduction_ : array of shape (n,)
        The labels of the training rows: as given, or as chosen for rows without a label.
    path_ : array of shape (n_rounds, 2)
        The weight of the unlabelled rows in every round, and the objective for this weight. The
        objective never increases while the weight is the same.
    n_iter_ : int
        Number of rounds in all stages.

    References
    ----------
    Joachims (1999), "Transductive inference for text classification using support vector machines";
    Collobert, Sinz, Weston and Bottou (2006), "Large scale transductive SVMs".

    Examples
    --------
    >>> import numpy as np
    >>> import thetahat as th
    >>> X = np.concatenate([np.linspace(0.0, 3.0, 20), np.linspace(4.5, 6.0, 20)])[:, None]
    >>> y = np.full(40, -1)
    >>> y[0], y[39] = 0, 1
    >>> model = th.TransductiveSVM(alpha=0.01).fit(X, y)
    >>> model.predict([[2.9], [4.6]]).tolist(), model.solution_.outcome.name
    ([0, 1], 'LOCAL')
    """

    loss: Any = "hinge"
    kernel: Any = "rbf"
    alpha: float = 1e-3
    unlabelled_weight: float = 1.0
    _: KW_ONLY
    positive_share: float | None = None
    n_stages: int = 10
    max_rounds: int = 100
    n_components: int | str | None = "auto"
    centers: str = "uniform"
    solver: Any = "auto"
    fit_intercept: bool = True
    max_iter: int | None = None
    tol: float = 1e-8
    random_state: Any = None

    _ranges = KernelMachine._ranges | {
        "alpha": more_than(0, LARGEST_FACTOR),
        "unlabelled_weight": at_least(0, LARGEST_FACTOR),
        "positive_share": inner_fraction | none,
        "n_stages": whole(1),
        "max_rounds": whole(1),
    }
    _for_several_classes = "keep two of them, or fit one model per class"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> TransductiveSVM:
        """Fit the function and label the unlabelled rows. Cost: one kernel machine per round.

        Parameters
        ----------
        X : array-like, sparse or table of shape (n, d)
            Training rows with and without labels; for a precomputed kernel, the matrix of shape
            (n, n).
        y : array-like of shape (n,)
            The labels of the rows, −1 for rows without a label. To mix text labels with −1, use an
            array of objects.
        sample_weight : array-like of shape (n,), optional
            Row weights. A row of weight 2 counts as two equal rows. None gives every row weight 1.

        Returns
        -------
        self
            The fitted estimator.
        """
        rows = self._partly_labelled(X, y, sample_weight)
        self.kernel_ = self._kernel(rows.everything)
        centres = self._centres(rows.everything)
        self._require_features(rows.everything.n_rows, len(centres), copies=2)
        features = KernelFeatures.of(self.kernel_, rows.everything.X, centres)
        problem = _Problem.of(
            rows, features.of_rows(rows.everything.X), self.loss_, self._share(rows)
        )
        predictor = LinearPredictor(features.n_features, 0, self.fit_intercept)
        whole_risk = EmpiricalRisk(predictor, self.loss_, L2(self.alpha), problem.source)
        attributes = partial(self._attributes, risk=whole_risk, features=features)
        verdict, path = Verdict.GO_ON, []
        most = self.n_stages * self.max_rounds
        with self._watching(most, attributes, X, y) as watch:
            fit = watch.in_time(partial(self._fit_once, predictor, problem))
            try:
                for made in self._rounds(problem, fit, predictor):
                    path.append((made.weight, made.solution.value))
                    verdict = watch(len(path), made.solution.theta, made.solution.value)
                    if verdict is not Verdict.GO_ON:
                        break
            except KeyboardInterrupt as interrupt:
                if path:
                    keep_so_far(self, interrupt, **attributes(made.solution.theta))
                raise
        self.__dict__.update(attributes(made.solution.theta))
        self.path_, self.n_iter_ = np.array(path), len(path)
        self.solution_ = _solution(made, path, verdict, problem)
        self._state_centres(self._n_centres(rows.everything), rows.everything.n_rows)
        self._warn_unless_converged()
        self._label_rest(X, y)
        self._keep_labels(rows, made.better, problem)
        return self

    def _loss_of_classes(self) -> Loss:
        loss = super()._loss_of_classes()
        if loss.targets is Targets.CLASSES:
            raise ParameterError(
                f"TransductiveSVM: loss={self.loss!r} is for several classes, but only two are "
                'supported. Use "hinge", "logistic" or another loss of two classes.'
            )
        return loss

    def _share(self, rows: PartlyLabelledRows) -> float:
        if self.positive_share is not None:
            return float(self.positive_share)
        weight = rows.labelled.row_weights
        return float(weight[np.asarray(rows.labelled.y) > 0].sum() / weight.sum())

    def _fit_once(
        self, predictor: LinearPredictor, problem: _Problem, task: tuple[float, Array, Any]
    ) -> Solution:
        """The function for given labels of all rows; its value is the whole objective."""
        gamma, positive, start = task
        scale = 1.0 + gamma
        source = problem.labelled_by(positive, gamma)
        risk = EmpiricalRisk(predictor, self.loss_, L2(self.alpha / scale), source)
        method, reason = method_for(risk, self.solver)
        found = minimise(
            risk,
            method,
            start if isinstance(self.loss_, Smooth) else None,  # dual variables have no warm start
            tolerance=tolerance_for(risk, method, self.tol),
            max_steps=self.max_iter,
            reason=reason,
        )
        return replace(found, value=scale * risk.value(found.theta), multipliers=None)

    def _rounds(self, problem: _Problem, fit: Any, predictor: LinearPredictor) -> Iterator[_Round]:
        """Fit and label in turn, with a growing weight of the unlabelled rows."""
        solution = fit((0.0, np.zeros(problem.n_unknown), None))
        positive = problem.best_labels(predictor, solution.theta)
        if not problem.n_unknown or not self.unlabelled_weight:
            yield _Round(0.0, positive, positive, solution, True)
            return
        for stage in reversed(range(self.n_stages)):
            gamma = self.unlabelled_weight / 2.0**stage
            for number in range(self.max_rounds):
                solution = fit((gamma, positive, solution.theta))
                better = problem.best_labels(predictor, solution.theta)
                settled = bool(np.array_equal(better, positive))
                last = settled or number == self.max_rounds - 1
                yield _Round(gamma, positive, better, solution, settled)
                if last:
                    break
                positive = better

    def _keep_labels(self, rows: PartlyLabelledRows, positive: Array, problem: _Problem) -> None:
        """The labels that were chosen, for the rows of positive weight without a label."""
        used = np.flatnonzero(problem.used)
        sign = positive >= problem.weight / 2
        self.transduction_[used[rows.unknown]] = self.classes_[sign.astype(np.intp)]


@dataclass(frozen=True)
class _Round:
    """A fitted function, the labels it was fitted to, and the best labels for it."""

    weight: float
    positive: Array
    better: Array
    solution: Solution
    settled: bool


@dataclass(frozen=True)
class _Problem:
    """The labelled rows, then the unlabelled ones, then a place for one that is divided.

    If the share of positive labels is not that of whole rows, one row counts partly as positive and
    partly as negative. So a row of weight 2 is the same as two equal rows.
    """

    source: InMemory
    """All rows with their features; the targets and weights of unlabelled rows are not set."""
    n_known: int
    weight: Array
    """Weights of the unlabelled rows."""
    share: float
    low: float
    """The target of the first class: 0 or −1."""
    used: Array

    @classmethod
    def of(cls, rows: PartlyLabelledRows, values: Array, loss: Loss, share: float) -> _Problem:
        order = np.concatenate([rows.known, rows.unknown, rows.known[:1]])
        source = replace(rows.everything, y=np.ones(rows.everything.n_rows), has_target=True)
        source = rows_of_features(source.take(order), values[order])
        targets = np.ones(len(order))
        targets[: len(rows.known)] = rows.labelled.y
        weight = rows.labelled.row_weights
        weights = np.zeros(len(order))
        weights[: len(rows.known)] = weight / weight.sum()
        return cls(
            source=replace(source, y=targets, weight=weights),
            n_known=len(rows.known),
            weight=rows.everything.row_weights[rows.unknown],
            share=share,
            low=0.0 if loss.targets is Targets.BINARY else -1.0,
            used=rows.used,
        )

    @property
    def n_unknown(self) -> int:
        return len(self.weight)

    def labelled_by(self, positive: Array, gamma: float) -> InMemory:
        """The rows with labels, of total weight 1 and γ; `positive` is the part of each weight."""
        y, weight = np.array(self.source.y), np.array(self.source.weight)
        if not self.n_unknown or not gamma:
            return self.source
        inside = slice(self.n_known, -1)
        factor = gamma / self.weight.sum()
        negative = self.weight - positive
        y[inside] = np.where(positive > 0, 1.0, self.low)
        weight[inside] = factor * np.where(positive > 0, positive, negative)
        divided = np.flatnonzero((positive > 0) & (negative > 0))
        if divided.size:  # at most one
            X = self.source.X
            X[-1] = X[self.n_known + int(divided[0])]
            y[-1], weight[-1] = self.low, factor * negative[divided[0]]
        return replace(self.source, y=y, weight=weight)

    def best_labels(self, predictor: LinearPredictor, theta: Array) -> Array:
        """The positive part of every weight that minimises the loss: that of the largest scores."""
        if not self.n_unknown:
            return np.zeros(0)
        z = predictor.raw(self.source.X[self.n_known : -1], theta)
        order = np.argsort(-z, kind="stable")
        weight = self.weight[order]
        ends = np.cumsum(weight)
        part = np.clip(self.share * ends[-1] - (ends - weight), 0.0, weight)
        # A part that consists of rounding errors only is ignored.
        rounding = 1e-9 * weight.max()
        part = np.where(part < rounding, 0.0, np.where(weight - part < rounding, weight, part))
        found = np.empty_like(part)
        found[order] = part
        return found


def _solution(
    made: _Round, path: list[tuple[float, float]], verdict: Verdict, problem: _Problem
) -> Solution:
    """The report on the last stage: a local minimum if no label would change."""
    outcome = made.solution.outcome
    if verdict is Verdict.OUT_OF_TIME:
        outcome = Outcome.OUT_OF_TIME
    elif verdict is Verdict.STOPPED:
        outcome = Outcome.INTERRUPTED
    elif not made.settled:
        outcome = Outcome.STEPS_EXHAUSTED
    elif outcome.success and problem.n_unknown and made.weight > 0:
        outcome = Outcome.LOCAL
    found = replace(
        made.solution,
        outcome=outcome,
        message=outcome.value,
        steps=len(path),
        trace=tuple(value for weight, value in path if weight == made.weight),
    )
    if not problem.n_unknown or not made.solution.outcome.success:
        return found
    moved = float(np.abs(made.better - made.positive).sum() / problem.weight.sum())
    return replace(found, gap=moved, gap_kind="share of unlabelled rows whose label would change")
