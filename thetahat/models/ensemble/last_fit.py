"""The check that a fit which continues the last one has its columns and classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from thetahat.estimator.parameters import continues
from thetahat.foundation.errors import DataError

SHOWN = 8
"""Largest number of values that a message lists."""


@dataclass(frozen=True)
class LastFit:
    """Columns and classes of the members of an ensemble; empty where no fit is continued."""

    n_features: int | None = None
    names: tuple[str, ...] = ()
    levels: tuple[tuple[Any, ...], ...] = ()
    """The categories of each column that has some."""
    classes: tuple[tuple[Any, ...], ...] = ()
    """The classes of each output."""

    @classmethod
    def of(cls, model: Any) -> LastFit:
        """What the last fit of the model has; empty without ``warm_start`` or a fit. Cost: O(d)."""
        found = cls.known(model)
        return found if continues(vars(model)) and found.n_features is not None else cls()

    @classmethod
    def known(cls, model: Any) -> LastFit:
        """Columns and classes of a fitted model. Cost: O(d)."""
        columns, classes = getattr(model, "_columns", None), getattr(model, "classes_", ())
        several = isinstance(classes, list)
        return cls(
            n_features=getattr(model, "n_features_in_", None),
            names=tuple(getattr(model, "feature_names_in_", ())),
            levels=()
            if columns is None
            else tuple(columns.levels.get(place, ()) for place in range(columns.n_features)),
            classes=tuple(
                tuple(np.asarray(each).tolist()) for each in (classes if several else [classes])
            ),
        )

    def require_same(self, model: Any) -> None:
        """Raise an error if the model, with its data opened, has other columns or classes."""
        if self.n_features is None:
            return
        now, who = self.known(model), type(model).__name__
        if now.n_features != self.n_features:
            raise _other(who, "columns", f"had {self.n_features}", f"X has {now.n_features}")
        for place, (name, given) in enumerate(zip(self.names, now.names, strict=False)):
            if name != given:
                raise _other(
                    who, "columns", f"had {name!r} as column {place}", f"X has {given!r} there"
                )
        for place, (old, new) in enumerate(zip(self.levels, now.levels, strict=False)):
            if old != new:
                label = repr(self.names[place]) if self.names else str(place)
                raise _other(
                    who,
                    "categories",
                    f"had {_listed(old)} in column {label}",
                    f"X has {_listed(new)} there",
                )
        for old, new in zip(self.classes, now.classes, strict=False):
            if old != new:
                raise _other(who, "classes", f"had {_listed(old)}", f"y has {_listed(new)}")


def _other(who: str, what: str, before: str, now: str) -> DataError:
    return DataError(
        f"{who}: warm_start=True continues the last fit and needs its {what}: that fit {before}, "
        f"but {now}. Fit the same {what}, or set warm_start=False."
    )


def _listed(values: tuple[Any, ...]) -> str:
    """The first values; "no categories" for a column of numbers."""
    if not values:
        return "no categories"
    more = f", … ({len(values)} in all)" if len(values) > SHOWN else ""
    return f"[{', '.join(map(repr, values[:SHOWN]))}{more}]"
