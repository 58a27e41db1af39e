"""Predictions for the rows of a file, one batch at a time, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from thetahat.evaluation.conformal_prediction.result import Conformal
from thetahat.foundation.errors import DataError, ParameterError
from thetahat.foundation.types import Array
from thetahat.interfaces.notes import altered, first_step
from thetahat.interfaces.tables.columns import require_finite, retyped
from thetahat.interfaces.tables.types import readable, truth_as_numbers

SHOWN = 5
SEPARATOR = "|"
"""Between the classes of a set."""


@dataclass
class UnknownValues:
    """Categories and values in new rows that the training rows did not have."""

    unseen: dict[str, Counter[Any]] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    n_rows: int = 0

    def as_data(self) -> dict[str, Any]:
        """The counts as plain values, for JSON."""
        unseen = {
            name: {str(value): count for value, count in counts.items()}
            for name, counts in self.unseen.items()
        }
        return {"rows": self.n_rows, "unseen": unseen, "not read": dict(self.lost)}

    def lines(self) -> list[str]:
        """One line per column with unknown categories or invalid values."""
        found = []
        for name, counts in self.unseen.items():
            shown = ", ".join(
                f"{value!r} ({count:,})" for value, count in counts.most_common(SHOWN)
            )
            more = f", … ({len(counts) - SHOWN} more)" if len(counts) > SHOWN else ""
            found.append(f"{name}: categories not in the training rows: {shown}{more}")
        for name, count in self.lost.items():
            found.append(
                f"{name}: {count:,} value{'s' * (count != 1)} could not be read, treated as missing"
            )
        return found


def require_names(needed: Mapping[str, str], found: list[str], path: str) -> None:
    """Raise an error if a file lacks columns of the model."""
    absent = [name for name in needed if name not in found]
    if absent:
        raise DataError(
            f"{path} lacks {len(absent)} of the {len(needed)} columns that the model needs: "
            f"{', '.join(absent[:10])}{', …' if len(absent) > 10 else ''}. Add them (empty fields "
            "are treated as missing)."
        )


def as_seen(
    batch: Any,
    kinds: Mapping[str, str],
    notations: Mapping[str, str],
    model: Any,
    unknown: UnknownValues,
) -> Any:
    """A batch with the columns of the model, in its order and types."""
    columns = []
    levels = _levels(model)
    for name, kind in kinds.items():
        given = truth_as_numbers(readable(batch[name], kind), kind)
        values = retyped(given, kind, notations.get(name, ""))
        if kind == "ordinal" and name in levels:
            values = (
                pl.select(pl.when(values.is_in(list(levels[name]))).then(values))
                .to_series()
                .alias(name)
            )
            values = values.cast(pl.Enum(list(levels[name])))
        file_rows = range(unknown.n_rows, unknown.n_rows + len(values))
        require_finite(values.alias(name), file_rows, "Correct the file, or remove such rows.")
        lost = values.null_count() - given.null_count()
        if lost > 0:
            unknown.lost[name] += lost
        columns.append(values.alias(name))
    table = pl.DataFrame(columns)
    unknown.n_rows += table.height
    vectorizer: Any = first_step(model)
    if hasattr(vectorizer, "unseen"):
        for name, counts in vectorizer.unseen(table).items():
            unknown.unseen.setdefault(name, Counter()).update(counts)
    return table


@dataclass(frozen=True)
class Sureness:
    """Intervals or sets of classes for predictions, at a level."""

    found: Conformal
    level: float

    def names(self, name: str) -> list[str]:
        """The names of the columns."""
        ends = ("low", "high") if self.found.classes is None else ("set",)
        return [f"{name}_{end}" for end in ends]

    def columns(self, name: str, rows: Any, predicted: Array) -> dict[str, Any]:
        """The two ends of every interval, or the set of classes as text."""
        if self.found.classes is None:
            low, high = self.found.around(predicted, self.level).T
            return dict(zip(self.names(name), (low, high), strict=True))
        names = np.asarray(list(map(str, self.found.classes)), dtype=object)
        sets = self.found.sets(rows, self.level)
        return {self.names(name)[0]: [SEPARATOR.join(names[inside]) for inside in sets]}


def sureness_asked_for(model: Any, notes: Mapping[str, Any], level: float | None) -> Any:
    """What --interval needs, from the notes of the model; None without it."""
    if level is None:
        return None
    if not 0 < level < 1:
        raise ParameterError(f"--interval {level:g}: must lie between 0 and 1, such as 0.9.")
    data = notes.get("conformal")
    if data is None:
        raise ParameterError(
            "--interval: the file holds no errors of held-out rows. Train the model again with "
            "thetahat fit."
        )
    try:
        found = Conformal.from_data(model, data)
    except DataError as refused:
        raise altered("the numbers of 'conformal' do not belong to the model") from refused
    try:
        found.require(level)
    except ParameterError as refused:
        raise ParameterError(f"--interval {level:g}: {refused}") from refused
    return Sureness(found, level)


def require_free_names(
    keep: Sequence[str], model: Any, name: str, sureness: Sureness | None
) -> None:
    """Refuse to keep a column with the name of a column that the predictions add."""
    added = [f"predicted_{name}", *([] if sureness is None else sureness.names(name))]
    added += [f"P({label})" for label in getattr(model, "classes_", ())]
    # A kept column with the name of the target is kept: the prediction then has another name.
    for each in keep:
        if each in added and (each != added[0] or name in keep):
            raise ParameterError(
                f"--keep {each}: the predictions have a column of this name too. Rename the "
                "column in the file."
            )


def predicted(
    model: Any,
    batches: Iterator[Any],
    kinds: Mapping[str, str],
    notations: Mapping[str, str],
    unknown: UnknownValues,
    name: str,
    *,
    keep: Sequence[str] = (),
    sureness: Sureness | None = None,
) -> Iterator[Any]:
    """Tables of predictions: the target, and the probability of each class if there are any.

    The columns `keep` of the input come first; `sureness` adds intervals or sets.
    """
    for batch in batches:
        if not batch.height:
            continue
        rows = as_seen(batch, kinds, notations, model, unknown)
        said = np.asarray(model.predict(rows))
        columns: dict[str, Any] = {each: batch[each] for each in keep}
        columns[f"predicted_{name}" if name in keep else name] = said
        if sureness is not None:
            columns |= sureness.columns(name, rows, said)
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(rows)
            for place, label in enumerate(model.classes_):
                columns[f"P({label})"] = shares[:, place]
        yield pl.DataFrame(columns)


def _levels(model: Any) -> dict[str, tuple[Any, ...]]:
    """The ordered categories of the columns of a pipeline."""
    encoders = getattr(first_step(model), "encoders_", [])
    return {each.name: each.levels for each in encoders if getattr(each, "levels", ())}
