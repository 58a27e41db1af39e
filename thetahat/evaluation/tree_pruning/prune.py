"""Prune a tree to the size that predicts held-out rows best, or has the shortest description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from thetahat.data.resampling import take_rows
from thetahat.data.validation import as_weight
from thetahat.estimator.distributed.functions import needs_memory
from thetahat.estimator.parameters import check_value, one_of
from thetahat.evaluation.folds import Fold, folds_of, rows_in
from thetahat.evaluation.statistics.outcome import Interval
from thetahat.evaluation.tree_pruning.pruning import LEVEL_NAMES, Pruning
from thetahat.foundation.arguments import require_level
from thetahat.foundation.errors import CapabilityError, ParameterError
from thetahat.foundation.types import Array
from thetahat.models.tree.description import node_bits
from thetahat.models.tree.pruning import (
    PruningSequence,
    error_risk,
    least_impact,
    log_loss_risk,
    weakest_links,
)

LEAST_LOG = float(np.log(np.finfo(np.float64).tiny))
"""Smallest log density used, so that the error of rows in empty cells stays finite."""


@needs_memory
def prune(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = "weakest_link",
    alpha: float | None = None,
    max_nodes: int | None = None,
    cv: Any = None,
    one_standard_error: bool = False,
    sample_weight: Any = None,
    level: float = 0.95,
    random_state: Any = 0,
) -> Pruning:
    """Grow a tree on all rows, and prune it to the size that predicts best.

    Each method makes a sequence of smaller and smaller trees from the full one:

    - "weakest_link": minimises impurity + α·leaves (cost complexity, as scikit-learn's
      ``ccp_alpha``);
    - "complexity": minimises Φ(T) = training error + α·size(T)/|S|, with size(T) nodes and |S|
      rows;
    - "impact": bottom-up, always removes the pair of leaves whose removal raises the training error
      least;
    - "mdl": minimises α times the bits of the tree plus the bits of its exceptions
      (see `description_length`); α = 1 is the shortest description, used unless cv is given.

    The size of the pruned tree is set by `alpha` or `max_nodes`, or found by cross-validation:
    every fold grows and prunes its own tree, and errors on the held-out rows are compared at the
    same levels. Cost: one fit per fold and one on all rows, each with O(nodes·depth·log nodes) for
    its sequence.

    Parameters
    ----------
    model : tree estimator
        A tree estimator such as DecisionTreeClassifier. It is cloned, so the object itself stays
        unfitted.
    X, y : table, targets
        The rows and their targets. A density tree needs no y.
    method : {"weakest_link", "impact", "complexity", "mdl"}, default="weakest_link"
        How the sequence of smaller trees is made; see above.
    alpha : float, optional
        The weight of the size of the tree (α), in the units of the method. Larger values give
        smaller trees. Must be ≥ 0.
    max_nodes : int, optional
        The largest number of nodes to keep, at least 1.
    cv : int, splitter or iterable, optional
        How the rows are split into training rows and held-out rows; see `evaluate`. By default 5
        shuffled folds, unless `alpha` or `max_nodes` is given or the method is "mdl".
    one_standard_error : bool, default=False
        Whether to choose the smallest tree whose error is within one standard error of the lowest
        error.
    sample_weight : array of shape (n,), optional
        Row weights. A row of weight 2 counts as two rows.
    level : float, default=0.95
        Confidence level of the intervals, between 0 and 1. A larger value gives wider intervals.
    random_state : int, default=0
        Seed for shuffling the rows. The same seed gives the same folds.

    Returns
    -------
    Pruning
        The result. Its ``model`` is the fitted and pruned tree.

    Examples
    --------
    >>> import thetahat as th
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grown = th.DecisionTreeClassifier(random_state=0)
    >>> pruning = th.prune(grown, X, y, one_standard_error=True)
    >>> pruning.model.tree_.n_leaves < grown.fit(X, y).tree_.n_leaves
    True
    """
    _require_sensible(method, alpha, max_nodes, cv, level)
    weight = np.ones(rows_in(X))
    if sample_weight is not None:
        weight = as_weight(sample_weight, rows_in(X), "prune")
    fitted = _grown(model, X, y, sample_weight)
    sequence = sequence_of(fitted, X, y, sample_weight, method)
    if alpha is not None or max_nodes is not None or (method == "mdl" and cv is None):
        level_of_tree = 1.0 if alpha is None else alpha
        step = 0 if alpha is None and max_nodes is not None else sequence.step_at(level_of_tree)
        if max_nodes is not None:
            step = max(step, sequence.step_of_size(max_nodes))
        return Pruning.of(fitted, sequence, method, step)
    steps = _last_of_each_level(sequence, method)
    labels = y if not is_classifier(fitted) or np.ndim(y) != 2 else None
    folds = folds_of(
        5 if cv is None else cv,
        X,
        labels,
        classifier=is_classifier(fitted) and labels is not None,
        random_state=random_state,
    )
    errors, spread = _held_back(fitted, X, y, sample_weight, weight, folds, sequence, steps, method)
    best = int(np.flatnonzero(errors == errors.min())[-1])
    if one_standard_error:
        best = int(np.flatnonzero(errors <= errors[best] + spread[best])[-1])
    return Pruning.of(
        fitted,
        sequence,
        method,
        int(steps[best]),
        steps=steps,
        errors=_intervals(errors, spread, level),
        standard_errors=spread,
        training_errors=losses_by_step(fitted, sequence, X, y, weight)[0][steps] / weight.sum(),
    )


def sequence_of(model: Any, X: Any, y: Any, sample_weight: Any, method: str) -> PruningSequence:
    """The pruning sequence of a fitted tree by one of the methods."""
    tree = model.tree_
    is_density = not is_classifier(model) and not is_regressor(model)
    if method == "weakest_link":
        return weakest_links(tree, log_loss_risk(tree) if is_density else None)
    if method == "mdl":
        bits = node_bits(model, X, y, sample_weight)
        return weakest_links(tree, bits.exceptions, leaf_cost=bits.leaf, inner_cost=bits.inner)
    risk = log_loss_risk(tree) if is_density else error_risk(tree)
    if method == "impact":
        return least_impact(tree, risk)
    share = 1.0 / tree.weight[0]
    return weakest_links(tree, risk, leaf_cost=share, inner_cost=share)


def _require_sensible(method: str, alpha: Any, max_nodes: Any, cv: Any, level: float) -> None:
    require_level(level)
    check_value(method, one_of(*LEVEL_NAMES), "method", "prune")
    if alpha is not None and not alpha >= 0:
        raise ParameterError(f"alpha={alpha!r} must be ≥ 0. Larger values give smaller trees.")
    if alpha is not None and method == "impact":
        raise ParameterError("method='impact' has no alpha. Give max_nodes or cv instead.")
    if max_nodes is not None and not max_nodes >= 1:
        raise ParameterError(f"max_nodes={max_nodes!r} must be ≥ 1, as the root always remains.")
    if cv is not None and (alpha is not None or max_nodes is not None):
        raise ParameterError(
            "Both cv and one of alpha and max_nodes are given, but each of them sets the size of "
            "the tree. Give only one."
        )


def _grown(model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    fresh = clone(model)
    if hasattr(fresh, "ccp_alpha"):
        fresh.set_params(ccp_alpha=0.0)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    fitted = fresh.fit(X, **given) if y is None else fresh.fit(X, y, **given)
    if getattr(fitted, "leaf", "uniform") != "uniform":
        raise CapabilityError(
            f"{type(model).__name__}: pruning needs leaves of constant density, but leaf="
            f"{fitted.leaf!r}. Use leaf='uniform', or the parameter pruned_leaf_nodes."
        )
    if not hasattr(fitted, "tree_"):
        raise CapabilityError(
            f"{type(model).__name__} is not a single tree. Use prune with a "
            "DecisionTreeClassifier, a DecisionTreeRegressor or a DensityTree."
        )
    return fitted


def _last_of_each_level(sequence: PruningSequence, method: str) -> Array:
    """The steps to compare: of several steps at the same level, the last."""
    if method == "impact":
        return np.arange(sequence.n_steps)
    reached = np.maximum.accumulate(sequence.levels)
    return np.flatnonzero(np.append(reached[1:] > reached[:-1], True))


def _held_back(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    weight: Array,
    folds: list[Fold],
    sequence: PruningSequence,
    steps: Array,
    method: str,
) -> tuple[Array, Array]:
    """The error on held-out rows at each step, and its standard error."""
    sums, squares, total = np.zeros(steps.size), np.zeros(steps.size), 0.0
    for train, test in folds:
        rows, targets = take_rows(X, train), None if y is None else take_rows(y, train)
        counted = None if sample_weight is None else weight[train]
        grown = _grown(model, rows, targets, counted)
        own = sequence_of(grown, rows, targets, counted, method)
        at = _same_levels(sequence, own, steps, method)
        held = None if y is None else take_rows(y, test)
        first, second = losses_by_step(grown, own, take_rows(X, test), held, weight[test])
        sums += first[at]
        squares += second[at]
        total += weight[test].sum()
    errors = sums / total
    once = weight[np.unique(np.concatenate([test for _, test in folds]))].sum()
    return errors, np.sqrt(np.maximum(squares / total - errors**2, 0.0) / once)


def _same_levels(whole: PruningSequence, own: PruningSequence, steps: Array, method: str) -> Array:
    """The steps of a fold's own tree that match those of the full tree, by size or by level.

    A tree is optimal between its level and the next, so their geometric mean represents both
    (Breiman and others, 1984).
    """
    if method == "impact":
        return np.array([own.step_of_size(size) for size in whole.n_nodes[steps]])
    here = np.maximum.accumulate(whole.levels)[steps]
    between = np.append(np.sqrt(here[:-1] * here[1:]), np.inf)
    return np.array([own.step_at(level) for level in between])


def losses_by_step(
    model: Any, sequence: PruningSequence, X: Any, y: Any, weight: Array
) -> tuple[Array, Array]:
    """Σ w·ℓ and Σ w·ℓ² of some rows at every step of a pruning sequence.

    A node predicts the rows that reach it from the step at which it becomes a leaf until its parent
    does, so one walk from leaf to root covers all steps. Cost: O(n·depth + steps).
    """
    loss = _loss_at_nodes(model, y)
    above = sequence.tree.parent
    rows = model._rows(X) if hasattr(model, "_rows") else model._open_again(X).X
    node = sequence.tree.apply(rows)
    row = np.arange(node.size)
    sums, squares = np.zeros(sequence.n_steps + 1), np.zeros(sequence.n_steps + 1)
    while row.size:
        parent = above[node]
        start = sequence.leaf_from[node]
        end = np.where(parent < 0, sequence.n_steps, sequence.leaf_from[parent])
        value = loss(row, node)
        for total, term in ((sums, weight[row] * value), (squares, weight[row] * value**2)):
            total += np.bincount(start, term, total.size) - np.bincount(end, term, total.size)
        row, node = row[parent >= 0], parent[parent >= 0]
    return np.cumsum(sums)[:-1], np.cumsum(squares)[:-1]


def _loss_at_nodes(model: Any, y: Any) -> Callable[[Array, Array], Array]:
    """The loss of rows at nodes: misclassification, a distance, or −log p."""
    tree = model.tree_
    if y is None:
        logs = np.maximum(tree.values[:, 0], LEAST_LOG)
        return lambda row, node: -logs[node]
    targets = np.asarray(y).reshape(rows_in(y), -1)
    if is_classifier(model):
        classes = [model.classes_] if tree.n_outputs == 1 else model.classes_
        said = tree.value.argmax(axis=2)
        answers = np.column_stack([of[said[:, k]] for k, of in enumerate(classes)])
        return lambda row, node: (targets[row] != answers[node]).mean(axis=1)
    absolute = getattr(model, "criterion", "") == "absolute_error"
    distance = np.abs if absolute else np.square
    means = tree.value[:, :, 0]
    return lambda row, node: distance(targets[row] - means[node]).mean(axis=1)


def _intervals(errors: Array, spread: Array, level: float) -> tuple[Interval, ...]:
    from scipy import stats

    half = float(stats.norm.isf((1 - level) / 2)) * spread
    return tuple(
        Interval(float(error), float(error - width), float(error + width), level, "normal")
        for error, width in zip(errors, half, strict=True)
    )
