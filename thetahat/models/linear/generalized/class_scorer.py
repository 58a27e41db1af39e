"""A scorer for all classes, because the held-out rows of a fold may lack some of them."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.metrics import check_scoring, make_scorer

from thetahat.foundation.types import Array


def class_scorer(model: Any, scoring: Any, classes: Array) -> Any:
    """The scorer for `scoring`, with all classes passed to metrics that accept labels.

    Predicted probabilities have one column per class of the fit. A metric that infers the classes
    from the held-out rows would raise an error if one is missing there.
    """
    scorer = check_scoring(model, scoring)
    metric = getattr(scorer, "_score_func", None)
    accepted = inspect.signature(metric).parameters if metric is not None else {}
    if "labels" not in accepted:
        return scorer
    options = {"labels": classes}
    if len(classes) == 2 and "pos_label" in accepted:
        options["pos_label"] = classes[-1]
    return make_scorer(
        metric,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign == 1,
        **options | scorer._kwargs,
    )
