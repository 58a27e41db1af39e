"""Parameters of linear models fitted row by row."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    at_least,
    boolean,
    fraction,
    from_to,
    inner_fraction,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.mathematics.optimizers.stochastic.learning_rates import SCHEDULES

LARGEST_POWER = 100.0
"""Largest exponent of the number of steps in a learning rate."""

RANGES: dict[str, Range] = {
    "penalty": one_of("l2", "l1", "elasticnet") | none,
    "alpha": at_least(0, LARGEST_FACTOR),
    "l1_ratio": fraction | none,
    "fit_intercept": boolean,
    "max_iter": whole(1),
    "tol": at_least(0) | none,
    "shuffle": boolean,
    "eta0": more_than(0),
    "early_stopping": boolean,
    "validation_fraction": inner_fraction,
    "n_iter_no_change": whole(1),
    "warm_start": boolean,
}
"""Ranges of the parameters that all these estimators have."""
SCHEDULE_RANGES: dict[str, Range] = {
    "learning_rate": one_of(*SCHEDULES),
    "epsilon": at_least(0),
    "power_t": from_to(-LARGEST_POWER, LARGEST_POWER),
    "average": boolean | whole(1),
}
"""Ranges of the parameters of estimators with a choice of loss and learning rate."""


@with_parameters
class StochasticParameters:
    """Parameters of all estimators fitted in epochs that visit one row at a time.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default="l2"
        Penalty on the coefficients. "l2" shrinks all coefficients, "l1" and "elasticnet" also set
        some of them to zero. None adds no penalty.
    alpha : float, default=0.0001
        Strength of the penalty (α). Larger values shrink the coefficients more. It also sets the
        step size of the "optimal" learning rate. Must be ≥ 0.
    l1_ratio : float, default=0.15
        Share of the L1 norm in the "elasticnet" penalty (ρ), between 0 and 1. 1 is the L1 penalty,
        0 the L2 penalty. Other penalties ignore it.
    tol : float or None, default=1e-3
        Tolerance of the stopping rule. The fit stops if the mean loss of an epoch (with
        `early_stopping`, the score on held-out rows) has not improved by at least `tol` for
        `n_iter_no_change` epochs in a row. None runs all `max_iter` epochs.
    eta0 : float, default=0.01
        Initial learning rate (η₀) of "constant", "invscaling" and "adaptive"; for "pa1" and "pa2",
        the aggressiveness of the steps. Larger values make larger steps, which learn faster but may
        diverge. Must be positive.
    validation_fraction : float, default=0.1
        Share of the training rows that is held out for `early_stopping`. Must be between 0 and 1.
        Only used if ``early_stopping=True``.
    n_iter_no_change : int, default=5
        Number of epochs in a row without improvement after which the fit stops.
    """

    _: KW_ONLY
    penalty: str | None = "l2"
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    verbose: int = 0
    random_state: Any = None
    eta0: float = 0.01
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    warm_start: bool = False

    _ranges = RANGES


@with_parameters
class ScheduleParameters:
    """Parameters of estimators with a choice of loss and learning rate.

    Parameters
    ----------
    epsilon : float, default=0.1
        Threshold of the losses "huber", "epsilon_insensitive" and "squared_epsilon_insensitive".
        For "huber" it is the residual at which the loss becomes linear; for the others, residuals
        smaller than it cost nothing. Must be ≥ 0.
    """

    loss: Any = "squared_error"
    _: KW_ONLY
    epsilon: float = 0.1
    learning_rate: str = "optimal"
    power_t: float = 0.5
    average: Any = False

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "alpha": (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1),
    }
    _ranges = RANGES | SCHEDULE_RANGES
