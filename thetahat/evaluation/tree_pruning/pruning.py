"""The result of pruning: the pruned tree, and the sequence of trees it was chosen from."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.drawing import draws
from thetahat.foundation.types import Array
from thetahat.models.tree.pruning import PruningSequence

MOST_LINES = 12

LEVEL_NAMES = {
    "weakest_link": "α per leaf",
    "complexity": "α per node and row",
    "impact": "impact",
    "mdl": "weight of the tree's bits",
}


@dataclass(frozen=True)
class Pruning:
    """A pruned tree and the sequence of trees it was chosen from; prints as a table.

    Formula: the tree at step k minimises risk + level_k · size among all prunings. Cost: O(steps).

    Attributes
    ----------
    model : estimator
        The fitted and pruned tree estimator.
    method : str
        The method that made the sequence of trees.
    levels : array of shape (n_steps,)
        The level (α) of each step, from the full tree to its root.
    n_nodes, n_leaves : array of shape (n_steps,)
        The number of nodes and of leaves at each step.
    risks : array of shape (n_steps,)
        The risk on the training rows: impurity, training error, or bits of exceptions.
    errors : tuple of Interval
        The error on held-out rows at each step. Empty without cross-validation.
    standard_errors : array
        The standard errors of these errors.
    training_errors : array
        The error on the training rows at each step.
    best : int
        The number of the chosen step.

    Examples
    --------
    >>> import thetahat as th
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> pruning = th.prune(th.DecisionTreeClassifier(random_state=0), X, y, max_nodes=5)
    >>> int(pruning.n_nodes[pruning.best]), pruning.model.tree_.node_count
    (5, 5)
    """

    model: Any
    method: str
    levels: Array
    n_nodes: Array
    risks: Array
    best: int
    errors: tuple[Interval, ...] = ()
    standard_errors: Array | tuple[()] = ()
    training_errors: Array | tuple[()] = ()

    @classmethod
    def of(
        cls,
        model: Any,
        sequence: PruningSequence,
        method: str,
        step: int,
        *,
        steps: Array | None = None,
        **found: Any,
    ) -> Pruning:
        """The model cut at one step of its sequence; `steps` were compared, with errors `found`."""
        shown = np.arange(sequence.n_steps) if steps is None else steps
        return cls(
            model=cut(model, sequence, step, method),
            method=method,
            levels=sequence.levels[shown],
            n_nodes=sequence.n_nodes[shown],
            risks=sequence.risks[shown],
            best=int(np.searchsorted(shown, step)),
            **found,
        )

    @property
    def n_leaves(self) -> Array:
        return (self.n_nodes + 1) // 2

    def __str__(self) -> str:
        """The sizes and errors of the sequence; all steps near the chosen one."""
        lines = [f"Pruning by {self.method}: {self.n_leaves[0]} leaves to {self._chosen} leaves"]
        lines.append(f"  {LEVEL_NAMES[self.method]:>18}  leaves  risk")
        for step in self._shown():
            mark = "→" if step == self.best else " "
            error = f"  held out {self.errors[step]}" if self.errors else ""
            lines.append(
                f"{mark} {self.levels[step]:>18.4g}  {self.n_leaves[step]:>6}  "
                f"{self.risks[step]:.4g}{error}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def _chosen(self) -> int:
        return int(self.n_leaves[self.best])

    def _shown(self) -> Array:
        """The steps to print: all if there are few, else evenly spaced ones and the best."""
        last = self.levels.size - 1
        if last < MOST_LINES:
            return np.arange(last + 1)
        return np.unique(np.append(np.linspace(0, last, MOST_LINES).astype(int), self.best))

    @draws
    def plot(self, axes: Any = None) -> None:
        """Plot the errors on held-out rows, with their band, and on training rows."""
        if self.errors:
            low, mid, high = np.array([[e.low, e.estimate, e.high] for e in self.errors]).T
            axes.fill_between(self.n_leaves, low, high, alpha=0.2, lw=0)
            axes.plot(self.n_leaves, mid, ".-", label="held-out rows")
            axes.plot(self.n_leaves, self.training_errors, ".--", label="training rows")
        else:
            axes.plot(self.n_leaves, self.risks, ".-", label="risk on training rows")
        axes.axvline(self._chosen, color="black", lw=0.8, ls=":", label=f"{self._chosen} leaves")
        axes.set(xlabel="leaves", ylabel="error" if self.errors else "risk", xscale="log")
        axes.legend(frameon=False)


def cut(model: Any, sequence: PruningSequence, step: int, method: str) -> Any:
    """A copy of a fitted tree estimator, pruned; its ``ccp_alpha`` is set to give the same tree."""
    smaller = copy.copy(model)
    smaller.tree_ = sequence.tree_at(step)
    if hasattr(model, "density_"):
        cells = replace(model.density_.cells, tree=smaller.tree_)
        smaller.density_ = replace(model.density_, cells=cells)
        smaller.n_leaves_ = smaller.tree_.n_leaves
    if method == "weakest_link" and hasattr(model, "ccp_alpha"):
        smaller.ccp_alpha = float(np.maximum.accumulate(sequence.levels)[step])
    return smaller
