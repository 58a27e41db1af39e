"""Shared by linear models fitted row by row: losses, learning rates and held-out rows."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.in_memory import InMemory
from thetahat.data.source import Source
from thetahat.estimator.linear import Linear
from thetahat.estimator.parameters import check_ranges
from thetahat.estimator.sparsify import Sparsifies
from thetahat.estimator.watching import Watched
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import CapabilityError, DataError, ParameterError
from thetahat.foundation.randomness import generator
from thetahat.foundation.threads import one_blas_thread
from thetahat.foundation.types import Array
from thetahat.mathematics.losses import named
from thetahat.mathematics.losses.base import Loss, Subdifferentiable
from thetahat.mathematics.losses.residual.squared import Huber
from thetahat.mathematics.losses.residual.tube import EpsilonInsensitive, SquaredEpsilonInsensitive
from thetahat.mathematics.optimizers.solution import Outcome
from thetahat.mathematics.optimizers.stochastic.learning_rates import LearningRate, optimal_offset
from thetahat.objective.stochastic.descent import StochasticDescent, stacked
from thetahat.objective.stochastic.held_out import hold_out
from thetahat.objective.stochastic.steps import Steps, Walk


class Stochastic(Sparsifies, Watched, Linear):
    """An estimator fitted in epochs that visit one row at a time.

    A subclass defines its loss, how many scores there are and the target of each. The last iterate
    is kept in double precision in addition to the reported one, so that `partial_fit` continues
    from it. The parameters below are described here for the subclasses that have them.

    Parameters
    ----------
    max_iter : int, default=1000
        Maximum number of epochs, which are passes over the training rows. Only used by `fit`;
        `partial_fit` always runs one epoch.
    shuffle : bool, default=True
        Whether to shuffle the rows before each epoch.
    random_state : int, RandomState, Generator or None, default=None
        Seed for shuffling the rows. Pass an int for the same result on every call.
    power_t : float, default=0.5
        Exponent of the "invscaling" learning rate (p). Larger values make the steps shrink faster.
    average : bool or int, default=False
        Whether to report the average of the coefficients over all steps instead of the last ones.
        An int starts averaging after that many steps. Averaging often gives better results with a
        constant or slowly decreasing learning rate.

    Attributes
    ----------
    n_iter_ : int
        Number of epochs that were run.
    t_ : float
        Number of steps (rows visited) during the fit, plus one.
    loss_ : Loss
        The loss that was used.
    solution_ : Solution
        Report of the fit: how it stopped, the number of epochs and the last mean loss.
    """

    _visits_rows_in_order = True
    _passive_aggressive_loss: ClassVar[str] = "hinge"
    """The loss for which the passive-aggressive rules have their closed form."""

    _level_name: ClassVar[str] = "intercept_init"
    """The argument of `fit` that sets the first intercepts."""
    _penalty_name: ClassVar[str] = "alpha"
    """The parameter that sets the strength of the penalty."""

    loss: Any
    penalty: str | None
    alpha: float
    l1_ratio: float
    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: Any
    eta0: float
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    warm_start: bool
    learning_rate: str
    power_t: float
    epsilon: float
    average: Any
    loss_: Subdifferentiable
    t_: float
    n_iter_: int

    @abstractmethod
    def fit(self, X: Any, *data: Any, **params: Any) -> Any:
        """Fit the model by stochastic gradient descent.

        Parameters
        ----------
        coef_init, intercept_init : array-like, optional
            Initial coefficients and intercepts, of the shapes of ``coef_`` and ``intercept_``. None
            starts at 0.
        sample_weight : array-like of shape (n,), optional
            Row weights: the loss of each row is multiplied by its weight. Rows of weight 0 are
            ignored. None gives every row weight 1.
        """

    # The parts.

    def _check_parameters(self, resuming: bool = False) -> None:
        """Raise an error for parameters that are wrong alone or in combination."""
        check_ranges(self)
        who = type(self).__name__
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ParameterError(
                f"{who}: penalty='elasticnet' needs l1_ratio, a number from 0 to 1, but it is None."
            )
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise ParameterError(
                f"{who}: learning_rate='optimal' is 1/(alpha·t), so alpha must be > 0, but "
                f"alpha={self.alpha!r}. Use another learning_rate, or penalty=None with a positive "
                "alpha that only sets the rate."
            )
        if resuming and self.early_stopping:
            raise ParameterError(
                f"{who}: early_stopping should be False with partial_fit, because a batch is not "
                "the whole training set. Score the model on held-out rows between the calls "
                "instead."
            )
        rule, wanted = self.learning_rate, named(self._passive_aggressive_loss)
        if rule in ("pa1", "pa2") and type(self._parts()[0]) is not type(wanted):
            raise ParameterError(
                f"{who}: learning_rate={rule!r} is only defined for "
                f"loss={self._passive_aggressive_loss!r}, but loss={self.loss!r}. Use 'constant' "
                "or 'adaptive'."
            )

    def _parts(self) -> tuple[Subdifferentiable, float]:
        """The loss and its factor: scikit-learn's squared tube loss lacks the ½ of the one here."""
        loss: Loss
        multiplier = 1.0
        match self.loss:
            case "huber":
                loss = Huber(delta=max(float(self.epsilon), np.finfo(float).tiny))
            case "epsilon_insensitive":
                loss = EpsilonInsensitive(epsilon=float(self.epsilon))
            case "squared_epsilon_insensitive":
                loss, multiplier = SquaredEpsilonInsensitive(epsilon=float(self.epsilon)), 2.0
            case _:
                loss = named(self.loss)
        if not isinstance(loss, Subdifferentiable):
            raise CapabilityError(
                f"{type(self).__name__}: {type(loss).__name__} has no derivative, which stochastic "
                "gradient descent needs. Use a surrogate such as 'hinge' or 'log_loss'."
            )
        return loss, multiplier

    def _steps(self) -> Steps:
        self.loss_, multiplier = self._parts()
        ratio = {"l1": 1.0, "elasticnet": float(self.l1_ratio or 0.0)}.get(self.penalty or "", 0.0)
        strength = 0.0 if self.penalty is None else float(self.alpha)
        return Steps(
            loss=self.loss_,
            l2=strength * (1 - ratio),
            l1=strength * ratio,
            level=self._level,
            fit_intercept=self.fit_intercept,
            multiplier=multiplier,
            rule=self.learning_rate,
        )

    def _rate(self, steps: Steps) -> LearningRate:
        # Python floats, because a float32 parameter would reduce the precision of all rates.
        eta0, power, alpha = float(self.eta0), float(self.power_t), float(self.alpha)
        offset = optimal_offset(steps.loss, alpha) if self.learning_rate == "optimal" else 0.0
        return LearningRate(self.learning_rate, eta0, power, alpha, offset)

    @property
    def _level(self) -> float:
        """The slope of the objective in b beside the losses."""
        return 0.0

    @property
    def _checks_finite(self) -> bool:
        """Whether the rows are checked for NaN first; otherwise the steps detect it."""
        return self.early_stopping  # the steps do not visit held-out rows

    # The walks.

    def _new_walks(
        self, n_scores: int, d: int, coef: Any, intercept: Any, *, jointly: bool
    ) -> list[Walk]:
        """Walks from 0, from the given coefficients, or with warm_start from the previous ones."""
        who = type(self).__name__
        if self.warm_start and hasattr(self, "coef_"):
            if coef is None:
                coef = self.coef_
                if coef.shape[-1] != d:
                    raise DataError(
                        f"{who}: warm_start=True starts at the coefficients of the previous fit, "
                        f"which had {coef.shape[-1]} columns, but X has {d}. Pass rows with the "
                        "same columns, or use warm_start=False."
                    )
            intercept = self.intercept_ if intercept is None else intercept
        shape = (d,) if self._has_one_output() else (n_scores, d)
        start = _start(coef, shape, "coef_init", who).reshape(n_scores, d)
        level = _start(intercept, (n_scores,), self._level_name, who)
        return self._walks(start, level, jointly=jointly)

    def _walks(self, coef: Array, intercept: Array, *, jointly: bool) -> list[Walk]:
        averages = bool(self.average)
        if jointly:
            return [Walk(np.ascontiguousarray(coef.T), intercept.copy(), averages)]
        return [
            Walk(row.copy(), float(b), averages) for row, b in zip(coef, intercept, strict=True)
        ]

    def _resumed_walks(self, *, jointly: bool) -> list[Walk]:
        """The walks in the state of the last call."""
        last = self._last_iterate
        walks = self._walks(last[:, :-1], last[:, -1], jointly=jointly)
        if not self.average:
            return walks
        for number, walk in enumerate(walks):
            total = self._iterate_sum if jointly else self._iterate_sum[number]
            walk.coef_sum = np.ascontiguousarray(total[..., :-1].T)
            walk.intercept_sum = total[..., -1].copy() if jointly else float(total[-1])
            walk.n_averaged = self._n_averaged
        return walks

    def _keep_walks(self, walks: Sequence[Walk], dtype: Any) -> None:
        self._last_iterate = stacked([(walk.coef, walk.intercept) for walk in walks]).T
        if self.average:
            sums = [(walk.coef_sum, walk.intercept_sum) for walk in walks]
            self._iterate_sum = stacked(sums).T
            self._n_averaged = walks[0].n_averaged
        theta = stacked([walk.reported() for walk in walks])
        self.__dict__.update(self._attributes_of(theta, dtype))

    def _attributes_of(self, theta: Array, dtype: Any) -> dict[str, Array]:
        """``coef_`` and ``intercept_`` from [β; b] with one column per score."""
        return {
            "coef_": np.ascontiguousarray(theta[:-1].T, dtype=dtype),
            "intercept_": theta[-1].astype(dtype),
        }

    # The descent.

    def _descend(
        self,
        source: Source,
        walks: list[Walk],
        target: Callable[[int, Array], Array],
        X: Any,
        y: Any,
        *,
        epochs: int | None = None,
        stratify: bool = False,
    ) -> None:
        """Fit the walks to the rows; `epochs`, if given, replaces the stopping rule."""
        steps, random = self._steps(), generator(self.random_state)
        rows, score = source, None
        if self.early_stopping:
            rows, held_out = hold_out(
                source,
                self.validation_fraction,
                random,
                stratify=stratify,
                who=type(self).__name__,
            )
            score = self._held_out_score(held_out, target)
        descent = StochasticDescent(
            steps,
            self._rate(steps),
            target,
            max_epochs=epochs or self.max_iter,
            tolerance=None if epochs else self.tol,
            patience=self.n_iter_no_change,
            shuffle=self.shuffle,
            average=int(self.average),
            score=score,
            who=type(self).__name__,
            penalty_name=self._penalty_name,
        )
        attributes = partial(self._attributes_of, dtype=source.dtype)
        with self._watching(descent.max_epochs, attributes, X, y) as watch:
            found, following = descent.run(rows, walks, random, watch, int(self.t_))
        if np.abs(found.theta).max(initial=0.0) > np.finfo(source.dtype).max:
            raise DataError(
                f"{type(self).__name__}: the steps diverged: the coefficients overflow "
                f"{source.dtype}. {descent.remedy()}"
            )
        self.solution_ = found
        self._keep_walks(walks, source.dtype)
        self.n_iter_, self.t_ = self.solution_.steps, float(following)
        if self.solution_.outcome is Outcome.DIVERGED:
            warn(
                f"{type(self).__name__}: the steps diverged: the mean loss is "
                f"{self.solution_.value:.2g}, far above that of predicting 0. {descent.remedy()}",
                ConvergenceWarning,
            )
        elif descent.tolerance is not None:
            self._warn_unless_converged()

    def _held_out_score(
        self, rows: InMemory, target: Callable[[int, Array], Array]
    ) -> Callable[[int, Array, Array | float], float]:
        assert rows.y is not None
        y = rows.y

        def score(number: int, coef: Array, intercept: Array | float) -> float:
            with one_blas_thread():
                z = rows.X @ coef + intercept
            return self._score_of(target(number, y), z, rows.weight)

        return score

    @abstractmethod
    def _score_of(self, y: Array, z: Array, weight: Array | None) -> float:
        """Score of raw predictions on held-out rows; greater is better."""


def _start(given: Any, shape: tuple[int, ...], name: str, who: str) -> Array:
    if given is None:
        return np.zeros(shape)
    start = np.asarray(given, dtype=np.float64)
    if start.size != math.prod(shape) or (len(shape) > 1 and shape[0] > 1 and start.shape != shape):
        raise DataError(
            f"{who}: {name} has shape {start.shape}, but this fit needs {shape}. Leave it out to "
            "start at 0."
        )
    return start.reshape(shape)
