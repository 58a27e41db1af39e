"""Checks that targets are valid for a loss, with an error message if they are not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from thetahat.data.arrays import to_host
from thetahat.data.source import Block, Source
from thetahat.foundation.errors import DataError
from thetahat.foundation.types import Array
from thetahat.mathematics.losses.base import Loss, Targets


class Rule(NamedTuple):
    """The condition for valid targets, the description of invalid ones, and the remedy."""

    holds: Callable[[Any, Array], Array]
    offence: str
    remedy: str


FINITE = Rule(
    lambda xp, y: xp.isfinite(y), "NaN or infinite", "Drop those rows, or impute their targets."
)

RULES = {
    Targets.REAL: FINITE,
    Targets.NONNEGATIVE: Rule(
        lambda xp, y: y >= 0, "negative", "Use LinearRegression or another loss for signed targets."
    ),
    Targets.POSITIVE: Rule(
        lambda xp, y: y > 0,
        "not positive",
        "Use a Poisson or Tweedie loss for targets that can be 0, another loss for signed ones.",
    ),
    Targets.BINARY: Rule(
        lambda xp, y: (y == 0) | (y == 1),
        "neither 0 nor 1",
        'Encode the two classes as 0 and 1; for −1 and +1 use (y + 1)/2, or loss="sign_logistic".',
    ),
    Targets.SIGNS: Rule(
        lambda xp, y: (y == -1) | (y == 1),
        "neither −1 nor +1",
        "Encode the two classes as −1 and +1; for 0 and 1 use 2·y − 1.",
    ),
    Targets.CLASSES: Rule(
        lambda xp, y: (y >= 0) & (y == xp.round(y)),
        "not valid as a class index",
        "Number the classes with numpy.unique(y, return_inverse=True).",
    ),
}


def check_targets(loss: Loss, y: Any, *, who: str, start: int = 0) -> None:
    """Raise an error if `loss` does not accept the targets: how many, the first, the remedy.

    `who` is the name of the estimator; the message begins with it. `start` is the number of the
    first row, if y is one block of many. Cost: O(n).
    """
    if not is_array_api_obj(y):
        y = np.asarray(y)
    xp = array_namespace(y)
    need = f"{type(loss).__name__} loss needs {loss.targets.value}"
    if xp.isdtype(y.dtype, "bool"):
        y = xp.astype(y, xp.int8)
    if not xp.isdtype(y.dtype, ("real floating", "integral")):
        raise DataError(
            f"{who}: targets are of type {y.dtype}; {need}. Convert them to numbers first."
        )
    for rule in (FINITE, RULES[loss.targets]):
        _enforce(rule, xp, y, start, f"{who}: ", f"; {need}. {rule.remedy}")


def check_source_targets(loss: Loss, source: Source, *, who: str) -> None:
    """The same for the targets of all rows of a source."""
    for _ in source.map_blocks(partial(_check_block, loss=loss, who=who)):
        pass


def _check_block(block: Block, loss: Loss, who: str) -> None:
    check_targets(loss, to_host(block.targets), who=who, start=block.start)


def _enforce(rule: Rule, xp: Any, y: Array, start: int, before: str, after: str) -> None:
    bad = xp.reshape(~rule.holds(xp, y), (-1,))
    count = int(xp.sum(xp.astype(bad, xp.int64)))
    if not count:
        return
    total = bad.shape[0]
    first = int(xp.argmax(xp.astype(bad, xp.int8)))
    value = xp.reshape(y, (-1,))[first].item()
    row = start + first // (total // y.shape[0])
    verb = "is" if count == 1 else "are"
    raise DataError(
        f"{before}{count:,} of {total:,} targets {verb} {rule.offence} "
        f"(first at row {row:,}: {value!r}){after}"
    )
