"""Contributions of the columns to predictions: of all rows in summary, and of five single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.data.resampling import subset_rows, take_rows
from thetahat.evaluation.contributions.explain import explain
from thetahat.evaluation.contributions.result import Contributions
from thetahat.foundation.types import Array
from thetahat.interfaces.quality import Held

MOST_COLUMNS = 200
"""Largest number of columns for which contributions are computed."""
SUMMARY_ORDERS, SINGLE_ORDERS = 8, 32
MOST_PREDICTIONS = 24_000
"""About the number of rows that are predicted for the summary."""
LEAST_ROWS, MOST_ROWS = 20, 200
SHOWN = 8
"""Largest number of columns that are shown for a row."""


@dataclass(frozen=True)
class SingleRow:
    """The prediction of one row, and what each column adds to it."""

    row: int
    """The number of the row in the file, from 1."""
    why: str
    """Why this row is shown."""
    response: str
    true: Any
    base: float
    total: float
    parts: list[tuple[str, Any, float]]
    """Column, its value, its contribution; the largest first."""


@dataclass(frozen=True)
class Singles:
    """Contributions in summary and of single rows."""

    summary: Contributions
    rows: list[SingleRow]
    held_out: bool = False
    """Whether each single row is explained by a model that has not seen it."""

    @property
    def sizes(self) -> dict[str, float]:
        """The mean size of the contributions of each column, the largest first."""
        sizes = self.summary.importance
        if len(self.summary.outputs) == 2:
            sizes = sizes / 2  # the contributions to two classes are opposite
        order = np.argsort(-sizes, kind="stable")
        return {str(self.summary.columns[j]): float(sizes[j]) for j in order}

    def as_data(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {
            "mean_size": self.sizes,
            "summary": self._summary(),
            "rows": [
                {
                    "row": each.row,
                    "why": each.why,
                    "response": each.response,
                    "true": each.true,
                    "base": each.base,
                    "prediction": each.total,
                    "contributions": {name: part for name, _, part in each.parts},
                    "values": {name: value for name, value, _ in each.parts},
                }
                for each in self.rows
            ],
        }

    def _summary(self) -> dict[str, Any] | None:
        """The values and contributions of the rows in summary; None for several classes."""
        found = self.summary
        if len(found.outputs) > 2:
            return None
        values = found.values[:, :, 1] if found.outputs else found.values
        return {
            str(name): {"values": found.X[:, j], "contributions": values[:, j]}
            for j, name in enumerate(found.columns)
        }


def explain_rows(
    model: Any,
    X: Any,
    held: Held,
    file_rows: Array,
    seed: int = 0,
    of_folds: Sequence[Any] = (),
) -> Singles | None:
    """Contributions by a fitted model; None if there are too many columns.

    `held` chooses the rows by what was predicted for them, and `file_rows` has their numbers in the
    file, from 0. Each single row is explained by the model of its fold, if there are `of_folds`:
    the model of all rows has seen it, and may say what is right where the fold was wrong.
    """
    n, d = X.shape
    if d > MOST_COLUMNS:
        return None
    most = int(np.clip(MOST_PREDICTIONS / (d * SUMMARY_ORDERS), LEAST_ROWS, MOST_ROWS))
    few = subset_rows(np.arange(n), size=min(most, n), random_state=seed)
    behind = take_rows(X, subset_rows(np.arange(n), size=min(500, n), random_state=seed + 1))
    how: dict[str, Any] = {"method": "sampled", "random_state": seed}
    summary = explain(model, take_rows(X, few), behind, n_orders=SUMMARY_ORDERS, **how)
    chosen = _chosen(held)
    places = held.rows[list(chosen)]
    rows = []
    for place, (among, why) in zip(places, chosen.items(), strict=True):
        judge = model
        if of_folds and held.folds is not None:
            judge = of_folds[int(np.searchsorted(np.unique(held.folds), held.folds[among]))]
        found = explain(
            judge, take_rows(X, np.array([place])), behind, n_orders=SINGLE_ORDERS, **how
        )
        rows.append(_single(found, int(file_rows[place]) + 1, why, held.y[among]))
    return Singles(summary, rows, bool(of_folds))


def _chosen(held: Held) -> dict[int, str]:
    """Five rows among the held-out ones, each with the reason why it is shown."""
    if held.classes is None:
        order, wrong = held.predicted, np.abs(held.predicted - held.y)
        words = ("lowest prediction", "middle prediction", "highest prediction")
    elif held.shares is None:
        order = np.zeros(len(held.y)) if held.scores is None else held.scores
        wrong = (held.predicted != held.y) + 0.0
        words = ("lowest score", "middle score", "highest score")
    else:
        two = len(held.classes) == 2
        order = held.shares[:, 1] if two else held.shares.max(axis=1)
        wrong = 1.0 - (held.shares * (held.y[:, None] == held.classes)).sum(axis=1)
        named = f"probability of {held.classes[1]}" if two else "certainty"
        words = (f"lowest {named}", f"middle {named}", f"highest {named}")
    ranked = np.argsort(order, kind="stable")
    worst = np.argsort(-wrong, kind="stable")[:2]
    chosen: dict[int, str] = {}
    for place, why in [
        (int(ranked[0]), words[0]),
        (int(ranked[len(ranked) // 2]), words[1]),
        (int(ranked[-1]), words[2]),
        *((int(place), "among the largest errors") for place in worst),
    ]:
        chosen.setdefault(place, why)
    return chosen


def _single(found: Contributions, row: int, why: str, true: Any) -> SingleRow:
    """The only row of some contributions."""
    values, base, response = found.values[0], found.base, found.response
    if found.outputs:
        totals = np.asarray(found.base) + values.sum(axis=0)
        output = 1 if len(found.outputs) == 2 else int(totals.argmax())
        values, base = values[:, output], found.base[output]
        response = f"{found.response} of {found.outputs[output]}"
    order = np.argsort(-np.abs(values), kind="stable")
    cells: Sequence[Any] = found.X[0]
    parts = [(str(found.columns[j]), cells[j], float(values[j])) for j in order]
    total = float(base) + float(values.sum())
    return SingleRow(row, why, response, true, float(base), total, parts)
