"""What ``thetahat fit`` notes in a model file, checked when it is used.

A model file holds data that anybody can change, so the notes are not trusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thetahat.data.columns.date_layouts import DATE_LAYOUTS
from thetahat.foundation.errors import DataError
from thetahat.interfaces.problem import TASKS
from thetahat.interfaces.tables.columns import KINDS

Notes = Mapping[str, Any]


def altered(what: str) -> DataError:
    """The error for notes that ``thetahat fit`` does not write."""
    return DataError(
        f"The notes of the file were altered: {what}. Train the model again with thetahat fit."
    )


def saved_target(notes: Notes) -> str | None:
    """The name of the target; None if the file does not name it."""
    found = notes.get("predicts")
    if found is not None and (not isinstance(found, str) or not found):
        raise altered(f"'predicts' is {_short(found)}, but it must be the name of a column")
    return found


def saved_task(notes: Notes) -> str:
    """The task of the model; "auto" if the file does not name it."""
    found = notes.get("task", "auto")
    if found not in TASKS:
        raise altered(f"'task' is {_short(found)}, but it must be classification or regression")
    return str(found)


def saved_kinds(model: Any, notes: Notes) -> dict[str, str]:
    """The columns that a saved model needs, and their kinds."""
    first = first_step(model)
    names = getattr(model, "feature_names_in_", getattr(first, "feature_names_in_", None))
    kinds = notes.get("kinds")
    if kinds is None:
        if names is None:
            raise DataError(
                "The model does not contain the names of its columns. Train it with thetahat fit, "
                "or on a table with column names."
            )
        return dict.fromkeys(map(str, names), "numeric")
    if not isinstance(kinds, dict) or not kinds:
        raise altered("'kinds' must have the kind of every column")
    for name, kind in kinds.items():
        if kind not in KINDS[:-1]:
            raise altered(f"the kind of {name!r} is {_short(kind)}, which is not a kind of column")
    if names is None:
        return dict(kinds)
    needed = list(map(str, names))
    for name in sorted(set(needed) ^ set(kinds)):
        lacks = "lacks" if name in needed else "has"
        which = "the model uses" if name in needed else "is not a column of the model"
        raise altered(f"'kinds' {lacks} the column {name!r}, which {which}")
    learned = getattr(first, "kinds_", kinds)
    for name in needed:
        if learned.get(name) != kinds[name]:
            raise altered(
                f"the kind of {name!r} is {kinds[name]!r}, but the model was trained with "
                f"{learned.get(name)!r}"
            )
    return {name: kinds[name] for name in needed}


def saved_notations(notes: Notes, kinds: Mapping[str, str]) -> dict[str, str]:
    """Notations of columns of the training rows, where they are not the usual one."""
    found = notes.get("notations", {})
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise altered("'notations' must have the notations of columns as text")
    for name, written in found.items():
        if kinds.get(name) == "date" and written not in DATE_LAYOUTS:
            raise altered(f"the dates of {name!r} are written {_short(written)}, which is unknown")
    return found


def first_step(model: Any) -> Any:
    """The step of a pipeline that prepares the columns; in a stack, that of its first member."""
    members = getattr(model, "estimators_", None)
    if not hasattr(model, "steps") and members is not None and len(members):
        model = members[0]
    return model[0] if hasattr(model, "steps") else None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
