"""Parameters of models that train a network, with their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np

from thetahat.estimator.declaration import with_parameters
from thetahat.estimator.parameters import (
    LARGEST_FACTOR,
    Range,
    at_least,
    boolean,
    fraction,
    from_to,
    infinity,
    inner_fraction,
    more_than,
    none,
    one_of,
    whole,
)
from thetahat.objective.network.initial_weights import RULES

SOLVERS = ("lbfgs", "sgd", "adam", "adamw")
share_below_one = Range(
    lambda value: fraction.holds(value) and value < 1, "a number ≥ 0 and less than 1"
)
number_of_units = Range(
    lambda value: (
        whole(1).holds(value)
        or (isinstance(value, Sequence | np.ndarray) and not isinstance(value, str))
    ),
    "a whole number ≥ 1, or a sequence of such numbers and layers of th.neural such as (100, 50)",
)
a_path = Range(lambda value: isinstance(value, str) or hasattr(value, "__fspath__"), "a path")
patience = whole(1) | infinity


@with_parameters
class LossOfNumbers:
    """The loss of a network of numbers, scikit-learn's first parameter: the last base class.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        The loss of one row, as a function of its target and the output of the network (ℓ): a name
        such as "squared_error", "poisson", "huber", "absolute" or "quantile", or a value of
        ``th.losses``. The losses of several targets are added.
    """

    loss: Any = "squared_error"


@with_parameters
class NetworkParameters:
    """Parameters of all models that train a network.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence, default=(100,)
        Number of units of each hidden layer, from the inputs to the output. Entries may also be
        layers of ``th.neural``, for example ``(64, th.neural.Residual([th.neural.Dense(64)]))``. An
        empty sequence gives a linear model.
    activation : str, Activation or sequence, default="relu"
        The function of the hidden units: "identity", "logistic", "tanh", "relu", "leaky_relu", or a
        value of ``th.activations``. A sequence gives one for each number in `hidden_layer_sizes`.
    solver : {"lbfgs", "sgd", "adam", "adamw"}, default="adam"
        How the weights are found. "adam" and "sgd" make steps on batches of rows. "adamw" is Adam
        with a weight decay that is separate from the gradient. "lbfgs" uses all rows in each
        iteration, and is often better for small tables.
    alpha : float, default=0.0001
        Strength of the penalty of the weights, alpha/(2n)·‖W‖², where n is the number of rows that
        a step uses. Larger values give smaller weights and smoother functions. For "adamw", each
        step shrinks the weights by the factor 1 − learning rate × alpha instead. Must be ≥ 0.
    batch_size : int or "auto", default="auto"
        Number of rows of each step of "sgd", "adam" and "adamw". "auto" uses 200, or all rows if
        there are fewer.
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        How the learning rate of "sgd" changes: not at all, as ``learning_rate_init / t**power_t``
        with the number of visited rows t, or divided by 5 when two epochs in a row do not improve.
    learning_rate_init : float, default=0.001
        The learning rate (η): the size of the steps of "sgd", "adam" and "adamw". Larger values
        learn faster, but too large ones diverge. Must be positive.
    power_t : float, default=0.5
        Exponent of the "invscaling" learning rate. Larger values make the steps shrink faster.
    max_iter : int, default=200
        Maximum number of epochs (passes over the rows), or of iterations of "lbfgs".
    shuffle : bool, default=True
        Whether to visit the rows in a new random order in each epoch.
    random_state : int, RandomState, Generator or None, default=None
        Seed for the initial weights, the order of the rows, held-out rows and dropout. Pass an int
        for the same result on every call.
    tol : float or None, default=0.0001
        Tolerance of the stopping rule. The fit stops if the loss (with `early_stopping`, the score)
        has not improved by at least `tol` for more than `n_iter_no_change` epochs in a row. For
        "lbfgs" it is the largest entry of the gradient at which the fit has converged. None runs
        all `max_iter` epochs.
    verbose : bool, default=False
        Whether to print the loss of each epoch.
    warm_start : bool, default=False
        Whether to start from the weights of the previous call to `fit`, if there is one.
    momentum : float, default=0.9
        Share of the previous step that "sgd" adds to the next one. Must be at least 0 and less
        than 1.
    nesterovs_momentum : bool, default=True
        Whether "sgd" uses Nesterov's momentum, if `momentum` is positive.
    early_stopping : bool, default=False
        Whether to hold out rows and stop when their score no longer improves. The weights with the
        best score are kept.
    validation_fraction : float, default=0.1
        Share of the rows that `early_stopping` holds out. Must be between 0 and 1.
    beta_1 : float, default=0.9
        Decay of the running mean of the gradients in "adam" and "adamw". Larger values average over
        more steps. Must be at least 0 and less than 1.
    beta_2 : float, default=0.999
        Decay of the running mean of the squared gradients in "adam" and "adamw". Must be at least 0
        and less than 1.
    epsilon : float, default=1e-8
        Added to the denominator of "adam" and "adamw" to avoid a division by zero. Must be
        positive.
    n_iter_no_change : int, default=10
        Number of epochs in a row without improvement that are tolerated.
    max_fun : int, default=15000
        A second limit for the number of iterations of "lbfgs", beside `max_iter`. Each iteration
        evaluates the loss about once.
    penalty : {"l2", "l1", "elasticnet"} or None, default="l2"
        Penalty of the weights. "l2" adds alpha·W to the gradient, "l1" adds alpha·sign(W), and
        "elasticnet" a mixture. "lbfgs" and "adamw" take "l2" or None only.
    l1_ratio : float, default=0.15
        Share of the L1 norm in the "elasticnet" penalty, between 0 and 1.
    dropout : float, default=0.0
        Probability of setting the output of a hidden unit to 0 in a training step. Larger values
        regularise more. Must be at least 0 and less than 1. Not available for "lbfgs".
    initialisation : str, default="glorot"
        How initial weights are drawn: "glorot", "he" (for rectified linear units) or "small".
        "large", "equal" and "zeros" demonstrate bad starts.
    checkpoint : path or None, default=None
        File in which `fit` saves its state every few seconds, after an epoch, and when it is
        interrupted by Ctrl-C, a callback or the time limit ``th.config(max_time=...)``. Calling
        `fit` again with the same data and parameters continues from there with the same result.
        The file is deleted when the training ends. None writes no file. Not available for "lbfgs".
    """

    hidden_layer_sizes: Any = (100,)
    activation: Any = "relu"
    _: KW_ONLY
    solver: str = "adam"
    alpha: float = 0.0001
    batch_size: Any = "auto"
    learning_rate: str = "constant"
    learning_rate_init: float = 0.001
    power_t: float = 0.5
    max_iter: int = 200
    shuffle: bool = True
    random_state: Any = None
    tol: float | None = 1e-4
    verbose: bool = False
    warm_start: bool = False
    momentum: float = 0.9
    nesterovs_momentum: bool = True
    early_stopping: bool = False
    validation_fraction: float = 0.1
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    n_iter_no_change: Any = 10
    max_fun: int = 15000
    penalty: str | None = "l2"
    l1_ratio: float = 0.15
    dropout: float = 0.0
    initialisation: str = "glorot"
    checkpoint: Any = None

    _search_space: ClassVar[dict[str, tuple[Any, ...]]] = {
        "hidden_layer_sizes": ((20,), (50,), (100,), (50, 50)),
        "alpha": (1e-5, 1e-3, 0.03, 0.3, 3.0),
        "learning_rate_init": (0.001, 0.002, 0.005, 0.01),
        "max_iter": (30, 60, 150),
    }
    _ranges: ClassVar[dict[str, Range]] = {
        "hidden_layer_sizes": number_of_units,
        "solver": one_of(*SOLVERS),
        "alpha": at_least(0, LARGEST_FACTOR),
        "batch_size": whole(1) | one_of("auto"),
        "learning_rate": one_of("constant", "invscaling", "adaptive"),
        "learning_rate_init": more_than(0, LARGEST_FACTOR),
        "power_t": from_to(0, 100),
        "max_iter": whole(1),
        "shuffle": boolean,
        "tol": at_least(0) | none,
        "verbose": boolean | whole(0),
        "warm_start": boolean,
        "momentum": share_below_one,
        "nesterovs_momentum": boolean,
        "early_stopping": boolean,
        "validation_fraction": inner_fraction,
        "beta_1": share_below_one,
        "beta_2": share_below_one,
        "epsilon": more_than(0, LARGEST_FACTOR),
        "n_iter_no_change": patience,
        "max_fun": whole(1),
        "penalty": one_of("l2", "l1", "elasticnet") | none,
        "l1_ratio": fraction,
        "dropout": share_below_one,
        "initialisation": one_of(*RULES),
        "checkpoint": none | a_path,
    }
