"""A scorer that knows every class: the rows left out of a fold need not hold all of them."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.metrics import check_scoring, make_scorer

from thetahat.foundation.types import Array


def class_scorer(model: Any, scoring: Any, classes: Array) -> Any:
    """The scorer that `scoring` names, told of all classes where its metric asks for labels.

    Probabilities have a column for each class of the fit. A metric that counts the classes of the
    rows it is shown would refuse them where one is absent.
    """
    scorer = check_scoring(model, scoring)
    metric = getattr(scorer, "_score_func", None)
    asked = inspect.signature(metric).parameters if metric is not None else {}
    if "labels" not in asked:
        return scorer
    options = {"labels": classes}
    if len(classes) == 2 and "pos_label" in asked:
        options["pos_label"] = classes[-1]
    return make_scorer(
        metric,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign == 1,
        **options | scorer._kwargs,
    )
