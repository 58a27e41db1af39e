"""What the training of a network reports: printed epochs, and warnings and errors of its steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from thetahat.data.extremes import largest_of_columns
from thetahat.data.source import Source
from thetahat.foundation.caller_warning import warn
from thetahat.foundation.errors import DataError

SCALE = "Scale the columns and the target, for example with sklearn.preprocessing.StandardScaler"


def warn_of_divergence(model: Any, source: Source) -> None:
    """Warn that the epochs of a model diverged; an error if there is no epoch before to keep."""
    remedy = f"{SCALE}, or lower learning_rate_init (now {model.learning_rate_init:g})."
    if not any(map(math.isfinite, model.loss_curve_)):
        raise no_finite_loss(model, source, "in the first epoch", remedy)
    how = "the loss is no longer finite; the weights of the last good epoch are kept."
    if math.isfinite(model.loss_):
        how = f"the loss is {model.loss_:.2g}, far above that of the output 0."
    warn(
        f"{type(model).__name__}: the steps diverged in epoch {model.n_iter_}: {how} {remedy}",
        ConvergenceWarning,
    )


def warn_of_few_evaluations(model: Any) -> None:
    """Warn that "lbfgs" reached its second limit, the one that raising `max_iter` leaves."""
    steps = model.n_iter_
    warn(
        f"{type(model).__name__}: max_fun={model.max_fun} was reached before the tolerance (lbfgs, "
        f"{steps} {'iteration' if steps == 1 else 'iterations'}, {model.solution_.gap_kind} "
        f"{model.solution_.gap:.2g}). Raise max_fun or tol, or scale the columns.",
        ConvergenceWarning,
    )


def no_finite_loss(model: Any, source: Source, when: str, remedy: str = f"{SCALE}.") -> DataError:
    """The error for a loss that is not finite from the start. Cost: one pass over the rows."""
    sizes = largest_of_columns(source)
    column = int(np.argmax(sizes))
    return DataError(
        f"{type(model).__name__}: the loss must be a finite number, but {when} it is "
        f"{model.loss_:g}, so that there are no weights to keep. Column "
        f"{source.schema.label(column)} of X has the largest values, up to {sizes[column]:.3g}. "
        f"{remedy}"
    )


def print_epoch(epoch: int, loss: float, score: float | None) -> None:
    """Print the loss of an epoch."""
    print(f"Iteration {epoch}, loss = {loss:.8f}")
    if score is not None:
        print(f"Validation score: {score:f}")


def print_stop(model: Any) -> None:
    """Print why the training stopped before its last epoch."""
    what = "Validation score" if model.early_stopping else "Training loss"
    count = model.n_iter_no_change
    epochs = "epoch" if count == 1 else "epochs"
    print(f"{what} did not improve more than tol={model.tol:f} for {count} consecutive {epochs}.")
