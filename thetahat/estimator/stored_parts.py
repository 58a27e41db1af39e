"""Whether the labels and other fitted parts of a stored model fit each other.

A prediction takes the label at the place of the largest score, so that fewer labels than scores
end in an error of the array or, if the missing places are never largest, in wrong labels. NumPy
repeats an array of length 1 without an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from thetahat.foundation.checked_value import check_rule

PER_CLASS = (
    "class_prior_", "class_log_prior_", "class_count_", "priors_", "class_weight_", "_n_support",
    "_indices",
)  # fmt: skip
"""Attributes with one entry for each class."""
PER_COLUMN = (
    "X_offset_", "X_scale_", "_centre", "_centres", "_class_means", "_x_mean", "_x_std", "center_",
    "centroids_", "cluster_centers_", "coef_", "components_", "deviations_", "feature_count_",
    "feature_log_prob_", "high_", "landmarks_", "location_", "low_", "prototypes_", "raw_location_",
    "support_vectors_", "xbar_",
)  # fmt: skip
"""Attributes whose last axis has one entry for each column of X."""
EQUAL_LENGTHS = (("weights_", "means_"), ("var_", "theta_"))
"""Attributes with one entry for each of the same components or classes."""
MEMBERS = ("estimators_", "estimator_", "final_estimator_", "classifier_")


def require_fitting_classes(model: Any) -> None:
    """Refuse a stored classifier whose ``classes_`` has another length than its fitted parts.

    Cost: O(number of members), and O(1) for a model without members.
    """
    state = vars(model)
    classes = state.get("classes_")
    if classes is None:
        return
    several = isinstance(classes, list)  # one array for each output
    for each in classes if several else [classes]:
        check_rule(model, _is_list_of_labels(each), "classes_ must be an array of labels")
        check_rule(model, _is_ascending(each), "classes_ must be in ascending order")
    lengths = [len(each) for each in classes] if several else len(classes)
    if "n_classes_" in state:
        counted = np.asarray(state["n_classes_"]).tolist()
        check_rule(
            model, counted == lengths, f"classes_ has {lengths} labels for {counted} classes"
        )
    if several:
        return
    for name, fitted in _class_counts(state):
        check_rule(model, lengths == fitted, f"classes_ has {lengths} labels, {name} {fitted}")
    if "n_classes_" not in state:  # whose members may have seen some of the classes only
        for member in _members(state):
            known = getattr(member, "classes_", None)
            if isinstance(known, np.ndarray):
                rule = f"classes_ has {lengths} labels, and a member has {len(known)}"
                check_rule(model, len(known) == lengths, rule)
    tags = get_tags(model).classifier_tags
    if tags is not None and not tags.multi_class:
        check_rule(model, lengths == 2, f"classes_ has {lengths} labels instead of two")


def require_fitting_lengths(model: Any) -> None:
    """Refuse a stored model of which one attribute has fewer entries than another. Cost: O(1)."""
    state = vars(model)
    for names in EQUAL_LENGTHS:
        if all(_is_list(state.get(name)) for name in names):
            one, other = (len(state[name]) for name in names)
            rule = f"{names[0]} has length {one}, {names[1]} {other}"
            check_rule(model, one == other, rule)
    columns = state.get("n_features_in_")
    centred = ("mean_",) if "components_" in state else ()
    for name in (*PER_COLUMN, *centred) if columns is not None else ():
        value = state.get(name)
        if _is_list(value):
            found = value.shape[-1]
            check_rule(model, value.dtype.kind in "fiub", f"{name} must hold numbers")
            check_rule(model, found == columns, f"{name} has {found} entries for {columns} columns")
    coef, intercept = np.shape(state.get("coef_")), state.get("intercept_")
    if isinstance(intercept, np.ndarray) and _is_list(intercept) and len(coef) in (1, 2):
        outputs = coef[0] if len(coef) == 2 else 1
        rule = f"intercept_ has {intercept.size} entries, coef_ {outputs} outputs"
        check_rule(model, intercept.size == outputs, rule)


def _is_list(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _is_list_of_labels(classes: Any) -> bool:
    return isinstance(classes, np.ndarray) and classes.ndim == 1 and classes.size > 0


def _is_ascending(classes: Any) -> bool:
    """Whether no label stands before a smaller one; labels of several types have no order."""
    try:
        return not np.any(classes[1:] <= classes[:-1])
    except TypeError:
        return True


def _class_counts(state: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """The number of classes that each fitted attribute stands for, if that is known."""
    counted = [name for name in PER_CLASS if isinstance(state.get(name), np.ndarray | list)]
    for name in counted:
        yield name, len(state[name])
    if "n_classes_" not in state and isinstance(state.get("n_outputs_"), int):
        yield "n_outputs_", max(2, state["n_outputs_"])
    coef = state.get("coef_")
    if coef is not None and len(np.shape(coef)) == 2:
        yield "coef_", max(2, coef.shape[0])
    elif not counted and len(np.shape(state.get("intercept_", 0.0))) == 1:
        # Models that count their classes may have an intercept for each pair or direction.
        yield "intercept_", max(2, len(state["intercept_"]))
    if len(np.shape(state.get("_votes", 0.0))) == 2:
        yield "_votes", state["_votes"].shape[1]


def _members(state: dict[str, Any]) -> Iterator[Any]:
    for name in MEMBERS:
        found = state.get(name)
        if isinstance(found, Sequence):
            yield from found
        elif found is not None:
            yield found
