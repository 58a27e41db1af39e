"""What pruning found: the pruned tree, and the path that led to it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from thetahat.evaluation.statistics.outcome import Interval
from thetahat.foundation.optional import optional_import
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
    """A pruned tree and the ever smaller trees it was chosen among.

    Formula: the tree at step k minimises risk + level_k · size among all prunings. Cost: O(steps).

    Attributes
    ----------
    model : estimator
        Fitted and pruned.
    method : str
        How the sequence was made.
    levels : array of shape (n_steps,)
        The level of each step, from the whole tree to its root.
    n_nodes, n_leaves : array of shape (n_steps,)
        Sizes.
    risks : array of shape (n_steps,)
        On the rows that were learned: impurity, training error, or bits of exceptions.
    errors : tuple of Interval
        On held-back rows; empty without cross-validation.
    standard_errors : array
        Of those errors.
    training_errors : array
        The same errors on the rows that were learned.
    best : int
        The step that was chosen.

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
        errors: tuple[Interval, ...] = (),
        standard_errors: Array | tuple[()] = (),
        training_errors: Array | tuple[()] = (),
    ) -> Pruning:
        """The model cut at one step of its sequence; `steps` are those that were compared."""
        shown = np.arange(sequence.n_steps) if steps is None else steps
        return cls(
            model=cut(model, sequence, step, method),
            method=method,
            levels=sequence.levels[shown],
            n_nodes=sequence.n_nodes[shown],
            risks=sequence.risks[shown],
            best=int(np.searchsorted(shown, step)),
            errors=errors,
            standard_errors=standard_errors,
            training_errors=training_errors,
        )

    @property
    def n_leaves(self) -> Array:
        return (self.n_nodes + 1) // 2

    def __str__(self) -> str:
        """The sizes and errors along the path, those around the choice in full."""
        lines = [f"Pruning by {self.method}: {self.n_leaves[0]} leaves to {self._chosen} leaves"]
        lines.append(f"  {LEVEL_NAMES[self.method]:>18}  leaves  risk")
        for step in self._shown():
            mark = "→" if step == self.best else " "
            error = f"  held back {self.errors[step]}" if self.errors else ""
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
        """The steps to print: all when few, else some evenly chosen and the best."""
        last = self.levels.size - 1
        if last < MOST_LINES:
            return np.arange(last + 1)
        return np.unique(np.append(np.linspace(0, last, MOST_LINES).astype(int), self.best))

    def plot(self, axes: Any = None) -> Any:
        """Errors on held-back rows, with their band, and on learned rows, over the leaves.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib Axes
        """
        plt = optional_import("matplotlib.pyplot", extra="plot", purpose="Pruning.plot")
        axes = axes if axes is not None else plt.subplots(layout="constrained")[1]
        if self.errors:
            low, mid, high = np.array([[e.low, e.estimate, e.high] for e in self.errors]).T
            axes.fill_between(self.n_leaves, low, high, alpha=0.2, lw=0)
            axes.plot(self.n_leaves, mid, ".-", label="held-back rows")
            axes.plot(self.n_leaves, self.training_errors, ".--", label="learned rows")
        else:
            axes.plot(self.n_leaves, self.risks, ".-", label="risk on learned rows")
        axes.axvline(self._chosen, color="black", lw=0.8, ls=":", label=f"{self._chosen} leaves")
        axes.set(xlabel="leaves", ylabel="error" if self.errors else "risk", xscale="log")
        axes.legend(frameon=False)
        return axes


def cut(model: Any, sequence: PruningSequence, step: int, method: str) -> Any:
    """A copy of a fitted tree estimator, pruned; its ``ccp_alpha`` would prune it so again."""
    smaller = copy.copy(model)
    smaller.tree_ = sequence.tree_at(step)
    if hasattr(model, "density_"):
        cells = replace(model.density_.cells, tree=smaller.tree_)
        smaller.density_ = replace(model.density_, cells=cells)
        smaller.n_leaves_ = smaller.tree_.n_leaves
    if method == "weakest_link" and hasattr(model, "ccp_alpha"):
        smaller.ccp_alpha = float(np.maximum.accumulate(sequence.levels)[step])
    return smaller
