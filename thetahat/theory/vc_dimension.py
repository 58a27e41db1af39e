"""The VC dimension of the hypothesis classes of this library's classifiers.

A class shatters m points if it can label them in all 2^m ways; its VC dimension is the largest m
for which some m points are shattered.

    halfspaces of d columns, with a threshold    d + 1    (d without one)
    axis-parallel boxes in d dimensions          2d
    disjunctions of n variables                  n
    disjunctions of n variables, also negated    n, but 2 for n = 1, which includes x ∨ ¬x
    polynomial thresholds                        the number of monomials
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from thetahat.estimator.linear_classifier import LinearClassifier
from thetahat.foundation.errors import CapabilityError
from thetahat.models.online.disjunction import Disjunction, MonotoneDisjunction
from thetahat.models.online.perceptron import OnlinePerceptron
from thetahat.models.online.winnow import Winnow
from thetahat.models.rectangle.axis_parallel_rectangle import AxisParallelRectangle


def vc_dimension(model: Any) -> int:
    """The VC dimension of the class of a fitted two-class model, for use with `vc_bound`.

    It is the largest number of points that the class can label in every possible way.

    Formula: d + 1 for halfspaces with a threshold, 2d for boxes, n for disjunctions of n variables.
    Cost: O(1).

    Parameters
    ----------
    model : fitted classifier of this library
        A fitted classifier with two classes: linear, a box, a disjunction, Winnow or a perceptron.

    Returns
    -------
    int

    Examples
    --------
    >>> import thetahat as th
    >>> box = th.AxisParallelRectangle().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    >>> th.theory.vc_dimension(box)
    4
    """
    check_is_fitted(model)
    classes = getattr(model, "classes_", ())
    if len(classes) == 2:
        d = int(model.n_features_in_)
        if isinstance(model, LinearClassifier):
            return d + bool(getattr(model, "fit_intercept", True))
        if isinstance(model, AxisParallelRectangle):
            return 2 * d
        if isinstance(model, Disjunction):
            return max(2, d)
        if isinstance(model, MonotoneDisjunction):
            return d
        if isinstance(model, OnlinePerceptron | Winnow):
            return int(model.weights_.size)
    kind = f"{len(classes)} classes" if len(classes) else "no classes"
    raise CapabilityError(
        f"The VC dimension of {type(model).__name__} with {kind} is not available; it is "
        "available for some classifiers with two classes. Use th.theory.rademacher, which refits "
        "the model."
    )
