"""Predictions for the rows of a file, one batch at a time, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from thetahat.foundation.errors import DataError
from thetahat.interfaces.tables.columns import require_finite, retyped

SHOWN = 5


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


def saved_notations(notes: Mapping[str, Any]) -> dict[str, str]:
    """Notations of columns of the training rows, where they are not the usual one."""
    found = notes.get("notations")
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def saved_kinds(model: Any, notes: Mapping[str, Any]) -> dict[str, str]:
    """The columns that a saved model needs, and their kinds."""
    kinds = notes.get("kinds")
    if isinstance(kinds, dict) and kinds:
        return {str(name): str(kind) for name, kind in kinds.items()}
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise DataError(
            "The model does not contain the names of its columns. Train it with thetahat fit, or "
            "on a table with column names."
        )
    return dict.fromkeys(map(str, names), "numeric")


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
        values = retyped(batch[name], kind, notations.get(name, ""))
        if kind == "ordinal" and name in levels:
            values = (
                pl.select(pl.when(values.is_in(list(levels[name]))).then(values))
                .to_series()
                .alias(name)
            )
            values = values.cast(pl.Enum(list(levels[name])))
        file_rows = range(unknown.n_rows, unknown.n_rows + len(values))
        require_finite(values.alias(name), file_rows, "Correct the file, or remove such rows.")
        lost = values.null_count() - batch[name].null_count()
        if lost > 0:
            unknown.lost[name] += lost
        columns.append(values.alias(name))
    table = pl.DataFrame(columns)
    unknown.n_rows += table.height
    vectorizer: Any = _first_step(model)
    if hasattr(vectorizer, "unseen"):
        for name, counts in vectorizer.unseen(table).items():
            unknown.unseen.setdefault(name, Counter()).update(counts)
    return table


def predicted(
    model: Any,
    batches: Iterator[Any],
    kinds: Mapping[str, str],
    notations: Mapping[str, str],
    unknown: UnknownValues,
    name: str,
) -> Iterator[Any]:
    """Tables of predictions: the target, and the probability of each class if there are any."""
    for batch in batches:
        if not batch.height:
            continue
        rows = as_seen(batch, kinds, notations, model, unknown)
        columns = {name: model.predict(rows)}
        if hasattr(model, "predict_proba"):
            shares = model.predict_proba(rows)
            for place, label in enumerate(model.classes_):
                columns[f"P({label})"] = shares[:, place]
        yield pl.DataFrame(columns)


def _levels(model: Any) -> dict[str, tuple[Any, ...]]:
    """The ordered categories of the columns of a pipeline."""
    encoders = getattr(_first_step(model), "encoders_", [])
    return {each.name: each.levels for each in encoders if getattr(each, "levels", ())}


def _first_step(model: Any) -> Any:
    """The step of a pipeline that prepares the columns; in a stack, that of its first member."""
    members = getattr(model, "estimators_", None)
    if not hasattr(model, "steps") and members is not None and len(members):
        model = members[0]
    return model[0] if hasattr(model, "steps") else None
