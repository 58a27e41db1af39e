"""Monotonic and interaction constraints: from user input to the arrays that trees use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np

from thetahat.foundation.errors import ParameterError
from thetahat.foundation.types import Array
from thetahat.models.tree.growth.columns import TreeColumns


def directions(monotonic_cst: Any, columns: TreeColumns, who: str) -> Array | None:
    """−1, 0 or +1 per column (int8) from an array or a dict of names; None without constraints."""
    if monotonic_cst is None:
        return None
    d = columns.n_features
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in columns.names]
        if unknown:
            raise ParameterError(
                f"{who}: monotonic_cst contains {unknown[0]!r}, which is not the name of a column "
                f"of X. Use the names {', '.join(map(repr, columns.names[:10]))}."
                if columns.names
                else f"{who}: monotonic_cst is a dict of column names, but X has none. Use a list "
                f"with one number (-1, 0 or 1) for each of the {d} columns."
            )
        given = np.array([monotonic_cst.get(name, 0) for name in columns.names])
    else:
        given = np.asarray(monotonic_cst)
    if given.shape != (d,):
        raise ParameterError(
            f"{who}: monotonic_cst has shape {given.shape} but the input data X has {d} features. "
            "Use one of −1, 0 or 1 per column."
        )
    wrong = np.flatnonzero(~np.isin(given, (-1, 0, 1)))
    if wrong.size:
        raise ParameterError(
            f"{who}: monotonic_cst must be an array-like of -1, 0 or 1; column {wrong[0]} has "
            f"{given.tolist()[wrong[0]]!r}."
        )
    directed = np.flatnonzero((given != 0) & columns.is_categorical)
    if directed.size:
        raise ParameterError(
            f"{who}: Categorical features cannot have monotonic constraints; column {directed[0]} "
            "is categorical. Set its direction to 0."
        )
    return given.astype(np.int8) if given.any() else None


def require_one_number(n_classes: tuple[int, ...], n_outputs: int, who: str) -> None:
    """Raise an error unless the tree predicts a single number: a mean, or one probability."""
    if n_outputs > 1 or max(n_classes, default=0) > 2:
        raise ParameterError(
            f"{who}: monotonic_cst needs one output, of numbers or of two classes; y has n_outputs="
            f"{n_outputs} and n_classes={max(n_classes, default=0)}. Set monotonic_cst=None."
        )


def meeting_groups(interaction_cst: Any, d: int, who: str) -> Array | None:
    """One row per group of columns that may be used on one path (uint8); None allows all."""
    if interaction_cst is None:
        return None
    if isinstance(interaction_cst, str) and interaction_cst == "no_interactions":
        groups: list[tuple[int, ...]] = [(j,) for j in range(d)]
    elif isinstance(interaction_cst, str) and interaction_cst == "pairwise":
        groups = [*combinations(range(d), 2)] or [(0,)]
    elif isinstance(interaction_cst, str):
        raise ParameterError(
            f"{who}: interaction_cst={interaction_cst!r} must be 'pairwise', 'no_interactions', "
            "None, or a sequence of sets of column numbers."
        )
    else:
        if not _is_sequence(interaction_cst) or not all(
            isinstance(group, Iterable) for group in interaction_cst
        ):
            raise ParameterError(
                f"{who}: interaction_cst={interaction_cst!r} must be a sequence of sets, lists or "
                "tuples of column numbers, such as [{0, 1}, {2}]."
            )
        groups = [
            tuple(int(j) if isinstance(j, Integral) else j for j in group)
            for group in interaction_cst
        ]
        for group in groups:
            for j in group:
                if not (isinstance(j, Integral) and 0 <= j < d):
                    raise ParameterError(
                        f"{who}: interaction_cst must hold column numbers from 0 to {d - 1}; "
                        f"got {j!r}. Columns in no set form one more group."
                    )
        rest = tuple(sorted(set(range(d)) - {j for group in groups for j in group}))
        groups += [rest] if rest else []
    table = np.zeros((len(groups), d), dtype=np.uint8)
    for number, group in enumerate(groups):
        table[number, list(group)] = 1
    return table


def _is_sequence(value: Any) -> bool:
    try:
        iter(value)
    except TypeError:
        return False
    return True
